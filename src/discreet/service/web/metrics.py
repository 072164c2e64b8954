"""Metrics in the format of Prometheus: requests by route template, status and duration; jobs by kind and state.

For the owner, or a token with the scope `metrics`: durations and counts can depend on data, so analysts never see them.
"""

from __future__ import annotations

from collections.abc import Iterable

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest

from discreet.service.web.logs import BUCKETS

MEDIA_TYPE = "text/plain; version=0.0.4; charset=utf-8"


class Metrics:
    """The metrics of one application; a registry of its own, so that two applications in one process do not meet."""

    def __init__(self) -> None:
        self._registry = CollectorRegistry()
        labels = ["method", "route", "status"]
        self._requests = Counter("discreet_requests", "Requests answered", labels, registry=self._registry)
        self._seconds = Histogram(
            "discreet_request_seconds", "Duration of requests", ["route"], buckets=BUCKETS, registry=self._registry
        )
        self._jobs = Gauge("discreet_jobs", "Jobs by kind and state", ["kind", "state"], registry=self._registry)

    def observe(self, method: str, route: str, status: int, seconds: float) -> None:
        """Note one request."""
        self._requests.labels(method, route, str(status)).inc()
        self._seconds.labels(route).observe(seconds)

    def text(self, jobs: Iterable[tuple[str, str, int]]) -> bytes:
        """The page that Prometheus reads, with the number of jobs of each kind and state as of now."""
        self._jobs.clear()
        for kind, state, number in jobs:
            self._jobs.labels(kind, state).set(number)
        return generate_latest(self._registry)
