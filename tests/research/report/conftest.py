"""The documents of these tests, and the browser that opens them."""

import os

import pytest

from discreet.research.comparison import engine
from support import samples
from support.chromium import Chromium, find_browser


@pytest.fixture(scope="session")
def every_part():
    return samples.every_part()


@pytest.fixture(scope="session")
def hostile():
    return samples.hostile()


@pytest.fixture(scope="session")
def real_comparison(tmp_path_factory):
    """On data that come with scikit-learn, whatever the environment says."""
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("DISCREET_DATA", raising=False)
        patch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))
        engine._loaded.cache_clear()
        engine._folds.cache_clear()
        return samples.real_comparison(tmp_path_factory.mktemp("runs"))


@pytest.fixture(scope="session")
def browser(tmp_path_factory):
    path = find_browser()
    if path is None:
        message = "no Chromium on the PATH; Debian and Ubuntu: apt-get install chromium"
        if os.environ.get("CI") == "true":
            pytest.fail(message)
        pytest.skip(message)
    opened = Chromium(path, tmp_path_factory.mktemp("browser"))
    yield opened
    opened.close()
