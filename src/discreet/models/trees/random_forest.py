"""Random forests, grown privately."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from discreet.doors.passage import Spending
from discreet.doors.tree_plans import Plan
from discreet.errors import ParameterError
from discreet.models.class_weights import described
from discreet.models.classifier import Added, PrivateClassifier
from discreet.models.parameter_checks import check_integer
from discreet.models.trees import picture as tree_picture
from discreet.models.trees import plan as planning
from discreet.models.trees import text as tree_text
from discreet.models.trees.learning import plan_and_grow
from discreet.models.trees.leaves import GrownTree, added, all_grown, asked_cells, log_probabilities
from discreet.models.trees.parameters import check_tree_parameters
from discreet.privacy.epsilon import Epsilon
from discreet.privacy.randomness import Randomness
from discreet.privacy.steps import split_evenly
from discreet.records.encoding import Cells
from discreet.released.statistics import Answers, NoisyStatistics
from discreet.schema import Schema
from discreet.sources import Source

Matrix = NDArray[np.float64]

STRUCTURES = ("auto", "greedy", "random")
DEFAULT_TREES = 10
"""Most trees that "auto" grows; benchmarks/trees.py shows the accuracy with this value."""
MOST_TREES = 1000
"""Most trees that may be asked for: it bounds the time of a fit and the size of a model file."""


class RandomForest(PrivateClassifier):
    """ε-differentially private random forest: the mean of several trees.

    Greedy trees each grow on their own records, dealt at random, with all of ε and on some of the columns; random trees
    all use every record, with an equal share of ε each. Both ways give a tree the same ratio of signal to noise. Dealt
    records make greedy trees differ and grow faster; using all records spares random trees the sampling error.

    One DecisionTree is usually the better choice: on public data sets it is as accurate or better wherever "auto" grows
    several trees (benchmarks/trees.py). A few trees (n_trees=3) were ahead on tables of many columns and classes, and
    at a large ε.

    Where records stay in their engine and only sums over them come back, records are dealt by what is in them: equal
    records go to the same tree. Elsewhere each has a lot of its own, so these forests differ.

    Guarantee: `fit` is ε-DP for one record, under the schema's adjacency. Proof: the plans follow from the schema, ε,
    the noisy total, the noisy sizes of the classes (with `class_weight="balanced"`) and draws that do not see the data;
    `grow` carries them out, with dealt records (the cost is that of one tree) or with all records (the shares sum to
    what is left of ε), proof there; the rest is post-processing.

    Parameters
    ----------
    schema : Schema, or "from-data" to read bounds, categories and classes off the data, which voids the guarantee.
    epsilon : privacy loss of the whole fit; infinity for a forest without noise.
    n_trees : number of trees. "auto" (default) grows as many as ε and the number of records support, at most ten; with
        few records or a small ε that is a single tree, the same as DecisionTree.
    structure : "greedy" or "random" trees; "auto" (default) chooses, as for DecisionTree.
    max_columns : fraction of the columns that each of several greedy trees may ask about.
    max_depth, thresholds, criterion, prune : as for DecisionTree.
    class_weight : None; "balanced", to find rare classes as well as frequent ones; or a weight by class, such as
        {"yes": 10} (others weigh 1). Noisy counts of leaves are multiplied by the weights, before pruning:
        post-processing. Greedy trees weigh classes when they compare splits; to balance them, 3 % of ε buys their
        sizes. No structure is used that names a class by majority (stumps, weak random trees).
    random_state : None for secure noise; an integer for repeatable experiments and tests, which voids the guarantee.

    Attributes
    ----------
    trees_ : the trees as grown; `explain` and `plot` show them after pruning.
    guarantee_ : what is guaranteed, in words that name unit and adjacency.
    receipt_ : every charge.

    Examples
    --------
    >>> from discreet import Categorical, Schema
    >>> from discreet.models.trees.random_forest import RandomForest
    >>> schema = Schema([Categorical("smoker", ["no", "yes"])], target="ill", classes=["no", "yes"], records=1000)
    >>> records = [{"smoker": "yes"}] * 500 + [{"smoker": "no"}] * 500
    >>> model = RandomForest(schema, epsilon=1, n_trees=2).fit(records, ["yes"] * 500 + ["no"] * 500)
    >>> model.predict([{"smoker": "yes"}]).tolist(), len(model.trees_)
    (['yes'], 2)
    """

    kind: ClassVar[str] = "random-forest"
    by_sums: ClassVar[bool] = True

    def __init__(
        self,
        schema: Schema | str,
        *,
        epsilon: Any = 1.0,
        n_trees: int | str = "auto",
        structure: str = "auto",
        max_columns: float = 0.7,
        max_depth: int | None = None,
        thresholds: int | str = "auto",
        criterion: str = "auto",
        prune: float | str = "auto",
        class_weight: Any = None,
        random_state: Any = None,
    ) -> None:
        self.schema = schema
        self.epsilon = epsilon
        self.n_trees = n_trees
        self.structure = structure
        self.max_columns = max_columns
        self.max_depth = max_depth
        self.thresholds = thresholds
        self.criterion = criterion
        self.prune = prune
        self.class_weight = class_weight
        self.random_state = random_state

    def _learn(
        self, source: Source, schema: Schema, epsilon: Epsilon, ledger: Spending, rng: Randomness, purpose: str
    ) -> Answers:
        def plans(rest: Epsilon, records: int) -> list[Plan]:
            return self._plans(schema, rest, records, rng)

        given = source, schema, epsilon, plans, ledger, rng, purpose
        return plan_and_grow(*given, needs_records=True, class_weight=self.class_weight)

    def _plans(self, schema: Schema, epsilon: Epsilon, records: int, rng: Randomness) -> list[Plan]:
        """Plan greedy trees, each at all of epsilon on dealt records, or random trees, each at an equal share."""
        trees, structure = self._shape(schema, epsilon, records)
        strength = planning.signal(schema, epsilon, records) / trees
        shares = [epsilon] * trees if structure == "greedy" else split_evenly(epsilon, trees)
        chosen = structure, self.max_depth, self.thresholds, self.criterion
        weighted = self.class_weight is not None
        some = trees > 1 and structure == "greedy"
        return [
            planning.plan(
                schema, share, strength, *chosen, rng, self._columns(schema, rng) if some else None, weighted=weighted
            )
            for share in shares
        ]

    def _shape(self, schema: Schema, epsilon: Epsilon, records: int) -> tuple[int, str]:
        """The number of trees and their structure. With more records or a larger ε, several greedy trees stay so."""
        whole, classes = planning.signal(schema, epsilon, records), len(schema.classes)
        supported = min(DEFAULT_TREES, int(planning.of_a_class(whole, classes) / planning.STRONG))
        trees = max(1, supported) if self.n_trees == "auto" else int(self.n_trees)
        structure = self.structure
        if structure == "auto" and trees > 1:
            structure = "greedy" if planning.of_a_class(whole / trees, classes) >= planning.FAIR else "random"
        return trees, structure

    def _columns(self, schema: Schema, rng: Randomness) -> list[str]:
        """Draw the columns of one tree; every tree gets equally many, so that all trees cost the same."""
        wanted = max(1, round(float(self.max_columns) * len(schema.names)))
        keys = rng.integers(2**62, (len(schema.names),))
        kept = np.sort(np.argsort(keys, kind="stable")[:wanted])
        return [schema.names[place] for place in kept]

    def _build(self, noisy: NoisyStatistics, schema: Schema, places: list[int]) -> None:
        trees = all_grown(noisy, self.prune, self.class_weight, schema)
        if not trees:
            raise ParameterError("these statistics do not belong to a forest; need a table of leaves for each tree")
        self.trees_ = [tree for tree, _ in trees]
        self._grown = [own.in_order(places) for _, own in trees]

    def asked_cells(self) -> tuple[Cells, ...]:
        """The cells of a record whose codes decide what is predicted for it."""
        return asked_cells(self._grown)

    def _added(self) -> Added:
        return added(self._grown)

    def _scores(self, X: Any) -> Iterator[Matrix]:
        return log_probabilities(self._grown, X, self.schema_)

    def column_use(self) -> dict[str, float]:
        """How often the pruned trees ask about each column, as a fraction; each level down counts half as much."""
        check_is_fitted(self, "noisy_")
        use: Counter[str] = Counter()
        for each in self._grown:
            for node, level in zip(each.tree.nodes, each.tree.links()[2], strict=True):
                if node is not None:
                    use[node.column] += 2.0**-level  # type: ignore[assignment]
        whole = sum(use.values()) or 1.0
        return {name: amount / whole for name, amount in use.most_common()}

    def explain(self, top: int | None = None) -> str:
        """Return how often each column is asked, then the top of the first `top` trees (default: one), as text."""
        use = self.column_use()
        trees = len(self._grown)
        count = f"{trees} trees" if trees > 1 else "1 tree (ε and the number of records support no more)"
        lines = [weighted] if (weighted := described(self._grown[0].weights, self.classes_)) else []
        lines += [f"{count}; how often each column is asked (each level down counts half as much):"]
        lines += [f"  {name}  {fraction:.0%}" for name, fraction in use.items()] or ["  (no questions: only leaves)"]
        for number, each in enumerate(self._grown[: 1 if top is None else top], 1):
            lines += ["", f"Tree {number}:", self._described(each)]
        return "\n".join(lines)

    def _described(self, each: GrownTree) -> str:
        return tree_text.describe(each, self.schema_, self.classes_.tolist(), tree_text.SHOWN_DEPTH)

    def content(self, top: int | None = None) -> dict[str, Any]:
        """Return the same as plain data, with the first `top` trees (default: all), each of them whole."""
        use, classes = self.column_use(), self.classes_.tolist()
        return {"columns": use, "trees": [tree_text.content(each, self.schema_, classes) for each in self._grown[:top]]}

    def plot(self, top: int | None = tree_text.SHOWN_DEPTH) -> Any:
        """Draw the first `top` levels of the first tree with matplotlib, the rest folded; None for all of it."""
        check_is_fitted(self, "noisy_")
        title = f"{self.schema_.target}: tree 1 of {len(self._grown)} ({self.guarantee_.in_short()})"
        return tree_picture.draw(self._grown[0], self.schema_, self.classes_.tolist(), title, top)

    def check_parameters(self) -> None:
        """Raise ParameterError if a constructor value is out of range; `fit` begins with this check."""
        super().check_parameters()
        check_tree_parameters(self, STRUCTURES)
        if self.n_trees != "auto":
            check_integer("n_trees", self.n_trees, 1, MOST_TREES, or_="'auto'")
        is_number = isinstance(self.max_columns, int | float | np.number) and not isinstance(self.max_columns, bool)
        if not is_number or not 0 < self.max_columns <= 1:
            raise ParameterError(f"max_columns={self.max_columns!r}; need a fraction of the columns, > 0 and <= 1")
