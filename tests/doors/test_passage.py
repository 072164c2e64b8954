"""The passage: every price is checked, then all steps are charged, then the data are opened once; mutants fail.

And for every door and every mechanism: too little noise is refused before a charge, however small the difference, and
whatever object is handed over as a plan.
"""

from __future__ import annotations

import inspect
import itertools
import math
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from types import FunctionType
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet import Ledger, LocalPerturbation, NaiveBayes
from discreet.doors import counts, hyperplanes, labelled_plan, passage, rows, shares, splits, tree_plans, trees
from discreet.doors.choice import select
from discreet.doors.margins import count_margins
from discreet.doors.questions import ask
from discreet.doors.ranges import narrow
from discreet.errors import BudgetError, DataError, ParameterError
from discreet.evaluation import evaluate
from discreet.models.trees import plan as tree_plan
from discreet.privacy.mechanisms import MECHANISMS
from discreet.privacy.mechanisms.clear import Everything, InTheClear
from discreet.privacy.mechanisms.laplace import DiscreteLaplace
from discreet.privacy.mechanisms.multiclass_objective import MulticlassPerturbation
from discreet.privacy.mechanisms.objective import ObjectivePerturbation
from discreet.privacy.mechanisms.polya import PolyaShare
from discreet.privacy.mechanisms.response import RandomizedResponse
from discreet.privacy.mechanisms.selection import PermuteAndFlip
from discreet.privacy.mechanisms.smooth import SmoothCauchy
from discreet.privacy.randomness import as_rng
from discreet.privacy.receipt import Charge
from discreet.privacy.steps import Apart, Lot, Step, laplace_steps
from discreet.queries.added_scores import AddedScores
from discreet.queries.crossed import CrossedCounts
from discreet.queries.hyperplanes import Hyperplanes
from discreet.queries.margins import Margins
from discreet.queries.ranges import Filled
from discreet.queries.tables import (
    ClassCounts,
    Counts,
    FractionScore,
    MajorityScore,
    Moments,
    SoftCounts,
    SplineCounts,
    Total,
)
from discreet.queries.trees import candidates
from discreet.records.encoding import Cells
from discreet.schema import Adjacency
from discreet.sources.memory import MemorySource
from support.neighbours import ADJACENCIES, BASE, schema

TREE = tree_plans.Tree((tree_plans.Split("open", None, 0), None, None))


class Events:
    """A source and a ledger that note their calls in one list, in order."""

    def __init__(self, limit: Any = 10, records: Any = (BASE,) * 3) -> None:
        self.seen: list[Any] = []
        self.source = _Source(list(records), self.seen)
        self.ledger = _Ledger(limit, self.seen)


class _Source(MemorySource):
    def __init__(self, records: Any, seen: list[Any]) -> None:
        super().__init__(records)
        self._seen = seen

    def check(self, given: Any) -> None:
        self._seen.append("check")
        super().check(given)

    def count(self, cells: Any, given: Any) -> Any:
        self._seen.append("read")
        return super().count(cells, given)

    def rows(self, cells: Any, given: Any) -> Any:
        self._seen.append("read")
        return super().rows(cells, given)


class _Ledger(Ledger):
    def __init__(self, limit: Any, seen: list[Any]) -> None:
        super().__init__(limit)
        self._seen = seen

    def charge(self, name: str, charges: Any, adjacency: Any, *, once: bool = False) -> None:
        super().charge(name, charges, adjacency, once=once)
        self._seen.append(("charge", sum((charge.epsilon for charge in charges), Fraction(0))))


def steps_of(*epsilons: Any) -> list[Step]:
    return laplace_steps([Counts("open")] * len(epsilons), list(epsilons), schema())


# What the passage does, in one function of checks that mutants must fail.


def examine(through: Any) -> None:
    """Raise AssertionError unless this passage checks, charges, opens and writes receipts as it should."""
    lot = Lot("a lot", (tuple(steps_of(1, 1)), tuple(steps_of(1))))
    apart = Apart(tuple(Step(each, DiscreteLaplace(1.0), Fraction(1)) for each in DISJOINT))
    plan, rng = [*steps_of(Fraction(1, 3), Fraction(1, 2)), lot, apart], as_rng(0)
    whole = Fraction(1, 3) + Fraction(1, 2) + 2 + 1
    events = Events()
    reading, receipt = through(events.source, schema(), plan, events.ledger, rng, "a purpose")
    assert events.seen == ["check", ("charge", whole)], "structure, charge, and nothing is read yet"
    assert events.ledger.entries == [("a purpose", whole)]
    assert receipt.epsilon == whole, "what is stated is what was charged"
    assert (receipt.adjacency, receipt.schema_hash, receipt.seeded) == (Adjacency.ADD_REMOVE, schema().hash, True)
    reading.count([Cells("open")])
    assert events.seen[-1] == "read"
    for again in (lambda: reading.count([Cells("open")]), lambda: list(reading.rows([Cells("open")]))):
        with pytest.raises(ParameterError, match="read already"):
            again()
    assert events.seen.count("read") == 1
    examine_passes(through)
    examine_snapshots(through)
    weak = [replace(step, mechanism=DiscreteLaplace(step.mechanism.scale * 0.999)) for step in steps_of(1)]
    hidden = Lot("a lot", (tuple(steps_of(1)), (*steps_of(1), *weak)))
    near = Apart((*apart.alternatives[:1], Step(DISJOINT[1], DiscreteLaplace(0.999), Fraction(1))))
    for refused in (weak, [Lot("a lot", (tuple(steps_of(1)), tuple(weak)))], [*steps_of(1), *weak], [hidden], [near]):
        events = Events()
        with pytest.raises(ParameterError, match="costs more"):
            through(events.source, schema(), refused, events.ledger, rng, "a purpose")
        assert events.ledger.spent == 0
        assert "read" not in events.seen
    overlapping = Apart(tuple(Step(each, DiscreteLaplace(1.0), Fraction(1)) for each in (DISJOINT[0], CrossedCounts())))
    events = Events()
    with pytest.raises(ParameterError, match="a record can pass"):
        through(events.source, schema(), [overlapping], events.ledger, rng, "a purpose")
    assert events.ledger.spent == 0
    events = Events(limit=1)
    with pytest.raises(BudgetError):
        through(events.source, schema(), plan, events.ledger, rng, "a purpose")
    assert events.seen == ["check"]
    events = Events(records=())
    events.source._X = {"open": ["a"], "label": ["x"]}
    with pytest.raises(DataError, match="near"):
        through(events.source, schema(), plan, events.ledger, rng, "a purpose")
    assert events.ledger.spent == 0
    events = Events()
    through(events.source, schema(), plan, events.ledger, rng, "once", once=True)
    with pytest.raises(BudgetError, match="already"):
        through(events.source, schema(), plan, events.ledger, rng, "once", once=True)
    events = Events()
    spending = passage.Spending(events.ledger)
    through(events.source, schema(), plan, spending, rng, "first")
    through(events.source, schema(), steps_of(1), spending, rng, "second")
    assert spending.receipt.epsilon == events.ledger.spent == whole + 1


@dataclass(frozen=True)
class Labels:
    """A task: the number of records."""

    size: int = 1

    def __call__(self, block: Any) -> Any:
        return np.array([len(block.labels)])


def examine_passes(through: Any) -> None:
    """Passes are one reading, and all of them meet one table: as many records, and the same ones, or none is read."""
    for changed in (
        [BASE] * 4,
        [*[BASE] * 2, {**BASE, "open": "elsewhere"}],
        [*[BASE] * 2, {**BASE, "label": "z"}],
        [],
    ):
        for first, second in itertools.product(("fold", "rows"), repeat=2):
            events = Events()
            reading, _ = through(events.source, schema(), steps_of(1), events.ledger, as_rng(0), "a purpose")
            passes = reading.passes([Cells("open"), Cells("open")])
            ask = {"fold": partial(passes.fold, Labels()), "rows": lambda passes=passes: list(passes.rows())}
            assert passes.fold(Labels()).tolist() == [3]
            ask[first]()
            events.source._X = changed
            with pytest.raises(DataError, match="changed while it was read"):
                ask[second]()
            with pytest.raises(ParameterError, match="read already"):
                reading.passes([Cells("open")])


def test_all_passes_of_a_reading_meet_one_table():
    examine_passes(passage.passage)


class Snapshot(MemorySource):
    """A source that vouches for one state after another."""

    def __init__(self, *states: object) -> None:
        super().__init__([BASE] * 3)
        self._states = [object(), *states]

    @property
    def state(self) -> object:
        return self._states.pop(0) if len(self._states) > 1 else self._states[0]

    def fold(self, cells: Any, schema: Any, task: Any) -> Any:
        assert isinstance(task, Labels), "no fingerprint is asked for"
        return super().fold(cells, schema, task)


def examine_snapshots(through: Any) -> None:
    """All passes meet the snapshot that was there when the reading began."""
    same = object()
    for changes in range(4):
        source = Snapshot(*[same] * changes, object())
        source._states[0] = same
        reading, _ = through(source, schema(), steps_of(1), Ledger(9), as_rng(0), "a purpose")
        passes = reading.passes([Cells("open")])
        ask = itertools.cycle([partial(passes.fold, Labels()), lambda passes=passes: list(passes.rows())])
        for _ in range(changes):
            next(ask)()
        with pytest.raises(DataError, match="changed while it was read"):
            next(ask)()


def test_all_passes_of_a_reading_meet_one_snapshot():
    examine_snapshots(passage.passage)


def test_the_passage_passes():
    examine(passage.passage)


MUTANTS = {
    "no prices are checked": ("        step.check(schema)\n", "        pass\n"),
    "only the first price is checked": ("    for step in steps:\n", "    for step in steps[:1]:\n"),
    "lots are not checked": ("        step.check(schema)\n", "        isinstance(step, Lot) or step.check(schema)\n"),
    "disjointness is not checked": (
        "        step.check(schema)\n",
        "        isinstance(step, Apart) or step.check(schema)\n",
    ),
    "nothing is charged": ("    ledger.charge(purpose, charges, schema.adjacency, once=once)\n", ""),
    "less is charged": ("ledger.charge(purpose, charges,", "ledger.charge(purpose, charges[:-1],"),
    "less is stated": ("Receipt(schema.adjacency, charges,", "Receipt(schema.adjacency, charges[1:],"),
    "charged after reading": ("    source.check(schema)\n", "    source.check(schema)\n    source.count([], schema)\n"),
    "structure after the charge": (
        "    source.check(schema)\n    receipt = pay(schema, steps, ledger, rng, purpose, once=once)\n",
        "    receipt = pay(schema, steps, ledger, rng, purpose, once=once)\n    source.check(schema)\n",
    ),
    "read as often as wanted": ("source, self._source = self._source, None", "source = self._source"),
    "passes may meet other records": ("(first != met).any()", "first[0] != met[0]"),
    "passes may meet more records": ("(first != met).any()", "(first != met)[1:].any() and first[0] == met[0]"),
    "passes are not compared": ("        self._compare(folded[task.size :])\n", ""),
    "snapshots are not compared": ("has_changed or state_of(self._source) is not self._state", "has_changed"),
    "rows are not compared": ("        self._compare(met)\n", ""),
    "passes as often as wanted": ("return Passes(self._once(),", "return Passes(self._source,"),
    "once is forgotten": ("schema.adjacency, once=once)", "schema.adjacency)"),
    "always secure": ("charges, rng.seeded,", "charges, False,"),
    "the receipt is not kept": ("        ledger.note(receipt)\n", "        pass\n"),
    "another name": ("ledger.charge(purpose,", 'ledger.charge("release",'),
}


@pytest.mark.parametrize("mutant", MUTANTS)
def test_mutants_of_the_passage_are_caught(mutant: str) -> None:
    source, (old, new) = inspect.getsource(passage), MUTANTS[mutant]
    assert old in source, "the mutant does not fit the code any more"
    mutated: dict[str, Any] = {"__name__": "discreet.doors.mutated", "Spending": passage.Spending}
    text = source.replace(old, new, 1).replace("class Spending:", "class _Unused:")
    exec(text, mutated)
    with pytest.raises((AssertionError, pytest.fail.Exception, ParameterError)):
        examine(mutated["passage"])


# Every door, every mechanism: a price is never believed.


def _release(query: Any, weaken: Any, ledger: Ledger, adjacency: str) -> None:
    given_ = schema(adjacency)
    if isinstance(query, Moments):
        step = Step(query, SmoothCauchy(Fraction(1) / given_.adjacency.distance), Fraction(1))
    else:
        (step,) = laplace_steps([query], [Fraction(1)], given_)
    weak = replace(step, mechanism=weaken(step.mechanism))
    counts.release(MemorySource([BASE]), given_, [weak], ledger, as_rng(0))


def _share(weaken: Any, ledger: Ledger, adjacency: str) -> None:
    given_, query = schema(adjacency), Counts("open")
    mechanism = PolyaShare.calibrated(Fraction(1), query.distance(given_), 3)
    plan = [Step(query, weaken(mechanism), Fraction(1))]
    shares.share(MemorySource([BASE]), given_, plan, np.zeros(9, dtype=np.uint64), ledger, as_rng(0), "round")


class _Weakened:
    """All mechanisms that a door calibrates itself get less noise."""

    def __init__(self, weaken: Any) -> None:
        self._weaken, self._patch = weaken, pytest.MonkeyPatch()

    def __enter__(self) -> None:
        for kind in (
            DiscreteLaplace,
            PermuteAndFlip,
            ObjectivePerturbation,
            MulticlassPerturbation,
            RandomizedResponse,
        ):
            original = kind.calibrated.__func__

            def weaker(cls: Any, *given: Any, _original: Any = original) -> Any:
                return self._weaken(_original(cls, *given))

            self._patch.setattr(kind, "calibrated", classmethod(weaker))

    def __exit__(self, *_: Any) -> None:
        self._patch.undo()


def _chosen(candidates: Any, wanted: int) -> Any:
    def door(weaken: Any, ledger: Ledger, adjacency: str) -> None:
        with _Weakened(weaken):
            select(MemorySource([BASE]), schema(adjacency), candidates, wanted, Fraction(1), ledger, as_rng(0))

    return door


def _grown(make: Any, *, dealt: bool = False) -> Any:
    def door(weaken: Any, ledger: Ledger, adjacency: str) -> None:
        plans = [make(schema(adjacency))] * (2 if dealt else 1)
        with _Weakened(weaken):
            trees.grow(MemorySource([BASE]), schema(adjacency), plans, ledger, as_rng(0), dealt=dealt)

    return door


def _split(weaken: Any, ledger: Ledger, adjacency: str) -> None:
    plan = tree_plans.Greedy(candidates(schema(adjacency), 4, ["near"]), "gini", (Fraction(1),), None)
    with _Weakened(weaken):
        splits.grow_splits(MemorySource([BASE]), schema(adjacency), plan, ledger, as_rng(0))


def _narrowed(weaken: Any, ledger: Ledger, adjacency: str) -> None:
    with _Weakened(weaken):
        asked = [Filled("near", 0), Filled("far", -1, 9)]
        narrow(MemorySource([BASE]), schema(adjacency), asked, Fraction(1), ledger, as_rng(0))


def _separated(classes: list[str]) -> Any:
    def door(weaken: Any, ledger: Ledger, adjacency: str) -> None:
        query, given_ = Hyperplanes(3, 20), schema(adjacency).replace(classes=classes)
        with _Weakened(weaken):
            hyperplanes.separate(MemorySource([BASE]), given_, query, Fraction(1), 0.5, 10.0, ledger, as_rng(0))

    return door


def _perturbed(components: int | None) -> Any:
    def door(weaken: Any, ledger: Ledger, adjacency: str) -> None:
        given_ = schema("replace-one")
        with _Weakened(weaken):
            LocalPerturbation(given_, epsilon=1, components=components).fit_resample([BASE], ledger=ledger)

    return door


def _scored(weaken: Any, ledger: Ledger, adjacency: str, only: str | None = None) -> None:
    model = NaiveBayes(schema(adjacency), epsilon=1).fit([BASE])
    with _Weakened(weaken):
        evaluate(model, [BASE], epsilon=1, ledger=ledger, only=only)


def _counted_margins(weaken: Any, ledger: Ledger, adjacency: str) -> None:
    public, cells = schema(adjacency), Cells("near", 4)
    scores = AddedScores(np.zeros(2), ((cells, np.zeros((4, 2))),), 1.0, (0, 1))
    first = lambda records: np.zeros(records.rows, dtype=np.intp)  # noqa: E731
    with _Weakened(weaken):
        count_margins(MemorySource([BASE]), public, Margins(2), first, [cells], scores, Fraction(1), ledger, as_rng(0))


def _asked(questions: Any) -> Any:
    def door(weaken: Any, ledger: Ledger, adjacency: str) -> None:
        with _Weakened(weaken):
            ask(MemorySource([BASE]), schema(adjacency), questions, Fraction(1), ledger, as_rng(0))

    return door


DISJOINT = [CrossedCounts.of([{"column": "open", "equals": each}], ["label"]) for each in ("a", "b")]
QUERIES = [Counts("open"), SplineCounts("near", 4), SoftCounts("near"), ClassCounts(), Total(), Moments("near")]
SCORES = [MajorityScore("open"), MajorityScore("near", 4), FractionScore(24, 25)]
DOORS: dict[str, Any] = {
    **{f"release {query!r}": lambda *given, _query=query: _release(_query, *given) for query in QUERIES},
    "ask one": _asked([CrossedCounts.of(by=["label", "open"])]),
    "ask disjoint": _asked(DISJOINT),
    "ask several": _asked([*DISJOINT, CrossedCounts()]),
    "share": _share,
    "select 1": _chosen(SCORES, 1),
    "select 2": _chosen(SCORES, 2),
    "grow greedy": _grown(lambda given_: tree_plan.greedy(candidates(given_, 4, ["near"]), Fraction(1), 2, "max")),
    "grow gini": _grown(lambda given_: tree_plan.greedy(candidates(given_, 4, ["near"]), Fraction(1), 2, "gini")),
    "grow weighted": _grown(
        lambda given_: replace(
            tree_plan.greedy(candidates(given_, 4, ["near"]), Fraction(1), 2, "max"), weights=(1, 5, 16)
        )
    ),
    "grow dealt": _grown(
        lambda given_: tree_plan.greedy(candidates(given_, 4, ["near"]), Fraction(1), 1, "max"), dealt=True
    ),
    "grow published": _grown(lambda given_: tree_plan.published(given_, Fraction(1), 2)),
    "grow labelled": _grown(
        lambda given_: labelled_plan.Labelled(None, tree_plan.stumps(given_, ["open"], 1000.0), Fraction(1))
    ),
    "grow asked": _grown(
        lambda given_: tree_plan.labelled(
            candidates(given_, 4, ["near"]), tree_plan.stumps(given_, ["open"], 10.0), Fraction(1), 2, "max", 0.2
        )
    ),
    "grow labels": _grown(lambda _: tree_plans.Fixed(TREE, Fraction(1), labels=True)),
    "grow counts": _grown(lambda _: tree_plans.Fixed(TREE, Fraction(1), labels=False)),
    "select cut": _chosen([MajorityScore("near", 4, None, ((1,), (2, 3))), MajorityScore("far", 4)], 1),
    "select weighted": _chosen([MajorityScore("open", None, (1, 5, 2)), MajorityScore("near", 4, (1, 5, 2))], 1),
    "splits": _split,
    "ranges": _narrowed,
    "separate two": _separated(["x", "y"]),
    "separate three": _separated(["x", "y", "z"]),
    "rows": _perturbed(None),
    "rows drawn": _perturbed(3),
    "score": _scored,
    "score alone": lambda *given: _scored(*given, only="accuracy"),
    "margins": _counted_margins,
}


def weaker(mechanism: Any, factor: float) -> Any:
    """The same mechanism with less noise: by a factor, and by one unit in the last place at least."""
    match mechanism:
        case DiscreteLaplace() | PermuteAndFlip():
            return type(mechanism)(math.nextafter(mechanism.scale * factor, 0))
        case PolyaShare():
            return replace(mechanism, scale=math.nextafter(mechanism.scale * factor, 0))
        case SmoothCauchy():
            return SmoothCauchy(mechanism.epsilon / Fraction(max(factor, 0.01)) + Fraction(1, 10**9))
        case RandomizedResponse():
            kept = mechanism.kept + max(1, int((2**62 - mechanism.kept) * (1 - factor)))
            return replace(mechanism, kept=min(kept, 2**62))
        case ObjectivePerturbation() | MulticlassPerturbation():
            return replace(mechanism, scales=tuple(math.nextafter(each * factor, 0) for each in mechanism.scales))
    raise AssertionError(mechanism)


@pytest.mark.parametrize("adjacency", ADJACENCIES)
@pytest.mark.parametrize("door", DOORS)
@settings(max_examples=12, deadline=None)
@given(factor=st.floats(0.0, 1 - 1e-12))
def test_too_little_noise_is_refused_at_every_door(door: str, adjacency: str, factor: float) -> None:
    """Steps, plans and calibrations with less noise than the price, however little less: nothing is charged."""
    ledger = Ledger(10)
    with pytest.raises(ParameterError):
        DOORS[door](lambda mechanism: weaker(mechanism, factor), ledger, adjacency)
    assert ledger.entries == []


@pytest.mark.parametrize("adjacency", ADJACENCIES)
@pytest.mark.parametrize("door", DOORS)
def test_enough_noise_passes_every_door(door: str, adjacency: str) -> None:
    """The same steps with enough noise are accepted: the test above refuses for the noise alone."""
    ledger = Ledger(10)
    DOORS[door](lambda mechanism: mechanism, ledger, adjacency)
    assert ledger.spent == 1


def test_replacing_billed_as_removing_is_refused_at_every_door() -> None:
    """Noise calibrated to add-remove is half of what replace-one needs; only the total still changes by one record."""
    for door, refused in DOORS.items():
        if door in (f"release {Total()!r}", "rows", "rows drawn"):
            continue
        ledger = Ledger(10)
        with pytest.raises(ParameterError, match="costs more"):
            refused(_for_add_remove, ledger, "replace-one")
        assert ledger.entries == [], door


def _for_add_remove(mechanism: Any) -> Any:
    return weaker(mechanism, 0.5)


@dataclass(frozen=True)
class Liar:
    """An object that passes for a mechanism or a plan and always says that it costs nothing."""

    name: str = "a liar"
    scale: float = 1.0
    experimental: bool = False

    def loss(self, distance: int) -> Fraction:
        return Fraction(0)

    def perturb(self, table: Any, rng: Any) -> Any:
        return table

    choose = perturb

    def cells(self) -> list[Cells]:
        return [Cells("open")]

    def charges(self, given_: Any) -> list[Charge]:
        return [Charge("everything", "a liar", Fraction(1, 100), 1, 1.0)]

    def steps(self, given_: Any) -> list[Step]:
        return steps_of(Fraction(1, 100))

    def answer(self, records: Any, *_: Any) -> Any:
        raise AssertionError("a forged plan has the records")


class CheapLaplace(DiscreteLaplace):
    """A subclass that overrides the price."""

    def loss(self, distance: int) -> Fraction:
        return Fraction(0)


def test_a_forged_mechanism_or_plan_is_refused():
    """Version 0.1 believed a plan of any loss that stated a small price."""
    events = Events()
    for mechanism in (Liar(), CheapLaplace(0.0)):
        plan = [Step(Counts("open"), mechanism, Fraction(1))]
        with pytest.raises(ParameterError, match=r"not a mechanism|does not answer"):
            counts.release(events.source, schema(), plan, events.ledger, as_rng(0))
    with pytest.raises(ParameterError, match="not a plan"):
        trees.grow(events.source, schema(), [Liar()], events.ledger, as_rng(0))  # type: ignore[list-item]
    assert "read" not in events.seen
    assert events.ledger.entries == []


@pytest.mark.parametrize(
    ("query", "mechanism"),
    [
        (Counts("open"), SmoothCauchy(Fraction(1, 10))),
        (SoftCounts("near"), SmoothCauchy(Fraction(1, 10**9))),
        (Moments("near"), DiscreteLaplace(100.0)),
        (Counts("open"), PermuteAndFlip(100.0)),
        (Counts("open"), RandomizedResponse(2, 2**61)),
        (Counts("open"), PolyaShare(100.0, 3)),
        (Counts("open"), InTheClear()),
        (Counts("elsewhere"), DiscreteLaplace(100.0)),
        (MajorityScore("open"), DiscreteLaplace(100.0)),
        (Everything("all"), DiscreteLaplace(100.0)),
        (Hyperplanes(3, 20), DiscreteLaplace(1e9)),
        (Counts("near", 0), DiscreteLaplace(100.0)),
        (Counts("near", 2.5), DiscreteLaplace(100.0)),
        (Counts("near", True), DiscreteLaplace(100.0)),
        (Counts("open", 3), DiscreteLaplace(100.0)),
        (SplineCounts("open", 3), DiscreteLaplace(1e9)),
        (SoftCounts("open"), DiscreteLaplace(1e9)),
        (Moments("open"), SmoothCauchy(Fraction(1, 10))),
    ],
    ids=repr,
)
def test_a_mechanism_answers_its_own_questions_only(query: Any, mechanism: Any) -> None:
    """Enough noise, but from a mechanism whose proof does not cover the query."""
    events = Events()
    with pytest.raises(ParameterError):
        counts.release(events.source, schema(), [Step(query, mechanism, Fraction(1))], events.ledger, as_rng(0))
    assert events.ledger.entries == []
    assert "read" not in events.seen


class Nearer(Counts):
    """A query that states a smaller distance of neighbours than the true one."""

    def distance(self, given_: Any) -> int:
        return 0


class Louder(Counts):
    """A query whose table reveals more than its distance covers."""

    def fold(self, table: Any, given_: Any) -> Any:
        return 1000 * table


class NearerScore(MajorityScore):
    """A score that states a smaller change than the true one."""

    def distance(self, given_: Any) -> int:
        return 0


def test_a_question_of_another_type_is_refused_before_a_charge():
    events = Events()
    for query in (Nearer("open"), Louder("open")):
        plan = [Step(query, DiscreteLaplace(100.0), Fraction(1))]
        with pytest.raises(ParameterError, match="a door of its own"):
            counts.release(events.source, schema(), plan, events.ledger, as_rng(0))
    with pytest.raises(ParameterError, match="not a score"):
        select(events.source, schema(), [NearerScore("open")], 1, Fraction(1), events.ledger, as_rng(0))
    negative = Step(tree_plans.Asked("less than nothing", -1), DiscreteLaplace(1.0), Fraction(1))
    with pytest.raises(ParameterError, match="negative"):
        passage.pay(schema(), [negative], events.ledger, as_rng(0), "negative")
    assert events.ledger.entries == []
    assert events.seen == []


class Generous(Step):
    """A step that checks nothing and states any price."""

    def check(self, given_: Any) -> None:
        pass

    def charges(self, given_: Any) -> list[Charge]:
        return [Charge("everything", "none", Fraction(1, 10**6), 1, 1.0)]


class Fickle(list):
    """A plan that changes each time it is read."""

    def __iter__(self) -> Any:
        self.looks = getattr(self, "looks", 0) + 1
        weak = [Step(Counts("open"), DiscreteLaplace(0.0), Fraction(1))]
        return iter(steps_of(1) if self.looks <= 1 else weak)


def test_a_forged_step_or_a_plan_that_changes_does_not_pass():
    events = Events()
    forged = Generous(Counts("open"), DiscreteLaplace(0.0), Fraction(1, 10**6))
    with pytest.raises(ParameterError, match="not a step"):
        counts.release(events.source, schema(), [forged], events.ledger, as_rng(0))
    assert events.ledger.entries == []
    noisy = counts.release(events.source, schema(), Fickle(), events.ledger, as_rng(0))
    assert noisy.tables[0][1].variance > 0, "what is answered is what was checked"
    for door in (lambda plan: counts.release(events.source, schema(), plan, events.ledger, as_rng(0)),):
        assert door(step for step in steps_of(1)).receipt.epsilon == 1


@pytest.mark.parametrize("epsilon", [0, Fraction(-1), math.nan])
def test_smooth_noise_needs_an_epsilon(epsilon: Any) -> None:
    with pytest.raises(ParameterError, match="epsilon"):
        SmoothCauchy(epsilon)


def test_prices_are_exact_for_integers_of_numpy():
    """Fractions of numpy's integers overflow: the loss of a small scale came out below the true one."""
    for distance in (1, 5, 2048**2):
        for scale in (1.3 * 2.0**-40, 1.7 * 2.0**-60):
            for kind in (DiscreteLaplace, PermuteAndFlip):
                assert kind(scale).loss(np.int64(distance)) == Fraction(distance) / Fraction(scale)
    step = Step(SplineCounts("near", np.int64(4)), DiscreteLaplace(1e-12), Fraction(10**9))  # type: ignore[arg-type]
    with pytest.raises(ParameterError, match="costs more"):
        step.check(schema())


@pytest.mark.parametrize("epsilon", [0, -1, True, math.nan, "much", None])
def test_a_share_that_is_none_is_refused(epsilon: Any) -> None:
    events = Events()
    plan = [Step(Counts("open"), DiscreteLaplace(100.0), epsilon)]
    with pytest.raises(ParameterError, match="epsilon"):
        counts.release(events.source, schema(), plan, events.ledger, as_rng(0))
    assert events.ledger.entries == []


@pytest.mark.parametrize("scale", [math.nan, -1.0, math.inf, 1e300])
@pytest.mark.parametrize("kind", [DiscreteLaplace, PermuteAndFlip])
def test_a_scale_that_is_none_is_refused(kind: Any, scale: float) -> None:
    with pytest.raises(ParameterError, match="scale"):
        kind(scale)


def test_reading_in_the_clear_needs_a_ledger_without_a_limit():
    step = Step(Everything("all records"), InTheClear(), math.inf)
    ledger = Ledger(10**6)
    with pytest.raises(BudgetError):
        passage.pay(schema(), [step], ledger, as_rng(None), "in the clear")
    cheap = replace(step, epsilon=Fraction(1))
    with pytest.raises(ParameterError, match="costs more"):
        passage.pay(schema(), [cheap], ledger, as_rng(None), "in the clear")
    assert ledger.entries == []
    assert passage.pay(schema(), [step], Ledger.unlimited(), as_rng(None), "in the clear").epsilon == math.inf


def test_rows_need_replace_one_and_all_columns():
    events = Events()
    given_ = schema("add-remove")
    columns = [rows.column_step(column, Fraction(1, 5), given_) for column in given_.columns]
    label = rows.label_step(Fraction(1, 5), given_)
    with pytest.raises(ParameterError, match="replace-one"):
        rows.perturb_rows(events.source, given_, columns, label, None, events.ledger, as_rng(0), "rows")
    laplace, response = DiscreteLaplace(1e6), RandomizedResponse.calibrated(Fraction(1, 5), 2)
    for wrong in (
        columns[:2],
        columns[::-1],
        [*columns[:2], replace(columns[2], mechanism=laplace), columns[3]],  # categories have no order
        [*columns[:2], replace(columns[2], mechanism=response), columns[3]],  # a response among fewer cells
        [replace(columns[0], mechanism=response), *columns[1:]],
        [replace(columns[0], query=rows.Value("near", 3, ordered=True)), *columns[1:]],
    ):
        with pytest.raises(ParameterError, match="all of its columns"):
            rows.perturb_rows(
                events.source, schema("replace-one"), wrong, label, None, events.ledger, as_rng(0), "rows"
            )
    narrow = rows.Value("label", 2, ordered=False)
    for wrong_label in (replace(label, mechanism=response), replace(label, query=narrow)):
        with pytest.raises(ParameterError, match="label"):
            rows.perturb_rows(
                events.source, schema("replace-one"), columns, wrong_label, None, events.ledger, as_rng(0), "rows"
            )
    assert events.seen == []
    assert events.ledger.entries == []


@pytest.mark.parametrize("met", [0, 3])
def test_a_lot_deals_some_of_its_alternatives(met: int) -> None:
    with pytest.raises(ParameterError, match="alternatives"):
        Lot("a lot", (tuple(steps_of(1)), tuple(steps_of(1))), met).check(schema())


def test_a_lot_costs_its_dearest_alternatives():
    lots = Lot("drawn", tuple(tuple(steps_of(Fraction(part, 10))) for part in (1, 4, 2)), met=2)
    (line,) = lots.charges(schema())
    assert line.epsilon == Fraction(6, 10)
    alternatives = (tuple(steps_of(1, 2)), tuple(steps_of(4)), tuple(steps_of(1)))
    for met, cost in ((1, 4), (2, 7), (3, 8)):
        assert sum(line.epsilon for line in Lot("dealt", alternatives, met).charges(schema())) == cost


def test_every_mechanism_has_a_loss_and_says_whether_it_is_experimental():
    for kind in MECHANISMS:
        assert isinstance(kind.loss, FunctionType), kind
        assert isinstance(kind.experimental, bool), kind
    assert [kind for kind in MECHANISMS if kind.experimental] == [SmoothCauchy]


def test_a_reading_shows_no_values() -> None:
    assert repr(passage.Reading(MemorySource([BASE]), schema())) == "Reading(values hidden)"
