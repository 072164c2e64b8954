"""The models of Marchioro et al. 2022 beside ours, sensitivities, errors of means, and where an advantage is from."""

import math

import numpy as np
import pytest

from discreet import NaiveBayes, Numeric, Schema, datasets
from discreet.privacy.randomness import as_rng
from discreet.research.comparison.grid import MAJORITY, NOT_PRIVATE
from discreet.research.comparison.summary import Cell
from discreet.research.papers.marchioro2022_exchange import Variant, answer, node_sums, partition, public_sensitivity
from discreet.research.papers.published import ExactRecords, clipped_numbers
from discreet.research.reproduce.marchioro2022 import models, nodes
from discreet.research.reproduce.marchioro2022.accuracy import _leak_verdict
from discreet.research.reproduce.marchioro2022.curves import EPSILONS, Curves


@pytest.fixture(scope="module")
def iris():
    X, y, schema = datasets.built_in("iris")
    return X, y, schema, ExactRecords.read(X, y, schema)


def table_records(values, labels, lower=0, upper=10):
    schema = Schema([Numeric("a", lower, upper)], "t", ["x", "y"], records=len(labels))
    return ExactRecords.read({"a": np.asarray(values, dtype=float)}, np.array(labels, dtype=object), schema)


# models


def test_node_sums_are_sums_and_maxima():
    rng = np.random.default_rng(0)
    values, labels, node_of = rng.normal(size=60), rng.integers(0, 3, 60), rng.integers(0, 5, 60)
    sums, largest = node_sums(values, labels, node_of, (5, 2))
    for node in range(5):
        for label in range(2):
            own = values[(node_of == node) & (labels == label)]
            assert sums[node, label] == pytest.approx(own.sum())
            assert largest[node, label] == np.abs(own).max(initial=0)


def test_the_variants_differ_from_the_paper_in_what_they_say_alone(iris):
    """On the same draws, one variant takes the exact sums away and the other changes the scale of the noise."""
    *_, records = iris
    node_of = partition(records.labels, 7, "equal", True, as_rng(1))
    published, bounded, empty = (
        answer(records, node_of, 7, 0.5, variant, as_rng(2))
        for variant in (Variant(), Variant(public_bounds=True), Variant(without_data=True))
    )
    column = records.schema.columns[0]
    numbers = clipped_numbers(records.table.column(column.name), column)
    exact, largest = node_sums(numbers, records.labels, node_of, (7, 3))
    draws = [messages.sums[column.name] for messages in (published, bounded, empty)]
    assert np.allclose(draws[0] - exact, draws[2])
    assert np.allclose((draws[1] - exact) * largest, draws[2] * public_sensitivity(column))


def _flat(messages):
    return [values for group in messages.groups() for values in group.values()]


@pytest.mark.parametrize(("public", "bound"), [(True, 10.0), (False, 4.0)])
def test_the_scale_is_the_public_bound_or_the_largest_value(public, bound):
    records = table_records([-4.0, 2.0] * 2000, ["x", "y"] * 2000, lower=-10, upper=8)
    node_of = np.arange(4000) // 2
    messages = answer(records, node_of, 2000, 0.5, Variant(public_bounds=public, without_data=True), as_rng(0))
    assert np.abs(messages.sums["a"][:, 0]).mean() == pytest.approx(bound / 0.5, rel=0.1)
    squares = messages.squares["a"][:, 0]
    assert squares.mean() == pytest.approx(bound**2 / 0.5 / 2, rel=0.1)
    assert (squares >= 0).all()
    assert messages.classes.mean() == pytest.approx(1 / 0.5 / 2, rel=0.1)


def test_noise_alone_sees_nothing_but_the_largest_values():
    labels = ["x", "y"] * 40
    first = table_records(np.tile([1.0, 9.0, 3.0, 9.0], 20), labels)
    second = table_records(np.tile([3.0, 9.0, 3.0, 2.0], 20), labels)
    node_of = np.arange(80) // 4
    sent = [answer(r, node_of, 20, 1.0, Variant(without_data=True), as_rng(3)) for r in (first, second)]
    assert all(np.array_equal(a, b) for a, b in zip(_flat(sent[0]), _flat(sent[1]), strict=True))
    full = [answer(r, node_of, 20, 1.0, Variant(), as_rng(3)) for r in (first, second)]
    assert not np.array_equal(full[0].sums["a"], full[1].sums["a"])


def test_noise_alone_classifies_by_its_scales():
    """The class with larger values has more noise, and records far out are taken for it: the leak of the study."""
    rng = np.random.default_rng(0)
    labels = np.array(["x", "y"] * 2000, dtype=object)
    values = np.where(labels == "x", rng.uniform(0, 1, 4000), rng.uniform(0, 100, 4000))
    schema = Schema([Numeric("a", 0, 100)], "t", ["x", "y"], records=4000)
    model = models.NoiseAlone(schema, epsilon=0.001, nodes=100, random_state=0).fit({"a": values}, labels)
    assert model.score({"a": values}, labels) > 0.8
    bounded = models.PublicBounds(schema, epsilon=0.001, nodes=100, random_state=0).fit({"a": values}, labels)
    assert bounded.score({"a": values}, labels) < 0.7


@pytest.mark.parametrize(("adjacency", "loss"), [("add-remove", 3.0), ("replace-one", 6.0)])
def test_public_bounds_keep_the_claim(iris, adjacency, loss):
    schema = iris[2].replace(adjacency=adjacency)
    assert models.PublicBounds(schema, epsilon=3).honest_epsilon() == loss
    assert models.NoiseAlone(schema, epsilon=3).honest_epsilon() == math.inf


def test_a_federation_without_noise_is_training_at_one_place(iris):
    X, y, schema, _ = iris
    whole = NaiveBayes(schema, epsilon=math.inf).fit(X, y).predict(X)
    federation = models.Federation(schema, epsilon=math.inf, random_state=1, protocol="local-noise", parties=10)
    assert np.array_equal(federation.fit(X, y).predict(X), whole)


def test_a_federation_is_the_setting_it_names_and_repeats(iris, monkeypatch):
    X, y, schema, _ = iris
    seen, real = [], models.PublicTable.statistics

    def spy(self, setting, rows, repeat):
        seen.append((setting.protocol, setting.parties, setting.epsilon, len(rows), self.seed))
        return real(self, setting, rows, repeat)

    monkeypatch.setattr(models.PublicTable, "statistics", spy)

    def answers(seed, protocol="secure-sum"):
        made = models.Federation(schema, epsilon=0.3, random_state=seed, protocol=protocol, parties=10).fit(X, y)
        return made.model_.predict_proba(X)

    assert np.array_equal(answers(5), answers(5))
    assert not np.array_equal(answers(5), answers(6))
    assert seen[0] == ("secure-sum", 10, 0.3, 150, 5)
    assert not np.array_equal(answers(5), answers(5, "local-noise"))


# sensitivities and errors


def test_one_node_has_the_largest_value_of_each_class():
    records = table_records([1.0, 2.0, 8.0, 5.0], ["x", "y", "x", "y"])
    (row,) = nodes.sensitivities(records, [1], 0)
    assert row.fractions.tolist() == [0.8, 0.5]
    assert row.growth == 1
    assert row.bare == 0


def test_noise_never_shrinks_by_dividing(iris):
    *_, records = iris
    found = nodes.sensitivities(records, [1, 5, 30], 0)
    assert len(found) == 3 * 4
    assert all(row.growth >= 1 - 1e-12 for row in found)
    assert all(row.growth <= math.sqrt(row.nodes) + 1e-9 for row in found)
    equal = table_records([5.0] * 100, ["x", "y"] * 50)
    (row,) = nodes.sensitivities(equal, [10], 0)
    assert row.growth == pytest.approx(math.sqrt(10))
    assert len(row.fractions) >= nodes.ENOUGH


def test_nodes_with_nothing_but_zeros_are_bare():
    records = table_records([0.0] * 90 + [5.0] * 10, ["x"] * 100)
    (row,) = nodes.sensitivities(records, [1], 0)
    assert row.bare == 0.5


def test_errors_vanish_without_noise_and_grow_as_they_should(iris):
    *_, records = iris
    assert np.abs(nodes.published_errors(records, 1e9, 10, 20, 0).values).max() < 1e-6
    assert np.abs(nodes.our_errors(records, 1e6, 1, 20, 0).values).max() < 2e-3
    few, many = (nodes.our_errors(records, 1000, parties, 1500, 0) for parties in (1, 25))
    assert many.width / few.width == pytest.approx(5, rel=0.15)
    assert len(few.values) == 1500
    tenth = nodes.our_errors(records, 10_000, 1, 1500, 0)
    assert few.width / tenth.width == pytest.approx(10, rel=0.15)


def test_our_error_is_that_of_noise_of_the_whole_epsilon():
    """One column has all of epsilon; all values at the upper bound u: mean/u - 1 = -(2 low + middle)/2n nearly."""
    records = table_records([10.0] * 10_000, ["x"] * 10_000)
    found = nodes.our_errors(records, 0.1, 1, 4000, 0)
    expected = math.sqrt((4 + 1) * 2) / 2 / 0.1 / 10_000
    assert found.values.std() == pytest.approx(expected, rel=0.1)


def test_the_published_error_is_that_of_the_published_messages():
    """One node, one column: (S + Lap(D/e)) / (n + Lap(1/e)) with e a third of epsilon, one relative error a class."""
    records = table_records([4.0, 8.0] * 5000, ["x"] * 10_000, upper=8)
    found = nodes.published_errors(records, 0.3, 1, 4000, 0)
    assert len(found.values) == 4000
    expected = math.sqrt(2 * (8 / 60_000) ** 2 + 2 * (1 / 10_000) ** 2) / 0.1
    assert found.values.std() == pytest.approx(expected, rel=0.1)


@pytest.mark.parametrize(("law", "tails"), [("laplace", nodes.LAPLACE_TAILS), ("normal", nodes.NORMAL_TAILS)])
def test_tails_tell_a_laplace_law_from_a_normal_one(law, tails):
    values = getattr(np.random.default_rng(0), law)(size=200_000)
    assert nodes.Errors("", 1, values).tails == pytest.approx(tails, rel=0.02)


# what is said of noise alone and public bounds


def leak_text(central, whole, noise, bounded, deviation=0.01, guess=0.7):
    """The verdict on an advantage of 1000 nodes over central; all below the largest class."""
    found = [Cell("adult", MAJORITY, NOT_PRIVATE, 100, guess, 0.0, None)]
    names = (models.CENTRAL, *(f"{name}1000" for name in (models.PUBLISHED, models.NOISE, models.BOUNDED)))
    means = zip(names, (central, whole, noise, bounded), strict=True)
    found += [Cell("adult", name, EPSILONS[0], 100, mean, deviation, None) for name, mean in means]
    return _leak_verdict(Curves(found), "adult", 1000)


def test_the_advantage_is_over_central_not_over_the_largest_class():
    """The paper compares many nodes with central; that both are below the largest class changes nothing."""
    text = leak_text(central=0.4, whole=0.6, noise=0.6, bounded=0.4)
    assert "noise alone gives 100% of what many nodes are above central" in text
    assert "the advantage is gone" in text
    assert "gives 120% of" in leak_text(0.4, 0.6, 0.64, 0.4)
    assert "gives -50% of" in leak_text(0.4, 0.6, 0.3, 0.4)
    assert "an advantage stays" in leak_text(0.4, 0.6, 0.6, 0.43)


def test_no_advantage_over_central_is_not_explained():
    """Above the largest class or not, within a hundredth or two standard errors of both."""
    for text in (leak_text(0.8, 0.805, 0.75, 0.8), leak_text(0.5, 0.525, 0.6, 0.5, deviation=0.1)):
        assert "no advantage to explain" in text
        assert "of what many nodes are above" not in text
    assert "no advantage" not in leak_text(0.5, 0.525, 0.6, 0.5, deviation=0.01)
    assert "no advantage" not in leak_text(0.5, 0.515, 0.6, 0.5, deviation=0.001)
