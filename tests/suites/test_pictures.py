"""Every picture of every model can be printed: no text is cut, and none lies on another; measured from their boxes."""

import sys

import pytest

from discreet import datasets
from discreet.advice import advisor, meaning_picture
from discreet.advice import picture as advice_picture
from discreet.cli.federated_simulate import draw as draw_federated
from discreet.errors import DataError, MissingExtra
from discreet.models import MODELS
from discreet.models.bees.bee_rules import BeeRules
from discreet.pictures import labels
from discreet.research.comparison import Grid, difference_picture, engine, noise_picture, picture, spread_picture
from discreet.research.comparison.grid import MAJORITY
from discreet.research.comparison.summary import Cell
from support.boxes import troubles

pytest.importorskip("matplotlib")

QUICK = [
    ("naive-bayes", "1"),
    ("one-rule", "1"),
    ("decision-tree", "1"),
    ("svm", "1"),
    ("bee-rules", "inf"),
]
SLOW = [(kind, epsilon) for kind in MODELS if kind != "bee-rules" for epsilon in ("1/20", "1", "inf")]


def fitted(kind, epsilon, name):
    try:
        X, y, schema = datasets.load(name)
    except DataError as error:
        pytest.skip(str(error))
    if kind == "bee-rules":
        return BeeRules(schema, max_iter=20, random_state=1).fit(X, y)
    return MODELS[kind](schema, epsilon=epsilon, random_state=1).fit(X, y)


@pytest.mark.parametrize(("kind", "epsilon"), QUICK)
def test_pictures_of_iris_can_be_printed(kind, epsilon):
    assert troubles(fitted(kind, epsilon, "iris").plot()) == []


@pytest.mark.parametrize(("kind", "epsilon"), QUICK)
def test_without_matplotlib_a_picture_names_the_extra(monkeypatch, kind, epsilon):
    """None of its modules can be imported, and nothing that was measured with it before is remembered."""
    model = fitted(kind, epsilon, "iris")
    labels._width.cache_clear()
    for name in ["matplotlib", *(name for name in sys.modules if name.startswith("matplotlib."))]:
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(MissingExtra, match=r"discreet\[plot\]"):
        model.plot()


@pytest.mark.slow
@pytest.mark.parametrize("name", ["iris", "adult", "mushroom"])
@pytest.mark.parametrize(("kind", "epsilon"), [*SLOW, ("bee-rules", "inf")])
def test_pictures_of_all_models_can_be_printed(kind, epsilon, name):
    assert troubles(fitted(kind, epsilon, name).plot()) == []


@pytest.mark.parametrize("name", ["iris", "adult", "mushroom"])
def test_advice_can_be_printed(name):
    try:
        _, y, schema = datasets.load(name)
    except DataError as error:
        pytest.skip(str(error))
    assert troubles(advice_picture.draw(advisor.advise(schema, [0.01, 0.1, 1, 5], records=len(y)))) == []


@pytest.mark.parametrize("epsilon", [0.01, 1, 20])
def test_the_meaning_of_an_epsilon_can_be_printed(epsilon):
    assert troubles(meaning_picture.draw(epsilon)) == []


LONG = "naive-bayes(select=none, numeric='gaussian', bins=12)"
CELLS = [
    Cell(data, model, epsilon, 5, 0.4 + 0.05 * place + 0.1 * level, 0.03, 0.8)
    for data in ("iris", "adult", "mushroom")
    for place, model in enumerate(["auto", LONG, "decision-tree", "svm", "one-rule"])
    for level, epsilon in enumerate(["1/10", "1", "10"])
] + [Cell(data, MAJORITY, "inf", 5, 0.5, 0.0, None) for data in ("iris", "adult", "mushroom")]


@pytest.mark.parametrize(
    "draw",
    [picture.draw, difference_picture.draw_ranks, difference_picture.draw_p_values, spread_picture.draw_spread],
)
def test_comparisons_can_be_printed(draw):
    assert troubles(draw(CELLS)) == []


def test_the_budget_of_models_can_be_printed():
    where, charges = engine.charges(Grid(["iris"], ["naive-bayes", "one-rule", "svm"], [1]), MODELS, None)
    assert troubles(noise_picture.draw_noise(charges, where)) == []


def test_simulations_of_federated_training_can_be_printed():
    protocols = {"central": [1], "local-noise": [1, 10, 100, 1000], "secure-sum": [1, 10, 100, 1000]}
    lines = [
        {"protocol": protocol, "parties": parties, "epsilon": epsilon, "accuracy": 0.5 + 0.01 * epsilon, "error": 0.02}
        for protocol, numbers in protocols.items()
        for parties in numbers
        for epsilon in (0.1, 1, 10)
    ]
    assert troubles(draw_federated(lines, "mushroom")) == []


def test_the_measure_finds_what_is_cut_or_overlaps():
    """A measure that finds nothing in a bad picture would prove nothing of a good one."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(3, 2))
    figure.text(0.5, 0.5, "one")
    assert troubles(figure) == []
    figure.text(0.5, 0.52, "two")
    figure.text(0.9, 0.1, "a long text that leaves the picture")
    assert troubles(figure) == [
        "cut: 'a long text that leaves the picture'",
        "overlap: 'one' and 'two'",
    ]
    crowded = Figure(figsize=(3, 2))
    axis = crowded.subplots()
    axis.set_xticks(range(4), ["a label that is long"] * 4)
    assert any("overlap" in each for each in troubles(crowded))
