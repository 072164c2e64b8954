"""Where discreet was tried: `nox` runs all sessions, `nox --list` shows them, `nox -s wheel` runs one.

Sessions build environments of their own with uv; interpreters are found on the PATH (`python3.13`). Words after `--` go
to pytest: `nox -s tests-3.13 -- --one-each` has one case of each test.

`tests` is the matrix of Python versions with today's packages, `lowest` has the lowest versions that pyproject.toml
allows, `extra` has each extra alone, and none, and all that go together; `wheel` looks at what is released, `flower`
has Flower's own environment. `constraints` is not run with the others: it writes constraints.txt (today's versions).
"""

from __future__ import annotations

import hashlib
import time
import zipfile
from pathlib import Path

import nox

nox.options.default_venv_backend = "uv"
nox.options.sessions = ["tests", "lowest", "extra", "wheel", "flower"]

PYTHONS = ["3.11", "3.12", "3.13"]
EXTRAS = [
    "none",
    "parquet",
    "duckdb",
    "plot",
    "excel",
    "federated",
    "accounts",
    "client",
    "service",
    "postgres",
    "fast",
]
TOGETHER = "all,service,postgres,fast"
MOST_WHEEL = 3_000_000
"""Bytes. What only research needs (papers, comparisons, reports) is about a sixth of today's 1.3 million."""
MOST_DEMO = 60
"""Seconds for `pip install discreet && discreet demo` in an empty environment."""
MOST_IMPORT = 0.1
"""Seconds of `import discreet`, beyond an empty Python."""
FAST = ["--only", "fast", "-n", "2"]
"""The tests that `make test` runs; tests/conftest.py says which these are."""


def _dev(session: nox.Session, extras: str, *more: str) -> None:
    session.install(f".[{extras}]", "--group", "dev", *more)


@nox.session(python=PYTHONS)
def tests(session: nox.Session) -> None:
    """The fast tests with today's packages."""
    _dev(session, "all,service")
    session.run("pytest", *FAST, *session.posargs)


@nox.session(python="3.11")
def lowest(session: nox.Session) -> None:
    """The fast tests with the lowest versions that are allowed: what fails here moves a bound in pyproject.toml."""
    _dev(session, "all,service", "--resolution", "lowest-direct")
    session.run("pytest", *FAST, *session.posargs)


@nox.session(python="3.11")
@nox.parametrize("name", [*EXTRAS, TOGETHER])
def extra(session: nox.Session, name: str) -> None:
    """One extra alone: it resolves, what it is for works, and what others are for names them."""
    session.install("." if name == "none" else f".[{name}]")
    session.run("python", "tests/support/extras.py", name)


@nox.session(python="3.11")
def constraints(session: nox.Session) -> None:
    """Write constraints.txt: names and versions of all that is installed with the extras that go together."""
    command = [
        "uv",
        "pip",
        "compile",
        "pyproject.toml",
        "--no-header",
        "--no-annotate",
        "--no-emit-index-url",
        "--quiet",
    ]
    chosen = [word for name in TOGETHER.split(",") for word in ("--extra", name)]
    session.run(*command, *chosen, "--upgrade", "--universal", "--output-file", "constraints.txt", external=True)


@nox.session(python="3.11")
def flower(session: nox.Session) -> None:
    """Federated training carried by Flower."""
    session.install(".[flower,duckdb]", "pytest", "hypothesis")
    session.run("pytest", "tests/federated/test_flower.py", "tests/federated/test_flower_refusals.py")


@nox.session(python="3.11")
def wheel(session: nox.Session) -> None:
    """What is released: built twice alike, small, checked, installed alone, quick to import, and the demo runs."""
    session.install("build", "twine")
    folders = [Path(session.create_tmp()) / name for name in ("first", "second")]
    for folder in folders:
        session.run("python", "-m", "build", "--outdir", str(folder), env={"SOURCE_DATE_EPOCH": "1700000000"})
    first, second = ({path.name: _digest(path) for path in folder.iterdir()} for folder in folders)
    if first != second:
        session.error(f"not built alike: {first} and {second}")
    session.run("twine", "check", "--strict", *map(str, folders[0].iterdir()))
    (built,) = folders[0].glob("*.whl")
    session.log(f"{built.name}: {built.stat().st_size:,} bytes, {len(zipfile.ZipFile(built).namelist())} files")
    if built.stat().st_size > MOST_WHEEL:
        session.error(f"the wheel is larger than {MOST_WHEEL:,} bytes")
    home = Path(session.create_tmp()).absolute() / "alone"
    session.run("python", "-m", "venv", "--clear", str(home))
    started = time.monotonic()
    session.run(str(home / "bin" / "pip"), "install", "--quiet", str(built), external=True)
    session.chdir(session.create_tmp())
    session.run(str(home / "bin" / "discreet"), "demo", "--force", silent=True, external=True)
    taken = time.monotonic() - started
    session.log(f"installed, and the demo run, in {taken:.0f} s")
    if taken > MOST_DEMO:
        session.error(f"that took more than {MOST_DEMO} s")
    session.run(str(home / "bin" / "python"), "-c", IMPORT, external=True)


IMPORT = f"""
import importlib.metadata, subprocess, sys, time

def seconds(code):
    tries = []
    for _ in range(9):
        start = time.perf_counter()
        subprocess.run([sys.executable, "-c", code], check=True)
        tries.append(time.perf_counter() - start)
    return min(tries)

installed = {{each.name for each in importlib.metadata.distributions()}} - {{"pip", "setuptools", "discreet"}}
print(f"{{len(installed)}} packages are installed with discreet")
taken = seconds("import discreet") - seconds("pass")
print(f"import discreet: {{taken:.3f}} s")
assert taken < {MOST_IMPORT}, taken
"""


def _digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()
