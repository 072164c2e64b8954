"""Data sets: built in, from a folder, and the messages when one is not there."""

import hashlib
import json
import types
from pathlib import Path

import numpy as np
import pytest

from discreet import NaiveBayes, datasets
from discreet.errors import FileError, ParameterError


@pytest.fixture(autouse=True)
def _nowhere(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("DISCREET_DATA", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    where = tmp_path / "data"
    where.mkdir()
    content = b"x,part,kind\n1,train,a\n2,test,b\n"
    (where / "tiny.csv").write_bytes(content)
    columns = [
        {"name": "x", "kind": "numeric", "lower": 0, "upper": 5},
        {"name": "part", "kind": "categorical", "categories": ["train", "test"]},
        {"name": "kind", "kind": "categorical", "categories": ["a", "b"]},
    ]
    entry = {"target": "kind", "rows": 2, "split_column": "part", "columns": columns}
    entry["sha256"] = hashlib.sha256(content).hexdigest()
    (where / "schemas.json").write_text(json.dumps({"tiny": entry}))
    return where


@pytest.mark.parametrize("name", datasets.BUILT_IN)
def test_built_in(name: str) -> None:
    X, y, schema = datasets.load(name)
    assert list(X) == schema.names
    assert schema.is_public
    assert set(y) == set(schema.classes)
    assert len(y) == schema.records
    for column in schema.columns:
        inside = (X[column.name] >= column.lower) & (X[column.name] <= column.upper)
        assert inside.mean() > 0.99
        assert column.lower == float(f"{column.lower:.2g}")
        assert column.upper == float(f"{column.upper:.2g}")
    model = NaiveBayes(schema, epsilon=float("inf")).fit(X, y)
    assert model.score(X, y) > 0.85


def test_a_folder(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for _ in range(2):
        X, y, schema = datasets.load("tiny", folder)
        assert sorted(X) == ["part", "x"]
        assert y.tolist() == ["a", "b"]
        assert (schema.target, schema.ignore) == ("kind", ("part",))
    monkeypatch.setenv("DISCREET_DATA", str(folder))
    assert datasets.load("tiny")[1].tolist() == ["a", "b"]
    assert len(datasets.load("iris")[1]) == 150


def test_the_cache_is_a_folder_too(folder: Path) -> None:
    datasets.cache_folder().parent.mkdir()
    folder.rename(datasets.cache_folder())
    assert datasets.load("tiny")[1].tolist() == ["a", "b"]


def test_damage_is_an_error(folder: Path) -> None:
    (folder / "tiny.csv").write_bytes(b"x,part,kind\n1,train,b\n2,test,b\n")
    with pytest.raises(FileError, match=r"tiny.csv was altered or damaged"):
        datasets.load("tiny", folder)
    (folder / "tiny.csv").unlink()
    with pytest.raises(FileError, match="cannot read"):
        datasets.load("tiny", folder)


def test_an_unknown_name_lists_the_known(folder: Path) -> None:
    with pytest.raises(ParameterError, match="'nothing' is not known; need one of: breast-cancer, digits, iris, tiny"):
        datasets.load("nothing", folder)
    with pytest.raises(FileError, match="not a folder"):
        datasets.load("iris", folder / "absent")


def test_openml_only_if_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    pd = pytest.importorskip("pandas")
    asked = []

    def fetch(name: str, **options: object) -> types.SimpleNamespace:
        asked.append(name)
        frame = pd.DataFrame({"x": np.arange(20.0), "w": ["a", "b"] * 10})
        return types.SimpleNamespace(data=frame, target=pd.Series(["u", "v"] * 10, name="t"))

    monkeypatch.setattr("sklearn.datasets.fetch_openml", fetch)
    with pytest.raises(ParameterError):
        datasets.load("credit-g")
    assert not asked
    X, y, schema = datasets.load("credit-g", download=True)
    assert asked == ["credit-g"]
    assert (sorted(X), len(y), schema.target) == (["w", "x"], 20, "t")
    assert not schema.is_public

    def fail(name: str, **options: object) -> None:
        raise OSError("no network, and a record: 4711")

    monkeypatch.setattr("sklearn.datasets.fetch_openml", fail)
    with pytest.raises(FileError, match=r"check the name and the network") as caught:
        datasets.load("credit-g", download=True)
    assert "4711" not in str(caught.value)
