"""What the committed results of the full runs are said to show, they show."""

import os
from pathlib import Path

import pytest

from discreet.research.reproduce import STUDIES
from discreet.research.reproduce.run import read_cells
from discreet.research.reproduce.study import Context

RESULTS = Path(__file__).parents[3] / "benchmarks" / "results" / "reproduce"


@pytest.mark.parametrize("name", STUDIES)
def test_every_paper_has_a_report_of_a_full_run(name):
    text = (RESULTS / name / "report.md").read_text(encoding="utf-8")
    assert f"discreet reproduce {name} --full" in text
    assert "Quick mode" not in text
    assert "not private" in text
    pictures = [line.split("](")[1].rstrip(")") for line in text.splitlines() if line.startswith("![")]
    assert pictures
    assert all((RESULTS / name / picture).is_file() for picture in pictures)


@pytest.mark.parametrize("name", STUDIES)
def test_every_experiment_was_run_to_its_end(name):
    found = read_cells(RESULTS / name / "cells.csv")
    for experiment in STUDIES[name]().experiments(full=True):
        cells = {(run.data, run.model, run.epsilon) for run in experiment.grid.runs()}
        own = {(cell.data, cell.model, cell.epsilon): cell for cell in found[experiment.name]}
        assert own.keys() == cells
        assert {cell.runs for cell in own.values()} == {experiment.grid.folds * experiment.grid.repeats}


@pytest.mark.slow
@pytest.mark.skipif("DISCREET_DATA" not in os.environ, reason="DISCREET_DATA is not set")
@pytest.mark.parametrize("name", STUDIES)
def test_the_statements_hold_that_are_said_to(name):
    context = Context(read_cells(RESULTS / name / "cells.csv"), "committed", True, None)
    checks = STUDIES[name]().checks(context)
    assert checks
    assert [words for words, holds in checks.items() if not holds] == []
