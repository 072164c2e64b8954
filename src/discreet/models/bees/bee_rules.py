"""Classification rules found by an artificial bee colony, on data that may be read in the clear."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterator, Mapping
from numbers import Real
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from discreet.errors import DiscreetError, FileError, ParameterError
from discreet.models import saving
from discreet.models.bees.colony import check_colony, stream
from discreet.models.bees.decision import DEFAULT, RESOLVE, RuleSet
from discreet.models.bees.picture import draw
from discreet.models.bees.reading import admit, labelled, promised, restored
from discreet.models.bees.rules import Rule, encode, rules_from_dict, rules_to_dict
from discreet.models.bees.search import STRATEGIES, RuleSearch
from discreet.models.classifier import Classifier
from discreet.models.parameter_checks import check_integer, check_one_of
from discreet.models.public_data import with_schema
from discreet.privacy.guarantee import Guarantee
from discreet.privacy.ledger import Ledger
from discreet.privacy.receipt import Receipt
from discreet.records.chosen_columns import schema_for
from discreet.records.tables import Table, check_records
from discreet.schema import Schema


class BeeRules(Classifier):
    """IF-THEN rules for each class, found by an artificial bee colony (Zorarpacı 2019).

    Guarantee: none of its own, because the search reads every record. Rules learned from records that were perturbed
    one by one under a guarantee (LocalPerturbation) have the same guarantee, because they are post-processing: give it
    to `fit` as `source_guarantee`.

    Parameters
    ----------
    schema : Schema, or "from-data" to read bounds, categories and classes off the data.
    strategy : "sequential" (default) finds precise rules by weighted Laplace, each on the records that no earlier rule
        covers, until at most 5 % of the class are left. "wlapms" finds `n_rules` rules per class by precision and
        coverage, each unlike the earlier ones. "one-rule" finds one rule per class, by coverage.
    n_rules : number of rules per class ("wlapms" only).
    swarm : number of bees.
    max_iter : number of cycles of a search.
    limit : number of failures in a row after which a bee starts again elsewhere.
    alpha, beta : weights of the records of the class and of covered records of other classes ("wlapms" and "one-rule").
        The larger beta is relative to alpha, the more precise the rules.
    F : probability that a move may add or drop a condition.
    polish : whether to drop conditions that a rule does not need and to widen its intervals halfway to the next record,
        so that more new records match a rule. False keeps the rules as the search found them.
    resolve : what happens when several rules match: "vote" (default), where the weight of a rule is how far its
        precision exceeds the frequency of its class, or "best", where the most precise rule decides.
    default : what happens when no rule matches: "nearest" (default), where all rules vote and each violated condition
        reduces the vote (with resolve="best", the most precise rule among those with the fewest violated conditions
        decides), or "majority", the largest class.
    random_state : an integer makes the search repeatable. No noise is drawn from it, so it affects no guarantee.

    Attributes
    ----------
    rules_ : the rules, in the order of the classes.
    class_prior_ : frequency of each class among the training records.
    guarantee_, receipt_ : those of the perturbed records, or the statement that nothing is guaranteed.

    Examples
    --------
    >>> from discreet import Numeric, Schema
    >>> from discreet.models.bees.bee_rules import BeeRules
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
        polish: bool = True,
        resolve: str = "vote",
        default: str = "nearest",
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
        self.polish = polish
        self.resolve = resolve
        self.default = default
        self.random_state = random_state

    def fit(
        self,
        X: Any,
        y: Any = None,
        *,
        ledger: Ledger | None = None,
        source_guarantee: Guarantee | None = None,
        source_receipt: Receipt | None = None,
    ) -> BeeRules:
        """Find rules; with y=None, the labels are in the schema's target column of X.

        `source_guarantee` is the guarantee under which the records X, y were perturbed one by one; unless it is given
        and holds, a ledger is charged infinity before any record is read. The model's card shows `source_receipt`.
        """
        self.check_parameters()
        uniform = stream(self.random_state)
        given = self.schema
        if isinstance(given, Schema) and source_guarantee is not None:  # else infinity is charged before X is looked at
            given = schema_for(X, given)
        perturbed = admit(given, ledger, source_guarantee, source_receipt, self.kind)
        X, y, schema = with_schema(X, y, given, type(self).__name__)
        self.__dict__.pop(self.fitted, None)  # an interrupted refit must not leave old rules under a new guarantee
        self.schema_ = schema
        encoded, labels = labelled(X, y, self.schema_)
        settings = {field.name: getattr(self, field.name) for field in dataclasses.fields(RuleSearch)}
        rules = RuleSearch(**settings).find(encoded, labels, self.schema_, uniform, perturbed)
        counts = np.bincount(labels, minlength=len(self.schema_.classes)).astype(np.float64)
        self._set(rules, counts / counts.sum() if counts.sum() else np.full(len(counts), 1 / len(counts)))
        self.guarantee_, self.receipt_ = promised("rules", self.schema_, source_guarantee, source_receipt)
        return self

    def _set(self, rules: list[Rule], prior: NDArray[np.float64]) -> None:
        self.rules_, self.class_prior_ = rules, prior
        self.n_iter_ = self.max_iter
        self._places = self._set_names()

    def learned(self) -> dict[str, Any]:
        """Return rules, class frequencies, guarantee and receipt as plain data, for a model file."""
        check_is_fitted(self, self.fitted)
        return {
            "rules": rules_to_dict(self.rules_, self.schema_),
            "class_prior": self.class_prior_.tolist(),
            "guarantee": self.guarantee_.to_dict(),
            "receipt": self.receipt_.to_dict(),
        }

    def fit_learned(self, content: Mapping[str, Any]) -> BeeRules:
        """Build the model from the content that `learned` returned; FileError if it is damaged."""
        damaged = FileError("the rules of this file are damaged; get it again from its owner")
        try:
            self.check_parameters()
            if not isinstance(self.schema, Schema):
                raise damaged
            self.schema_ = self.schema
            self._set(rules_from_dict(content["rules"], self.schema_), _prior(content["class_prior"], self.schema_))
            self.guarantee_, self.receipt_ = restored(content, self.schema)
        except (DiscreetError, KeyError, TypeError, ValueError, AttributeError, OverflowError):
            raise damaged from None
        return self

    def save(self, path: str | Path, *, overwrite: bool = False) -> None:
        """Write the model to a JSON file, with a card that says what is guaranteed, or that nothing is.

        A file that exists is kept, and an error raised, unless `overwrite` is set: it may have cost budget.
        """
        check_is_fitted(self, self.fitted)
        saving.save(self, path, overwrite=overwrite)

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Return the normalised votes of the rules; see `resolve` and `default`."""
        return self._joined(X)

    def predict_log_proba(self, X: Any) -> NDArray[np.float64]:
        """Return the logarithms of the votes; minus infinity for a class without votes."""
        with np.errstate(divide="ignore"):
            return np.log(self.predict_proba(X))

    def _scores(self, X: Any) -> Iterator[NDArray[np.float64]]:
        check_records(X, self.schema_)
        table = Table(X, self.schema_)
        table.check(self.schema_)
        rules = RuleSet(self.rules_, self.class_prior_, self.resolve, self.default)
        yield rules.probabilities(encode(table, self.schema_), table.rows)[:, self._places]

    def explain(self, top: int | None = None) -> str:
        """Return the rules as sentences, class by class; `top` limits them to those that cover most of their class."""
        check_is_fitted(self, self.fitted)
        shown = self._widest(top)
        lines = [rule.text(self.schema_) for rule in shown]
        if len(shown) < len(self.rules_):
            lines.append(f"... and {len(self.rules_) - len(shown)} more rules that cover less")
        resolved = "the most precise rule decides" if self.resolve == "best" else "they vote by their precision"
        last = f"Where rules of several classes match, {resolved}."
        return "\n".join([*lines, f"OTHERWISE {self._otherwise()}", last])

    def content(self, top: int | None = None) -> dict[str, Any]:
        """Return what `explain` says as plain data."""
        check_is_fitted(self, self.fitted)
        schema, shown = self.schema_, self._widest(top)
        frequencies = dict(zip(map(str, schema.classes), self.class_prior_.tolist(), strict=True))
        rules = [
            {**entry, "precision": rule.precision(len(schema.classes)), "text": rule.text(schema)}
            for rule, entry in zip(shown, rules_to_dict(shown, schema), strict=True)
        ]
        return {
            "model": self.kind,
            "target": schema.target,
            "classes": frequencies,
            "rules": rules,
            "rules_in_all": len(self.rules_),
            "otherwise": self._otherwise(),
            "resolve": self.resolve,
        }

    def plot(self, top: int = 12) -> Any:
        """Draw the rules that cover most of their class with matplotlib."""
        check_is_fitted(self, self.fitted)
        title = f"Rules for {self.schema_.target} ({self.guarantee_.in_short()})"
        return draw(self._widest(top), len(self.rules_), self.schema_, self.class_prior_, title)

    def _widest(self, top: int | None) -> list[Rule]:
        """The rules that cover most records of their class, in their original order."""
        if top is None:
            return list(self.rules_)
        chosen = sorted(range(len(self.rules_)), key=lambda i: -self.rules_[i].inside)[:top]
        return [self.rules_[i] for i in sorted(chosen)]

    def _otherwise(self) -> str:
        if self.default == "nearest" and self.rules_:
            nearest = "rule decides" if self.resolve == "best" else "rules decide"
            return f"the nearest {nearest} (fewest violated conditions)"
        return f"{self.schema_.target} = {self.schema_.classes[int(np.argmax(self.class_prior_))]}"

    def check_parameters(self) -> None:
        """Raise ParameterError if a constructor value is out of range; `fit` begins with this check."""
        super().check_parameters()
        for name, allowed in (("strategy", STRATEGIES), ("resolve", RESOLVE), ("default", DEFAULT)):
            check_one_of(name, getattr(self, name), allowed)
        check_colony(self.swarm, self.max_iter, self.limit)
        check_integer("n_rules", self.n_rules, 1)
        if not isinstance(self.alpha, Real) or not 0 < self.alpha < math.inf:
            raise ParameterError(f"alpha={self.alpha!r}; need a number > 0")
        if not isinstance(self.beta, Real) or not 0 <= self.beta < math.inf:
            raise ParameterError(f"beta={self.beta!r}; need a number >= 0")
        if not isinstance(self.polish, bool | np.bool_):
            raise ParameterError(f"polish={self.polish!r}; need True or False")
        if not isinstance(self.F, Real) or not 0 <= self.F <= 1:
            raise ParameterError(f"F={self.F!r}; need a number from 0 to 1")


def _prior(frequencies: Any, schema: Schema) -> NDArray[np.float64]:
    """Read the class frequencies of a file; ValueError if they are damaged."""
    prior = np.array(frequencies, dtype=np.float64)
    if prior.shape != (len(schema.classes),) or not (prior >= 0).all() or not abs(prior.sum() - 1) < 1e-6:
        raise ValueError("need one frequency per class, with sum 1")
    return prior
