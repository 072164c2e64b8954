"""NaiveBayes(select=...): when it chooses, what it costs, the guarantee of the whole fit, and files."""

import contextlib
import itertools
import math
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.utils.estimator_checks import parametrize_with_checks

from discreet import Categorical, Ledger, NaiveBayes, Numeric, Schema, load
from discreet.errors import BudgetError, DataError, ParameterError
from discreet.models.naive_bayes import selection
from discreet.models.saving import card
from discreet.privacy.mechanisms.selection import PermuteAndFlip
from discreet.privacy.steps import Step
from discreet.queries.tables import Counts, FractionScore
from discreet.sources.memory import MemorySource
from support.neighbours import ADJACENCIES, EDGES, neighbours, schema
from support.people import HABITS, ILL, PEOPLE
from support.replay import replay, visible

WIDE = Schema(
    [Categorical(f"c{i}", list("abcde"), unlisted=False) for i in range(12)], "y", ["no", "yes"], records=1000
)


@parametrize_with_checks([NaiveBayes("from-data", select=2), NaiveBayes("from-data", select="auto", epsilon=math.inf)])
def test_scikit_learns_checks(estimator, check):
    check(estimator)


def fitted(rows, adjacency="add-remove", records=40, **parameters):
    return NaiveBayes(schema(adjacency, records), random_state=7, **{"epsilon": 1.0, **parameters}).fit(rows)


@pytest.mark.parametrize(("select", "records"), [(2, 40), (2, None), ("auto", 5000), ("auto", None)])
@pytest.mark.parametrize("adjacency", ADJACENCIES)
@settings(max_examples=20, deadline=None)
@given(data=st.data())
def test_whole_fit_stays_within_epsilon_and_leaks_nothing(adjacency, select, records, data):
    """With 5000 records "auto" asks whether one column is enough."""
    table, other = data.draw(neighbours(adjacency))
    numeric = data.draw(st.sampled_from(["histogram", "gaussian"]))
    loss, model, twin = replay(
        lambda rows: fitted(rows, adjacency, records, select=select, numeric=numeric), table, other
    )
    assert loss <= 1 + 1e-9
    assert model.receipt_.epsilon == 1
    assert visible(model) == visible(twin)


@pytest.mark.parametrize("adjacency", ADJACENCIES)
@settings(max_examples=20, deadline=None)
@given(data=st.data())
def test_a_scarce_epsilon_makes_auto_choose_and_stays_within_it(adjacency, data):
    table, other = data.draw(neighbours(adjacency))
    records = 1800 if adjacency == "add-remove" else 3600
    loss, model, twin = replay(lambda rows: fitted(rows, adjacency, records, select="auto", epsilon=0.02), table, other)
    assert loss <= 0.02 + 1e-9
    assert "permute-and-flip" in {charge.mechanism for charge in model.receipt_.charges}
    assert len(model.columns_) < 3
    assert visible(model) == visible(twin)


@pytest.mark.parametrize("adjacency", ADJACENCIES)
def test_one_and_then_few_stay_within_epsilon(adjacency):
    """No column is enough, so three of twelve are chosen; or one is, and the rest of ε counts it. Both are replayed."""
    given = WIDE.replace(adjacency=adjacency, records=1000 if adjacency == "add-remove" else 2000)
    kinds = set()
    for best, moved in itertools.product((0.5, 1.0), range(0, 400, 67)):
        X, y = table_of([0.5] * 5 + [best] + [0.5] * 6, rows=400)
        rows = [{**record, "y": label} for record, label in zip(X.to_dict("records"), y, strict=True)]
        changed = [{**rows[moved], "c5": "c", "y": "yes" if rows[moved]["y"] == "no" else "no"}]
        other = rows[:moved] + rows[moved + 1 :] + (changed if adjacency == "replace-one" else [])
        loss, model, twin = replay(
            lambda table: NaiveBayes(given, epsilon=1, select="auto", random_state=moved).fit(table),  # noqa: B023
            rows,
            other,
        )
        assert loss <= 1 + 1e-9
        assert model.receipt_.epsilon == 1
        assert visible(model) == visible(twin)
        rounds = [each.query for each in model.receipt_.charges if each.mechanism == "permute-and-flip"]
        assert rounds[0] == "best of 12 columns or 24/25 of the records"
        assert (len(rounds), len(model.columns_)) in {(1, 1), (4, 3)}
        kinds.add(len(rounds))
    assert kinds == {1, 4}


def test_two_columns_are_chosen_and_counted_for_one_epsilon(tmp_path):
    ledger = Ledger(1)
    model = NaiveBayes(PEOPLE, epsilon=1, select=2).fit(HABITS, ILL, ledger=ledger)
    assert ledger.spent == model.receipt_.epsilon == 1
    assert model.columns_ == ["dose", "smoker"]
    kinds = [(charge.mechanism, charge.query.partition("(")[0]) for charge in model.receipt_.charges]
    assert kinds == [
        ("permute-and-flip", "best of 4 columns"),
        ("permute-and-flip", "best of 3 columns"),
        ("discrete Laplace", "SplineCounts"),
        ("discrete Laplace", "Counts"),
    ]
    choosing = sum((each.epsilon for each in model.receipt_.charges[:2]), Fraction(0))
    assert choosing == Fraction(3, 10)
    assert (card(model)["attributes"], card(model)["not_asked"]) == (["dose", "smoker"], ["hat", "day"])
    assert "Not asked, because other columns tell more: hat, day" in model.explain()
    assert model.guarantee_.holds
    model.save(tmp_path / "model.json")
    again = load(tmp_path / "model.json")
    assert again.select == 2
    assert again.receipt_ == model.receipt_
    assert again.columns_ == model.columns_
    assert np.array_equal(again.predict_proba(HABITS), model.predict_proba(HABITS))


def test_an_unknown_number_of_records_is_paid_too():
    model = NaiveBayes(PEOPLE.replace(records=None), epsilon=1, select=1).fit(HABITS, ILL)
    assert model.receipt_.epsilon == 1
    assert [each.mechanism for each in model.receipt_.charges][:2] == ["discrete Laplace", "permute-and-flip"]
    assert model.columns_ == ["smoker"]


@pytest.mark.parametrize("numeric", ["histogram", "gaussian", "smooth"])
def test_without_noise_the_best_columns_are_kept(numeric):
    model = NaiveBayes(PEOPLE, epsilon=math.inf, select=2, numeric=numeric).fit(HABITS, ILL)
    assert model.columns_ == ["dose", "smoker"]
    assert model.score(HABITS, ILL) == 1
    assert NaiveBayes(PEOPLE, epsilon=math.inf, select="auto").fit(HABITS, ILL).columns_ == PEOPLE.names, "no noise"


def test_all_columns_cost_no_choice():
    model = NaiveBayes(PEOPLE, epsilon=0.01, select=4, random_state=0).fit(HABITS, ILL)
    assert model.columns_ == PEOPLE.names
    assert {each.mechanism for each in model.receipt_.charges} == {"discrete Laplace"}
    assert model.receipt_.epsilon == Fraction(1, 100)


def test_without_select_nothing_changes():
    """The same noise in the same order as before there was a choice."""
    plain = NaiveBayes(PEOPLE, epsilon=1, select=None, random_state=4).fit(HABITS, ILL)
    assert {each.mechanism for each in plain.receipt_.charges} == {"discrete Laplace"}
    scarce = {"epsilon": Fraction(1, 50), "random_state": 4}  # 400 records: a choice of one costs 4.6 of their 8
    off, plain = (NaiveBayes(PEOPLE, select=select, **scarce).fit(HABITS, ILL) for select in ("auto", None))
    assert NaiveBayes(PEOPLE).select == "auto"
    assert selection.automatic(PEOPLE, Fraction(1, 50), 400) == 0
    assert np.array_equal(off.predict_proba(HABITS), plain.predict_proba(HABITS))


# The rule: public quantities decide.


def rule(epsilon, records, of=WIDE):
    return selection.automatic(of, Fraction(epsilon), records)


def test_the_number_by_hand():
    """Twelve columns, two classes: √(ε n) / 9 of them, if 0.3 ε pays for the choice."""
    assert rule(1, 33) == 0  # ln(12) / 0.3 = 8.28 records of regret exceed a quarter of 33
    assert rule(1, 34) == 1
    assert rule(Fraction(1, 10), 340) == 1
    assert rule(1, 18**2 - 1) == 1
    assert rule(1, 18**2) == 2
    assert rule(1, 27**2) == 3
    assert rule(1, 72**2) == 8  # two thirds of all
    assert rule(1, 72**2 + 1) == 0
    assert rule(1, 10**12) == 0


def test_more_classes_need_more_columns():
    """Eight classes are three questions of yes or no."""
    for classes, found in ((1, 2), (2, 2), (4, 4), (8, 6)):
        assert rule(1, 18**2, WIDE.replace(classes=[str(each) for each in range(classes)])) == found
    many = Schema([Categorical(f"c{i}", ["a", "b"]) for i in range(100)], "y", [str(each) for each in range(1024)])
    assert rule(1, 18**2, many) == 5  # twenty by the first rule; a quarter of 324 records is 5.28 ln(100) / 0.3


def asked(epsilon, records, of=WIDE, select="auto"):
    return selection.one(select, of, Fraction(epsilon), records, "auto")


def test_the_price_of_one_by_hand():
    """100 / n, if that is at most an eighth of ε."""
    assert asked(1, 799) is None
    assert asked(1, 800).epsilon == Fraction(1, 8)
    assert asked(1, 10_000).epsilon == Fraction(1, 100)
    assert asked(1, 10**12).epsilon == Fraction(1, 10**6)
    assert asked(1, 10**12, select=2) is asked(1, 10**12, select=None) is None
    assert asked(1, 10**12, WIDE.replace(columns=WIDE.columns[:1])) is None


def test_replace_one_counts_half():
    halved = WIDE.replace(adjacency="replace-one")
    for records in (10, 33, 34, 323, 324, 799, 800, 5184, 5185):
        assert rule(2, records, halved) == rule(1, records)
        assert (asked(2, records, halved) is None) == (asked(1, records) is None)


@given(st.integers(1, 10**9), st.fractions(Fraction(1, 1000), 100), st.integers(1, 30), st.integers(1, 12))
def test_the_rule_always_gives_a_choice_that_can_be_made(records, epsilon, columns, classes):
    made = Schema([Categorical(f"c{i}", range(1 + i % 7)) for i in range(columns)], "y", range(classes))
    one = selection.one("auto", made, epsilon, records, "auto")
    few = selection.few("auto", made, epsilon if one is None else one.rest, records, "auto")
    if one is not None:
        assert one.epsilon + one.rest == epsilon
        assert one.epsilon <= epsilon * Fraction(125_001, 1_000_000)
        assert one.wanted == 1
        assert one.candidates[-1] == FractionScore(24, 25)
    if few is not None:
        assert few.epsilon + few.rest == (epsilon if one is None else one.rest)
        assert 1 <= few.wanted < len(few.candidates) == columns
    left = (few or one or selection.Choice((), 0, 0, epsilon)).rest
    assert left > epsilon / 2, "what the rehearsal takes for granted"


def table_of(shares, rows=1000):
    """Records whose column i agrees with the class on a share of the rows."""
    labels = np.arange(rows) % 2
    columns = {}
    for place, share in enumerate(shares):
        agrees = (np.arange(rows) * 7919) % rows < share * rows
        columns[f"c{place}"] = np.array(["a", "b"])[np.where(agrees, labels, 1 - labels)]
    return pd.DataFrame(columns), np.array(["no", "yes"])[labels]


@pytest.mark.parametrize(("best", "kept"), [(0.99, 1), (0.93, 5)])
def test_one_column_is_kept_alone_only_if_it_is_enough(best, kept):
    X, y = table_of([0.5] * 5 + [best] + [0.5] * 6)
    models = [NaiveBayes(WIDE, epsilon=3, select="auto", random_state=seed).fit(X, y) for seed in range(20)]
    assert sum(len(model.columns_) == kept for model in models) >= 17
    assert {each.receipt_.epsilon for each in models} == {3}
    assert models[0].receipt_.charges[0].query == "best of 12 columns or 24/25 of the records"


def test_few_records_choose_one_column():
    X, y = table_of([0.5] * 5 + [0.99] + [0.5] * 6)
    models = [NaiveBayes(WIDE, epsilon=0.07, select="auto", random_state=seed).fit(X, y) for seed in range(20)]
    assert {len(model.columns_) for model in models} == {1}
    assert sum(model.columns_ == ["c5"] for model in models) >= 17


# Price, errors and mutants.


@pytest.mark.parametrize("select", [5, "auto"])
@pytest.mark.parametrize("records", [1000, None])
def test_structural_errors_cost_nothing(select, records):
    X, y = table_of([0.9] * 12)
    ledger = Ledger(1)
    model = NaiveBayes(WIDE.replace(records=records), select=select)
    with pytest.raises(DataError, match="'c3'"):
        model.fit(X.drop(columns="c3"), y, ledger=ledger)
    with pytest.raises(DataError, match="different lengths"):
        model.fit(X, y[:-1], ledger=ledger)
    for wrong in ({"select": 13}, {"epsilon": 2}, {"epsilon": Fraction(1, 10**15)}):
        with pytest.raises((ParameterError, BudgetError)):
            NaiveBayes(WIDE.replace(records=records), **{"select": select, **wrong}).fit(X, y, ledger=ledger)
    with pytest.raises(ParameterError, match="select=13, but there are 12 feature"):
        NaiveBayes("from-data", select=13).fit(X, y, ledger=ledger)
    assert ledger.spent == 0


WIDTHS = {
    "declared": schema(),
    "counted": schema(records=None),
    "numbers": Schema([Numeric(f"n{i}", 0, 1) for i in range(4)], "label", ["x", "y"]),
    "categories": Schema([Categorical(f"c{i}", ["a"]) for i in range(16)], "label", ["x", "y"]),
    "one category": Schema(
        [Numeric("n", 0, 1), Numeric("m", 0, 1), Categorical("c", ["a"], unlisted=False)],
        "label",
        ["x"],
        records=10**30,
    ),
}


@pytest.mark.parametrize(
    ("select", "numeric"), [("most", "histogram"), ("most", "gaussian"), ("most", "smooth"), ("auto", "histogram")]
)
@pytest.mark.parametrize("given", WIDTHS)
def test_an_epsilon_near_the_smallest_fails_before_it_pays_or_not_at_all(given, numeric, select):
    """Which columns are chosen depends on the data: no error may come after the choice."""
    chosen = select if select == "auto" else len(WIDTHS[given].columns) - 1
    for quarter in range(4 * 20 if numeric == "gaussian" else 4 * 40, 4 * 49):
        ledger, epsilon = Ledger(1), Fraction(2 ** (-quarter / 4))
        model = NaiveBayes(WIDTHS[given], epsilon=epsilon, select=chosen, numeric=numeric, random_state=0)
        with contextlib.suppress(ParameterError):
            model.fit([{}], ["x"], ledger=ledger)
        assert ledger.spent == (epsilon if hasattr(model, "noisy_") else 0)


@pytest.mark.parametrize("select", [2, "auto"])
@pytest.mark.parametrize("name", EDGES)
def test_edges_work_without_a_warning(name, select):
    for epsilon in (0.01, 1.0, 100.0, math.inf):
        model = fitted(EDGES[name], select=select, epsilon=epsilon)
        assert np.allclose(model.predict_proba(EDGES["far out"]).sum(axis=1), 1)


@pytest.mark.parametrize("wrong", [0, -1, 1.5, True, "all", [2], 5])
def test_wrong_parameters(wrong):
    with pytest.raises(ParameterError, match="select="):
        NaiveBayes(PEOPLE, select=wrong).fit(HABITS, ILL)


def _half_noise(monkeypatch):
    original = PermuteAndFlip.calibrated.__func__
    monkeypatch.setattr(
        PermuteAndFlip,
        "calibrated",
        classmethod(lambda cls, *given, **how: cls(original(cls, *given, **how).scale / 4)),
    )


def _choice_for_free(monkeypatch):
    """The whole epsilon is counted after a part of it has paid for the choice."""
    original = selection.few

    def generous(select, given, epsilon, *rest):
        found = original(select, given, epsilon, *rest)
        return selection.Choice(found.candidates, found.wanted, found.epsilon, epsilon)

    monkeypatch.setattr(selection, "few", generous)


def _rounds_for_one(monkeypatch):
    monkeypatch.setattr("discreet.doors.choice.split_evenly", lambda epsilon, parts: [epsilon] * parts)


def _monotone_always(monkeypatch):
    """Replace-one billed as add-remove."""
    original = PermuteAndFlip.calibrated.__func__
    monkeypatch.setattr(
        PermuteAndFlip,
        "calibrated",
        classmethod(lambda cls, epsilon, distance: original(cls, epsilon, 1)),
    )


def _number_from_data(monkeypatch):
    original = NaiveBayes._learn

    def peeking(self, source, *rest):
        self.select = 1 + len(source._X) % 2
        return original(self, source, *rest)

    monkeypatch.setattr(NaiveBayes, "_learn", peeking)


def _chosen_on_clear_data(monkeypatch):
    """Columns by their exact scores, as a careless user would: nothing is charged, nothing recorded."""
    original = NaiveBayes._learn

    def peeking(self, source, given, *rest):
        candidates = selection.columns(given, Fraction(1), 40, "auto")
        counts = source.count([each.cells(given) for each in candidates], given).counts
        best = max(candidates, key=lambda each: each.score(counts[each.cells(given)]))
        self.select = None
        with pytest.MonkeyPatch.context() as inner:
            steps = "discreet.models.naive_bayes.plan.steps"
            from discreet.models.naive_bayes.plan import steps as plain

            inner.setattr(steps, lambda *given: plain(*given[:6], [best.column]))
            return original(self, source, given, *rest)

    monkeypatch.setattr(NaiveBayes, "_learn", peeking)


MUTANTS = {
    _half_noise: "add-remove",
    _choice_for_free: "add-remove",
    _rounds_for_one: "add-remove",
    _monotone_always: "replace-one",
    _number_from_data: "add-remove",
    _chosen_on_clear_data: "add-remove",
}


@pytest.mark.parametrize("mutant", [None, *MUTANTS], ids=lambda mutant: getattr(mutant, "__name__", "none").strip("_"))
def test_replay_catches_mutant(mutant, monkeypatch):
    adjacency = MUTANTS.get(mutant, "add-remove")
    if mutant:
        monkeypatch.setattr(Step, "check", lambda *_: None)  # the replay has to notice by itself
        mutant(monkeypatch)
    record = {"near": None, "far": None, "open": "a", "closed": "a", "label": "x"}
    told = [record] * 20 + [{**record, "open": "b", "label": "y"}] * 20
    tied = [record] * 3 + [{**record, "open": "b", "closed": "b", "label": "y"}] * 3
    pairs = {
        "add-remove": [(told, told[:-1]), (told, told[1:]), (tied, [*tied, {**record, "closed": "b", "label": "y"}])],
        "replace-one": [(told, [*told[:-1], {**told[-1], "label": "x"}])],
    }
    caught = 0
    for select, (table, other) in itertools.product((1, 2), pairs[adjacency]):
        try:
            fit = lambda rows: fitted(rows, adjacency, select=select)  # noqa: B023, E731
            loss, model, twin = replay(fit, table, other)
            caught += loss > 1 + 1e-9 or visible(model) != visible(twin)
        except (AssertionError, BudgetError, TypeError):  # other mechanisms are asked, or in another order
            caught += 1
    assert bool(caught) == (mutant is not None)


def test_a_share_that_moves_by_two_is_caught(monkeypatch):
    """The score of "none is enough" has to move by at most one, too."""
    fit = lambda rows: fitted(rows, records=5000, select="auto")  # noqa: E731
    table = [{"near": None, "far": None, "open": "a", "closed": "a", "label": "x"}] * 30
    loss, *_ = replay(fit, table, table[:-1])
    assert loss <= 1 + 1e-9
    monkeypatch.setattr(FractionScore, "score", lambda self, counts: 60 * int(counts.sum()))
    loss, *_ = replay(fit, table, table[:-1])
    assert loss > 1


def test_the_source_is_read_after_the_charge():
    class Unread(MemorySource):
        def count(self, cells, given):
            raise AssertionError("read")

    ledger = Ledger(1)
    with pytest.raises(AssertionError, match="read"):
        NaiveBayes(PEOPLE, epsilon=0.75, select=1).fit_from(Unread(HABITS, ILL), ledger=ledger)
    assert 0 < ledger.spent <= Fraction(3, 4)


def test_chosen_columns_are_asked_in_the_order_of_the_schema():
    model = NaiveBayes(PEOPLE, epsilon=5, select=3).fit(HABITS, ILL)
    assert model.columns_ == [name for name in PEOPLE.names if name in model.columns_]
    assert len(model.feature_log_prob_) == 3
    assert {type(query) for query, _ in model.noisy_.tables} >= {Counts}
    assert isinstance(PEOPLE["dose"], Numeric)


def test_the_reason_follows_from_what_was_done():
    """Fifty classes of 40 columns: no column is enough, and by the rule nothing is chosen, so ε was the reason."""
    wide = Schema([Categorical(f"c{i}", ["a", "b"]) for i in range(40)], "y", [str(i) for i in range(50)], records=4000)
    X, y = {name: ["a"] * 4000 for name in wide.names}, [str(i % 50) for i in range(4000)]
    model = NaiveBayes(wide, select="auto", random_state=0).fit(X, y)
    assert [each.mechanism for each in model.receipt_.charges].count("permute-and-flip") == 1
    assert 1 < len(model.columns_) < 40
    assert "Not asked, because ε is too small for more columns: c" in model.explain()
    model = NaiveBayes(wide, select="auto", epsilon=0.0001, random_state=0).fit(X, y)
    assert "Not asked, because ε is too small for more columns: c" in model.explain()
