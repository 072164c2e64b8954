"""Versions of packages that a guarantee rests on: those outside the tested range are refused before a charge."""

import re
import tomllib
from pathlib import Path

import pytest

from discreet import Ledger, NaiveBayes, datasets
from discreet.errors import UntestedVersion
from discreet.privacy import opendp_sampler
from discreet.records.tested_versions import TESTED, check_version
from support.clinic import CLINIC, ill
from support.command import refused, run, write_csv

PROJECT = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text(encoding="utf-8"))


def requirements():
    project = PROJECT["project"]
    for group in (
        project["dependencies"],
        *project["optional-dependencies"].values(),
        *PROJECT["dependency-groups"].values(),
    ):
        yield from group


def test_the_range_is_that_of_the_project():
    """What pip installs is what is allowed at run time: neither bound can be moved alone."""
    named = {package: set() for package in TESTED}
    for requirement in requirements():
        package, bounds = re.fullmatch(r"([\w.-]+)(?:\[.*\])?(.*)", requirement).groups()
        if package in TESTED:
            named[package].add(bounds)
    assert named == {package: {f">={oldest},<{beyond}"} for package, (oldest, beyond) in TESTED.items()}


@pytest.mark.parametrize(
    ("package", "version", "allowed"),
    [
        ("pandas", "2.2.3", False),
        ("pandas", "2.3.0", True),
        ("pandas", "3.1.1", True),
        ("pandas", "3.2.0rc1", True),
        ("pandas", "4.0.0rc1", False),
        ("pandas", "10.0", False),
        ("opendp", "0.9.0", False),
        ("opendp", "0.13.0", True),
        ("opendp", "0.16.0", True),
        ("opendp", "0.17.0.dev3", False),
        ("duckdb", "2.0.0", True),
        ("duckdb", "3.0.0", False),
        ("polars", "unknown", False),
        ("somebody", "0.1", True),
    ],
)
def test_a_version_is_compared_by_its_numbers(package, version, allowed):
    if allowed:
        check_version(package, version)
    else:
        with pytest.raises(UntestedVersion, match=f"{package} {version} .*; pip install '{package}>="):
            check_version(package, version)


@pytest.mark.parametrize("library", ["pandas", "polars"])
@pytest.mark.parametrize("only", ["columns", "labels"])
def test_a_frame_of_an_untested_version_is_refused_before_the_charge(monkeypatch, library, only):
    module = pytest.importorskip(library)
    X, y, schema = datasets.load("iris")
    X = module.DataFrame(X) if only == "columns" else X
    y = module.Series(list(y)) if only == "labels" else y
    ledger = Ledger(1)
    with monkeypatch.context() as newer:
        newer.setattr(module, "__version__", "99.0.0")
        with pytest.raises(UntestedVersion, match=f"{library} 99.0.0 was not tested"):
            NaiveBayes(schema, epsilon=1).fit(X, y, ledger=ledger)
    assert ledger.remaining == 1
    NaiveBayes(schema, epsilon=1).fit(X, y, ledger=ledger)


@pytest.fixture
def here(tmp_path, monkeypatch):
    """A table, its schema, a model of it, and an invitation to a federation."""
    monkeypatch.chdir(tmp_path)
    CLINIC.save("s.json")
    table = ill(300, 0)
    write_csv(Path("t.csv"), [list(table), *zip(*table.values(), strict=True)])
    run("train", "t.csv", "--schema", "s.json", "--epsilon", "1", "--model", "naive-bayes", "--out", "m.json")
    parties = [word for name in ("north", "south", "west") for word in ("--party", name)]
    run("federated", "invite", "--schema", "s.json", "--epsilon", "1", *parties, "--out", "i.json")
    opendp_sampler.check_opendp.cache_clear()  # as in a process that has charged nothing yet
    yield
    opendp_sampler.check_opendp.cache_clear()


PAYING = {
    "train": "train t.csv --schema s.json --epsilon 1 --out n.json",
    "score": "score m.json t.csv --epsilon 1",
    "count": "count t.csv --schema s.json --epsilon 1",
    "perturb": "perturb t.csv --schema s.json --epsilon 1 --adjacency replace-one --out p.csv",
    "federated answer": "federated answer i.json t.csv --party north --out a.msg",
}


@pytest.mark.parametrize("command", PAYING)
def test_commands_with_an_untested_opendp_charge_and_write_nothing(here, monkeypatch, command):
    """Its twin: the same command with the tested version is charged."""
    words = [*PAYING[command].split(), "--ledger", "l.jsonl"]
    Ledger(1, "l.jsonl")
    with monkeypatch.context() as newer:
        newer.setattr(opendp_sampler, "_version", lambda: "0.17.0")
        refused(run, *words, words=["opendp 0.17.0 was not tested", "pip install 'opendp>=0.13,<0.17'"])
    assert Ledger.open("l.jsonl").remaining == 1
    assert "1 of 1 spent" in run(*words).stdout + run("budget", "show", "l.jsonl").stdout


@pytest.mark.parametrize("version", ["1.9.9", "3.0.0"])
def test_commands_with_an_untested_duckdb_charge_and_write_nothing(here, monkeypatch, version):
    duckdb = pytest.importorskip("duckdb")
    with duckdb.connect("t.duckdb") as connection:
        connection.execute("CREATE TABLE t AS FROM read_csv('t.csv')")
    model = ["train", "t.duckdb", "--table", "t", "--schema", "s.json", "--epsilon", "1", "--out", "n.json"]
    answer = ["federated", "answer", "i.json", "t.duckdb", "--table", "t", "--party", "north", "--out", "a.msg"]
    for words in (model, answer):
        given = [*words, "--ledger", f"{words[0]}.jsonl", "--limit", "1"]
        with monkeypatch.context() as other:
            other.setattr(duckdb, "__version__", version)
            refused(run, *given, words=["duckdb", "pip install"])
        run(*given)
