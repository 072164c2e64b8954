"""A round carried by Flower: nothing is changed on the way, and nothing is paid or counted twice.

Most tests stand in for Flower's grid; the slow ones start real processes on loopback, as `examples/flower` says.
"""

import contextlib
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import sysconfig
import time
import zipfile
from importlib.util import find_spec
from pathlib import Path
from types import SimpleNamespace

import pytest

import discreet
from discreet import Ledger, load
from discreet.errors import DataError, FileError, ParameterError
from discreet.federated import Invitation, KeyPair, Message, Party
from discreet.sources.file import open_file
from support.flower_nodes import (
    CANARY,
    NAMES,
    Nodes,
    by_files,
    needs_flower,
    node,
    prepare,
    read_log,
    resumed,
    run_config,
    same_tables,
    spent,
)

SOURCE = Path(discreet.__file__).parents[1]
EXAMPLE = Path(__file__).parents[2] / "examples" / "flower"
needs_ray = pytest.mark.skipif(find_spec("ray") is None, reason="needs Flower's simulation: pip install ray")


def test_without_flower_the_import_says_what_to_install():
    code = "import sys; sys.modules['flwr'] = None; import discreet.federated.flower"
    environment = {**os.environ, "PYTHONPATH": str(SOURCE)}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=environment, check=False)
    assert done.returncode == 1
    assert "MissingExtra: this needs an optional package: pip install 'discreet[flower]'" in done.stderr


@needs_flower
@pytest.mark.parametrize("trust", ["nobody", "sum"])
@pytest.mark.parametrize("model", ["naive-bayes", "one-rule"])
def test_flower_changes_nothing(flower, tmp_path, trust, model):
    """The model is the one that the parties' message files give by hand."""
    invitation, settings = prepare(tmp_path, trust, model=model)
    nodes = Nodes(*[node(flower, own) for own in settings])
    flower.collect(nodes, run_config(tmp_path))
    by_hand = by_files(invitation, [own["message"] for own in settings])
    assert same_tables(resumed(tmp_path), by_hand)
    by_hand.model().save(tmp_path / "by-hand.json")
    assert (tmp_path / "model.json").read_bytes() == (tmp_path / "by-hand.json").read_bytes()
    made = load(tmp_path / "model.json")
    assert made.guarantee_.holds
    assert made.guarantee_.epsilon == 1
    assert [spent(own) for own in settings] == [1, 1, 1]
    assert read_log(tmp_path)["answered"] == NAMES
    assert read_log(tmp_path)["missing"] == []
    assert [letter.metadata.dst_node_id for letter in nodes.asked] == [1, 2, 3]
    assert all(0 < letter.metadata.ttl <= 5 for letter in nodes.asked), "nobody pays for what is not read"


@needs_flower
def test_apps_of_flower_read_the_right_configuration(flower, tmp_path):
    """A node's own configuration, whatever the run says; the run's for the aggregator."""
    invitation, settings = prepare(tmp_path)
    foreign = SimpleNamespace(node_config=settings[0], run_config={"party": "south", "data": "elsewhere.csv"})
    reply = lambda letter: flower.client_app()(letter, foreign)  # noqa: E731
    flower.server_app()(Nodes(reply), SimpleNamespace(run_config=run_config(tmp_path, timeout=0.5)))
    assert read_log(tmp_path)["answered"] == ["north"]
    assert same_tables(resumed(tmp_path), by_files(invitation, [tmp_path / "north.msg"]))


@needs_flower
def test_nodes_that_connect_later_are_asked(flower, tmp_path):
    """A stranger who refuses does not end the waiting for an invited party."""
    _, settings = prepare(tmp_path, names=["north", "south"])
    stranger = {**settings[0], "party": "east", "message": ""}
    late = [node(flower, settings[1])]
    flower.collect(
        Nodes(node(flower, stranger), node(flower, settings[0]), late=late), run_config(tmp_path, timeout=60)
    )
    assert read_log(tmp_path)["answered"] == ["north", "south"]
    assert "do not fit" in read_log(tmp_path)["nodes"]["1"]


@needs_flower
def test_a_party_that_refuses_ends_the_waiting_for_it(flower, tmp_path):
    _, settings = prepare(tmp_path, names=["north", "south"])
    started = time.monotonic()
    nodes = Nodes(node(flower, {**settings[0], "limit": "1/2"}), late=[node(flower, settings[1])])
    flower.collect(nodes, run_config(tmp_path, timeout=60))
    assert time.monotonic() - started < 30
    assert read_log(tmp_path)["answered"] == ["south"]
    assert read_log(tmp_path)["nodes"]["1"].startswith("no answer of 'north': its ledger")


@needs_flower
@pytest.mark.parametrize("kept", [True, False])
def test_after_a_crash_a_new_run_goes_on(flower, tmp_path, kept):
    """What was added stays; a party that has answered sends its kept message again, or refuses, and pays once."""
    _, settings = prepare(tmp_path, "sum")
    first = [node(flower, own if kept else {**own, "message": ""}) for own in settings[:2]]
    with pytest.raises(DataError, match="west"):
        flower.collect(Nodes(*first), run_config(tmp_path, timeout=0.2))
    flower.collect(Nodes(*first, node(flower, settings[2])), run_config(tmp_path))
    assert load(tmp_path / "model.json").guarantee_.holds
    told = read_log(tmp_path)
    assert told["answered"] == NAMES
    assert ("answered already" if kept else "has the round already") in told["nodes"]["1"]
    assert [spent(own) for own in settings] == [1, 1, 1]
    # all answers are there: nobody is asked
    nodes = Nodes(*first)
    again = run_config(tmp_path, out=str(tmp_path / "again.json"), state=str(tmp_path / "model.json.state"))
    flower.collect(nodes, again)
    assert nodes.asked == []
    assert (tmp_path / "again.json").read_bytes() == (tmp_path / "model.json").read_bytes()


@needs_flower
def test_a_message_file_needs_neither_data_nor_ledger(flower, tmp_path):
    """Made by hand, sent as it is; one of another party or round is refused."""
    invitation, settings = prepare(tmp_path, "sum")
    own = settings[0]
    key = KeyPair.from_file(own["key"])
    ledger = Ledger(1, tmp_path / "hand.jsonl")
    made = Party("north", open_file(own["data"]), ledger, key=key, checked=True).answer(invitation)
    made.save(tmp_path / "hand.msg")
    only = {"party": "north", "message": str(tmp_path / "hand.msg")}
    assert flower.answer(invitation, only) == made.to_bytes()
    with pytest.raises(ParameterError, match="another party"):
        flower.answer(invitation, {**only, "party": "south"})
    (tmp_path / "other").mkdir()
    other, _ = prepare(tmp_path / "other", "sum")
    with pytest.raises(FileError, match="another invitation"):
        flower.answer(other, {**own, **only})
    assert spent(own) == 0


@needs_flower
def test_an_answer_that_cannot_be_kept_is_sent_all_the_same(flower, tmp_path):
    invitation, settings = prepare(tmp_path)
    own = {**settings[0], "message": str(tmp_path / "nowhere" / "north.msg")}
    assert Message.from_bytes(flower.answer(invitation, own), invitation).party == "north"
    assert spent(own) == 1


@needs_flower
@pytest.mark.slow
@pytest.mark.parametrize("app", ["", "simulation"])
def test_the_app_takes_no_data_along(tmp_path, app):
    """Flower puts .json and .jsonl files beside an app into what it sends to all nodes, unless told otherwise."""
    copy = tmp_path / "app"
    shutil.copytree(EXAMPLE / app, copy)
    for name in ("ledger.jsonl", "data.json", "notes.md"):
        (copy / name).write_text(CANARY, encoding="utf-8")
    command = [str(Path(sysconfig.get_path("scripts")) / "flwr"), "build", "--app", str(copy)]
    home = {"FLWR_HOME": str(tmp_path / "home"), "FLWR_TELEMETRY_ENABLED": "0", "FLWR_DISABLE_UPDATE_CHECK": "1"}
    subprocess.run(command, cwd=tmp_path, env={**os.environ, **home}, check=True, capture_output=True)
    (bundle,) = tmp_path.glob("*.fab")
    with zipfile.ZipFile(bundle) as file:
        names = {name.rpartition("/")[2] for name in file.namelist()}
        assert not any(CANARY in file.read(name).decode() for name in file.namelist())
    assert {"client.py", "server.py", "pyproject.toml"} <= names


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Loopback:
    """Flower's own programs on loopback, with a home of their own; nothing is left running."""

    def __init__(self, folder):
        self.folder, self.port, self.started = folder, free_port(), []
        self.deadline = time.monotonic() + 400  # it takes half a minute, and minutes beside other work
        self.scripts = Path(sysconfig.get_path("scripts"))
        (folder / "home").mkdir()
        connection = f'[superlink.loopback]\naddress = "127.0.0.1:{self.port}"\ninsecure = true\n'
        (folder / "home" / "config.toml").write_text(connection, encoding="utf-8")
        self.environment = {
            **os.environ,
            "FLWR_HOME": str(folder / "home"),
            "FLWR_TELEMETRY_ENABLED": "0",
            "FLWR_DISABLE_UPDATE_CHECK": "1",
            "RAY_USAGE_STATS_ENABLED": "0",
            "PATH": f"{self.scripts}{os.pathsep}{os.environ.get('PATH', '')}",
            "PYTHONPATH": str(SOURCE),
        }

    def start(self, program, *options):
        with (self.folder / f"{program}-{len(self.started)}.log").open("wb") as file:
            command = [str(self.scripts / program), "--insecure", *options]
            self.started.append(subprocess.Popen(command, stdout=file, stderr=file, env=self.environment,
                                                 cwd=self.folder, start_new_session=True))  # fmt: skip

    def superlink(self, *options):
        self.start("flower-superlink", "--disable-runtime-dependency-installation", "--host", "127.0.0.1",
                   "--port", str(self.port), *options)  # fmt: skip
        while time.monotonic() < self.deadline:
            with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", self.port), 1):
                return
            time.sleep(0.2)

    def supernode(self, settings):
        listed = " ".join(f'{name}="{value}"' for name, value in settings.items())
        self.start("flower-supernode", "--superlink", f"127.0.0.1:{self.port}", "--host", "127.0.0.1",
                   "--port", str(free_port()), "--node-config", listed)  # fmt: skip

    def run(self, app, settings, *options):
        listed = " ".join(f"{name}={json.dumps(value)}" for name, value in settings.items())
        done = subprocess.run(
            [str(self.scripts / "flwr"), "run", str(app), "loopback", "--stream", "--run-config", listed, *options],
            capture_output=True, text=True, env=self.environment, cwd=self.folder, check=False,
            timeout=self.deadline - time.monotonic(),
        )  # fmt: skip
        return done.stdout + done.stderr

    def close(self):
        """End what was started: first kindly, then all that has our home in its environment."""
        for process in reversed(self.started):
            process.terminate()
        for process in self.started:
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(5)
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait(5)
        home = f"FLWR_HOME={self.folder / 'home'}".encode()
        for entry in Path("/proc").glob("[0-9]*"):
            with contextlib.suppress(OSError):
                if home in (entry / "environ").read_bytes().split(b"\0") and int(entry.name) != os.getpid():
                    os.kill(int(entry.name), signal.SIGKILL)


@pytest.fixture
def loopback(tmp_path):
    made = Loopback(tmp_path)
    try:
        yield made
    finally:
        made.close()


@needs_flower
@pytest.mark.slow
def test_real_nodes_on_loopback(loopback, tmp_path):
    """A SuperLink, two SuperNodes and two runs: in the second one party sends its kept answer, the other refuses."""
    _, settings = prepare(tmp_path, names=["north", "south"])
    loopback.superlink()
    for own in settings:
        loopback.supernode(own)
    said = loopback.run(EXAMPLE, run_config(tmp_path, timeout=80))
    assert (tmp_path / "model.json").exists(), said
    told = read_log(tmp_path)
    assert sorted(told["answered"]) == ["north", "south"]
    assert len(told["nodes"]) == 2
    made = load(tmp_path / "model.json")
    assert made.guarantee_.holds
    assert made.guarantee_.epsilon == 1
    assert [spent(own) for own in settings] == [1, 1]
    by_hand = by_files(Invitation.load(tmp_path / "invitation.json"), [own["message"] for own in settings])
    assert same_tables(resumed(tmp_path), by_hand)
    by_hand.model().save(tmp_path / "by-hand.json")
    assert (tmp_path / "model.json").read_bytes() == (tmp_path / "by-hand.json").read_bytes()

    Path(settings[1]["message"]).unlink()
    said = loopback.run(EXAMPLE, run_config(tmp_path, out=str(tmp_path / "second.json"), timeout=40))
    assert "no answer of 'south': its ledger does not allow" in said
    assert "1 parties" in load(tmp_path / "second.json").guarantee_.statement()
    assert [spent(own) for own in settings] == [1, 1]


@needs_flower
@needs_ray
@pytest.mark.slow
def test_simulated_nodes(loopback, tmp_path):
    """Flower's simulation, a secure sum among three."""
    invitation, settings = prepare(tmp_path, "sum")
    (tmp_path / "nodes.json").write_text(json.dumps(settings), encoding="utf-8")
    loopback.superlink("--simulation")
    said = loopback.run(
        EXAMPLE / "simulation",
        run_config(tmp_path, nodes=str(tmp_path / "nodes.json"), timeout=80),
        "--federation-config",
        "num-supernodes=3 client-resources-num-cpus=1 init-args-num-cpus=1",
    )
    assert (tmp_path / "model.json").exists(), said
    assert sorted(read_log(tmp_path)["answered"]) == sorted(NAMES)
    assert load(tmp_path / "model.json").guarantee_.holds
    assert [spent(own) for own in settings] == [1, 1, 1]
    by_hand = by_files(invitation, [own["message"] for own in settings])
    assert same_tables(resumed(tmp_path), by_hand)
