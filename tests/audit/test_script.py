"""The script that repeats a finding: each kind of it is run, and shows what the audit saw."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from discreet import Categorical, Numeric, Schema
from discreet.audit import audit
from discreet.audit.bounds import loss
from discreet.audit.events import Both, Scored, Single
from discreet.audit.low_bits import LowBits, lowest_bit
from discreet.audit.neighbours import Pair
from discreet.audit.plain_bound import bound
from discreet.audit.runner import ESTIMATOR, PAIR, TABLE
from discreet.audit.samples import Samples
from discreet.audit.script import script
from discreet.audit.structure import Structure
from discreet.audit.tables import DEFAULT, empty
from discreet.audit.target import Target, parse_parameters

TESTS = Path(__file__).parents[1]
START = empty(DEFAULT)
EMPTY, ONE = START, START.holding([((1.0, 1.0), 1)])
TWO = START.holding([((0.0, 0.0), 0), ((1.0, 1.0), 1)])
THREE = TWO.holding([*TWO.records, ((0.5, None), 0)])


def printed(text, folder, *arguments, **changed):
    """The lines that a script prints."""
    (folder / "repeat.py").write_text(text, encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "repeat.py", *arguments],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(TESTS), **changed},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, f"{text}\n{done.stderr}"
    return done.stdout.splitlines()


def counts_of(text, folder, *arguments):
    """How often a script saw the event on each table."""
    return [int(line.split()[0]) for line in printed(text, folder, *arguments)[:2]]


def written(name, event, first, second, **parameters):
    """The script for a target of `support.repeated`: functions have names in lower case, but for what makes a model."""
    takes = PAIR if name.islower() and name != "made" else ESTIMATOR
    target = Target(f"support.repeated:{name}", parameters=parameters)
    return script(target, DEFAULT, Pair(first, second, "two tables"), event, ((3, 3), (0, 3)), takes)


FEATURES = [
    ("typed", "output: float64 of shape (2,)", TWO, START.holding(TWO.records[:1])),
    ("shaped", "output: float64 of shape (2, 2)", TWO, ONE),
    ("listed", "output: list of 2", TWO, ONE),
    ("listed", "output[1] = 'record'", TWO, ONE),
    ("keyed", "output has 'class 0'", TWO, ONE),
    ("told", "output = '2 records'", TWO, ONE),
    ("told", "output = '2 rec… (01234567)", TWO, ONE),
    ("known", "output is None", ONE, EMPTY),
    ("known", "output is True", EMPTY, ONE),
    ("classed", "output: dict of 0", ONE, EMPTY),
    ("warned", "warns UserWarning: 'saw 2 records'", TWO, ONE),
    ("refused", "raises ValueError: 'no records'", EMPTY, ONE),
    ("worded", "raises ValueError: 'need 6 records, got 2'", TWO, ONE),
    ("ended", "exits: 3", EMPTY, ONE),
    ("Refusing", "raises ValueError: 'no records'", EMPTY, ONE),
    ("Failing", "predict raises ValueError: 'learned from 2'", TWO, ONE),
]


@pytest.mark.parametrize(("name", "feature", "first", "second"), FEATURES)
def test_a_feature_is_seen_on_one_table_only(name, feature, first, second, tmp_path):
    text = written(name, feature, first, second)
    assert counts_of(text, tmp_path, "3") == [3, 0]


NUMBERS = [
    ("numbered", "output[0]", 1.0, TWO, ONE),
    ("named", "output['a[0]']", 2.0, TWO, ONE),
    ("ragged", "output[1]", 2.0, TWO, ONE),
    ("deep", "output[0][0][3]", 2.0, TWO, ONE),
    ("deep", "sum of output[0][0]", 8.0, TWO, ONE),
    ("whole", "output", 2.0, TWO, ONE),
    ("Silent", "n_", 2.0, TWO, ONE),
    ("Named", "output_", 2.0, TWO, ONE),
    ("Mixed", "w_[1]", 2.0, TWO, ONE),
    ("made", "output_", 2.0, TWO, ONE),
]


@pytest.mark.parametrize(("name", "number", "value", "first", "second"), NUMBERS)
def test_a_number_is_seen_on_one_table_only(name, number, value, first, second, tmp_path):
    assert counts_of(written(name, Single(number, "=", value), first, second), tmp_path, "3") == [3, 0]


@pytest.mark.parametrize("name", ["Named", "made"])
def test_an_estimator_whose_attribute_is_called_output_is_no_function(name, tmp_path):
    text = written(name, Single("output", "=", 2.0), TWO, ONE)
    assert counts_of(text, tmp_path, "3") == [3, 0]


def test_other_events_are_seen_too(tmp_path):
    scored = Scored(["n_", "size of its pickle"], [[1.5], [0.0]], [[0.0, 0.0, 1.0], [0.0, 0.0, 0.0]], 1.0)
    for event in (
        Single("n_", "≥", 1.5),
        Both(Single("n_", "≥", 1.5), Single("n_", "≤", 2.5)),
        Both(Single("n_", "≥", 1.5), Single("m_", "missing", 0.0)),
        scored,
    ):
        assert counts_of(written("Silent", event, TWO, ONE), tmp_path, "3") == [3, 0]
    assert counts_of(written("named", Single("output['large']", "≥", 1.0), TWO, ONE), tmp_path, "3") == [3, 3]
    assert counts_of(written("refused", Single("output", "missing", 0.0), EMPTY, ONE), tmp_path, "3") == [3, 0]
    assert counts_of(written("Silent", Single("size of its pickle", "≥", 1.0), TWO, ONE), tmp_path, "3") == [3, 3]


@pytest.mark.chance
def test_predictions_that_are_texts_are_told_apart_as_the_audit_does(tmp_path):
    report = audit("support.repeated:Speaking", 1.0, minutes=1, most_runs=1500, seed=0, stages=[Structure()])
    assert report.findings[0].event.startswith(("predict", "sum of predict"))
    first, second = counts_of(report.findings[0].repeat, tmp_path)
    assert (first == 0) != (second == 0)


def test_parameters_are_written_as_the_target_got_them(tmp_path):
    given = parse_parameters(["bounds=[(0,1),(0,1)]", "kept={'of': (0, 1)}"])
    text = written("Bounded", Single("n_", "=", 2.0), TWO, ONE, **given)
    assert "bounds=[(0, 1,), (0, 1,)], kept={'of': (0, 1,)}" in text
    assert counts_of(text, tmp_path, "3") == [3, 0]
    text = written("Silent", Single("n_", "=", 2.0), TWO, ONE, made={"call": "a.b:C.d", "with": {"x": []}})
    assert "import a.b\n" in text
    assert "a.b.C.d(x=[])" in text


def test_labels_of_several_types_stay_what_they_are():
    odd = START.holding([((0.0, 0.0), 0), ((0.0, 0.0), 1.5), ((0.0, 0.0), "x")])
    assert "np.array([0, 1.5, 'x'], dtype=object)" in written("told", "output = 'x'", odd, ONE)


@pytest.mark.parametrize("feature", ["prints 3 bytes: 'abc'", "the process ended with status 3", "output[<C>] is None"])
def test_what_no_few_lines_can_look_for_has_no_script(feature):
    assert written("told", feature, TWO, ONE) == ""


@pytest.mark.chance
@pytest.mark.parametrize(
    ("name", "strict"),
    [
        ("numbered", False),
        ("ragged", False),
        ("typed", False),
        ("Silent", False),
        ("Named", False),
        ("Mixed", False),
        ("made", False),
        ("refused", True),
        ("worded", False),
        ("warned", False),
    ],
)
def test_the_script_of_an_audit_repeats_its_first_finding(name, strict, tmp_path):
    report = audit(
        f"support.repeated:{name}",
        1.0,
        strict=strict,
        stages=[Structure()],
        most_runs=1500,
        minutes=1,
        seed=0,
        processes=1,
        first=True,
    )
    finding = report.findings[0]
    first, second = counts_of(finding.repeat, tmp_path)
    (seen, of), (other, _) = finding.counts
    assert of > 0
    assert (first > second) == (seen > other)
    assert min(first, second) == 0


@pytest.mark.chance
def test_a_text_of_exact_data_is_a_finding_if_both_neighbours_are_refused():
    """Without --strict: only what one table alone is refused for is a remark."""
    given = {"stages": [Structure()], "minutes": 1, "most_runs": 6000, "seed": 0, "within": True}
    report = audit("support.repeated:worded", 1.0, **given)
    assert report.refuted
    assert not report.findings[0].refusal
    assert "need 6 records" in report.findings[0].event
    assert min(map(len, (report.findings[0].pair.first, report.findings[0].pair.second))) > 0
    assert "refuses an empty table and its neighbour by other words" in report.stages[0].remarks[0]


@pytest.mark.chance
def test_documented_refusals_are_remarks():
    """Of an empty table; and of one class, which is another text."""
    for name, which in (("refused", "one of two neighbours"), ("choosy", "an empty table and its neighbour")):
        given = {"stages": [Structure()], "minutes": 1, "most_runs": 6000, "seed": 0, "within": True}
        report = audit(f"support.repeated:{name}", 1.0, **given)
        assert not report.refuted, report.findings
        assert any(f"refuses {which}" in each for each in report.stages[0].remarks)


@pytest.mark.chance
def test_samples_of_a_function_have_a_script_too(tmp_path):
    report = audit("support.repeated:ragged", 1.0, stages=[Samples()], minutes=1, most_runs=3000, seed=0)
    assert max(counts_of(report.findings[0].repeat, tmp_path)) > 0


FORMS = [
    ("frame", ESTIMATOR, "Framed"),
    ("records", ESTIMATOR, "Recorded"),
    ("auto", ESTIMATOR, "Framed"),
    ("auto", TABLE, "framed"),
    ("records", TABLE, "recorded"),
]


@pytest.mark.parametrize(("form", "takes", "name"), FORMS)
def test_tables_with_texts_are_written_as_the_target_got_them(form, takes, name, tmp_path):
    """Frames and records, with a category, an unlisted text and a missing value; predictions at points, too."""
    start = empty(Schema([Numeric("age", 0, 1), Categorical("ward", ["a", "b"])], "ill", ["no", "yes"]))
    two = start.holding([((0.5, "a"), "no"), ((None, "it's"), "yes")])
    one = start.holding([((0.5, "a"), "no")])
    target, pair = Target(f"support.repeated:{name}", form=form), Pair(two, one, "two tables")
    schema = Schema([Numeric("age", 0, 1), Categorical("ward", ["a", "b"])], "ill", ["no", "yes"])
    numbers = ["output"] if takes == TABLE else ["n_", "predict[0]"]
    for number in numbers:
        text = script(target, schema, pair, Single(number, "=", 2.0), ((3, 3), (0, 3)), takes)
        assert counts_of(text, tmp_path, "3") == [3, 0]


def test_arrays_of_a_whole_table_are_written_too(tmp_path):
    target = Target("support.audited:exact_ones", form="array")
    pair = Pair(TWO, START.holding(TWO.records[:1]), "two tables")
    text = script(target, DEFAULT, pair, Single("output", "=", 1.0), ((3, 3), (0, 3)), TABLE)
    assert counts_of(text, tmp_path, "3") == [3, 0]


@pytest.mark.parametrize("number", [1.0, 6.0, -0.5, 0.1, 1 + 2.0**-52, 2.0**-1074, 0.0, float("inf")])
def test_a_script_reads_lowest_bits_as_the_audit_does(number, tmp_path):
    place = float(lowest_bit(np.array([number]))[0])
    text = written("given", Single("lowest bit of output", "=", place), TWO, ONE, number=str(number))
    assert counts_of(text, tmp_path, "2") == [2, 0]


@pytest.mark.chance
def test_lowest_bits_have_a_script(tmp_path):
    given = {"stages": [LowBits()], "minutes": 1, "most_runs": 60_000, "seed": 1, "within": True}
    report = audit("support.repeated:floating", 1.0, **given)
    lines = printed(report.findings[0].repeat, tmp_path)
    assert float(lines[2].split()[4]) > 1


def test_a_script_finds_the_module_of_the_current_folder_and_shows_the_bound(tmp_path, monkeypatch):
    """It searches its own folder, not the current one."""
    (tmp_path / "mine.py").write_text("def count(X, y):\n    return float(len(y))\n", encoding="utf-8")
    (tmp_path / "out").mkdir()
    monkeypatch.chdir(tmp_path)
    event = Single("output", "=", 2.0)
    pair = Pair(TWO, ONE, "two")
    text = script(Target("mine:count"), DEFAULT, pair, event, ((40, 40), (0, 40)), PAIR, claim=(1.0, 0.0))
    first, second, last = printed(text, tmp_path / "out", PYTHONPATH="")
    assert int(first.split()[0]) == int(first.split()[2]) > 20
    assert second.startswith("0 of")
    assert float(last.split()[4]) > 1
    assert last.endswith("with confidence 0.999")
    assert printed(text, tmp_path / "out", "7", PYTHONPATH="")[0] == "7 of 7 runs"
    elsewhere = text.replace(repr(str(tmp_path)), "'.'")
    assert "change it if that is elsewhere" in elsewhere


def test_a_script_makes_as_many_runs_as_a_rare_event_needs():
    counts = ((414, 80_204), (0, 80_204))
    pair, event = Pair(TWO, ONE, "two"), Single("output", "=", 2.0)
    text = script(Target("a.b:c"), DEFAULT, pair, event, counts, PAIR, claim=(1.0, 0.0))
    default = int(text.split("else ")[1].split()[0])
    rate = 414 / 80_204
    assert 2000 < default <= 80_204
    assert bound(rate * default, 0, default, 0.0, 0.001) > 1


@pytest.mark.parametrize("case", [(30, 40, 0, 0.0), (900, 1000, 300, 0.0), (9, 1000, 0, 0.01), (500, 1000, 100, 0.1)])
def test_the_bound_of_a_script_is_below_that_of_the_audit(case):
    more, runs, less, delta = case
    own, exact = bound(more, less, runs, delta, 0.001), loss(more, runs, less, runs, 0.001, delta)
    assert own <= exact
    assert own > exact - 0.5 or exact == 0
