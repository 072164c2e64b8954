"""Parameters of models as people write them; also the doctests of the module."""

import doctest

import pytest

from discreet.errors import ParameterError
from discreet.models import MODELS
from discreet.models import parameter_texts as settings
from discreet.research.papers import Zorarpaci2019Pipeline


def test_the_examples():
    assert doctest.testmod(settings).failed == 0


def test_values_have_their_kind():
    texts = ["bins=4", "select=none", "numeric=gaussian"]
    found = settings.read_settings(texts, MODELS["naive-bayes"], "naive-bayes")
    assert found == {"bins": 4, "select": None, "numeric": "gaussian"}
    assert settings.read_settings(["huber=.5"], MODELS["svm"], "svm") == {"huber": 0.5}


@pytest.mark.parametrize("wrong", ["bins", "bin=4", "epsilon=3", "schema=x", "random_state=1", "=4", ""])
def test_what_is_said_elsewhere_or_unknown_lists_what_there_is(wrong):
    with pytest.raises(ParameterError, match=r"one-rule has: bins=\.\.\."):
        settings.read_settings([wrong], MODELS["one-rule"], "one-rule")


def test_twice_is_not_once():
    with pytest.raises(ParameterError, match="set twice"):
        settings.read_settings(["bins=4", "bins=5"], MODELS["one-rule"], "one-rule")


@pytest.mark.parametrize("wrong", ["svm(", "svm(a=1", "svm(a=1)b"])
def test_parentheses_have_to_close(wrong):
    with pytest.raises(ParameterError, match="naive-bayes\\(select=auto\\)"):
        settings.canonical(wrong)


def test_a_configured_model_is_its_family_with_parameters():
    families = {**MODELS, "Pipeline": Zorarpaci2019Pipeline}
    made = settings.configured("Pipeline(max_iter=3,learner=naive-bayes)", families)(None, epsilon=2, random_state=1)
    assert isinstance(made, Zorarpaci2019Pipeline)
    assert (made.max_iter, made.learner, made.epsilon, made.random_state) == (3, "naive-bayes", 2, 1)
    with pytest.raises(ParameterError, match=r"'magic' is not known; need some of: .*svm"):
        settings.configured("magic(a=1)", MODELS)
