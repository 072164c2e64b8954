"""What the base classes declare, every family defines; mypy checks the signatures, this test the presence."""

import pytest

from discreet.models import MODELS
from discreet.models.classifier import Classifier, PrivateClassifier


def declared(base: type) -> list[str]:
    """The methods that a base class leaves to its families."""
    return [name for name in vars(base)["__annotations__"] if name.startswith("_")] + ["kind"]


def test_the_bases_leave_these_methods_to_the_families():
    assert declared(Classifier) == ["_scores", "kind"]
    assert declared(PrivateClassifier) == ["_added", "_learn", "_build", "kind"]
    assert not any(hasattr(PrivateClassifier, name) for name in ("_scores", "_added", "_learn", "_build", "kind"))


@pytest.mark.parametrize("kind", MODELS)
def test_every_family_defines_what_its_base_declares(kind):
    family = MODELS[kind]
    bases = [base for base in (Classifier, PrivateClassifier) if issubclass(family, base)]
    assert [name for base in bases for name in declared(base) if not hasattr(family, name)] == []
