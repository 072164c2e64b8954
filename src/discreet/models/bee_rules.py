"""Classification rules found by an artificial bee colony, on data that may be read in the clear."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterator
from numbers import Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from discreet.bees.colony import check_colony, stream
from discreet.bees.decision import DEFAULT, RESOLVE, RuleSet
from discreet.bees.reading import charge_in_the_clear, labelled
from discreet.bees.rules import Rule, encode
from discreet.bees.search import STRATEGIES, RuleSearch
from discreet.budget import Ledger
from discreet.columns import is_integer
from discreet.errors import ParameterError
from discreet.guarantee import Guarantee
from discreet.models.classifier import Classifier
from discreet.schema import Schema
from discreet.tables import Table, check_records

CLEAR = "rules were searched on the clear data: nothing is guaranteed"
FROM_SOURCE = "that the training records were perturbed as this guarantee says; the rules are post-processing of them"


class BeeRules(Classifier):
    """IF-THEN rules for each class, found by an artificial bee colony (Zorarpacı 2019).

    Guarantee: none of its own, as the search reads every record. Records that were perturbed one by one under a
    guarantee keep it: rules are post-processing of them. Then hand that guarantee to `fit`.

    Parameters
    ----------
    schema : Schema, or "from-data" to read bounds, categories and classes off the data.
    strategy : "sequential" (default) finds precise rules by weighted Laplace and sets aside what each covers, until at
        most 5 % of the class are left; "wlapms" finds `n_rules` for each class, weighing precision and coverage, each
        unlike those before; "one-rule" finds one for each class, by coverage.
    n_rules : rules for each class ("wlapms" only).
    swarm, max_iter, limit : bees, cycles of a search, and failures after which a bee starts anew.
    alpha, beta : weights of the class's records and of covered records of others ("wlapms" and "one-rule"): the larger
        beta beside alpha, the more precise the rules.
    F : probability that a move may add or drop a condition.
    resolve : when rules of several classes match, the most precise decides ("best") or they add up ("vote").
    default : when none matches, the largest class ("majority") or the rule with the fewest violated conditions
        ("nearest").
    random_state : an integer makes the search repeatable. It draws no noise and does not touch any guarantee.

    Attributes
    ----------
    rules_ : the rules, in the order of the classes.
    class_prior_ : share of each class in the training records.
    guarantee_ : that of the perturbed records, or that nothing is guaranteed.

    Examples
    --------
    >>> from discreet import Numeric, Schema
    >>> from discreet.models.bee_rules import BeeRules
    >>> schema = Schema([Numeric("dose", 0, 10)], target="ill", classes=["no", "yes"])
    >>> records = [{"dose": dose / 10} for dose in range(100)]
    >>> model = BeeRules(schema, random_state=0).fit(records, ["no"] * 50 + ["yes"] * 50)
    >>> model.predict([{"dose": 1}, {"dose": 9}]).tolist(), model.guarantee_.holds
    (['no', 'yes'], False)
    """

    kind: ClassVar[str] = "bee-rules"
    fitted: ClassVar[str] = "rules_"

    def __init__(
        self,
        schema: Schema | str,
        *,
        strategy: str = "sequential",
        n_rules: int = 3,
        swarm: int = 20,
        max_iter: int = 500,
        limit: int = 100,
        alpha: float = 0.4,
        beta: float = 0.6,
        F: float = 0.6,
        resolve: str = "best",
        default: str = "majority",
        random_state: Any = None,
    ) -> None:
        self.schema = schema
        self.strategy = strategy
        self.n_rules = n_rules
        self.swarm = swarm
        self.max_iter = max_iter
        self.limit = limit
        self.alpha = alpha
        self.beta = beta
        self.F = F
        self.resolve = resolve
        self.default = default
        self.random_state = random_state

    def fit(
        self, X: Any, y: Any = None, *, ledger: Ledger | None = None, source_guarantee: Guarantee | None = None
    ) -> BeeRules:
        """Find rules; with y=None the labels are the schema's target column of X.

        A ledger is charged infinity before anything is read, unless `source_guarantee` holds: the guarantee under which
        X and y were perturbed, record by record.
        """
        self.check_parameters()
        if source_guarantee is not None and not isinstance(source_guarantee, Guarantee):
            raise ParameterError(f"source_guarantee={type(source_guarantee).__name__}; need a Guarantee")
        perturbed = source_guarantee is not None and source_guarantee.holds
        uniform = stream(self.random_state)
        if ledger is not None and not perturbed:
            charge_in_the_clear(ledger, self.kind)
        X, y = self._set_schema(X, y)
        encoded, labels = labelled(X, y, self.schema_)
        settings = {field.name: getattr(self, field.name) for field in dataclasses.fields(RuleSearch)}
        rules = RuleSearch(**settings).find(encoded, labels, self.schema_, uniform, perturbed)
        counts = np.bincount(labels, minlength=len(self.schema_.classes)).astype(np.float64)
        self._set(rules, counts / counts.sum() if counts.sum() else np.full(len(counts), 1 / len(counts)))
        self.n_iter_ = self.max_iter
        self.guarantee_ = _guarantee(self.schema_, source_guarantee)
        return self

    def _set(self, rules: list[Rule], prior: NDArray[np.float64]) -> None:
        self.rules_, self.class_prior_ = rules, prior
        self._places = self._set_names()

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Normalised votes of the matching rules, or the shares of the classes if none matches."""
        return self._joined(X)

    def predict_log_proba(self, X: Any) -> NDArray[np.float64]:
        """Logarithms of the votes; minus infinity where a class has none."""
        with np.errstate(divide="ignore"):
            return np.log(self.predict_proba(X))

    def _scores(self, X: Any) -> Iterator[NDArray[np.float64]]:
        check_records(X, self.schema_)
        table = Table(X, self.schema_)
        table.check(self.schema_)
        rules = RuleSet(self.rules_, self.class_prior_, self.resolve, self.default)
        yield rules.probabilities(encode(table, self.schema_), table.rows)[:, self._places]

    def explain(self) -> str:
        """The rules as sentences, class by class."""
        check_is_fitted(self, "rules_")
        schema = self.schema_
        lines = [rule.text(schema) for rule in self.rules_]
        majority = schema.classes[int(np.argmax(self.class_prior_))]
        nearest = "the rule with the fewest violated conditions decides"
        otherwise = nearest if self.default == "nearest" and lines else f"{schema.target} = {majority}"
        resolved = "the most precise rule decides" if self.resolve == "best" else "rules vote with their precision"
        return "\n".join([*lines, f"OTHERWISE {otherwise}", f"Where rules of several classes match, {resolved}."])

    def check_parameters(self) -> None:
        """Raise ParameterError if a constructor value is out of range; `fit` begins with this."""
        super().check_parameters()
        for name, allowed in (("strategy", STRATEGIES), ("resolve", RESOLVE), ("default", DEFAULT)):
            if getattr(self, name) not in allowed:
                raise ParameterError(f"{name}={getattr(self, name)!r}; need one of: {', '.join(allowed)}")
        check_colony(self.swarm, self.max_iter, self.limit)
        if not (is_integer(self.n_rules) or isinstance(self.n_rules, np.integer)) or self.n_rules < 1:
            raise ParameterError(f"n_rules={self.n_rules!r}; need an integer >= 1")
        if not isinstance(self.alpha, Real) or not 0 < self.alpha < math.inf:
            raise ParameterError(f"alpha={self.alpha!r}; need a number > 0")
        if not isinstance(self.beta, Real) or not 0 <= self.beta < math.inf:
            raise ParameterError(f"beta={self.beta!r}; need a number >= 0")
        if not isinstance(self.F, Real) or not 0 <= self.F <= 1:
            raise ParameterError(f"F={self.F!r}; need a number from 0 to 1")


def _guarantee(schema: Schema, source: Guarantee | None) -> Guarantee:
    """The guarantee of perturbed records, which rules keep; or none, with the reasons."""
    if source is not None and source.holds:
        return dataclasses.replace(source, public=(*source.public, FROM_SOURCE))
    reasons = (CLEAR,) if source is None else (CLEAR, *source.reasons)
    public = ("the schema: column names, bounds, categories, classes, adjacency",)
    return Guarantee(math.inf, schema.adjacency, False, reasons, public, seeded=False, experimental=False)
