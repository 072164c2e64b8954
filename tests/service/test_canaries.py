"""Canary rows: nothing of a rare record is in the database, a log line, an error or an output; only in its source."""

import json
import logging

import pytest
from sqlalchemy import text

from discreet.service import catalogue, datasets, log
from support.hospital import PAID, REGISTRATION, hospital, write_patients

CANARIES = ("CANARY-7f3a", "31337.25", "90210.5")
ROWS = [
    '31337.25,CANARY-7f3a,"CANARY-7f3a",90210.5,CANARY-7f3a',
    "31337.25,F,CANARY-7f3a,90210.5,yes",
    'CANARY-7f3a,"CANARY-7f3a,yes',
    "31337.25,M,no,CANARY-7f3a,no,CANARY-7f3a",
]


def dump(engine):
    """Every value of every table, as text."""
    from discreet.privacy.accounts.tables import accounts_metadata
    from discreet.service.tables import service_metadata

    parts = []
    with engine.connect() as connection:
        for table in (*accounts_metadata.sorted_tables, *service_metadata.sorted_tables):
            for row in connection.execute(text(f"SELECT * FROM {table.name}")):
                parts += [bytes(each).decode() if isinstance(each, bytes | memoryview) else str(each) for each in row]
    return "\n".join(parts)


def check_silent(where, content):
    for canary in CANARIES:
        assert canary not in content, f"{canary} in {where}"


@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
def test_no_canary_leaves_its_source(kind, tmp_path, request, caplog, capfd):
    running = request.getfixturevalue("postgres") if kind == "postgresql" else None
    caplog.set_level(logging.DEBUG)
    with hospital(kind, tmp_path, running) as clinic:
        path = write_patients(tmp_path / "visits.csv", extra=ROWS)
        facts = {"title": "t", "description": "", "population": "clinic", "limit": 50, "source": "visits"}
        from discreet.service.source_file import SourceEntry, add_source

        add_source(clinic.settings.worker_folder, SourceEntry("visits", "file", str(path)))
        clinic.worker.publish()
        clinic.write(datasets.open_population, "clinic", 50, "add-remove", by=clinic.owner)
        version = clinic.write(datasets.register, "visits", target="ill", by=clinic.owner, **facts)
        clinic.worker.step(REGISTRATION, paced=False)
        check_silent("the database with a draft", dump(clinic.engine))
        draft = clinic.read(catalogue.draft_of, version.id)
        clinic.write(datasets.confirm, version.id, {**draft, "records": 400}, draft["from_data"], by=clinic.owner)
        clinic.worker.step(REGISTRATION, paced=False)
        assert clinic.read(catalogue.version_by_id, version.id).state == "ready"
        clinic.grant(limit=50, project_limit=50, approve_up_to=5)
        requests = [
            {"kind": "train", "model": "decision-tree", "epsilon": 5},
            {"kind": "train", "model": "one-rule", "epsilon": 5},
            {"kind": "count", "epsilon": 5, "queries": [{"by": [{"column": "sex"}, {"column": "smoker"}]}]},
        ]
        for number, content in enumerate(requests):
            job = clinic.ask(content, f"k{number}")
            clinic.worker.step(PAID, paced=True)
            assert clinic.job(job).state == "released"
        check_silent("the database", dump(clinic.engine))
        check_silent("the log", json.dumps([str(line) for line in clinic.read(log.read, for_owner=True, most=1000)]))
        for each in (clinic.settings.worker_folder / "snapshots").iterdir():
            check_silent("a snapshot", each.read_bytes().decode("latin-1"))
    out, err = capfd.readouterr()
    check_silent("standard output", out + err)
    check_silent("log lines", caplog.text)
