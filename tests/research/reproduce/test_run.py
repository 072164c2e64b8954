"""Running a study: what is there is not run again, absent data are named, and the command writes the report."""

import json
import sys
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

from discreet import NaiveBayes, OneRule
from discreet.cli import reproduce as command
from discreet.cli.application import CarefulGroup
from discreet.errors import ParameterError
from discreet.research import reproduce
from discreet.research.comparison import Grid, engine
from discreet.research.report import Paragraph, ReportTable, Section
from discreet.research.reproduce import STUDIES, Study, run
from discreet.research.reproduce.study import Experiment

app = typer.Typer(cls=CarefulGroup)
app.callback()(lambda: None)
app.command("reproduce")(command.reproduce)


class Small(Study):
    """Two experiments on small data; one needs data that may be absent."""

    name = "small2000"
    title = "A small paper"

    def experiments(self, full, directory=None):
        grid = Grid(["iris", *(["nowhere"] if full else [])], ["nb"], [1], folds=2)
        rule = Grid(["iris"], ["rule"], ["inf"], folds=2, seed=3)
        return [Experiment("first part", grid, {"nb": NaiveBayes}), Experiment("second", rule, {"rule": OneRule})]

    def sections(self, context):
        rows = [[cell.model, cell.epsilon, f"{cell.mean:.3f}"] for own in context.found.values() for cell in own]
        return [Section("All", [Paragraph("Text."), ReportTable("t", ["model", "ε", "mean"], rows, context.origin)])]

    def checks(self, context):
        return {"naive Bayes is better than nothing": max(cell.mean for cell in context.found["first part"]) > 0.5}


@pytest.fixture(autouse=True)
def _here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("DISCREET_DATA", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    for cache in (engine._loaded, engine._folds):
        cache.cache_clear()


def test_runs_are_kept_and_not_made_again():
    told = []
    first = run.reproduce(Small(), "out", version="1", progress=lambda *each: told.append(each))
    assert {path.name for path in Path("out").iterdir()} == {"first-part.csv", "second.csv"}
    assert told[0] == ("first part", 0, 6)
    assert told[-1] == ("second", 4, 4)
    told.clear()
    again = run.reproduce(Small(), "out", version="1", progress=lambda *each: told.append(each))
    assert told == [("first part", 6, 6), ("second", 4, 4)]
    assert again.found == first.found
    assert first.checks == {"naive Bayes is better than nothing": True}
    assert first.document.title == "A small paper"
    assert first.document.origin == "discreet 1: discreet reproduce small2000 --out FOLDER; seed 0, 3"
    assert "a seeded model has no guarantee" in first.document.notices[1]
    assert "Quick mode" in first.document.notices[2]


def test_absent_data_are_left_out_and_named():
    found = run.reproduce(Small(), "out", version="1", full=True)
    assert found.absent == ["nowhere"]
    assert "nowhere" in found.document.notices[-1]
    assert "--full" in found.document.origin
    assert {cell.data for cell in found.found["first part"]} == {"iris"}


def test_nothing_to_run_is_an_error_that_names_the_data():
    class Absent(Small):
        def experiments(self, full, directory=None):
            return [Experiment("x", Grid(["nowhere"], ["nb"], [1]), {"nb": NaiveBayes})]

    with pytest.raises(ParameterError, match="small2000 needs the data sets nowhere"):
        run.reproduce(Absent(), "out", version="1")
    assert not Path("out").exists()


def test_cells_survive_a_file():
    found = run.reproduce(Small(), "out", version="1").found
    run.write_cells(found, Path("cells.csv"))
    assert run.read_cells(Path("cells.csv")) == found


def invoke(*arguments, status=0):
    result = CliRunner().invoke(app, ["reproduce", *arguments])
    assert result.exit_code == status, (result.exit_code, result.stdout, result.stderr, result.exception)
    return result


def test_the_command_writes_a_report(monkeypatch):
    monkeypatch.setitem(reproduce.STUDIES, "small2000", Small)
    shown = invoke("small2000", "--out", "out")
    assert "not private" in shown.stderr
    assert "✓" in shown.stdout
    names = {"report.html", "report.md", "cells.csv", "first-part.csv", "second.csv"}
    assert {path.name for path in Path("out").iterdir()} == names
    content = json.loads(invoke("small2000", "--out", "out", "--json").stdout)
    assert content["checks"] == {"naive Bayes is better than nothing": True}
    assert content["failures"] == []
    assert {cell["model"] for cell in content["cells"]["second"]} == {"majority", "rule"}


def test_an_interruption_says_how_to_go_on(monkeypatch):
    def interrupted(*arguments, **options):
        raise KeyboardInterrupt

    monkeypatch.setitem(reproduce.STUDIES, "small2000", Small)
    monkeypatch.setattr(run, "compare", interrupted)
    assert "goes on from there" in invoke("small2000", "--out", "out", status=130).stderr


def test_a_model_that_fails_is_named(monkeypatch):
    def broken(run, *rest):
        raise ZeroDivisionError("by nothing")

    monkeypatch.setitem(reproduce.STUDIES, "small2000", Small)
    monkeypatch.setattr(Small, "checks", lambda self, context: {})
    monkeypatch.setattr(engine, "measure", broken)
    shown = invoke("small2000", "--out", "out")
    assert "ZeroDivisionError: by nothing" in shown.stderr.replace("\n", " ")
    assert "5 more runs failed" in shown.stderr
    assert "10 runs failed and are left out" in Path("out/report.md").read_text(encoding="utf-8")


def test_an_unknown_paper_lists_the_known():
    shown = invoke("unknown", "--out", "out", status=2)
    assert all(name in shown.stderr for name in command.PAPERS)
    assert tuple(STUDIES) == command.PAPERS
    assert {name for name, study in STUDIES.items() if study.name == name} == set(command.PAPERS)


def test_help_has_examples():
    shown = " ".join(invoke("--help").stdout.split())
    assert "discreet reproduce lopuhaa2021 --full" in shown
    assert "under two minutes" in shown
    assert "10 to 40 minutes" in shown


@pytest.mark.parametrize("name", command.PAPERS)
def test_every_experiment_can_be_made_and_pickled(name):
    import pickle

    for full in (False, True):
        experiments = STUDIES[name]().experiments(full)
        assert len({each.name for each in experiments}) == len(experiments)
        for each in experiments:
            each.grid.check(each.models)
            assert pickle.loads(pickle.dumps(each)).grid == each.grid


@pytest.mark.slow
@pytest.mark.parametrize("name", command.PAPERS)
def test_the_quick_part_of_every_paper_runs_on_what_everyone_has(name):
    """Without a folder of data sets; the report has tables, and no run failed."""
    content = json.loads(invoke(name, "--out", "out", "--json").stdout)
    assert content["failures"] == []
    assert any(content["cells"].values())
    page = Path("out/report.html").read_text(encoding="utf-8")
    assert page.count("<table") > 1
    assert page.count("<img") >= 1


def test_without_matplotlib_nothing_is_run(monkeypatch):
    monkeypatch.setitem(reproduce.STUDIES, "small2000", Small)
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    assert "pip install 'discreet[plot]'" in invoke("small2000", "--out", "out", status=2).stderr
    assert not Path("out").exists()


def test_a_file_and_an_empty_name_are_no_folder(monkeypatch):
    monkeypatch.setitem(reproduce.STUDIES, "small2000", Small)
    Path("afile").write_text("x")
    assert "afile is a file; need a folder" in invoke("small2000", "--out", "afile", status=2).stderr
    assert "name is empty" in invoke("small2000", "--out", "", status=2).stderr
    assert [path.name for path in Path().iterdir()] == ["afile"]


def test_what_there_is_to_say_of_runs_is_said(monkeypatch):
    monkeypatch.setitem(reproduce.STUDIES, "small2000", Small)
    monkeypatch.setattr(engine, "processors", lambda: 1)
    assert invoke("small2000", "--out", "out", "--jobs", "9").stderr.count("1 of 9 processes were used") == 1
    path = Path("out/second.csv")
    path.write_text(path.read_text().replace(engine.data_hash("iris", None), "0" * 16))
    assert "4 runs in out/second.csv were made with other records" in invoke("small2000", "--out", "out").stderr


def test_the_origin_has_the_folder_of_data_without_its_name():
    Path("secret-place").mkdir()
    found = run.reproduce(Small(), "out", version="1", directory="secret-place")
    assert found.document.origin == "discreet 1: discreet reproduce small2000 --directory DIR --out FOLDER; seed 0, 3"
