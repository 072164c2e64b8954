"""Registering a table: every public fact is confirmed or changed; versions never change."""

import pytest

from discreet.errors import BudgetError, ParameterError
from discreet.schema import Categorical, Numeric, Schema
from discreet.service import catalogue, datasets, job_views, log
from discreet.service.errors import NameTakenError, NotAllowedError, NotFoundError, RequestError, StateError
from support.hospital import REGISTRATION, write_patients

DRAFT = Schema(
    [Numeric("age", 20, 90), Categorical("sex", ["F", "M"])],
    "ill",
    ["no", "yes"],
    ignore=["id"],
    from_data=["age.lower", "age.upper", "sex.categories", "classes"],
)


@pytest.fixture
def drafted(clinic):
    """A version with a draft, made without a worker."""
    clinic.write(datasets.open_population, "clinic", 10, "add-remove", by=clinic.owner)
    clinic.write(datasets.publish_sources, [("visits", "file", "")])
    facts = {"title": "Visits", "description": "", "population": "clinic", "limit": 5, "source": "visits"}
    version = clinic.write(datasets.register, "visits", target="ill", by=clinic.owner, **facts)
    clinic.write(datasets.drafted, version.id, DRAFT, {"records": 400})
    clinic.version = version.id
    return clinic


def confirm(clinic, content=None, confirmed=DRAFT.from_data, by=None):
    schema = DRAFT.to_dict() if content is None else content
    return clinic.write(datasets.confirm, clinic.version, schema, confirmed, by=by or clinic.owner)


@pytest.mark.parametrize("missing", DRAFT.from_data)
def test_every_entry_read_from_the_data_is_confirmed(drafted, missing):
    with pytest.raises(RequestError, match=missing):
        confirm(drafted, confirmed=[mark for mark in DRAFT.from_data if mark != missing])
    assert drafted.read(catalogue.version_by_id, drafted.version).state == "drafted"


def test_or_changed(drafted):
    changed = Schema([Numeric("age", 0, 120), Categorical("sex", ["F", "M", "D"])], "ill", ["no", "yes", "unsure"])
    version = confirm(drafted, {**changed.to_dict(), "ignore": ["id"]}, confirmed=[])
    assert version.state == "confirming"
    assert version.schema.is_public
    assert drafted.read(catalogue.draft_of, drafted.version) is None  # erased
    assert drafted.read(job_views.registration_jobs, drafted.version)[0] == ("snapshot", "reserved")


def test_a_column_that_is_left_out_needs_no_confirmation(drafted):
    kept = Schema([Numeric("age", 20, 90)], "ill", ["no", "yes"], ignore=["id"])
    version = confirm(drafted, kept.to_dict(), confirmed=["age.lower", "age.upper", "classes"])
    assert version.schema.ignore == ("id", "sex")


@pytest.mark.parametrize(
    ("change", "word"),
    [
        ({"columns": []}, "no columns"),
        ({"columns": "age"}, "list"),
        ({"chosen": {"epsilon": "1", "adjacency": "add-remove"}}, "chosen"),
        ({"target": "sex"}, "schema|target"),
        ({"adjacency": "replace-one"}, "adjacency"),
        ({"columns": [{"name": "new", "kind": "numeric", "lower": 0, "upper": 1}]}, "not in the draft"),
        ({"surprise": 1}, "not known"),
        ({"records": datasets.MOST_RECORDS + 1}, "at most 10000000000"),
        ({"records": 10**400}, "at most 10000000000"),
    ],
)
def test_a_schema_that_does_not_fit_is_refused(drafted, change, word):
    with pytest.raises(RequestError, match=word):
        confirm(drafted, {**DRAFT.to_dict(), **change})


def test_a_version_is_confirmed_once_and_by_owners(drafted):
    with pytest.raises(NotAllowedError):
        confirm(drafted, by=drafted.ann)
    confirm(drafted)
    with pytest.raises(StateError):
        confirm(drafted)


def test_names_sources_and_limits_are_checked(drafted):
    facts = {"title": "t", "description": "", "population": "clinic", "limit": 1, "source": "visits", "target": "ill"}

    def register(name="other", **changes):
        return drafted.write(datasets.register, name, by=changes.pop("by", drafted.owner), **{**facts, **changes})

    with pytest.raises(NameTakenError):
        register("visits")
    for changes, error in (
        ({"name": "a/b"}, RequestError),
        ({"name": "'; DROP TABLE jobs; --"}, RequestError),
        ({"source": "unknown"}, NotFoundError),
        ({"population": "nobody"}, NotFoundError),
        ({"title": ""}, RequestError),
        ({"limit": "inf"}, ParameterError),
        ({"by": drafted.eve}, NotAllowedError),
    ):
        with pytest.raises(error):
            register(**changes)
    assert [each.name for each in drafted.read(catalogue.all_datasets, drafted.owner)] == ["visits"]


def test_only_ready_data_sets_are_known_to_others(drafted):
    assert drafted.read(catalogue.all_datasets, drafted.ann) == []
    with pytest.raises(NotFoundError):
        drafted.read(catalogue.dataset_named, "visits", drafted.ann)
    confirm(drafted)
    drafted.write(datasets.written, drafted.version, "0" * 64, {})
    assert [each.name for each in drafted.read(catalogue.all_datasets, drafted.ann)] == ["visits"]


def test_withdrawing_ends_all_asking_and_erases_drafts(drafted):
    confirm(drafted)
    drafted.write(datasets.written, drafted.version, "0" * 64, {})
    given = drafted.grant(approve_up_to=1)
    job = drafted.ask({"kind": "count", "epsilon": 1, "queries": [{}]})
    assert drafted.standings(given)[0] == (1, 0)
    drafted.write(datasets.withdraw, "visits", by=drafted.owner)
    assert drafted.job(job).state == "cancelled"
    assert drafted.standings(given)[0] == (0, 0)
    with pytest.raises((NotFoundError, NotAllowedError)):
        drafted.ask({"kind": "count", "epsilon": 1, "queries": [{}]}, "again")


def test_nothing_of_a_withdrawn_data_set_is_confirmed(drafted):
    drafted.write(datasets.withdraw, "visits", by=drafted.owner)
    with pytest.raises(StateError, match="withdrawn"):
        confirm(drafted)


def test_a_version_is_confirmed_once(drafted):
    confirm(drafted)
    with pytest.raises(StateError, match="only a draft"):
        confirm(drafted)


def test_a_new_version_is_paid_by_the_same_people(drafted):
    confirm(drafted)
    drafted.write(datasets.written, drafted.version, "0" * 64, {})
    dataset = drafted.read(catalogue.dataset_named, "visits")
    second = drafted.write(datasets.new_version, dataset.id, "visits", "ill", by=drafted.owner)
    assert second.number == 2
    drafted.grant(limit=100, project_limit=100, approve_up_to=100)
    drafted.ask({"kind": "count", "epsilon": 5, "queries": [{}]})
    drafted.write(datasets.drafted, second.id, DRAFT, {})
    drafted.version = second.id
    confirm(drafted)
    drafted.write(datasets.written, second.id, "1" * 64, {})
    with pytest.raises(BudgetError, match="data set visits"):
        drafted.ask({"kind": "count", "epsilon": "0.1", "queries": [{}]}, "more")


def test_a_source_that_cannot_be_read_is_a_finding_for_the_owner(small):
    path = write_patients(small.settings.folder / "gone.csv")
    small.register("first", path)
    path.unlink()
    dataset = small.read(catalogue.dataset_named, "first")
    version = small.write(datasets.new_version, dataset.id, "first", "ill", by=small.owner)
    assert small.worker.step(REGISTRATION, paced=False)
    found = small.read(catalogue.version_by_id, version.id)
    assert found.state == "failed"
    assert small.read(catalogue.findings_of, version.id)["problem"] == "unreadable"
    lines = small.read(log.read, for_owner=True)
    assert not any(str(path) in str(line) for line in lines)
    assert not any(line.owner_only for line in small.read(log.read, for_owner=False))
