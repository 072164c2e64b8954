"""OpenDP's sampler is tried before the first charge: another law, type or name is refused, and costs nothing."""

import math
import os
import subprocess
import sys

import numpy as np
import pytest

from discreet import Ledger, NaiveBayes, datasets
from discreet.errors import UntestedVersion
from discreet.privacy import opendp_sampler
from discreet.privacy.opendp_sampler import (
    LARGEST,
    SIDE,
    SMALLEST,
    TRIAL_DRAWS,
    TRIAL_SCALE,
    check_opendp,
    opendp_laplace,
)


@pytest.fixture(autouse=True)
def untried():
    check_opendp.cache_clear()
    yield
    check_opendp.cache_clear()


class Sampler:
    """A measurement of another law, which states the loss of the right one, or another."""

    def __init__(self, draw, loss=None):
        self.draw, self.loss = draw, loss

    def __call__(self, zeros):
        return self.draw(len(zeros))

    def map(self, distance):
        return distance / TRIAL_SCALE if self.loss is None else self.loss


def laplace(scale, count):
    first, second = np.random.default_rng().geometric(1 - math.exp(-1 / scale), size=(2, count))
    return (first - second).tolist()


OTHERS = {
    "no noise": Sampler(lambda count: [0] * count),
    "always the same noise": Sampler(lambda count: ([8, -8] * count)[:count]),
    "half the noise": Sampler(lambda count: laplace(TRIAL_SCALE / 2, count)),
    "twice the noise": Sampler(lambda count: laplace(TRIAL_SCALE * 2, count)),
    "noise on one side": Sampler(lambda count: [abs(draw) for draw in laplace(TRIAL_SCALE, count)]),
    "floats": Sampler(lambda count: [draw + 0.9 for draw in laplace(TRIAL_SCALE, count)]),
    "too few": Sampler(lambda count: laplace(TRIAL_SCALE, count - 1)),
    "another meaning of scale": Sampler(lambda count: laplace(TRIAL_SCALE, count), loss=2 / TRIAL_SCALE),
    "no loss": Sampler(lambda count: laplace(TRIAL_SCALE, count), loss=math.nan),
}


def test_a_sampler_of_the_law_passes(monkeypatch):
    """The twin of the samplers that are refused, so that these fail for their law and not for their form."""
    check_opendp()
    check_opendp.cache_clear()
    monkeypatch.setattr(opendp_sampler, "_measurement", lambda scale: Sampler(lambda count: laplace(scale, count)))
    check_opendp()


@pytest.mark.parametrize("other", OTHERS)
def test_a_sampler_of_another_law_is_refused(monkeypatch, other):
    """Before the charge, by the passage; and the next try is refused again."""
    monkeypatch.setattr(opendp_sampler, "_measurement", lambda scale: OTHERS[other])
    X, y, schema = datasets.load("iris")
    ledger = Ledger(1)
    for _ in range(2):
        with pytest.raises(UntestedVersion, match=r"opendp \S+ was not tested .* pip install 'opendp>="):
            NaiveBayes(schema, epsilon=1).fit(X, y, ledger=ledger)
    assert ledger.remaining == 1
    NaiveBayes(schema, epsilon=1, random_state=0).fit(X, y, ledger=ledger)  # seeded noise is not OpenDP's


@pytest.mark.parametrize("other", ["floats", "too few", "another meaning of scale", "no loss"])
def test_every_draw_is_looked_at(monkeypatch, other):
    monkeypatch.setattr(opendp_sampler, "_measurement", lambda scale: OTHERS[other])
    with pytest.raises(UntestedVersion):
        opendp_laplace(TRIAL_SCALE, 5)


@pytest.mark.parametrize("error", [AttributeError, TypeError])
def test_other_names_and_arguments_are_refused(monkeypatch, error):
    def renamed(scale):
        raise error("module 'opendp.measurements' has no attribute 'make_laplace'")

    monkeypatch.setattr(opendp_sampler, "_measurement", renamed)
    with pytest.raises(UntestedVersion):
        check_opendp()


@pytest.mark.parametrize("version", ["0.12.1", "0.17.0", "1.0.0", ""])
def test_an_untested_version_is_refused(monkeypatch, version):
    monkeypatch.setattr(opendp_sampler, "_version", lambda: version)
    with pytest.raises(UntestedVersion, match="was not tested"):
        check_opendp()


def test_chance_does_not_fail_the_trial():
    """Chernoff: the mean of the sizes, and the signs, leave their ranges less than once in 10^30 trials."""
    q = math.exp(-1 / TRIAL_SCALE)
    zero, expected = (1 - q) / (1 + q), 2 * q / (1 - q * q)

    def log_moment(t):  # of |Z|: P[0] = zero, P[|Z| = k] = 2 zero q^k
        return math.log(zero * (1 + 2 * q * math.exp(t) / (1 - q * math.exp(t))))

    for factor, signs in ((SMALLEST, -1), (LARGEST, 1)):
        exponents = [signs * each / (100 * TRIAL_SCALE) for each in range(1, 99)]
        bound = min(log_moment(t) - t * factor * expected for t in exponents)
        assert TRIAL_DRAWS * bound < math.log(1e-30)
    # Hoeffding, for draws above less SIDE times draws below, each of which is from -SIDE to 1 and must not sum below 0
    mean = (1 - zero) / 2 * (1 - SIDE)
    assert -2 * TRIAL_DRAWS * (mean / (1 + SIDE)) ** 2 < math.log(1e-30)


FORKS = """
import os
from discreet.privacy.opendp_sampler import has_drawn
from discreet.privacy.randomness import SecureRandomness

def draws():
    rng = SecureRandomness()
    taken = [rng.discrete_laplace(1e9, (4,)), rng.polya(1e6, 2, (4,)), rng.integers(2**60, (4,)), rng.cauchy((4,))]
    return " ".join(str(each) for array in taken for each in array.tolist())

told = [has_drawn()]
draws()
told.append(has_drawn())
print(*told)
for _ in range(4):
    child = os.fork()
    if child == 0:
        print(draws(), flush=True)
        os._exit(0)
    os.waitpid(child, 0)
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="processes do not fork here")
def test_forked_processes_draw_their_own_noise():
    """Also where the process that was forked has drawn: the state of a generator must not be used twice.

    Two answers with the same noise would show their difference exactly. A version of OpenDP that keeps a generator in
    memory and does not notice a fork fails this test; the development version of OpenDP has had one.
    """
    done = subprocess.run([sys.executable, "-u", "-c", FORKS], capture_output=True, text=True, check=True)
    known, *seen = done.stdout.splitlines()
    assert known == "False True"
    assert len(seen) == 4
    numbers = [each for line in seen for each in line.split()]
    assert len(numbers) == 4 * 16
    assert len(set(numbers)) > 4 * 16 - 4  # Pólya noise is 0 now and then
