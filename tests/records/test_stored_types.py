"""Columns that are stored as numbers, where the schema expects texts: refused for free, since types are structure."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.ensemble import BaggingClassifier, VotingClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OrdinalEncoder

from discreet import Categorical, Ledger, NaiveBayes, Numeric, Schema
from discreet.errors import DataError

SCHEMA = Schema([Numeric("age", 0, 100), Categorical("sex", ["F", "M"])], "y", ["no", "yes"], records=40)
X = pd.DataFrame({"age": range(40), "sex": ["F", "M"] * 20})
Y = np.array(["no", "yes"] * 20)


@pytest.mark.parametrize(
    "labels", [np.zeros(40, dtype=int), np.zeros(40), np.zeros(40, dtype=bool), pl.Series([1] * 40)]
)
def test_labels_that_can_be_no_class_are_refused_for_free(labels):
    ledger = Ledger(1)
    with pytest.raises(DataError, match=r"labels are stored as numbers, and no class of the schema is one \(no, yes\)"):
        NaiveBayes(SCHEMA, epsilon=1).fit(X, labels, ledger=ledger)
    assert ledger.spent == 0


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame, dict])
def test_columns_that_can_be_no_category_are_refused_for_free(frame):
    ledger = Ledger(1)
    with pytest.raises(DataError, match=r"'sex' is stored as numbers, and none of its categories is one \(F, M\)"):
        NaiveBayes(SCHEMA, epsilon=1).fit(frame({"age": np.arange(40), "sex": np.arange(40) % 2}), Y, ledger=ledger)
    assert ledger.spent == 0


def test_ensembles_that_number_labels_say_why_they_fail():
    voting = VotingClassifier([("nb", NaiveBayes(SCHEMA, epsilon=1))], voting="soft")
    with pytest.raises(DataError, match="VotingClassifier"):
        voting.fit(X, Y)
    with pytest.raises(DataError, match="stored as numbers"):
        BaggingClassifier(NaiveBayes(SCHEMA, epsilon=1), n_estimators=2).fit(X, Y)
    with pytest.raises(DataError, match="an encoder before the model"):
        make_pipeline(OrdinalEncoder().set_output(transform="pandas"), NaiveBayes(SCHEMA, epsilon=1)).fit(X, Y)


@pytest.mark.parametrize(
    ("column", "values"),
    [
        (Categorical("sex", [0, 1]), np.arange(40) % 2),
        (Categorical("sex", ["0", "1"]), np.arange(40.0) % 2),
        (Categorical("sex", ["true", "false"]), np.arange(40) % 2 == 0),
        (Categorical("sex", ["F", "?"], missing="?"), np.full(40, np.nan)),
        (Categorical("sex", ["F", "M"]), [1] * 40),
        (Categorical("sex", ["F", "M"]), np.array([1] * 40, dtype=object)),
    ],
)
def test_what_can_match_is_read(column, values):
    schema = SCHEMA.replace(columns=(SCHEMA.columns[0], column))
    model = NaiveBayes(schema, epsilon=1).fit({"age": np.arange(40), "sex": values}, Y)
    assert model.predict({"age": [1], "sex": np.array([1.0])}).shape == (1,), "a prediction never refuses a type"
