"""A data set of a service, asked from Python: counts, models and scores, without ever seeing a row."""

from __future__ import annotations

import io
import uuid
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from discreet.client.jobs import RemoteJob
from discreet.client.transport import Transport
from discreet.errors import ParameterError

if TYPE_CHECKING:
    from discreet.doors.choice import Selection
    from discreet.released.answers import Answer, Answers
    from discreet.schema import Schema


class RemoteDataset:
    """A data set of a service.

    Parameters
    ----------
    transport : the connection.
    name : the name of the data set.
    project : the project that pays; may be left out by whoever has one grant for the data set.
    version : the version; the newest if left out.
    """

    def __init__(
        self, transport: Transport, name: str, *, project: str | None = None, version: int | None = None
    ) -> None:
        self._transport = transport
        self.name, self.project, self.version = name, project, version
        self._schema: Schema | None = None

    def __repr__(self) -> str:
        return f"RemoteDataset({self.name!r})"

    @property
    def facts(self) -> dict[str, Any]:
        """Title, description and versions, as plain data."""
        return dict(self._transport.get(f"/datasets/{self.name}"))

    @property
    def schema(self) -> Schema:
        """The public schema; read once."""
        if self._schema is None:
            from discreet.schema import Schema

            self._schema = Schema.from_dict(self._transport.get(f"/datasets/{self.name}/schema", version=self.version))
        return self._schema

    def dummy(self, rows: int = 100) -> dict[str, list[str]]:
        """Made-up rows, drawn from the schema alone, by column: to write code against."""
        import csv

        text = self.dummy_csv(rows)
        header, *records = csv.reader(io.StringIO(text, newline=""))
        return {name: [record[place] for record in records] for place, name in enumerate(header)}

    def dummy_csv(self, rows: int = 100) -> str:
        """Made-up rows as the text of a CSV file."""
        return self._transport.get_bytes(f"/datasets/{self.name}/dummy", version=self.version, rows=rows).decode()

    def quote(self, request: dict[str, Any]) -> dict[str, Any]:
        """What a request would cost, what would remain, and what to expect; nothing is charged."""
        return dict(self._transport.post("/quotes", self._asked(request), repeat=True))

    def submit(self, request: dict[str, Any], *, key: str | None = None) -> RemoteJob:
        """Ask. The same key gives the same job, and costs nothing again; without one, a new one is drawn."""
        facts = self._transport.post("/jobs", self._asked(request), key=key or str(uuid.uuid4()))
        return RemoteJob(self._transport, facts)

    def ask(
        self,
        queries: Sequence[Any],
        epsilon: object,
        *,
        shares: Sequence[float] | None = None,
        purpose: str = "counts",
        key: str | None = None,
        timeout: float | None = None,
    ) -> Answers:
        """Counts for several queries in one request: `CrossedCounts`, or plain data of that form.

        Queries that exclude each other are charged the largest of their parts; all others divide epsilon. This is what
        `OneRule.fit_from` and `NaiveBayes.fit_from` call; the service has a log of its own, and no use for `purpose`.
        """
        from discreet.released.answers import Answers

        plain = [query if isinstance(query, dict) else query.to_plain() for query in queries]
        request = {"kind": "count", "epsilon": str(epsilon), "queries": plain}
        if shares is not None:
            request["shares"] = list(shares)
        job = self.submit(request, key=key).wait(timeout)
        return Answers.from_dict(job.content())

    def choose(
        self,
        candidates: Sequence[Any],
        wanted: int,
        epsilon: object,
        *,
        purpose: str = "choice",
        key: str | None = None,
        timeout: float | None = None,
    ) -> Selection:
        """Which columns alone classify the most records, chosen privately: what `fit_from` of models asks first.

        A candidate is a `MajorityScore` or `FractionScore`, or plain data such as {"column": "age", "bins": 8}.
        """
        from discreet.doors.choice import Selection
        from discreet.queries.candidates import candidate_to_plain
        from discreet.released.answers import Answers

        plain = [each if isinstance(each, dict) else candidate_to_plain(each) for each in candidates]
        request = {"kind": "count", "epsilon": str(epsilon), "choose": {"candidates": plain, "wanted": wanted}}
        answers = Answers.from_dict(self.submit(request, key=key).wait(timeout).content())
        return Selection(answers.chosen or (), answers.receipt)

    def count(
        self,
        where: Sequence[dict[str, Any]] = (),
        by: Sequence[Any] = (),
        *,
        epsilon: object,
        key: str | None = None,
        timeout: float | None = None,
    ) -> Answer:
        """How many records satisfy all conditions, in each cell of the columns grouped by."""
        divided = [{"column": each} if isinstance(each, str) else dict(each) for each in by]
        return self.ask([{"where": list(where), "by": divided}], epsilon, key=key, timeout=timeout)[0]

    def train(
        self,
        model: str = "auto",
        *,
        epsilon: object,
        wait: bool = True,
        key: str | None = None,
        timeout: float | None = None,
        **parameters: Any,
    ) -> Any:
        """A fitted model, or with `wait=False` the job that makes it."""
        request = {"kind": "train", "model": model, "epsilon": str(epsilon), "parameters": parameters}
        job = self.submit(request, key=key)
        return model_of(job.wait(timeout)) if wait else job

    def score(
        self, release: str | RemoteJob, *, epsilon: object, key: str | None = None, timeout: float | None = None
    ) -> dict[str, Any]:
        """The accuracy of a released model on this data set, with noise; `release` is its identifier or its job."""
        identifier = release.release if isinstance(release, RemoteJob) else release
        if not isinstance(identifier, str):
            raise ParameterError("release: need the identifier of a released model, or a job that has released one")
        request = {"kind": "score", "release": identifier, "epsilon": str(epsilon)}
        return dict(self.submit(request, key=key).wait(timeout).content())

    def _asked(self, request: dict[str, Any]) -> dict[str, Any]:
        place = {"project": self.project, "version": self.version}
        return {"dataset": self.name, **{k: v for k, v in place.items() if v is not None}, "request": request}


def model_of(job: RemoteJob) -> Any:
    """The model that a job has released, ready to predict."""
    from discreet.models.loading import from_dict

    return from_dict(job.content(), f"the model of job {job.id}")
