"""Columns first, then a learner, as in Zorarpacı 2019: searched once, paid for, or as many as the thesis kept."""

import json
from fractions import Fraction
from functools import partial

import numpy as np
import pytest

from discreet import Categorical, Schema
from discreet.errors import ParameterError
from discreet.models.bees.bee_feature_selector import BeeFeatureSelector
from discreet.research.comparison import Grid
from discreet.research.papers.zorarpaci2019_pipeline import Zorarpaci2019Pipeline
from discreet.research.report import ReportTable
from discreet.research.reproduce.run import reproduce
from discreet.research.reproduce.zorarpaci2019 import private_cells as cells
from discreet.research.reproduce.zorarpaci2019 import private_columns as columns
from discreet.research.reproduce.zorarpaci2019 import private_models as models
from discreet.research.reproduce.zorarpaci2019.private import Zorarpaci2019Private


@pytest.fixture(autouse=True)
def _short_searches(monkeypatch):
    monkeypatch.setattr(models, "BeeFeatureSelector", partial(BeeFeatureSelector, population=6, max_iter=2))
    models.searched.cache_clear()
    columns.searches.cache_clear()


@pytest.fixture
def votes():
    """The shape of the votes: sixteen columns, of which one tells all and one a part; 60 records."""
    schema = Schema(
        [Categorical(f"v{i}", ["n", "y", "?"], unlisted=False) for i in range(16)],
        target="party",
        classes=["democrat", "republican"],
        records=60,
    )
    rng = np.random.default_rng(0)
    labels = np.array(["democrat", "republican"], dtype=object)[np.arange(60) % 2]
    X = {name: np.array(["n", "y", "?"], dtype=object)[rng.integers(3, size=60)] for name in schema.names}
    X["v7"] = np.where(labels == "democrat", "n", "y").astype(object)
    return X, labels, schema


def test_one_search_serves_all_epsilons_and_learners(votes):
    X, y, schema = votes
    made = [
        models.PublishedOnChosen(schema, epsilon=epsilon, random_state=1, choose=models.by_search, learner=learner).fit(
            X, y
        )
        for epsilon in (0.1, float("inf"))
        for learner in ("one-rule", "naive-bayes")
    ]
    assert models.searched.cache_info().misses == 1
    assert len({tuple(each.columns_) for each in made}) == 1
    assert made[2].model_.schema.names == made[2].columns_
    assert 0 < len(made[2].columns_) < 16
    assert set(made[2].predict(X)) <= set(y)
    assert [type(each.model_).__name__ for each in made[:2]] == ["Zorarpaci2019OneRule", "Zorarpaci2019NaiveBayes"]
    other = y[::-1].copy()
    models.PublishedOnChosen(schema, epsilon=1, random_state=1, choose=models.by_search).fit(X, other)
    assert models.searched.cache_info().misses == 2
    moved = {**X, "v3": X["v3"][::-1].copy()}
    models.PublishedOnChosen(schema, epsilon=1, random_state=1, choose=models.by_search).fit(moved, y)
    assert models.searched.cache_info().misses == 3


def test_the_search_is_that_of_the_published_pipeline(votes):
    """With the seed that the pipeline draws for its search, the columns are the same."""
    X, y, schema = votes
    pipeline = Zorarpaci2019Pipeline(schema, epsilon=1, population=6, max_iter=2, random_state=5).fit(X, y)
    seed = int(models.as_rng(5).integers(2**62, (1,))[0])
    assert models.searched(models.HashedTable(X, y, schema), seed).names == pipeline.columns_


def test_a_paid_choice_spends_epsilon_and_no_more(votes):
    X, y, schema = votes
    for learner in ("one-rule", "naive-bayes"):
        model = models.ChosenThenFitted(schema, epsilon=Fraction(1, 2), random_state=3, learner=learner, k=5).fit(X, y)
        assert model.ledger_.spent == Fraction(1, 2)
        assert len(model.columns_) == 5
        spent = [each.epsilon for each in model.model_.receipt_.charges]
        assert sum(spent) == pytest.approx(1 / 3, abs=1e-6)
    clear = models.ChosenThenFitted(schema, epsilon=float("inf"), random_state=3, learner="one-rule").fit(X, y)
    assert (clear.predict(X) == y).all()
    assert "v7" in clear.columns_


def test_as_many_columns_as_the_thesis_kept(votes):
    X, y, schema = votes
    model = models.PublishedOnChosen(schema, epsilon=float("inf"), random_state=0, choose=models.best_alone).fit(X, y)
    assert len(model.columns_) == 5
    assert "v7" in model.columns_
    assert (model.predict(X) == y).all()
    with pytest.raises(ParameterError, match="no data set of the thesis"):
        models.kept_of(schema.replace(target="club"))


def test_shapes_name_each_data_set_once():
    assert sorted(models.BY_SHAPE.values()) == sorted(cells.PLACES)


def folder_with(votes, tmp_path):
    X, y, schema = votes
    lines = [
        ",".join([*schema.names, "party"]),
        *(",".join([*values, label]) for *values, label in zip(*X.values(), y, strict=True)),
    ]
    content = "\n".join(lines) + "\n"
    (tmp_path / "house-votes-84.csv").write_text(content, encoding="utf-8")
    (tmp_path / "schemas.json").write_text(json.dumps({"house-votes-84": schema.to_dict()}), encoding="utf-8")
    return tmp_path


def test_a_real_run(votes, tmp_path, monkeypatch):
    """Everything but the data is as in quick mode, with two folds and one epsilon."""
    monkeypatch.setattr(
        Zorarpaci2019Private, "_grid", lambda self, made, *_: Grid(["house-votes-84"], list(made), ["1"], folds=2)
    )
    done = reproduce(Zorarpaci2019Private(), tmp_path, version="test", directory=str(folder_with(votes, tmp_path)))
    assert not done.failures
    found = cells.PrivateAccuracies(done.found.values())
    for model in (cells.ONE_RULE, "published 1R", "published 1R after ABC-DE", "published 1R of the best k"):
        assert found.cell("house-votes-84", model, "inf").mean == 1
    assert found.cell("house-votes-84", "published NB", "1").mean < 1
    kept = next(section for section in done.document.sections if "5.23" in section.title)
    (own,) = [part for part in kept.parts if isinstance(part, ReportTable)]
    counted = columns.searches("house-votes-84", str(tmp_path), 1)
    assert own.rows == [["house-votes-84", "17", "5", "71%", "16", str(counted.kept_columns[0]), *own.rows[0][6:]]]
    assert counted[:2] == (16, 48)
    assert counted.kept_cells[0] == 3 * counted.kept_columns[0]
    lost = next(section for section in done.document.sections if "lost" in section.title)
    own = next(part for part in lost.parts if isinstance(part, ReportTable) and "claimed ε" in part.caption)
    assert own.rows == [["house-votes-84", "96", "0.167", "0.333", "0.177", "0.354", "∞", "6.0"]]
