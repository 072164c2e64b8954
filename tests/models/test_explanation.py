"""Explanations: computed from published tables, right in bits, and drawn only if matplotlib is there."""

import math
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet import Categorical, NaiveBayes, Numeric, Schema
from discreet.errors import MissingExtra
from discreet.models.explanation import Evidence, describe, ranked
from support.records import split_target


@st.composite
def evidences(draw):
    classes, cells = draw(st.integers(1, 4)), draw(st.integers(1, 5))
    positive = st.floats(1e-6, 1.0)
    row = st.lists(positive, min_size=cells, max_size=cells)
    table = np.array(draw(st.lists(row, min_size=classes, max_size=classes)))
    prior = np.array(draw(st.lists(positive, min_size=classes, max_size=classes)))
    names = tuple(f"cell {position}" for position in range(cells))
    return Evidence("a", names, table / table.sum(axis=1, keepdims=True)), prior / prior.sum()


@given(evidences())
def test_information_is_mutual_information(pair):
    evidence, prior = pair
    joint = prior[:, None] * evidence.probabilities
    mutual = (joint * np.log2(joint / (joint.sum(axis=1, keepdims=True) * joint.sum(axis=0)))).sum()
    ((_, bits),) = ranked([evidence], prior)
    assert bits == pytest.approx(mutual, abs=1e-9)
    assert bits >= -1e-12
    assert bits <= math.log2(len(prior)) + 1e-9


def test_the_most_telling_attribute_comes_first():
    prior = np.array([0.5, 0.5])
    weak = Evidence("weak", ("x", "y"), np.array([[0.5, 0.5], [0.5, 0.5]]))
    strong = Evidence("strong", ("x", "y"), np.array([[0.9, 0.1], [0.1, 0.9]]))
    assert [each.name for each, _ in ranked([weak, strong], prior)] == ["strong", "weak"]
    text = describe([weak, strong], prior, ["no", "yes"])
    assert text.index("strong") < text.index("weak")
    assert "no 50.0%, yes 50.0%" in text
    assert "no: x (×1.8); yes: y (×1.8)" in text
    assert "... and 1 more columns that decide less" in describe([weak, strong], prior, ["no", "yes"], top=1)


SEPARATED = [[0.0, "a"]] * 5 + [[1.0, "b"]] * 5, ["no"] * 5 + ["yes"] * 5


@pytest.mark.parametrize("numeric", ["histogram", "gaussian", "smooth"])
@pytest.mark.parametrize("epsilon", [1, math.inf])
@pytest.mark.parametrize("grid", [2, 4, 16, 17, 2048])
def test_explanations_of_separated_and_constant_columns_are_finite(numeric, epsilon, grid):
    schema = Schema([Numeric("x", 0, 1, grid=grid), Categorical("c", ["a", "b"])], "y", ["no", "yes"], records=10)
    model = NaiveBayes(schema, epsilon=epsilon, numeric=numeric, random_state=0).fit(*SEPARATED)
    text = model.explain()
    assert "nan" not in text
    assert "inf" not in text
    for evidence in model.evidence()[0]:
        np.testing.assert_allclose(evidence.probabilities.sum(axis=1), 1)
        assert len(evidence.cells) == evidence.probabilities.shape[1]


def test_explanations_name_cells_and_only_released_attributes(schema, records):
    model = NaiveBayes(schema, epsilon=math.inf).fit(*split_target(records))
    text = model.explain(top=4)
    for word in ("age", "dose", "sex", "site", "well", "ill", "unknown"):
        assert word in text
    site = next(each for each in model.evidence()[0] if each.name == "site")
    assert site.cells == ("north", "south", "3", "(unlisted)")
    age = next(each for each in model.evidence()[0] if each.name == "age")
    assert age.cells[0].startswith("0 to ")
    assert age.cells[-1].endswith(" to 100")


@pytest.mark.parametrize("attributes", [1, 2, 3, 5])
@pytest.mark.parametrize("classes", [1, 2, 9])
def test_a_picture_is_drawn_for_any_number_of_attributes_and_classes(attributes, classes, tmp_path):
    pytest.importorskip("matplotlib")
    names = [f"class {position}" for position in range(classes)]
    schema = Schema([Numeric(f"x{i}", 0, 1) for i in range(attributes)], "y", names, records=100)
    X = np.random.default_rng(0).random((50, attributes))
    model = NaiveBayes(schema, epsilon=5, random_state=0).fit(X, [names[i % classes] for i in range(50)])
    figure = model.plot()
    assert "no guarantee" in figure.get_suptitle()  # the noise is seeded
    figure.savefig(tmp_path / "plot.svg")
    assert (tmp_path / "plot.svg").stat().st_size > 1000


def test_a_picture_without_matplotlib_says_what_to_install(monkeypatch, schema, records):
    model = NaiveBayes(schema, random_state=0).fit(*split_target(records))
    for name in ("matplotlib", "matplotlib.figure"):
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(MissingExtra, match=r"pip install 'discreet\[plot\]'"):
        model.plot()
