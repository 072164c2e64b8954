"""Follows pages of the site as a stranger would, in an empty folder, and writes down what the terminal shows.

    python -m build --outdir dist
    PYTHONPATH=tests python -m support.transcripts --dist dist             # all ten tasks, in docs/guides/transcripts
    PYTHONPATH=tests python -m support.transcripts --dist dist parquet     # one of them

Each page gets an environment of its own, with nothing but what its own `pip install` brings; discreet comes from the
folder of `--dist`. Commands are given to a shell, Python to an interpreter, SQL to psql on a server that is started
here. A command that fails ends it. Answers have noise: a second transcript has other numbers.
"""

from __future__ import annotations

import argparse
import ast
import json
import os
import re
import signal
import socket
import subprocess
import sys
import tempfile
import textwrap
from contextlib import ExitStack, contextmanager
from pathlib import Path
from uuid import uuid4

from support.postgres_server import server

GUIDES = Path(__file__).parents[2] / "docs" / "guides"
TASKS = {
    "parquet": "train from Parquet",
    "explain-a-tree": "explain a tree",
    "choose-epsilon": "choose ε",
    "team-budget": "set a budget for a team",
    "ask-the-service": "ask the service from Python",
    "three-parties": "run federated with three parties",
    "add-a-mechanism": "add a mechanism",
    "reproduce-a-table": "reproduce a table",
    "audit-a-claim": "audit a rival",
    "deploy": "deploy with PostgreSQL",
}
BLOCK = re.compile(r"^```(python|sh|sql)\n(.*?)^```", re.DOTALL | re.MULTILINE)
WIDTH = 110
HEAD, TAIL = 26, 8
"""Of longer outputs, the lines that are kept."""
INTERPRETER = """
import json, os, sys, traceback
names = {"__name__": "__main__"}
sys.path.insert(0, "")
for line in sys.stdin:
    given = json.loads(line)
    os.environ.update(given["environment"])
    os.chdir(given["folder"])
    status = 0
    try:
        exec(compile(given["code"], "<stdin>", "exec"), names)
    except BaseException:
        traceback.print_exc()
        status = 1
    sys.stderr.flush()
    print(f"\\n{given['mark']} {status}", flush=True)
"""


class StepError(Exception):
    """A step of a page that did not work."""


class Terminal:
    """A shell and an interpreter, which share folder and environment."""

    def __init__(self, folder: Path, environment: dict[str, str]) -> None:
        self._folder, self._environment = folder, environment
        self._mark = f"mark-{uuid4().hex}"
        self._shell = self._start(["bash", "--norc", "--noprofile"])
        self._python: subprocess.Popen[str] | None = None

    def _start(self, command: list[str]) -> subprocess.Popen[str]:
        return subprocess.Popen(
            command,
            cwd=self._folder,
            env=self._environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            encoding="utf-8",
            start_new_session=True,
        )

    def command(self, text: str) -> str:
        """What a command prints."""
        return self._asked(self._shell, f"{text}\nprintf '\\n%s %d\\n' {self._mark} $?\n", text)

    def statement(self, text: str) -> str:
        """What a statement of Python prints."""
        if self._python is None:
            program = self.command("command -v python").strip()
            self._python = self._start([program, "-c", INTERPRETER])
        entries = self.command("env -0 | tr '\\0' '\\1'").split("\1")
        environment = dict(entry.split("=", 1) for entry in entries if "=" in entry)
        given = {
            "code": text,
            "environment": environment,
            "folder": self.command("pwd").strip(),
            "mark": self._mark,
        }
        return self._asked(self._python, json.dumps(given) + "\n", text)

    def _asked(self, process: subprocess.Popen[str], text: str, shown: str) -> str:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(text)
        process.stdin.flush()
        lines: list[str] = []
        for line in process.stdout:
            if line.startswith(self._mark):
                output = "".join(lines).removesuffix("\n")
                if line.split()[1] != "0":
                    raise StepError(f"{shown}\n{output}")
                return output
            lines.append(line)
        raise StepError(f"{shown}\n{''.join(lines)}\nthe process has ended")

    def close(self) -> None:
        """End everything that the page started."""
        for process in (self._python, self._shell):
            if process is not None:
                os.killpg(process.pid, signal.SIGTERM)
                process.communicate()


def blocks(page: Path) -> list[tuple[str, str]]:
    """The blocks of a page that can be run, with their languages."""
    return BLOCK.findall(page.read_text(encoding="utf-8"))


def commands(text: str) -> list[str]:
    """The commands of a block: lines that are continued, and texts that are given to a command, stay together."""
    found, lines = [], []
    for line in text.splitlines():
        lines.append(line)
        held = "\n".join(lines)
        checked = subprocess.run(["bash", "-n", "-c", held], capture_output=True, text=True, check=False)
        if not line.endswith("\\") and not checked.returncode and not checked.stderr:
            found += [held] if held.strip() else []
            lines = []
    if lines:
        raise StepError(f"not a command: {lines}")
    return found


def statements(text: str) -> list[str]:
    """The statements of a block, with their comments."""
    lines = text.splitlines()
    return ["\n".join(lines[each.lineno - 1 : each.end_lineno]) for each in ast.parse(text).body]


def follow(page: Path, folder: Path, environment: dict[str, str], done: tuple[str, ...] = ()) -> list[tuple[str, str]]:
    """Run all blocks of a page in order; returns what was typed, as a terminal shows it, with what came back.

    Commands that begin with a word of `done` are left out.
    """
    terminal = Terminal(folder, environment)
    shown = []
    try:
        for language, text in blocks(page):
            if language == "python":
                shown += [(prompted(each, ">>> ", "... "), terminal.statement(each)) for each in statements(text)]
            else:
                given = [f"psql --quiet <<'EOF'\n{text}EOF"] if language == "sql" else commands(text)
                left = [each for each in given if not each.startswith(done)] if done else given
                shown += [(prompted(each, "$ ", "> "), terminal.command(each)) for each in left]
    finally:
        terminal.close()
    return shown


def prompted(text: str, first: str, more: str) -> str:
    """A text as a terminal shows it while it is typed."""
    return first + text.replace("\n", f"\n{more}")


def transcript(shown: list[tuple[str, str]], folder: Path) -> str:
    """A transcript without the names of this machine, secrets, and the middle of long outputs."""
    parts = []
    for typed, output in shown:
        text = output.replace(str(folder), "/home/you")
        text = re.sub(r"dsc_[\w-]+", "dsc_…", re.sub(r"(setup/|links/|password )[\w-]+", r"\1…", text))
        lines = [part for line in text.rstrip().splitlines() for part in _wrapped(line)]
        if len(lines) > HEAD + TAIL + 1:
            lines[HEAD:-TAIL] = [f"[{len(lines) - HEAD - TAIL} more lines]"]
        parts += [typed, *(line.rstrip() for line in lines)]
    return "\n".join(parts) + "\n"


def _wrapped(line: str) -> list[str]:
    return textwrap.wrap(line, WIDTH, drop_whitespace=False) or [""]


@contextmanager
def stranger(dist: Path | None, with_server: bool):
    """An empty folder, and the environment of somebody who has Python, psql and a folder with the package."""
    with ExitStack() as kept:
        folder = Path(kept.enter_context(tempfile.TemporaryDirectory(prefix="stranger-")))
        kept_names = ("LANG", "PIP_", "SSL_", "REQUESTS_", "http", "HTTP", "DISCREET_TEST", "JAVA", "PYTHONPATH")
        environment = {name: value for name, value in os.environ.items() if name.startswith(kept_names)}
        programs = [str(Path(sys.executable).parent), "/usr/local/bin", "/usr/bin", "/bin"]
        if dist is not None:
            made = Path(kept.enter_context(tempfile.TemporaryDirectory(prefix="stranger-env-")))
            subprocess.run([getattr(sys, "_base_executable", sys.executable), "-m", "venv", str(made)], check=True)
            programs[0] = str(made / "bin")
            links = " ".join([str(dist.absolute()), environment.get("PIP_FIND_LINKS", "")]).strip()
            environment |= {"PIP_FIND_LINKS": links, "PIP_QUIET": "1", "VIRTUAL_ENV": str(made)}
            environment.pop("PYTHONPATH", None)
        environment |= {"PATH": ":".join(programs), "HOME": str(folder), "LANG": "C.UTF-8", "MPLBACKEND": "Agg"}
        if with_server:
            with socket.socket() as probe:
                probe.bind(("127.0.0.1", 0))
                port = probe.getsockname()[1]
            place = kept.enter_context(server(port=port))
            environment |= {"PGHOST": str(place), "PGPORT": str(port), "PGUSER": "owner", "PGDATABASE": "postgres"}
        yield folder, environment


def main() -> None:
    """Follow the pages that are named, or all ten."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument("pages", nargs="*", default=list(TASKS), metavar="PAGE")
    parser.add_argument("--dist", type=Path, required=True, help="the folder with wheel and sdist")
    parser.add_argument("--out", type=Path, default=GUIDES / "transcripts")
    given = parser.parse_args()
    given.out.mkdir(exist_ok=True)
    for name in given.pages:
        with stranger(given.dist, name == "deploy") as (folder, environment):
            text = transcript(follow(GUIDES / f"{name}.md", folder, environment), folder)
        (given.out / f"{name}.txt").write_text(text, encoding="utf-8")
        print(f"{TASKS[name]}: {len(text.splitlines())} lines")


if __name__ == "__main__":
    main()
