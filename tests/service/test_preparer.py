"""Children that are forked from a prepared process: what they have, what they draw, and how they and it are ended."""

import itertools
import logging
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from discreet.service import drafts, preparer
from discreet.service.snapshots import write_snapshot
from discreet.service.spares import ONE_THREAD, PASSED_ON, Nursery, Spare
from discreet.sources.file import open_file
from support import misbehaving_jobs
from support.hospital import write_patients

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="forks on Linux alone")
SCRIPT = Path(misbehaving_jobs.__file__)


@pytest.fixture(scope="module")
def odd(tmp_path_factory):
    """A nursery whose children misbehave as their job says."""
    made = Nursery(tmp_path_factory.mktemp("odd"), prepares=[str(SCRIPT)])
    yield made
    made.close()


@pytest.fixture
def spare(odd):
    """The next child of it."""
    made = Spare(odd)
    made.wait_until_ready()
    yield made
    made.close()


def ask(spare, kind="look", seconds=30.0, **facts):
    return spare.ask({"kind": kind, "seconds": seconds, **facts})


def exists(pid):
    """Whether a process is there and is not merely waiting to be taken leave of."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def until(true, seconds=20.0):
    limit = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < limit, "it did not happen"
        time.sleep(0.01)


def test_each_job_has_a_child_of_the_one_preparer(odd, spare):
    first, second = ask(spare), ask(spare)
    assert first["parent"] == second["parent"] == odd._preparer.pid
    assert first["pid"] != second["pid"]
    assert first["session"] == first["pid"]  # and so its group
    until(lambda: not exists(first["pid"]) and not exists(second["pid"]))


def test_no_two_children_draw_the_same_noise(tmp_path):
    """Real jobs, and noise so large that two independent numbers agree about once in 10^7 times."""
    path = write_patients(tmp_path / "table.csv")
    schema, _ = drafts.draft(open_file(path), "ill", [])
    public = schema.replace(from_data=[], records=400)
    write_snapshot(open_file(path), public, tmp_path / "table.parquet")
    request = {"kind": "count", "epsilon": "1/1000000000", "queries": [{"by": [{"column": "smoker"}]}]}
    job = {"kind": "count", "request": request, "epsilon": "1/1000000000", "schema": public.to_dict(), "seconds": 60}
    nursery = Nursery(tmp_path)
    spare = Spare(nursery)
    try:
        told = [spare.ask({**job, "snapshot": str(tmp_path / "table.parquet")}) for _ in range(8)]
    finally:
        spare.close()
        nursery.close()
    seen = [each["content"]["answers"][0]["values"] for each in told]
    for first, second in itertools.combinations(seen, 2):
        assert not {*map(int, first)} & {*map(int, second)}


def test_the_preparer_has_one_thread_and_has_drawn_nothing(tmp_path):
    """As the worker starts it, with everything loaded that jobs need."""
    shows = "from discreet.service import child, preparer; child.load(); print(preparer.obstacle())"
    kept = {name: os.environ[name] for name in PASSED_ON if name in os.environ} | ONE_THREAD
    done = subprocess.run([sys.executable, "-c", shows], env=kept, capture_output=True, text=True, check=True)
    assert done.stdout == "\n"


@pytest.mark.parametrize("deed", ["threads", "noise"])
def test_a_preparer_that_must_not_be_forked_is_not(tmp_path, caplog, deed):
    """A mutant: its children would share locks or the state of a generator. Then each child is started anew."""
    nursery = Nursery(tmp_path, prepares=[str(SCRIPT), deed])
    spare = Spare(nursery)
    try:
        with caplog.at_level(logging.WARNING):
            spare.wait_until_ready()
        assert parent_of(spare._child.pid) == os.getpid()
        assert ask(spare, kind="unknown") == {"failed": "KeyError"}  # a true child, which knows no such job
    finally:
        spare.close()
        nursery.close()
    assert deed in caplog.text


def test_what_was_drawn_since_the_preparer_was_ready_is_noticed(monkeypatch):
    monkeypatch.setattr(preparer.os, "listdir", lambda _: ["1"])
    monkeypatch.setattr(preparer, "has_drawn", lambda: False)
    assert not preparer.obstacle()
    monkeypatch.setattr(preparer, "has_drawn", lambda: True)
    assert preparer.obstacle()
    monkeypatch.setattr(preparer, "has_drawn", lambda: False)
    monkeypatch.setattr(preparer.os, "listdir", lambda _: ["1", "2"])
    assert preparer.obstacle()


def parent_of(pid):
    return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])


def test_a_child_has_no_secret_and_no_file_but_its_pipes(odd, spare, monkeypatch, tmp_path):
    monkeypatch.setenv("DISCREET_DATABASE", "postgresql://user:secret@host/db")
    with open(tmp_path / "open", "wb"):
        other = Spare(Nursery(tmp_path, prepares=[str(SCRIPT)]))
        try:
            other.wait_until_ready()
            for pid in (other._child.pid, parent_of(other._child.pid)):
                given = Path(f"/proc/{pid}/environ").read_text().split("\0")
                assert {each.partition("=")[0] for each in given if each} <= {*PASSED_ON, *ONE_THREAD, "LC_CTYPE"}
            files = ask(other)["files"]
        finally:
            other.close()
            other._nursery.close()
    assert [file for file in files if file != os.devnull] == [file for file in files if file.startswith("pipe:")]
    assert len([file for file in files if file.startswith("pipe:")]) <= 2


def test_a_killed_preparer_is_replaced(odd, spare):
    killed, waiting = odd._preparer.pid, spare._child.pid
    os.kill(killed, signal.SIGKILL)
    until(lambda: not exists(waiting))  # the child that waited ends with it
    spare.wait_until_ready()
    assert ask(spare)["parent"] == odd._preparer.pid != killed


def test_a_preparer_that_is_killed_during_a_job_ends_the_job(odd, spare):
    """Its child is lost, and so has failed; the next one comes from another preparer."""
    killed, hanging, told = odd._preparer.pid, spare._child, []
    job = threading.Thread(target=lambda: told.append(ask(spare, "hang")))
    job.start()
    until(lambda: spare._child not in (None, hanging))
    os.kill(killed, signal.SIGKILL)
    job.join(20)
    assert told == [{"failed": "child-lost"}]
    assert ask(spare)["parent"] != killed


def test_another_preparer_is_not_told_of_the_children_of_the_last_one(odd, spare):
    """It would look for a child that it never had."""
    other = Spare(odd)
    other.wait_until_ready()
    os.kill(odd._preparer.pid, signal.SIGKILL)
    until(spare._child.is_lost)
    spare.wait_until_ready()
    preparing = odd._preparer.pid
    other.close()
    assert ask(spare)["parent"] == ask(spare)["parent"] == preparing


def test_a_message_is_larger_than_a_pipe(spare):
    """Models that are scored are sent to the child."""
    assert ask(spare, text="x" * 3_000_000)["pid"]


def test_a_child_that_was_lost_before_its_job_is_replaced(spare):
    lost = spare._child.pid
    os.kill(lost, signal.SIGKILL)
    until(lambda: not exists(lost))
    assert ask(spare)["pid"] != lost


def test_a_job_that_hangs_is_ended(spare):
    hanging = spare._child.pid
    began = time.monotonic()
    assert ask(spare, "hang", seconds=0.5) in ({"failed": "overran"}, {"failed": "child-lost"})  # whose clock is first
    assert time.monotonic() - began < 10
    until(lambda: not exists(hanging))


def test_what_a_job_forked_is_ended_with_it(spare):
    """The grandchild keeps the pipe open, so the worker waits for as long as the job may take, and ends all of it."""
    leader = spare._child.pid
    assert ask(spare, "fork", seconds=1.0)["failed"]
    until(lambda: not members(leader))


def members(group):
    """The processes of a group that are still there."""
    running = [each for each in Path("/proc").iterdir() if each.name.isdigit() and exists(each.name)]
    return [each.name for each in running if in_group(each.name, group)]


def in_group(pid, group):
    try:
        return os.getpgid(int(pid)) == group
    except ProcessLookupError:
        return False


def test_a_job_that_takes_too_much_memory_fails_alone(odd, spare):
    preparing = odd._preparer.pid
    assert ask(spare, "memory", memory=0.1) == {"failed": "MemoryError"}
    assert ask(spare, "memory", memory=2.0) == {"length": 1 << 30}
    assert odd._preparer.pid == preparing


def test_the_next_child_is_ready_while_a_job_still_runs(spare):
    """When it is ready must not depend on the job."""
    hanging = spare._child
    job = threading.Thread(target=ask, args=(spare, "hang", 5.0))
    job.start()
    until(lambda: spare._child not in (None, hanging))
    assert spare._child.is_ready()
    assert job.is_alive()
    job.join()
    spare._is_ready = True  # it was read above


def test_a_preparer_and_its_children_end_with_the_worker(tmp_path):
    """Even if it is killed. It is not told: what it held of their pipes is closed."""
    script = (
        "import os, sys; from pathlib import Path; from discreet.service.spares import Nursery, Spare;"
        f"spare = Spare(Nursery(Path({str(tmp_path)!r}), prepares=[{str(SCRIPT)!r}])); spare.wait_until_ready();"
        "print(spare._nursery._preparer.pid, spare._child.pid, flush=True); os.kill(os.getpid(), 9)"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == -signal.SIGKILL
    preparing, waiting = map(int, done.stdout.split())
    until(lambda: not exists(preparing) and not exists(waiting))


def test_a_system_without_room_for_a_process_starts_no_job(tmp_path, monkeypatch):
    """The worker hears of it before anything is charged: `wait_until_ready` raises."""
    from discreet.errors import FileError

    nursery = Nursery(tmp_path)
    monkeypatch.setattr(nursery, "_prepare", lambda: None)
    ours, theirs = preparer.socket.socketpair(preparer.socket.AF_UNIX, preparer.socket.SOCK_SEQPACKET)
    nursery._control = ours
    theirs.send(preparer.REFUSED)
    with theirs, pytest.raises(FileError, match="no room"):
        Spare(nursery).wait_until_ready()
    nursery.close()


def test_a_preparer_that_has_started_a_thread_since_is_forked_no_more(tmp_path, monkeypatch):
    """Children are started anew from then on; it is left alone, as one of its children may have a job."""
    nursery = Nursery(tmp_path)
    monkeypatch.setattr(nursery, "_prepare", lambda: None)
    monkeypatch.setattr(nursery, "_start_child", lambda: "started anew")
    nursery._control, theirs = preparer.socket.socketpair(preparer.socket.AF_UNIX, preparer.socket.SOCK_SEQPACKET)
    with theirs:
        theirs.send(b"it has started threads")
        assert nursery.child() == "started anew"
        assert nursery._control is not None
        assert nursery.child() == "started anew"
    nursery.close()


def test_where_nothing_can_be_forked_each_child_is_started_anew(tmp_path):
    nursery = Nursery(tmp_path, forks=False)
    spare = Spare(nursery)
    try:
        spare.wait_until_ready()
        first = spare._child.pid
        assert parent_of(first) == os.getpid()
        assert ask(spare, kind="unknown") == {"failed": "KeyError"}
        assert spare._child.pid != first
    finally:
        spare.close()
        nursery.close()


def test_a_relative_path_of_python_is_that_of_the_worker(tmp_path, monkeypatch):
    """Children run in the folder of the service, where a relative path would lead elsewhere."""
    monkeypatch.setenv("PYTHONPATH", f"src{os.pathsep}{tmp_path}")
    made = Nursery(tmp_path)
    started = made._start([sys.executable, "-c", "import os; print(os.environ['PYTHONPATH'])"], stdout=subprocess.PIPE)
    assert started.communicate()[0].decode().strip() == f"{Path('src').absolute()}{os.pathsep}{tmp_path}"
