"""Flower, for the tests that need it."""

import importlib
import warnings

import pytest


@pytest.fixture(scope="module")
def flower():
    """The module, in a run of Flower's: letters can be written only there."""
    with pytest.MonkeyPatch.context() as patch, warnings.catch_warnings():
        patch.setenv("FLWR_TELEMETRY_ENABLED", "0")
        warnings.simplefilter("ignore")  # what Flower imports is not ours
        module = importlib.import_module("discreet.federated.flower")
        identity = importlib.import_module("flwr.supercore.task_identity").TaskIdentity
        identity.run_id, identity.task_id, identity.node_id = 1, 1, 1
        patch.setattr(module, "PAUSE", 0.01)
        yield module
