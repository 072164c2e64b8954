"""Decision trees, grown privately."""

from __future__ import annotations

import math
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
from discreet.models.trees import picture as tree_picture
from discreet.models.trees import plan as planning
from discreet.models.trees import text as tree_text
from discreet.models.trees.learning import plan_and_grow, rehearse
from discreet.models.trees.leaves import added, all_grown, asked_cells, log_probabilities
from discreet.models.trees.parameters import check_tree_parameters
from discreet.privacy.epsilon import Epsilon
from discreet.privacy.randomness import Randomness, as_rng
from discreet.records.encoding import Cells
from discreet.released.statistics import Answers, NoisyStatistics
from discreet.schema import Schema
from discreet.sources import Source

Matrix = NDArray[np.float64]


class DecisionTree(PrivateClassifier):
    """ε-differentially private decision tree for mixed data and any number of classes.

    Guarantee: `fit` is ε-DP for one record, under the schema's adjacency. Proof: the plan (structure, depth and every
    share of ε) follows from the schema, ε and the noisy total alone, and with `class_weight="balanced"` from the noisy
    sizes of the classes (`release`); `grow` carries it out (proof there) at shares that sum to ε (exact fractions);
    pruning, weights of leaves and probabilities are post-processing.

    Parameters
    ----------
    schema : Schema, or "from-data" to read bounds, categories and classes off the data, which voids the guarantee.
    epsilon : privacy loss of the whole fit; infinity for a tree without noise.
    structure : "auto" (default) chooses one of the next four from ε, the number of records and the classes (rule in
        models/trees/plan.py). "greedy" chooses the best split of every node, and counts the leaves. "labelled" chooses
        a few splits, and then for each of their leaves a stump: one column together with the class of each of its
        parts. "stump" is a stump alone. "random" draws the tree and asks the data only about its leaves. "published" is
        the tree of Lopuhaä-Zwakenberg et al. 2021 with its accounting corrected.
    max_depth : largest number of questions on a path, at most 12 ("labelled": above the stumps); None lets the rule
        decide. If it is given, "auto" does not choose "labelled".
    thresholds : "auto" (default) compares about 260 thresholds of a numeric column: steps of 1/256 of its range, and
        finer ones near both bounds; on a column with a grid of fewer steps, all that its grid can tell apart; on tables
        of very many columns, fifteen. An integer: this many equally spaced ones.
    criterion : how greedy trees compare splits: "max" (records in the largest class), "gini" or "auto".
    prune : "auto" (default) merges branches that noise alone may explain, and draws the probabilities of small leaves
        towards those of the node above. A number: two branches are merged unless they classify more records right than
        their union, by more than this many standard deviations of the noise. Leaves whose classes were chosen
        (stumps, labelled and weak random trees) are merged only where they have the same class.
    class_weight : None; "balanced", to find rare classes as well as frequent ones; or a weight by class, such as
        {"yes": 10} (others weigh 1). Noisy counts of leaves are multiplied by the weights, before pruning:
        post-processing. Greedy trees weigh classes when they compare splits; to balance them, 3 % of ε buys their
        sizes. No structure is used that names a class by majority (stumps, labelled and weak random trees).
    random_state : None for secure noise; an integer for repeatable experiments and tests, which voids the guarantee.

    Attributes
    ----------
    tree_ : the tree as grown; `explain` and `plot` show it after pruning.
    guarantee_ : what is guaranteed, in words that name unit and adjacency.
    receipt_ : every charge.

    Examples
    --------
    >>> from discreet import Categorical, Schema
    >>> from discreet.models.trees.decision_tree import DecisionTree
    >>> schema = Schema([Categorical("smoker", ["no", "yes"])], target="ill", classes=["no", "yes"], records=1000)
    >>> records = [{"smoker": "yes"}] * 500 + [{"smoker": "no"}] * 500
    >>> model = DecisionTree(schema, epsilon=1).fit(records, ["yes"] * 500 + ["no"] * 500)
    >>> model.predict([{"smoker": "yes"}]).tolist(), model.guarantee_.holds
    (['yes'], True)
    """

    kind: ClassVar[str] = "decision-tree"
    by_sums: ClassVar[bool] = True

    def __init__(
        self,
        schema: Schema | str,
        *,
        epsilon: Any = 1.0,
        structure: str = "auto",
        max_depth: int | None = None,
        thresholds: int | str = "auto",
        criterion: str = "auto",
        prune: float | str = "auto",
        class_weight: Any = None,
        random_state: Any = None,
    ) -> None:
        self.schema = schema
        self.epsilon = epsilon
        self.structure = structure
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
            return [self._plan(schema, rest, records, rng)]

        needed = planning.needs_records(self.structure, self.max_depth, self.criterion)
        return plan_and_grow(
            source, schema, epsilon, plans, ledger, rng, purpose, needs_records=needed, class_weight=self.class_weight
        )

    def _rehearse(self, schema: Schema, epsilon: Epsilon) -> None:
        """Raise ParameterError, before anything is paid, if epsilon is too small, however many records there are."""
        if epsilon != math.inf:

            def plans(rest: Epsilon, records: int) -> list[Plan]:
                return [self._plan(schema, rest, records, as_rng(0))]

            rehearse(schema, epsilon, plans, self.class_weight)

    def _plan(self, schema: Schema, epsilon: Epsilon, records: int, rng: Randomness) -> Plan:
        strength = planning.signal(schema, epsilon, records)
        chosen = self.structure, self.max_depth, self.thresholds, self.criterion
        return planning.plan(schema, epsilon, strength, *chosen, rng, weighted=self.class_weight is not None)

    def _build(self, noisy: NoisyStatistics, schema: Schema, places: list[int]) -> None:
        trees = all_grown(noisy, self.prune, self.class_weight, schema)
        if len(trees) != 1:
            raise ParameterError("these statistics do not belong to one tree; need the answers about its leaves")
        ((self.tree_, own),) = trees
        self._grown = own.in_order(places)

    def asked_cells(self) -> tuple[Cells, ...]:
        """The cells of a record whose codes decide what is predicted for it."""
        return asked_cells([self._grown])

    def _added(self) -> Added:
        return added([self._grown])

    def _scores(self, X: Any) -> Iterator[Matrix]:
        return log_probabilities([self._grown], X, self.schema_)

    def explain(self, top: int | None = tree_text.SHOWN_DEPTH) -> str:
        """Return the tree as indented text: its first `top` levels, the rest folded; None for all of it."""
        check_is_fitted(self, "noisy_")
        text = tree_text.describe(self._grown, self.schema_, self.classes_.tolist(), top)
        weighted = described(self._grown.weights, self.classes_)
        return f"{weighted}\n{text}" if weighted else text

    def content(self, top: int | None = tree_text.SHOWN_DEPTH) -> dict[str, Any]:
        """Return the tree as plain data: its first `top` levels, the rest folded; None for all of it."""
        check_is_fitted(self, "noisy_")
        return tree_text.content(self._grown, self.schema_, self.classes_.tolist(), top)

    def plot(self, top: int | None = tree_text.SHOWN_DEPTH) -> Any:
        """Draw the first `top` levels of the tree with matplotlib, the rest folded; None for all of it."""
        check_is_fitted(self, "noisy_")
        weighted = "" if self.class_weight is None else ", classes weighted"
        title = f"{self.schema_.target} ({self.guarantee_.in_short()}{weighted})"
        return tree_picture.draw(self._grown, self.schema_, self.classes_.tolist(), title, top)

    def check_parameters(self) -> None:
        """Raise ParameterError if a constructor value is out of range; `fit` begins with this check."""
        super().check_parameters()
        check_tree_parameters(self, planning.STRUCTURES)
