"""`discreet compare`: public data, one line for each mistake, and nothing lost."""

import json
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

from discreet.cli import compare
from discreet.cli.application import CarefulGroup
from discreet.research.comparison import ResultsFile, describe, engine

app = typer.Typer(cls=CarefulGroup)
app.callback()(lambda: None)
app.command("compare")(compare.compare)

FILES = {"runs.csv", "report.html", "report.md"}
GRID = ["--data", "iris", "--models", "naive-bayes, one-rule", "--epsilons", "1", "--folds", "2"]


@pytest.fixture
def _no_pictures(monkeypatch):
    """They take longer than the runs."""
    monkeypatch.setattr(describe, "has_pictures", lambda: False)


quickly = pytest.mark.usefixtures("_no_pictures")


@pytest.fixture(autouse=True)
def _here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("DISCREET_DATA", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    for cache in (engine._loaded, engine._folds):
        cache.cache_clear()


def run(*arguments, status=0, out="out"):
    result = CliRunner().invoke(app, ["compare", *arguments, "--out", out])
    assert result.exit_code == status, (result.exit_code, result.stdout, result.stderr, result.exception)
    return result


def refused(*arguments, words, out="out"):
    result = run(*arguments, status=2, out=out)
    assert result.stdout == ""
    line = result.stderr.splitlines()[-1]
    assert line.startswith("error: ")
    for word in words:
        assert word in line, line


def test_tables_and_pictures():
    shown = run(*GRID)
    assert "public data only" in shown.stderr
    assert "Average rank" in shown.stdout
    assert "Wilcoxon" in shown.stdout
    assert "naive-bayes" in shown.stdout
    names = ("accuracy", "ranks", "p-values", "spread", "noise")
    pictures = [f"{name}.{kind}" for name in names for kind in ("png", "svg")]
    assert {path.name for path in Path("out").iterdir()} == {*FILES, *pictures}
    text = Path("out/report.md").read_text(encoding="utf-8")
    assert "iris" in text
    assert "--seed 0" in text
    page = Path("out/report.html").read_text(encoding="utf-8")
    assert page.count("<img") == len(names)
    assert "not private" in page


@quickly
def test_without_matplotlib_there_are_tables():
    assert "pip install 'discreet[plot]'" in run(*GRID).stderr
    assert {path.name for path in Path("out").iterdir()} == FILES


def test_one_model_has_nothing_to_differ_from():
    run("--data", "iris", "--models", "one-rule", "--epsilons", "1", "--folds", "2")
    assert {path.stem for path in Path("out").iterdir()} == {"runs", "report", "accuracy", "spread", "noise"}


@quickly
def test_json_is_pure_and_a_second_time_nothing_is_run():
    first = json.loads(run(*GRID, "--json").stdout)
    runs = Path("out/runs.csv").read_bytes()
    assert {cell["model"] for cell in first["cells"]} == {"majority", "naive-bayes", "one-rule"}
    assert first["failures"] == []
    assert json.loads(run(*GRID, "--json").stdout) == first
    assert Path("out/runs.csv").read_bytes() == runs


@quickly
def test_a_grid_file_is_the_same_as_flags():
    first = json.loads(run(*GRID, "--json").stdout)
    Path("grid.toml").write_text('data=["iris"]\nmodels=["naive-bayes", "one-rule"]\nepsilons=[1]\nfolds=2\n')
    assert json.loads(run("grid.toml", "--json").stdout) == first
    refused("grid.toml", "--folds", "3", words=["leave one out"])


@quickly
def test_models_of_papers_are_there_and_what_they_claim_is_said():
    families = compare.catalogue()
    assert {"naive-bayes", "one-rule", "decision-tree", "random-forest", "svm"} <= set(families)
    assert "bee-rules" not in families
    assert "Zorarpaci2019InputPerturbation" not in families
    shown = run("--data", "iris", "--models", "Lopuhaa2021NaiveBayes,one-rule", "--epsilons", "1", "--folds", "2")
    assert "Lopuhaa2021NaiveBayes is what the paper claims" in shown.stderr
    assert "what the paper claims" in Path("out/report.md").read_text(encoding="utf-8")
    assert "paper" not in run(*GRID).stderr


@quickly
def test_rows_of_another_version_are_kept_and_named(monkeypatch):
    with monkeypatch.context() as older:
        older.setattr(compare, "__version__", "0.0.1")
        run(*GRID)
    before = Path("out/runs.csv").read_text()
    assert "10 runs in out/runs.csv are of another version" in run(*GRID).stderr
    assert Path("out/runs.csv").read_text().startswith(before)


@quickly
def test_an_interruption_says_how_to_go_on(monkeypatch):
    original, told = engine.measure, []

    def slow(run, *rest):
        told.append(run)
        if len(told) == 5:
            raise KeyboardInterrupt
        return original(run, *rest)

    monkeypatch.setattr(engine, "measure", slow)
    assert "goes on from there" in run(*GRID, status=130).stderr
    assert len(ResultsFile("out/runs.csv").read()) == 4
    run(*GRID)
    assert len(told) == 5 + 6


@quickly
def test_a_model_that_fails_is_named(monkeypatch):
    original = engine.measure

    def broken(run, *rest):
        if run.model == "one-rule":
            raise ZeroDivisionError("by nothing")
        return original(run, *rest)

    monkeypatch.setattr(engine, "measure", broken)
    shown = run(*GRID, "--json")
    assert "2 runs failed: one-rule at epsilon 1 on iris: ZeroDivisionError: by nothing" in shown.stderr.replace(
        "\n", " "
    )
    assert len(json.loads(shown.stdout)["failures"]) == 4
    assert "4 runs failed and are left out" in Path("out/report.md").read_text(encoding="utf-8")


def test_mistakes_are_one_line_that_lists_what_is_known():
    refused("--models", "one-rule", "--epsilons", "1", words=["--data"])
    refused(words=["--data"])
    refused("--data", "nowhere", *GRID[2:], words=["'nowhere'", "iris", "wine", "--directory"])
    assert "download" not in run("--data", "nowhere", *GRID[2:], status=2).stderr
    refused(*GRID[:2], "--models", "magic", *GRID[4:], words=["'magic'", "naive-bayes", "Lopuhaa2021NaiveBayes"])
    refused(*GRID[:4], "--epsilons", "0", words=["epsilon"])
    refused(*GRID[:6], "--folds", "1", words=["folds"])
    refused(*GRID, "--directory", "none", words=["none", "folder"])
    refused("none.toml", words=["none.toml"])
    Path("out").mkdir(exist_ok=True)
    Path("out/runs.csv").write_text("a,b\n1,2\n")
    refused(*GRID, words=["another version", "this one was not changed"])
    assert Path("out/runs.csv").read_text() == "a,b\n1,2\n"


def test_a_mistake_leaves_no_folder():
    refused("--data", "nowhere", *GRID[2:], words=["'nowhere'"])
    refused(*GRID[:2], "--models", "svm(huber=-1)", *GRID[4:], words=["svm(huber=-1) on iris", "huber"])
    assert not Path("out").exists()


@quickly
def test_models_with_parameters_are_models_of_their_own():
    models = "naive-bayes, naive-bayes( select = auto,bins=4), Zorarpaci2019OneRule(bins=3)"
    shown = run("--data", "iris", "--models", models, "--epsilons", "1", "--folds", "2", "--json")
    names = ["majority", "naive-bayes", "naive-bayes(bins=4,select=auto)", "Zorarpaci2019OneRule(bins=3)"]
    assert list(dict.fromkeys(cell["model"] for cell in json.loads(shown.stdout)["cells"])) == names
    assert "Zorarpaci2019OneRule(bins=3) is what the paper claims" in shown.stderr.replace("\n", " ")
    refused(*GRID[:2], "--models", "naive-bayes(bin=4)", *GRID[4:], words=["'bin=4'", "bins=...", "select=..."])
    refused(*GRID[:2], "--models", "naive-bayes(bins=4", *GRID[4:], words=["naive-bayes(bins=4"])
    refused(*GRID[:2], "--models", "svm,svm()", *GRID[4:], words=["twice"])


@quickly
def test_runs_of_others_are_shown_beside():
    run(*GRID)
    rows = Path("out/runs.csv").read_text().replace("naive-bayes", "rival").replace("one-rule", "idle rival")
    Path("rivals.csv").write_text(rows)
    found = json.loads(run(*GRID, "--beside", "rivals.csv", "--json").stdout)
    means = {(cell["model"], cell["epsilon"]): cell["mean"] for cell in found["cells"]}
    assert means["rival", "1"] == means["naive-bayes", "1"]
    assert means["idle rival", "inf"] == means["one-rule", "inf"]
    assert found["average_ranks"].keys() == {"naive-bayes", "one-rule", "rival", "idle rival"}
    for changed in (["--folds", "3"], ["--folds", "2", "--seed", "1"], ["--folds", "2", "--adjacency", "replace-one"]):
        refused(*GRID[:6], *changed, "--beside", "rivals.csv", words=["rivals.csv has no run that pairs with"])
    refused(*GRID[:4], "--epsilons", "2", "--folds", "2", "--data", "wine", "--beside", "rivals.csv", words=["pair"])
    refused(*GRID, "--beside", "none.csv", words=["none.csv"])
    refused(*GRID, "--beside", "out", words=["out is a folder"])
    refused(
        *GRID,
        "--beside",
        "out/runs.csv",
        words=["have names of models that this comparison runs itself", "(naive-bayes, one-rule)"],
    )
    for text in ("", rows.splitlines()[0] + "\n"):
        Path("empty.csv").write_text(text)
        refused(*GRID, "--beside", "empty.csv", words=["empty.csv is empty"])


@quickly
def test_runs_as_parquet():
    pyarrow = pytest.importorskip("pyarrow.parquet")
    run(*GRID, "--parquet")
    rows = pyarrow.read_table("out/runs.parquet").to_pylist()
    kept = ResultsFile("out/runs.csv").read()
    assert {(row["model"], row["epsilon"], row["fold"], row["accuracy"]) for row in rows} == {
        (run.model, run.epsilon, run.fold, measured.accuracy) for (run, _), measured in kept.items()
    }
    assert len(rows) == len(kept)
    assert {path.name for path in Path("out").iterdir()} == {*FILES, "runs.parquet"}


def test_help_has_examples():
    shown = CliRunner().invoke(app, ["compare", "--help"]).stdout
    assert "discreet compare grid.toml" in shown
    assert "public data only" in " ".join(shown.split())


def test_a_file_and_an_empty_name_are_no_folder():
    Path("afile").write_text("x")
    for out in ("afile", "afile/below"):
        refused(*GRID, out=out, words=["afile is a file; need a folder"])
    refused(*GRID, out="", words=["--out", "name is empty"])
    assert [path.name for path in Path().iterdir()] == ["afile"]


@quickly
def test_fewer_processes_than_asked_are_named(monkeypatch):
    monkeypatch.setattr(engine, "processors", lambda: 1)
    assert "1 of 1000 processes were used" in run(*GRID, "--jobs", "1000").stderr
    assert "processes" not in run(*GRID, "--jobs", "1000").stderr, "nothing was missing"


def table(folder, labels, name="visits"):
    """A folder with one data set of an attribute and these labels."""
    folder.mkdir(exist_ok=True)
    lines = ["x,kind", *(f"{place % 5},{label}" for place, label in enumerate(labels))]
    (folder / f"{name}.csv").write_text("\n".join(lines) + "\n")
    columns = [
        {"name": "x", "kind": "numeric", "lower": 0, "upper": 5},
        {"name": "kind", "kind": "categorical", "categories": ["a", "b"]},
    ]
    (folder / "schemas.json").write_text(json.dumps({name: {"target": "kind", "columns": columns}}))
    for cache in (engine._loaded, engine._folds):
        cache.cache_clear()


OWN = ["--data", "visits", "--models", "one-rule", "--epsilons", "1", "--folds", "2", "--directory", "secret-place"]


@quickly
def test_rows_of_other_records_are_kept_and_named():
    table(Path("secret-place"), "ab" * 10)
    assert "other records" not in run(*OWN).stderr
    table(Path("secret-place"), "ab" * 11)
    assert "6 runs in out/runs.csv were made with other records of the same name; kept, and not" in run(*OWN).stderr
    assert len(ResultsFile("out/runs.csv").read()) == 12


@quickly
def test_a_report_says_which_records_and_never_where_they_were():
    table(Path("secret-place"), "ab" * 10 + "?")
    run(*OWN)
    text = Path("out/report.md").read_text(encoding="utf-8")
    assert "--directory DIR" in text
    assert "secret-place" not in text + Path("out/report.html").read_text(encoding="utf-8")
    digest = engine.data_hash("visits", "secret-place")
    (row,) = [line for line in text.splitlines() if digest in line]
    assert [cell.strip() for cell in row.strip("|").split("|")] == ["visits", "21", "1", digest]
    assert text.index(digest) < text.index("one-rule |")
    run(*GRID)
    assert "--directory" not in Path("out/report.md").read_text(encoding="utf-8")


@quickly
def test_records_without_a_class_are_named_and_without_any_refused():
    table(Path("secret-place"), "ab" * 10 + "???")
    assert "3 of 23 records of visits have no known class" in run(*OWN).stderr
    table(Path("secret-place"), "a" * 10)
    assert "all records of visits have the same class" in run(*OWN).stderr
    table(Path("secret-place"), "?" * 10)
    refused(*OWN, words=["'visits'", "none of its 10 records", "'kind'"], out="new")
    table(Path("secret-place"), "")
    refused(*OWN, words=["visits"], out="new")
    table(Path("secret-place"), "ab" * 2 + "?" * 10)
    refused(*OWN[:6], "--folds", "3", *OWN[8:], words=["need at most 2"], out="new")
    assert not Path("new").exists()


def test_pictures_of_an_earlier_run_do_not_stay():
    run(*GRID)
    Path("out/own.png").write_text("of the user")
    run("--data", "iris", "--models", "one-rule", "--epsilons", "1", "--folds", "2")
    names = {path.stem for path in Path("out").iterdir()}
    assert names == {"runs", "report", "accuracy", "spread", "noise", "own"}
