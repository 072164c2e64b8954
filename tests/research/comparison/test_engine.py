"""Runs: the same folds for all, rows as they end, resumed by content, nothing lost."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from sklearn.model_selection import StratifiedKFold

import discreet
from discreet import NaiveBayes, OneRule, datasets
from discreet.errors import DataError, FileError, ParameterError
from discreet.research.comparison import Grid, Measured, ResultsFile, compare, engine
from discreet.research.comparison.engine import scored
from discreet.research.comparison.grid import Run
from discreet.research.comparison.results import COLUMNS, EARLIER, Content

MODELS = {"naive-bayes": NaiveBayes, "one-rule": OneRule}


@pytest.fixture(autouse=True)
def _no_folder(monkeypatch, tmp_path):
    """Built-in data only, whatever the environment says."""
    monkeypatch.delenv("DISCREET_DATA", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    engine._loaded.cache_clear()
    engine._folds.cache_clear()


def grid(**changes):
    entries = {"data": ["iris"], "models": list(MODELS), "epsilons": [1], "folds": 2, "repeats": 2, **changes}
    return Grid(**entries)


def run(path, models=MODELS, version="1", **changes):
    options = {key: changes.pop(key) for key in ("progress", "jobs", "directory") if key in changes}
    return compare(grid(**changes), models, ResultsFile(path), version=version, **options)


class Counted:
    """A model that always answers one class, and counts its fits."""

    fits = 0
    stop_at = None
    seen: list = []  # noqa: RUF012

    def __init__(self, schema, *, epsilon, random_state):
        self.schema, self.epsilon = schema, epsilon

    def fit(self, X, y):
        if type(self).fits == type(self).stop_at:
            raise KeyboardInterrupt
        type(self).fits += 1
        self.seen.append((self.epsilon, tuple(X["sepal_length"].tolist())))
        return self

    def predict(self, X):
        return np.full(len(X["sepal_length"]), "setosa", dtype=object)


@pytest.fixture
def counted():
    return type("Fresh", (Counted,), {"fits": 0, "stop_at": None, "seen": []})


def test_the_accuracies_are_those_of_the_models(tmp_path):
    found = run(tmp_path / "r.csv")
    X, y, schema = datasets.load("iris")
    assert len(found.measured) == 2 * 2 * 5
    for each, measured in found.measured.items():
        splits = StratifiedKFold(2, shuffle=True, random_state=each.repeat).split(np.zeros(len(y)), y.astype(str))
        train, test = list(splits)[each.fold]
        if each.model == "majority":
            continue
        model = MODELS[each.model](schema, epsilon=float(each.epsilon), random_state=each.noise_seed())
        model.fit({name: values[train] for name, values in X.items()}, y[train])
        assert measured.accuracy == model.score({name: values[test] for name, values in X.items()}, y[test])


def test_models_and_epsilons_see_the_same_folds(tmp_path, counted):
    other = type("Other", (counted,), {"seen": []})
    run(tmp_path / "r.csv", {"naive-bayes": counted, "one-rule": other}, epsilons=[0.1, 1])
    folds = {rows for _, rows in counted.seen}
    assert folds == {rows for _, rows in other.seen}
    assert len(folds) == 4
    assert len(counted.seen) == 4 * 3


def test_the_largest_class_is_that_of_the_training_records(tmp_path):
    found = run(tmp_path / "r.csv", data=["wine"], epsilons=["inf"])
    scores = [measured.accuracy for each, measured in found.measured.items() if each.model == "majority"]
    assert np.mean(scores) == pytest.approx(71 / 178, abs=0.01)


def test_the_largest_class_is_not_looked_up_in_the_test_records(tmp_path, monkeypatch):
    """All setosa and some versicolor to train on; the rest, mostly virginica, to test on."""
    monkeypatch.setattr(engine, "_folds", lambda *_: [(np.arange(60), np.arange(60, 150))] * 2)
    found = run(tmp_path / "r.csv")
    assert {measured.accuracy for each, measured in found.measured.items() if each.model == "majority"} == {0.0}


def test_a_comparison_that_was_interrupted_goes_on(tmp_path, counted):
    models = {"naive-bayes": counted, "one-rule": counted}
    counted.stop_at = 7
    with pytest.raises(KeyboardInterrupt):
        run(tmp_path / "r.csv", models)
    before = (tmp_path / "r.csv").read_text()
    rows = ResultsFile(tmp_path / "r.csv").read()
    assert len(rows) == 7 + 2
    counted.stop_at, told = None, []
    found = run(tmp_path / "r.csv", models, progress=lambda *numbers: told.append(numbers))
    assert counted.fits == 16
    assert (tmp_path / "r.csv").read_text().startswith(before)
    assert told == [(done, 20) for done in range(9, 21)]
    assert found.measured.keys() == dict.fromkeys(grid().runs()).keys()
    run(tmp_path / "r.csv", models)
    assert counted.fits == 16


def test_a_comparison_that_was_killed_goes_on(tmp_path):
    """The process ends in the middle of a fit, without a chance to tidy up; and a line is torn by hand."""
    code = """
import os, signal, sys
from discreet import NaiveBayes, OneRule
from discreet.research.comparison import Grid, ResultsFile, compare
class Deadly(OneRule):
    fits = 0
    def fit(self, X, y):
        Deadly.fits += 1
        if Deadly.fits == 4:
            os.kill(os.getpid(), signal.SIGKILL)
        return super().fit(X, y)
grid = Grid(["iris"], ["naive-bayes", "one-rule"], [1], folds=2, repeats=2)
compare(grid, {"naive-bayes": NaiveBayes, "one-rule": Deadly}, ResultsFile(sys.argv[1]), version="1")
"""
    path = tmp_path / "r.csv"
    environment = {**os.environ, "PYTHONPATH": str(Path(discreet.__file__).parents[1])}
    done = subprocess.run([sys.executable, "-c", code, str(path)], env=environment, check=False)
    assert done.returncode == -9
    kept = path.read_text()
    assert kept.count("\n") == 1 + 9
    path.write_text(kept + "iris,one-rule,1,add-rem")
    resumed, whole = run(path), run(tmp_path / "whole.csv")
    assert path.read_text().startswith(kept)
    assert path.read_text().count("\n") == 21
    accuracies = [{each: m.accuracy for each, m in found.measured.items()} for found in (resumed, whole)]
    assert accuracies[0] == accuracies[1]


def test_a_torn_header_is_written_again(tmp_path):
    path = tmp_path / "r.csv"
    path.write_text(",".join(COLUMNS)[:20])
    run(path)
    assert path.read_text().count("\n") == 21
    assert path.read_text().startswith(",".join(COLUMNS) + "\n")


def test_rows_of_another_version_stay_and_do_not_count(tmp_path, counted):
    models = {"naive-bayes": counted, "one-rule": counted}
    run(tmp_path / "r.csv", models, version="1")
    before = (tmp_path / "r.csv").read_text()
    found = run(tmp_path / "r.csv", models, version="2")
    assert counted.fits == 32
    assert found.of_other_versions == 20
    assert (tmp_path / "r.csv").read_text().startswith(before)
    assert run(tmp_path / "r.csv", models, version="1").of_other_versions == 20
    assert counted.fits == 32


def test_rows_of_other_data_do_not_count(tmp_path, counted, monkeypatch):
    models = {"naive-bayes": counted, "one-rule": counted}
    run(tmp_path / "r.csv", models)
    X, y, schema = datasets.load("iris")
    changed = {name: values.copy() for name, values in X.items()}
    changed["petal_width"][3] += 0.1
    monkeypatch.setattr(datasets, "load", lambda *_: (changed, y, schema))
    engine._loaded.cache_clear()
    found = run(tmp_path / "r.csv", models)
    assert counted.fits == 32
    assert (found.of_other_data, found.of_other_versions) == (20, 0)
    newer = run(tmp_path / "r.csv", models, version="2")
    assert (newer.of_other_data, newer.of_other_versions) == (0, 40), "none is counted twice"
    assert run(tmp_path / "r.csv", models, data=["wine"], epsilons=["inf"]).of_other_data == 0


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("data,model,accuracy\niris,a,0.5\n", "another version"),
        ("something else", "not a file of runs"),
        (",".join(COLUMNS) + "\niris,a,1\n", "line 2"),
        (",".join(COLUMNS) + "\niris,a,1,add-remove,2,0,0,x,1,h,0.5,0,0\n", "line 2"),
        (",".join(COLUMNS) + "\niris,a,1,add-remove,2,0,0,0,1,h,1.5,0,0\n", "line 2"),
    ],
)
def test_a_file_that_is_none_of_ours_is_left_alone(tmp_path, text, word):
    path = tmp_path / "r.csv"
    path.write_text(text)
    with pytest.raises(FileError, match=word):
        run(path)
    with pytest.raises(FileError, match=word), ResultsFile(path).appending():
        pass
    assert path.read_text() == text


def test_two_comparisons_do_not_write_at_once(tmp_path):
    results = ResultsFile(tmp_path / "r.csv")
    with results.appending(), pytest.raises(FileError, match="in use"):
        run(tmp_path / "r.csv")


def test_rows_are_read_as_they_were_written(tmp_path):
    results, (each, *_) = ResultsFile(tmp_path / "r.csv"), grid(data=["a,b"]).runs()
    with results.appending() as file:
        file.add(each, Content("1", "h"), Measured(2 / 3, 0.5, 0.25))
    ((key, measured),) = results.read().items()
    assert key == (each, Content("1", "h"))
    assert measured[:3] == pytest.approx((2 / 3, 0.5, 0.25), abs=1e-8)
    assert measured[3:] == (None, None)


@pytest.mark.parametrize("error", [DataError("no such luck"), ZeroDivisionError("no such luck")])
def test_a_model_that_fails_does_not_stop_the_others(tmp_path, counted, error):
    def fit(self, X, y):
        raise error

    broken = type("Broken", (counted,), {"fit": fit})
    found = run(tmp_path / "r.csv", {"naive-bayes": counted, "one-rule": broken})
    assert len(found.measured) == 12
    assert {failure.run.model for failure in found.failures} == {"one-rule"}
    assert all("no such luck" in failure.message for failure in found.failures)
    assert len(ResultsFile(tmp_path / "r.csv").read()) == 12


def test_unknown_names_and_numbers(tmp_path):
    with pytest.raises(ParameterError, match="'nothing' is not known; need some of: naive-bayes, one-rule"):
        compare(grid(models=["nothing"]), MODELS, ResultsFile(tmp_path / "r.csv"), version="1")
    with pytest.raises(ParameterError, match=r"'nowhere' is not known; need one of: .*iris"):
        run(tmp_path / "r.csv", data=["nowhere"])
    with pytest.raises(FileError, match="not a folder"):
        run(tmp_path / "r.csv", directory=str(tmp_path / "none"))
    with pytest.raises(ParameterError, match="need at most 50"):
        run(tmp_path / "r.csv", folds=51)
    with pytest.raises(ParameterError, match="jobs"):
        run(tmp_path / "r.csv", jobs=0)
    assert not (tmp_path / "r.csv").exists()


def test_the_adjacency_reaches_the_model(tmp_path, counted):
    seen = []
    original = counted.fit
    counted.fit = lambda self, X, y: seen.append(self.schema.adjacency.value) or original(self, X, y)
    run(tmp_path / "r.csv", {"naive-bayes": counted, "one-rule": counted}, adjacency="replace-one")
    assert set(seen) == {"replace-one"}


@pytest.mark.slow
def test_processes_find_the_same(tmp_path):
    one, two = run(tmp_path / "one.csv"), run(tmp_path / "two.csv", jobs=2)
    accuracies = [{each: m.accuracy for each, m in found.measured.items()} for found in (one, two)]
    assert accuracies[0] == accuracies[1]
    assert list(accuracies[0]) == list(accuracies[1])


@pytest.mark.parametrize(("jobs", "processors", "used"), [(1000, 3, 3), (1000, 64, 20), (2, 64, 2), (1, 64, 1)])
def test_no_more_processes_than_processors_and_runs(tmp_path, monkeypatch, jobs, processors, used):
    asked = []

    def outcomes(runs, models, directory, jobs):
        asked.append(jobs)
        return ((each, Measured(0.5, 0.0, 0.0)) for each in runs)

    monkeypatch.setattr(engine, "processors", lambda: processors)
    monkeypatch.setattr(engine, "_outcomes", outcomes)
    assert run(tmp_path / "r.csv", jobs=jobs).processes == used
    assert run(tmp_path / "r.csv", jobs=jobs).processes == 0
    assert asked == [used]


def test_there_are_processors():
    assert 1 <= engine.processors() <= (os.cpu_count() or 1)


def test_files_of_earlier_versions_are_read_and_get_the_new_columns(tmp_path):
    path = tmp_path / "runs.csv"
    old = Run("iris", "a", "1", "add-remove", 2, 0, 0, 0)
    path.write_text(f"{','.join(EARLIER)}\niris,a,1,add-remove,2,0,0,0,0.9,h,0.5,0.1,0.1\n", encoding="utf-8")
    results = ResultsFile(path)
    assert results.read() == {(old, Content("0.9", "h")): Measured(0.5, 0.1, 0.1)}
    new = old._replace(fold=1)
    with results.appending() as file:
        file.add(new, Content("1", "h"), Measured(0.5, 0.1, 0.1, 0.25, 0.0))
        file.add(new._replace(fold=2), Content("1", "h"), Measured(0.5, 0.1, 0.1, 0.25, None))
    rows = results.read()
    assert rows[old, Content("0.9", "h")] == Measured(0.5, 0.1, 0.1)
    assert rows[new, Content("1", "h")] == Measured(0.5, 0.1, 0.1, 0.25, 0.0)
    assert path.read_text().splitlines()[0] == ",".join(COLUMNS)


def test_the_rarest_class_and_the_mean_of_all():
    every = np.array([0] * 50 + [1] * 5 + [2] * 20 + [4])  # class 3 does not occur; 4 stands for no class
    found = scored(np.array([0, 0, 0, 2]), np.array([0, 0, 1, 2]), every, 4)
    assert found.accuracy == 0.75
    assert found.balanced_accuracy == pytest.approx(2 / 3)
    assert found.rarest_recall == 0
    assert scored(np.array([0]), np.array([0]), every, 4).rarest_recall is None
    assert scored(np.array([], dtype=int), np.array([], dtype=int), every, 4).balanced_accuracy == 0
