"""Noise of a chosen value in place of random draws: it shows the location and scale that a fit really uses."""

import numpy as np
import pytest
from sklearn.base import clone

from discreet.privacy.randomness import SeededRandomness
from discreet.research.papers.published import Parameters


class ChosenNoise(SeededRandomness):
    """Every draw of each law is one number."""

    def __init__(self, laplace=0.0, cauchy=None):
        self._laplace, self._cauchy = laplace, laplace if cauchy is None else cauchy

    def laplace(self, shape):
        return np.full(shape, float(self._laplace))

    def cauchy(self, shape):
        return np.full(shape, float(self._cauchy))

    def integers(self, below, shape):
        return np.zeros(shape, dtype=np.int64)


@pytest.fixture
def fit_with():
    """Fit a copy of a model with chosen noise."""

    def fit(model, X, y, laplace=0.0, cauchy=None):
        return clone(model).set_params(random_state=ChosenNoise(laplace, cauchy)).fit(X, y)

    return fit


@pytest.fixture
def law_of(fit_with):
    """Location and scale of everything that a fit publishes, from two fits with positive noise.

    Positive, so that nothing is redrawn, raised or truncated: those steps follow the noise.
    """

    def law(model, X, y):
        one, two = (fit_with(model, X, y, noise).parameters_ for noise in (1.0, 2.0))
        scales = _combine(two, one, lambda a, b: a - b)
        return _combine(one, scales, lambda a, b: a - b), scales

    return law


@pytest.fixture
def laplace_loss(law_of):
    """Sum over all parameters of |change| / scale: the exact loss of Laplace noise with one scale on both tables."""

    def loss(model, first, second):
        (exact1, scales1), (exact2, scales2) = law_of(model, *first), law_of(model, *second)
        total = 0.0
        for change, one, two in zip(
            _flat(_combine(exact1, exact2, lambda a, b: a - b)), _flat(scales1), _flat(scales2), strict=True
        ):
            np.testing.assert_allclose(one, two)
            total += float(np.sum(np.abs(change) / one))
        return total

    return loss


def _combine(first, second, function):
    return Parameters(
        function(first.classes, second.classes),
        *(
            {name: function(values, getattr(second, field)[name]) for name, values in getattr(first, field).items()}
            for field in ("tables", "means", "deviations")
        ),
    )


def _flat(parameters):
    groups = (parameters.tables, parameters.means, parameters.deviations)
    return [parameters.classes, *(values for group in groups for values in group.values())]
