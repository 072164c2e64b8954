"""Answers: exact quantiles, totals, and a file that holds what was published and nothing else."""

import json
import math
from fractions import Fraction

import numpy as np
import pytest

from discreet import Categorical, Ledger, Numeric, Schema
from discreet.doors.questions import ask
from discreet.errors import FileError, ParameterError
from discreet.privacy.mechanisms.laplace import DiscreteLaplace
from discreet.privacy.randomness import as_rng
from discreet.queries.crossed import CrossedCounts
from discreet.released.answers import Answers
from discreet.released.intervals import half_width, half_width_of_sum, margin
from discreet.sources.memory import MemorySource
from discreet.storage.envelope import content_hash

SCHEMA = Schema([Numeric("age", 0, 80), Categorical("sex", ["F", "M"])], "ill", ["no", "yes"])
TABLE = {"age": [30.0, 45, 50, 70], "sex": ["F", "M", "F", "x"], "ill": ["no", "yes", "no", "yes"]}
QUERIES = [
    CrossedCounts.of([{"column": "sex", "equals": "F"}], ["ill"]),
    CrossedCounts.of(by=["sex", "ill"]),
    CrossedCounts.of(by=[{"column": "age", "bins": 4, "overlapping": True}]),
    CrossedCounts(),
]


def law(scale, reach):
    p = math.exp(-1 / scale)
    return (1 - p) / (1 + p) * p ** np.abs(np.arange(-reach, reach + 1))


@pytest.mark.parametrize("scale", [0.1, 0.5, 1.0, 3.7, 10.0, 123.0])
@pytest.mark.parametrize("level", [0.5, 0.9, 0.95, 0.999])
def test_half_widths_are_exact_quantiles(scale, level):
    reach = int(60 * scale) + 60
    pmf = law(scale, reach)
    beyond = np.array([1 - pmf[reach - m : reach + m + 1].sum() for m in range(reach)])
    assert half_width(scale, level) == int(np.argmax(beyond <= 1 - level + 1e-13))


@pytest.mark.parametrize("scale", [0.2, 0.33, 0.4, 0.72, 1.0, 1.7, 5.0, 40.0])
@pytest.mark.parametrize("cells", [1, 2, 5])
def test_margins_hold_nearly_all_of_the_noise(scale, cells):
    """In at least 95 of 100 cases, and not in all: a margin that is too wide would call everything noise."""
    reach = int(60 * scale) + 60
    whole = pmf = law(scale, reach)
    for _ in range(cells - 1):
        whole = np.convolve(whole, pmf)
    middle, half = len(whole) // 2, margin(DiscreteLaplace(scale).variance, cells)
    within = whole[middle - int(half) : middle + int(half) + 1].sum()
    assert within >= 0.95
    assert scale < 5 or within < 0.975
    assert margin(0.0, cells) == 0


@pytest.mark.parametrize("scale", [0.5, 2.0, 10.0])
@pytest.mark.parametrize("cells", [2, 3, 9])
def test_sums_have_the_quantiles_of_their_law(scale, cells):
    reach = int(60 * scale) + 60
    pmf = law(scale, reach)
    for _ in range(cells - 1):
        pmf = np.convolve(pmf, law(scale, reach))
    middle = len(pmf) // 2
    within = np.array([pmf[middle - m : middle + m + 1].sum() for m in range(middle)])
    assert half_width_of_sum(scale, cells) == int(np.argmax(within >= 0.95 - 1e-12))


def test_wide_sums_are_near_the_normal_law_and_never_narrower_than_it_by_much():
    for scale, cells in ((1e5, 400), (3e7, 50)):
        deviation = math.sqrt(cells * DiscreteLaplace(scale).variance)
        assert half_width_of_sum(scale, cells) == pytest.approx(1.96 * deviation, rel=0.01)
    assert half_width_of_sum(0.0, 5) == half_width(0.0) == half_width(0.001) == 0


def asked(epsilon=Fraction(2), seed=0):
    return ask(MemorySource(TABLE), SCHEMA, QUERIES, epsilon, Ledger(10**4), as_rng(seed))


def test_totals_add_cells_by_name_or_place():
    answers = asked()
    table = answers[1]
    assert table.total(sex="F", ill="yes").value == table.counts[0, 1]
    assert table.total(sex=["F", 2]).value == table.counts[[0, 2]].sum()
    assert table.total().value == table.counts.sum()
    value, low, high = table.total(ill=1)
    assert high - value == value - low == half_width_of_sum(table.scale, 3)
    overlapping = answers[2]
    assert overlapping.total().value == pytest.approx(overlapping.values.sum() / overlapping.unit)
    assert answers[3].total() == answers[CrossedCounts()].total()
    for wrong in ({"sex": "X"}, {"sex": 3}, {"sex": True}, {"age": 0}, {"sex": [1.5]}):
        with pytest.raises(ParameterError, match="need"):
            table.total(**wrong)
    for level in (0, 1.0, math.nan, "much"):
        with pytest.raises(ParameterError, match="level"):
            table.total(level=level)


def test_a_file_gives_the_answers_back(tmp_path):
    answers = asked()
    answers.save(tmp_path / "a.json")
    again = Answers.load(tmp_path / "a.json")
    assert again.to_dict() == answers.to_dict()
    assert again.receipt == answers.receipt
    assert len(again) == 4
    assert again[0].cells == (("no", "yes"),)
    content = json.loads((tmp_path / "a.json").read_text())
    assert content["answers"][0]["counted"] == ["sex = F"]
    assert content["guarantee"]["seeded"]
    assert "These answers are 2-differentially private" in asked(seed=None).guarantee.statement()
    with pytest.raises(KeyError):
        answers[CrossedCounts.of(by=["ill"])]


def damaged():
    def values(content):
        content["answers"][0]["values"][0] = 0.5

    def shape(content):
        content["answers"][0]["values"].append(1)

    def scale(content):
        content["answers"][0]["scale"] = -1.0

    def unit(content):
        content["answers"][2]["unit"] = 1

    def query(content):
        content["answers"][0]["query"]["by"] = ["elsewhere"]

    def uncharged(content):
        content["receipt"]["charges"] = []

    def another_schema(content):
        content["schema"]["classes"].append("perhaps")

    def nothing(content):
        content["answers"] = []

    return [values, shape, scale, unit, query, uncharged, another_schema, nothing]


@pytest.mark.parametrize("damage", damaged(), ids=lambda each: each.__name__)
def test_altered_answers_are_refused(damage):
    content = asked().to_dict()
    damage(content)
    with pytest.raises(FileError, match="altered"):
        Answers.from_dict(content)
    content.pop("hash")
    content["hash"] = content_hash(content)  # even where the hash fits
    with pytest.raises(FileError, match="altered"):
        Answers.from_dict(content)
