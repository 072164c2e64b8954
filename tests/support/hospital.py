"""A service for tests: an owner, analysts, a population, a table of patients, and a worker that can be stepped."""

import random
from contextlib import contextmanager
from pathlib import Path

from discreet.privacy.accounts import Books, engine_for, reading, writing
from discreet.service import catalogue, datasets, grants, job_views, jobs, people, projects
from discreet.service.database import migrate
from discreet.service.settings import Settings
from discreet.service.source_file import SourceEntry, add_source
from discreet.service.tables import jobs as job_table
from discreet.service.tables import versions
from discreet.service.worker import Worker
from support.account_databases import new_address

BOOKS = Books()
PAID, REGISTRATION = ("train", "score", "count"), ("draft", "snapshot")
SLOT = 4.0


def write_patients(path, rows=400, seed=1, extra=()):
    """A table of patients with a weak pattern; `extra` are lines that are added at the end."""
    draw = random.Random(seed)
    lines = ["age,sex,smoker,weight,ill"]
    for _ in range(rows):
        age, smoker = draw.randint(20, 90), draw.choice(["no", "yes", "unknown"])
        ill = "yes" if draw.random() < (0.8 if smoker == "yes" and age > 50 else 0.2) else "no"
        lines.append(f"{age},{draw.choice('FM')},{smoker},{draw.uniform(45, 120):.1f},{ill}")
    Path(path).write_text("\n".join([*lines, *extra]) + "\n")
    return path


class Hospital:
    """The service of a hospital, with the calls that tests need most."""

    def __init__(self, folder, database, slot=SLOT):
        self.settings = Settings.of(folder, database, least_slot=slot)
        self.engine = engine_for(database)
        migrate(self.engine)
        with writing(self.engine) as connection:
            self.owner = people.add_person(connection, "olga", "Olga Owner", ("owner",))
            self.ann = people.add_person(connection, "ann", "Ann Analyst", ("analyst",), by=self.owner)
            self.bob = people.add_person(connection, "bob", "Bob Analyst", ("analyst",), by=self.owner)
            self.eve = people.add_person(connection, "eve", "Eve Auditor", ("auditor",), by=self.owner)
        self._worker = None

    @property
    def worker(self):
        """The worker, made when it is first needed."""
        if self._worker is None:
            self._worker = Worker(self.settings, self.engine)
        return self._worker

    def write(self, function, *arguments, **options):
        """Call a function in a transaction of its own."""
        with writing(self.engine) as connection:
            return function(connection, *arguments, **options)

    def read(self, function, *arguments, **options):
        """Call a function that reads."""
        with reading(self.engine) as connection:
            return function(connection, *arguments, **options)

    def register(self, name="visits", path=None, *, records=400, limit=10, population="clinic", new=True, **changes):
        """A ready data set, through draft, confirmation and snapshot."""
        path = path or write_patients(self.settings.folder / f"{name}.csv")
        add_source(self.settings.worker_folder, SourceEntry(name, "file", str(path)))
        self.worker.publish()
        if new:
            self.write(datasets.open_population, population, limit, "add-remove", by=self.owner)
        facts = {"title": name, "description": "", "population": population, "limit": limit, "source": name}
        version = self.write(datasets.register, name, target="ill", by=self.owner, **facts)
        assert self.worker.step(REGISTRATION, paced=False)
        draft = self.read(catalogue.draft_of, version.id)
        assert draft is not None, self.read(catalogue.findings_of, version.id)
        schema = {**draft, "records": records, **changes}
        self.write(datasets.confirm, version.id, schema, draft["from_data"], by=self.owner)
        assert self.worker.step(REGISTRATION, paced=False)
        version = self.read(catalogue.version_by_id, version.id)
        assert version.state == "ready", self.read(catalogue.findings_of, version.id)
        return version

    def pretend(self, schema, name="visits", *, limit=10, population="clinic", new=True, adjacency="add-remove"):
        """A ready data set without any data: for what a worker is not needed for."""
        with writing(self.engine) as connection:
            if new:
                datasets.open_population(connection, population, limit, adjacency, by=self.owner)
            datasets.publish_sources(connection, [(name, "file", "")])
            facts = {"title": name, "description": "", "population": population, "limit": limit, "source": name}
            version = datasets.register(connection, name, target=schema.target, by=self.owner, **facts)
            facts = {"schema": schema.to_dict(), "schema_hash": schema.hash, "records_declared": schema.records}
            connection.execute(versions.update().where(versions.c.id == version.id).values(state="ready", **facts))
            done = job_table.update().where(job_table.c.version_id == version.id)
            connection.execute(done.values(state="released"))
            return catalogue.version_by_id(connection, version.id)

    def grant(self, person=None, dataset="visits", *, limit=5, project="heart", project_limit=10, **options):
        """A grant, with its project and membership, which are made if they are not there."""
        person = person or self.ann
        names = [each.name for each in self.read(projects.all_projects)]
        if project not in names:
            self.write(projects.create_project, project, project, by=self.owner)
        made = self.read(projects.project_named, project)
        found = self.read(catalogue.dataset_named, dataset)
        self.write(projects.set_project_limit, made.id, found.population, project_limit, by=self.owner)
        self.write(projects.add_member, made.id, person.id, by=self.owner)
        return self.write(projects.give_grant, made.id, person.id, found.id, limit, by=self.owner, **options)

    def ask(self, content, key="k1", person=None, dataset="visits", **options):
        """The id of a job that is asked for."""
        job, _ = self.write(jobs.submit, person or self.ann, dataset, content, key, **options)
        return job

    def approve(self, job):
        """Approve as the owner."""
        self.write(jobs.approve, job, self.owner)

    def job(self, job, person=None):
        """A job as a person sees it."""
        return self.read(job_views.get_job, job, person or self.ann)

    def standings(self, grant):
        """(reserved, spent) of population, data set, project and grant."""
        with reading(self.engine) as connection:
            found = [BOOKS.standing(connection, account) for account in grant.accounts]
        return [(each.reserved, each.spent) for each in found]

    def grant_of(self, grant_id):
        """The grant as it is now."""
        return self.read(grants.grant_by_id, grant_id)


@contextmanager
def hospital(kind, folder, server=None, slot=SLOT):
    """A service on a new database of this kind."""
    made = Hospital(Path(folder), new_address(kind, folder, server), slot)
    try:
        yield made
    finally:
        if made._worker is not None:
            made._worker.close()
        made.engine.dispose()
