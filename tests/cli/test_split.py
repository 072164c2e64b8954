"""`discreet split`: two files, no word about their records; each mistake is one line, and nothing is written."""

import gzip
import json
from pathlib import Path

import pytest

from support import command

CANARY = "CANARY-7731"


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rows = "".join(f"{number},{CANARY}\n" for number in range(733))
    Path("data.csv").write_text(f"n,note\n{rows}", encoding="utf-8")
    return tmp_path


def run(*extra, status=0, data="data.csv"):
    return command.run("split", data, *extra, status=status)


def refused(*extra, **given):
    before = sorted(Path().iterdir())
    command.refused(run, *extra, secrets=(CANARY,), **given)
    assert sorted(Path().iterdir()) == before


def test_two_parts_and_no_word_about_records(here):
    shown = run("--test", "1/3", "--seed", "1")
    train, test = (Path(f"data.{name}.csv").read_text().splitlines() for name in ("train", "test"))
    assert len(train) + len(test) == 735
    assert 180 < len(test) < 310
    assert not set(train[1:]) & set(test[1:])
    for text in (shown.stdout, shown.stderr):
        assert CANARY not in text
        assert not {"733", str(len(train)), str(len(train) - 1), str(len(test)), str(len(test) - 1)} & set(text.split())
    assert "as private as the file" in shown.stdout


def test_a_compressed_file_has_compressed_parts(here):
    Path("data.csv.gz").write_bytes(gzip.compress(Path("data.csv").read_bytes()))
    found = json.loads(run("--json", data="data.csv.gz").stdout)
    assert [found["train"], found["test"]] == ["data.train.csv.gz", "data.test.csv.gz"]
    lines = [gzip.decompress(Path(found[name]).read_bytes()).splitlines() for name in ("train", "test")]
    assert sum(map(len, lines)) == 735


def test_json_names_and_force(here):
    found = json.loads(run("--json", "--out-train", "a.csv", "--out-test", "b.csv").stdout)
    assert found == {"train": "a.csv", "test": "b.csv", "probability": "1/5", "seeded": False}
    refused("--out-train", "a.csv", "--out-test", "c.csv", words=["a.csv exists", "--force"])
    run("--out-train", "a.csv", "--out-test", "b.csv", "--force")


@pytest.mark.parametrize(
    ("extra", "words"),
    [
        (["--test", "2"], ["between 0 and 1"]),
        (["--test", "many"], ["between 0 and 1"]),
        (["--seed", "-1"], ["random_state"]),
        (["--out-train", "data.csv"], ["overwrite an input"]),
        (["--out-train", "x.csv", "--out-test", "x.csv"], ["two names"]),
        (["--out-train", "x.parquet"], ["ends in .csv"]),
        (["--out-test", "nowhere/x.csv"], ["does not exist"]),
    ],
)
def test_mistakes(here, extra, words):
    refused(*extra, words=words)


def test_wrong_files(here):
    refused(data="none.csv", words=["none.csv"])
    Path("parts").mkdir()
    refused(data="parts", words=["one file at a time"])
    Path("x.txt.zip").write_bytes(b"PK")
    refused(data="x.txt.zip", words=["x.txt.zip"])
    Path("headless.csv").write_bytes(b"\n1,2\n")
    refused(data="headless.csv", words=["header"])
