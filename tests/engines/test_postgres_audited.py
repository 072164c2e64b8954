"""Ourselves on PostgreSQL by the same audit as anybody: counted in the database, and streamed, under both adjacencies.

Each run fills a table and is a fit, so the stages are the two that need few runs: *structure*, which finds what is
always so on one of two neighbours and never on the other, and *replay*, which compares what enters the noise. A loss
that shows only in how often something happens is not looked for here; the answers are those of memory (see
`test_postgres_agrees.py`), which `tests/audit/test_ourselves.py` looks at more closely.
"""

import pytest

from discreet.sources.postgres import PostgresSource
from support.ourselves import ADJACENCIES, FAMILIES, NO_NOISE, elsewhere, few, found, public, remarks, tried

pytestmark = pytest.mark.engines
psycopg = pytest.importorskip("psycopg")

RUNS = 400
"""With fewer, nothing could be refuted at the confidence of these audits."""
CASES = [*((name, False) for name in FAMILIES), ("naive-bayes", True), ("svm", True)]
"""Families, and whether records are streamed: what counts them then is the same for all, but of linear models."""


@pytest.fixture
def given(database, postgres):
    """Puts the records into a table, and opens it."""
    database.execute("CREATE TABLE audited (near float8, open text, label text)")
    insert = "INSERT INTO audited VALUES (%s, %s, %s)"

    def source(records, stream):
        database.execute("TRUNCATE audited")
        with database.cursor() as cursor:
            cursor.executemany(insert, [(each["near"], each["open"], each["label"]) for each in records])
        return PostgresSource(postgres, table="clinic.audited", stream=stream)

    return source


@pytest.mark.parametrize("adjacency", ADJACENCIES)
@pytest.mark.parametrize(("name", "stream"), CASES)
def test_a_database_tells_no_more(given, name, stream, adjacency):
    estimator = elsewhere(FAMILIES[name], lambda records: given(records, stream))
    report = found(lambda: estimator(public(adjacency), epsilon=1.0), adjacency, RUNS, few())
    assert not report.refuted, report.verdict()
    assert not remarks(report)
    assert "calls of samplers watched" in tried(report, "replay")


@pytest.mark.parametrize("adjacency", ADJACENCIES)
@pytest.mark.parametrize("stream", [False, True], ids=["counted there", "streamed"])
def test_a_database_shows_what_charges_too_little(given, stream, adjacency):
    """A control: next to no noise and a claim of 1, by the same stages and as many runs."""
    estimator = elsewhere(FAMILIES["naive-bayes"], lambda records: given(records, stream))
    assert found(lambda: estimator(public(adjacency), epsilon=NO_NOISE), adjacency, RUNS, few(), first=True).refuted
