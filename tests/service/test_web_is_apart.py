"""The web process has no route to the data: it runs as another account, to which the worker's folder is closed."""

import os
import subprocess
import sys

import pytest

from discreet.service.source_file import SourceEntry, add_source
from support.hospital import hospital
from support.postgres_server import as_another_user

WEB = """
import json, os, sys
from discreet.privacy.accounts import reading, writing
from discreet.service import catalogue, jobs, people, quotes
from discreet.service.app import create_app
from discreet.service.settings import Settings

COUNT = {"kind": "count", "epsilon": 1, "queries": [{}]}
settings = Settings.of(sys.argv[1], sys.argv[2])


def work(key):
    engine = create_app(settings).state.context.engine
    with reading(engine) as connection:
        ann = people.person_by_name(connection, "ann")
        known = [each.name for each in catalogue.all_datasets(connection, ann)]
        price = quotes.quote(connection, ann, "visits", COUNT).nano
    with writing(engine) as connection:
        return [known, price, jobs.submit(connection, ann, "visits", COUNT, key)[1]]


work("first")  # loads what is loaded when it is first used: the other account may not reach the packages
os.setgroups([])
os.setgid(int(sys.argv[3]))
os.setuid(int(sys.argv[3]))
refused = []
for path in (settings.worker_folder, settings.worker_folder / "sources.toml", settings.worker_folder / "snapshots"):
    try:
        path.read_text() if path.suffix else os.listdir(path)
    except PermissionError:
        refused.append(path.name)
print(json.dumps([os.getuid() == int(sys.argv[3]), *work("second"), refused]))
"""


def test_the_web_process_works_without_access_to_the_workers_folder(tmp_path, request):
    prefix, user = as_another_user()
    if prefix is None or os.geteuid() != 0:
        pytest.skip("needs a second account")
    with hospital("postgresql", tmp_path, request.getfixturevalue("postgres")) as clinic:
        clinic.register()
        clinic.grant()
        address = clinic.engine.url.set(drivername="postgresql").render_as_string(hide_password=False)
        command = [sys.executable, "-c", WEB, str(tmp_path), address, str(user)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    assert done.stdout.strip() == '[true, ["visits"], 1000000000, true, ["worker", "sources.toml", "snapshots"]]'


def test_folder_and_sources_are_closed_to_others(tmp_path):
    folder = tmp_path / "worker"
    add_source(folder, SourceEntry("visits", "file", "/data/visits.csv"))
    assert folder.stat().st_mode & 0o077 == 0
    assert (folder / "sources.toml").stat().st_mode & 0o077 == 0


def test_no_module_of_the_web_opens_sources_or_snapshots():
    """What `create_app` loads does not even load the worker's modules."""
    code = "import sys; import discreet.service.app; print([name for name in sys.modules if 'service.' in name])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    for name in ("worker", "source_file", "snapshots", "drafts", "child"):
        assert f"'discreet.service.{name}'" not in done.stdout, name
