"""Ourselves on Spark by the same audit as anybody: by sums in the cluster, by codes that travel, at both adjacencies.

A fit takes a second or so, so these audits have one stage, *replay*, and few pairs of tables: it runs both of a pair,
gives the second the noisy answers of the first, and compares what enters the noise. That shows whether the noise is
enough and whether anything is published around it, on these pairs. No event is counted, so nothing can be refuted: a
pair that is suspected is a failure here, and the control must be suspected.
"""

import pytest

from discreet.audit.replay import Replay
from discreet.sources.spark import SparkSource
from support.ourselves import ADJACENCIES, FAMILIES, elsewhere, found, public, tried

RUNS = 60
"""A replay takes about an eighth of these, and three for each pair."""
CASES = [*((name, False) for name in FAMILIES), ("naive-bayes", True), ("svm", True)]
"""Families, and whether codes travel: what counts them then is the same for all, but of linear models."""
COLUMNS = "near double, open string, label string"


def audited(session, name, stream, adjacency, epsilon):
    """What the replay says of a family on Spark."""

    def given(records):
        rows = [(each["near"], each["open"], each["label"]) for each in records]
        return SparkSource(session.createDataFrame(rows, COLUMNS), stream=stream)

    estimator = elsewhere(FAMILIES[name], given)
    return tried(found(lambda: estimator(public(adjacency), epsilon=epsilon), adjacency, RUNS, [Replay()]), "replay")


@pytest.mark.parametrize("adjacency", ADJACENCIES)
@pytest.mark.parametrize(("name", "stream"), CASES)
def test_spark_tells_no_more(local, name, stream, adjacency):
    words = audited(local, name, stream, adjacency, 1.0)
    assert "calls of samplers watched" in words
    assert "0 pairs are suspicious" in words


@pytest.mark.parametrize("stream", [False, True], ids=["sums", "codes"])
def test_spark_shows_what_charges_too_little(local, stream):
    """A control: twice the epsilon that is claimed."""
    assert "0 pairs are suspicious" not in audited(local, "naive-bayes", stream, "replace-one", 2.0)
