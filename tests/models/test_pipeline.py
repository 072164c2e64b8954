"""A selector and a model in scikit-learn's pipeline: the model knows which columns were chosen, and at what price."""

import math
import pickle
from fractions import Fraction

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import sklearn
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, KFold, cross_val_predict, cross_val_score
from sklearn.pipeline import FeatureUnion, Pipeline, make_pipeline
from sklearn.preprocessing import FunctionTransformer

from discreet import FeatureSelector, Ledger, LocalPerturbation, NaiveBayes, Schema, load
from discreet.errors import BudgetError, DataError
from discreet.models.bees.bee_feature_selector import BeeFeatureSelector
from discreet.records.chosen_columns import MARK, choice_of
from discreet.schema.columns import Categorical
from discreet.sources.memory import MemorySource
from support.people import HABITS, ILL, PEOPLE

FRAME = pd.DataFrame(HABITS)[PEOPLE.names]
KINDS = {
    "pandas": FRAME,
    "polars": pl.DataFrame(HABITS),
    "arrow": pa.Table.from_pandas(FRAME),
    "dicts": HABITS,
    "mapping": {name: FRAME[name].to_numpy() for name in PEOPLE.names},
    "array": FRAME.to_numpy(dtype=object),
    "rows": FRAME.to_numpy(dtype=object).tolist(),
}


def steps(**parameters):
    return Pipeline(
        [
            ("select", FeatureSelector(PEOPLE, k=2, epsilon="1/2", **parameters)),
            ("model", NaiveBayes(PEOPLE, epsilon=1, **parameters)),
        ]
    )


@pytest.mark.parametrize("container", [None, "pandas", "polars"])
@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_table(kind, container):
    ledger, pipeline = Ledger(2), steps()
    if container:
        pipeline.set_output(transform=container)
    pipeline.fit(KINDS[kind], ILL, select__ledger=ledger, model__ledger=ledger)
    assert pipeline["model"].guarantee_.epsilon == ledger.spent == Fraction(3, 2)
    assert pipeline["model"].guarantee_.holds
    assert pipeline["model"].schema_ == pipeline["select"].selected_schema_
    assert pipeline.score(KINDS[kind], ILL) > 0.95
    assert pipeline.predict_proba(KINDS[kind]).shape == (400, 2)
    if container:
        kept = pipeline[:-1].transform(KINDS[kind])
        assert type(kept).__module__.startswith(container)


def test_what_went_in_is_not_marked():
    every = FeatureSelector(PEOPLE, k=4).fit(HABITS, ILL)
    for kind, table in KINDS.items():
        assert choice_of(every.transform(table)) is not None, kind
        assert choice_of(table) is None, kind


def test_bees_choose_in_a_pipeline_without_a_guarantee():
    pipeline = make_pipeline(BeeFeatureSelector(PEOPLE, max_iter=3, random_state=0), NaiveBayes(PEOPLE))
    assert not pipeline.fit(FRAME, ILL)[-1].guarantee_.holds
    assert pipeline.score(FRAME, ILL) > 0.95
    ledger = Ledger(100)
    with pytest.raises(BudgetError):
        pipeline.fit(FRAME, ILL, beefeatureselector__ledger=ledger, naivebayes__ledger=ledger)
    assert ledger.spent == 0


def test_a_model_that_the_ledger_refuses_leaves_the_charge_of_the_selector():
    ledger, pipeline = Ledger(1), steps()
    with pytest.raises(BudgetError):
        pipeline.fit(FRAME, ILL, select__ledger=ledger, model__ledger=ledger)
    assert ledger.spent == Fraction(1, 2)


def test_a_second_fit_a_clone_and_a_pickle():
    pipeline = steps().fit(FRAME, ILL)
    assert pipeline["model"].schema is PEOPLE
    for again in (pipeline, clone(pipeline)):
        again.set_params(select__k=1, select__epsilon=1).fit(HABITS, ILL)
        assert len(again["model"].schema_.columns) == 1
        assert again["model"].guarantee_.epsilon == 2
    twin = pickle.loads(pickle.dumps(pipeline))
    assert twin.predict(FRAME).tolist() == pipeline.predict(FRAME).tolist()
    assert choice_of(pickle.loads(pickle.dumps(twin["select"])).transform(FRAME.to_numpy(dtype=object))) is not None


def test_searches_and_cross_validation_charge_both_steps():
    ledger = Ledger(100)
    paying = {"select__ledger": ledger, "model__ledger": ledger}
    scores = cross_val_score(steps(), FRAME, ILL, cv=KFold(3, shuffle=True, random_state=0), params=paying)
    assert (scores > 0.9).all()
    assert ledger.spent == Fraction(9, 2)
    search = GridSearchCV(steps(), {"select__k": [1, 2]}, cv=2, error_score="raise").fit(FRAME, ILL, **paying)
    assert ledger.spent == 12
    assert search.best_estimator_["model"].guarantee_.epsilon == Fraction(3, 2)
    assert cross_val_predict(steps(), FRAME, ILL, cv=2).shape == (400,)
    with pytest.raises(DataError, match="cross_val_predict number them first"):
        cross_val_predict(steps(), FRAME, ILL, cv=2, method="predict_proba", params=paying)
    assert ledger.spent == 12


def test_metadata_routing_carries_one_ledger_to_both():
    ledger = Ledger(10)
    with sklearn.config_context(enable_metadata_routing=True):
        pipeline = steps()
        for _, step in pipeline.steps:
            step.set_fit_request(ledger=True)
        pipeline.fit(FRAME, ILL, ledger=ledger)
    assert pipeline["model"].guarantee_.epsilon == ledger.spent == Fraction(3, 2)


def test_the_saved_model_takes_whole_records(tmp_path):
    pipeline = steps().fit(FRAME, ILL)
    pipeline["model"].save(tmp_path / "m.json")
    model = load(tmp_path / "m.json")
    assert model.guarantee_.epsilon == Fraction(3, 2)
    assert model.predict(FRAME).tolist() == pipeline.predict(FRAME).tolist()


def test_a_mark_that_is_lost_or_of_another_schema_is_refused_for_free():
    ledger = Ledger(10)
    lost = make_pipeline(FeatureSelector(PEOPLE, k=2), FunctionTransformer(np.array), NaiveBayes(PEOPLE))
    with pytest.raises(DataError, match="the schema has 4 columns"):
        lost.fit(FRAME.to_numpy(dtype=object), ILL, naivebayes__ledger=ledger)
    other = NaiveBayes(PEOPLE.replace(records=None))
    for table in (FRAME, FRAME.to_numpy(dtype=object)):
        with pytest.raises(DataError, match="same schema"):
            make_pipeline(FeatureSelector(PEOPLE, k=2), other).fit(table, ILL, naivebayes__ledger=ledger)
    assert ledger.spent == 0


def test_a_schema_that_hides_the_price_is_refused():
    """The columns written out by hand, after the selector has named them."""
    selector = FeatureSelector(PEOPLE, k=2).fit(FRAME, ILL)
    kept = selector.transform(FRAME)
    by_hand = PEOPLE.replace(columns=selector.selected_schema_.columns, ignore=())
    for refuse in (
        lambda: NaiveBayes(by_hand).fit(kept, ILL),
        lambda: NaiveBayes(PEOPLE).fit_from(MemorySource(kept, ILL)),
        lambda: FeatureSelector(by_hand).fit(kept, ILL),
        lambda: FeatureSelector(by_hand).fit(FRAME[by_hand.names], ILL).transform(kept),
        lambda: LocalPerturbation(by_hand.replace(adjacency="replace-one")).fit_resample(kept, ILL),
        lambda: NaiveBayes(by_hand.replace(chosen={"epsilon": "1/2", "adjacency": "add-remove"})).fit(kept, ILL),
    ):
        with pytest.raises(DataError, match="does not say what that cost"):
            refuse()
    more = by_hand.replace(chosen={"epsilon": "3/2", "adjacency": "add-remove"})
    assert NaiveBayes(more).fit(kept, ILL).guarantee_.epsilon == Fraction(5, 2)
    in_the_clear = FeatureSelector(PEOPLE, k=2, epsilon=math.inf).fit(FRAME, ILL)
    with pytest.raises(DataError, match="does not say what that cost"):
        NaiveBayes(more).fit(in_the_clear.transform(FRAME), ILL)


def test_an_array_of_another_fit_is_not_taken_for_the_models_columns():
    X = FRAME.to_numpy(dtype=object)
    pipeline = steps(random_state=0).fit(X, ILL)
    other = FeatureSelector(PEOPLE.replace(columns=[PEOPLE["hat"], PEOPLE["day"]], ignore=["dose", "smoker"]), k=2)
    kept = other.fit(FRAME, ILL).transform(FRAME.to_numpy(dtype=object)[:, [0, 3]])
    with pytest.raises(DataError, match="another fit of the selector"):
        pipeline["model"].predict(kept)


@pytest.mark.parametrize("text", ["", "{}", "[]", 3, '{"whole": {}, "narrow": 1}', "[" * 100_000])
def test_a_damaged_mark_is_one_line(text):
    kept = FeatureSelector(PEOPLE, k=2).fit(FRAME, ILL).transform(FRAME)
    kept.attrs[MARK] = text
    with pytest.raises(DataError, match="mark of chosen columns is damaged"):
        NaiveBayes(PEOPLE).fit(kept, ILL)


def test_a_mark_survives_what_pandas_and_files_do(tmp_path):
    kept = FeatureSelector(PEOPLE, k=2).fit(FRAME, ILL).transform(FRAME)
    kept.to_parquet(tmp_path / "kept.parquet")
    for each in (kept.copy(), kept[kept.columns[::-1]], pd.read_parquet(tmp_path / "kept.parquet")):
        assert NaiveBayes(PEOPLE).fit(each, ILL).guarantee_.epsilon == 2


def test_classes_that_only_look_alike_are_another_schema():
    """1 equals true in Python, and not in a schema file."""
    numbers, truths = ([Categorical(name, ["a", "b"]) for name in "cd"], "y", [0, 1]), [False, True]
    rows, labels = {"c": ["a", "b"] * 20, "d": ["a"] * 40}, [0, 1] * 20
    selector = FeatureSelector(Schema(*numbers), k=1).fit(rows, labels)
    with pytest.raises(DataError, match="same schema"):
        NaiveBayes(Schema(*numbers[:2], truths)).fit(selector.transform(rows), labels)


class Odd(dict):
    """A record that cannot be read, in a way of its own."""

    def get(self, name, default=None):
        """Not even by its methods."""
        raise RuntimeError(f"secret {name}")


ODD = {
    "none": None,
    "number": 7,
    "short row": ["yes"],
    "long row": list(range(9)),
    "empty dict": {},
    "unreadable": Odd(),
    "list in a cell": {"dose": [1, 2], "smoker": b"\xff", "day": 10**400, "hat": "\ud800"},
}


@pytest.mark.parametrize("container", [None, "pandas", "polars"])
@pytest.mark.parametrize("kind", ["dicts", "rows"])
@pytest.mark.parametrize("odd", ODD)
def test_an_odd_record_in_the_middle_changes_no_other_and_no_error(kind, odd, container):
    """The table of a fit is private: one record decides neither whether it ends, nor how others are read."""
    ledger, records = Ledger(2), list(KINDS[kind])
    records[200] = ODD[odd]
    pipeline = steps(random_state=3)
    if container:
        pipeline.set_output(transform=container)
    pipeline.fit(records, ILL, select__ledger=ledger, model__ledger=ledger)
    assert ledger.spent == Fraction(3, 2)
    kept = pipeline["select"].transform(records)
    of_frame = pipeline["select"].transform(FRAME)
    for place, name in enumerate(pipeline["select"].selected_schema_.names):
        values = kept[:, place].tolist() if container is None else kept[name].to_list()
        given = of_frame[name].to_list()
        assert [*values[:200], *values[201:]] == [*given[:200], *given[201:]]


@pytest.mark.parametrize("container", [None, "pandas"])
def test_dates_among_texts_are_no_types_of_frames(container):
    """A type that is guessed from values would be dates without one text, and texts with it."""
    days = [{**record, "day": "2026-01-02"} for record in HABITS]
    pipeline = steps(random_state=3)
    if container:
        pipeline.set_output(transform=container)
    pipeline.fit(days, ILL)
    assert {each.kind for each in pipeline["select"].transform(pd.DataFrame(days)[PEOPLE.names]).dtypes} <= set("Of")


def test_selectors_beside_each_other_are_refused():
    """What both chose could look like a table of the whole schema, without a price."""
    two = Schema(PEOPLE.columns[:2], PEOPLE.target, PEOPLE.classes, records=400)
    names = two.names
    for X, container in ((FRAME[names].to_numpy(dtype=object), None), (FRAME[names], "pandas")):
        union = FeatureUnion(
            [(name, FeatureSelector(two, k=1, epsilon=each)) for name, each in (("one", 1), ("other", 2))],
            verbose_feature_names_out=False,
        )
        if container:
            union.set_output(transform=container)
        with pytest.raises(DataError, match="cannot be joined"):
            make_pipeline(union, NaiveBayes(two)).fit(X, ILL)
    kept = FeatureSelector(two, k=1).fit(FRAME[names], ILL).transform(FRAME[names].to_numpy(dtype=object))
    assert np.concatenate([kept, kept]).shape == (800, 1)
