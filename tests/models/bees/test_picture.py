"""Pictures of rules: what is shown is what the rules say; nothing is drawn without matplotlib."""

import sys

import pytest

from discreet import Categorical, Numeric, Schema
from discreet.errors import MissingExtra
from discreet.models.bees.picture import MOST_COLUMNS, draw, place, short, shown_columns
from discreet.models.bees.rules import Between, Equals, Rule

SCHEMA = Schema([Numeric("x", 0, 10), Categorical("c", ["a", "b", "long category name"])], "y", ["no", "yes"])
RULES = [
    Rule(0, (Between("x", 0, 4), Equals("c", 0)), 30, 2),
    Rule(1, (Between("x", 4.5, 10),), 20, 0),
    Rule(1, (Equals("c", 3),), 0, 0),
]


def test_places_and_short_words():
    assert place(RULES[0].conditions[0], SCHEMA) == (0, 0.4)
    assert place(Between("x", -5, 50), SCHEMA) == (0, 1)
    assert place(Equals("c", 1), SCHEMA) == (0.25, 0.5)
    assert place(Equals("c", 3), SCHEMA) == (0.75, 1)
    assert short(Between("x", 4.5, 10), SCHEMA) == "≥ 4.5"
    assert short(Between("x", 1, 2.25), SCHEMA) == "1 – 2.25"
    assert short(Equals("c", 2), SCHEMA) == "long category name"  # in several lines, but whole
    assert short(Equals("c", 3), SCHEMA) == "(not listed)"


def test_the_attributes_that_most_rules_use_are_shown():
    wide = Schema([Numeric(f"x{i}", 0, 1) for i in range(30)], "y", [0, 1])
    rules = [Rule(0, tuple(Between(f"x{i}", 0, 0.5) for i in range(k, 30)), 1, 0) for k in range(30)]
    names, left_out = shown_columns(rules, wide)
    assert names == [f"x{i}" for i in range(30 - MOST_COLUMNS, 30)]
    assert left_out == 30 - MOST_COLUMNS


@pytest.mark.parametrize("rules", [RULES, RULES[:1], []])
def test_figures_show_every_rule(rules, tmp_path):
    pytest.importorskip("matplotlib")
    figure = draw(rules, 5, SCHEMA, [0.4, 0.6], "Rules")
    figure.savefig(tmp_path / "rules.png")
    tracks, precision, coverage = figure.axes
    shown = [label.get_text() for label in tracks.get_yticklabels()]
    assert [text for text in shown if text] == [SCHEMA.classes[r.label] for r in rules]
    assert [bar.get_width() for bar in precision.patches] == [rule.precision(2) for rule in rules]
    sizes = [bar.get_width() for bar in coverage.patches]
    assert sizes == [*(r.inside + r.outside for r in rules), *(r.inside for r in rules)]
    assert len(tracks.patches) == sum(len(rule.conditions) for rule in rules)
    assert f"{len(rules)} of 5 rules" in figure.get_suptitle()


def test_without_matplotlib_the_remedy_is_named(monkeypatch):
    for module in ("matplotlib", "matplotlib.figure"):  # the second may have been imported by another test
        monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(MissingExtra, match=r"discreet\[plot\]"):
        draw(RULES, 3, SCHEMA, [0.4, 0.6], "Rules")


def test_names_with_dollars_are_no_formulas(tmp_path):
    pytest.importorskip("matplotlib")
    schema = Schema([Numeric("$x_{", 0, 1), Categorical("c", ["$\\frac$", "b"])], "$y", ["$no^", "yes$"])
    rules = [Rule(0, (Between("$x_{", 0, 0.5), Equals("c", 0)), 1, 0), Rule(1, (Equals("c", 1),), 1, 0)]
    draw(rules, 2, schema, [0.5, 0.5], "Rules for $y").savefig(tmp_path / "rules.png")
