"""Asking a service from Python: models, scores and counts of tables that one never sees."""

from __future__ import annotations

from discreet.client.client import Client
from discreet.client.dataset import RemoteDataset
from discreet.client.jobs import RemoteJob
from discreet.client.refusals import RefusedError

__all__ = ["Client", "RefusedError", "RemoteDataset", "RemoteJob"]
