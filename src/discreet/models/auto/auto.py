"""The model to begin with: it picks one of the families by public facts, and is then that model."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from discreet.doors.passage import Spending
from discreet.models.auto.look import MOST_SHARES, look
from discreet.models.auto.pick import Pick, all_picks, pick, recognised
from discreet.models.classifier import Added, PrivateClassifier
from discreet.models.record_count import RecordCount, known_records
from discreet.privacy.epsilon import Epsilon
from discreet.privacy.ledger import Ledger
from discreet.privacy.randomness import Randomness
from discreet.records.encoding import Cells
from discreet.released.statistics import Answers, NoisyStatistics
from discreet.schema import Schema
from discreet.sources import Source

Matrix = NDArray[np.float64]


class Auto(PrivateClassifier):
    """The ε-differentially private model that is expected to be the most accurate; picked without looking at the data.

    Guarantee: `fit` is ε-DP for one record, under the schema's adjacency. Proof: which model is picked, and with which
    parameters, follows from the schema, ε and the number of records, which the schema declares or a share of ε buys
    (`known_records`); so does what is paid for a look at whether the table fits the schema, where that is worth its
    price (`look`); the picked model is ε-DP at what is left of ε (proof there); the shares sum to ε.

    Parameters
    ----------
    schema : Schema, or "from-data" to read bounds, categories and classes off the data, which voids the guarantee.
    epsilon : privacy loss of the whole fit; infinity for a model without noise.
    class_weight : None; "balanced", to find rare classes as well as frequent ones; or a weight by class, such as
        {"yes": 10} (others weigh 1). It is passed on to the picked model.
    random_state : None for secure noise; an integer for repeatable experiments and tests, which voids the guarantee.

    Attributes
    ----------
    picked_ : which model was picked, with which parameters, and why.
    model_ : the picked model itself, fitted.
    guarantee_ : what is guaranteed, in words that name unit and adjacency.
    receipt_ : every charge.

    Examples
    --------
    >>> from discreet import Auto, Categorical, Schema
    >>> schema = Schema([Categorical("smoker", ["no", "yes"])], target="ill", classes=["no", "yes"], records=1000)
    >>> records = [{"smoker": "yes"}] * 500 + [{"smoker": "no"}] * 500
    >>> model = Auto(schema, epsilon=1).fit(records, ["yes"] * 500 + ["no"] * 500)
    >>> model.predict([{"smoker": "yes"}]).tolist(), model.picked_.model
    (['yes'], 'decision-tree')
    """

    kind: ClassVar[str] = "auto"
    by_sums: ClassVar[bool] = True
    by_scores: ClassVar[bool] = True

    def __init__(
        self, schema: Schema | str, *, epsilon: Any = 1.0, class_weight: Any = None, random_state: Any = None
    ) -> None:
        self.schema = schema
        self.epsilon = epsilon
        self.class_weight = class_weight
        self.random_state = random_state

    def _learn(
        self, source: Source, schema: Schema, epsilon: Epsilon, ledger: Spending, rng: Randomness, purpose: str
    ) -> Answers:
        def rehearse(rest: Epsilon) -> None:
            """Let all that may be picked plan, after a look: an ε that is too small for one of them is refused here."""
            rest = rest * (1 - MOST_SHARES)
            for picked in all_picks(schema, rest, weighted=weighted):
                picked.made(schema, rest, self.class_weight)._rehearse(schema, rest)

        weighted = self.class_weight is not None
        known = RecordCount(schema.records or 1, epsilon)
        if epsilon != math.inf:
            known = known_records(source, schema, epsilon, rehearse, ledger, rng, purpose)
            least = known.rest * (1 - MOST_SHARES)  # what is a linear model at this ε is one at a larger ε, too
            foreseen = pick(schema, least, known.records, weighted=weighted).model
            hides = foreseen == "svm"  # counted leaves of a tree show the classes anyway
            known = look(source, schema, known, rehearse, ledger, rng, purpose, classes=hides)
        picked = pick(schema, known.rest, known.records, weighted=weighted)
        self._picking = picked
        model = picked.made(schema, known.rest, self.class_weight)
        named = f"{self.kind} ({picked.model}) for {schema.target}"
        answers: Answers = model._learn(source, schema, known.rest, ledger, rng, named)
        return known.answers + answers

    def _fit(self, source: Source, schema: Schema, ledger: Ledger | None) -> Self:
        try:
            return super()._fit(source, schema, ledger)
        finally:  # a fit that was interrupted leaves nothing of what it bought in a model that does not state it
            self.__dict__.pop("_picking", None)

    def fit_noisy(self, noisy: NoisyStatistics, picked: Pick | None = None) -> Self:
        """Build the model from noisy statistics: post-processing, which reads no data and costs nothing.

        `picked` tells which model they belong to, as a model file does; without it, the statistics tell.
        """
        self._picking = recognised(noisy) if picked is None else picked
        try:
            return super().fit_noisy(noisy)
        finally:
            self.__dict__.pop("_picking", None)

    def _build(self, noisy: NoisyStatistics, schema: Schema, places: list[int]) -> None:
        picked = self._picking
        self.model_ = picked.made(schema, noisy.receipt.epsilon, self.class_weight).fit_noisy(noisy)
        self.picked_: Pick = picked

    def asked_cells(self) -> tuple[Cells, ...]:
        """The cells of a record whose codes decide what is predicted for it."""
        asked: tuple[Cells, ...] = self.model_.asked_cells()
        return asked

    def _added(self) -> Added:
        added: Added = self.model_._added()
        return added

    def _scores(self, X: Any) -> Iterator[Matrix]:
        scores: Iterator[Matrix] = self.model_._scores(X)
        return scores

    def explain(self, top: int | None = None) -> str:
        """Return what was picked and why, and then what the picked model says of itself."""
        check_is_fitted(self, "noisy_")
        return f"{self.picked_.statement()}\n\n{self.model_.explain(**_shown(top))}"

    def content(self, top: int | None = None) -> dict[str, Any]:
        """Return the same as plain data."""
        check_is_fitted(self, "noisy_")
        return {"picked": self.picked_.to_dict(), **self.model_.content(**_shown(top))}

    def plot(self, top: int | None = None) -> Any:
        """Draw what the picked model draws."""
        check_is_fitted(self, "noisy_")
        return self.model_.plot(**_shown(top))


def _shown(top: int | None) -> dict[str, int]:
    return {} if top is None else {"top": top}
