"""`discreet.Client`: data sets, jobs and budgets of a service, with one token."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Self

from discreet.client.dataset import RemoteDataset
from discreet.client.jobs import RemoteJob
from discreet.client.transport import Transport

if TYPE_CHECKING:
    from discreet.released.answers import Answer


class Client:
    """Ask a service for models, scores and counts.

    Parameters
    ----------
    url : the address of the service.
    token : a token of yours with the scopes `read` and `ask`; default: the environment variable DISCREET_TOKEN.
    insecure : allow http to another machine, where everybody on the way can read the token.
    timeout : seconds to wait for one answer; jobs are waited for separately.

    Examples
    --------
    >>> client = Client("https://discreet.example.org", token="dsc_...")
    >>> client
    Client('https://discreet.example.org')
    """

    def __init__(
        self, url: str, token: str | None = None, *, insecure: bool = False, timeout: float = 60.0, http: Any = None
    ) -> None:
        self._transport = Transport(url, token, insecure=insecure, timeout=timeout, http=http)

    def __repr__(self) -> str:
        return f"Client({self._transport.url!r})"

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the connections."""
        self._transport.close()

    def me(self) -> dict[str, Any]:
        """Who the token belongs to, with roles and scopes."""
        return dict(self._transport.get("/me"))

    def datasets(self) -> list[dict[str, Any]]:
        """The data sets that can be asked, as plain data."""
        return list(self._transport.get("/datasets"))

    def dataset(self, name: str, *, project: str | None = None, version: int | None = None) -> RemoteDataset:
        """One data set, to be asked: `OneRule(schema).fit_from(client.dataset("patients"))`."""
        return RemoteDataset(self._transport, name, project=project, version=version)

    def quote(self, dataset: str, request: dict[str, Any], *, project: str | None = None) -> dict[str, Any]:
        """What a request would cost, what would remain, and what to expect; nothing is charged."""
        return self.dataset(dataset, project=project).quote(request)

    def count(self, dataset: str, *, project: str | None = None, **asked: Any) -> Answer:
        """Counts; see `RemoteDataset.count`."""
        return self.dataset(dataset, project=project).count(**asked)

    def train(self, dataset: str, model: str = "auto", *, project: str | None = None, **asked: Any) -> Any:
        """A fitted model; see `RemoteDataset.train`."""
        return self.dataset(dataset, project=project).train(model, **asked)

    def score(self, dataset: str, release: str | RemoteJob, *, project: str | None = None, **asked: Any) -> Any:
        """The accuracy of a released model, with noise; see `RemoteDataset.score`."""
        return self.dataset(dataset, project=project).score(release, **asked)

    def job(self, identifier: str) -> RemoteJob:
        """One job."""
        return RemoteJob(self._transport, self._transport.get(f"/jobs/{identifier}"))

    def jobs(self, *, state: str | None = None, dataset: str | None = None) -> Iterator[RemoteJob]:
        """One's own jobs, newest first, read page by page."""
        cursor = None
        while True:
            page = self._transport.get("/jobs", state=state, dataset=dataset, cursor=cursor)
            yield from (RemoteJob(self._transport, facts) for facts in page["jobs"])
            cursor = page["next"]
            if cursor is None:
                return

    def releases(self) -> list[dict[str, Any]]:
        """One's own releases, newest first: their cards."""
        return list(self._transport.get("/releases"))

    def release(self, identifier: str) -> dict[str, Any]:
        """One release: its card, kind and hash."""
        return dict(self._transport.get(f"/releases/{identifier}"))

    def content(self, release: str) -> bytes:
        """The file of a release, as it was published: a model that `discreet.load` reads, a score, or answers."""
        return self._transport.get_bytes(f"/releases/{release}/content")

    def budget(self) -> list[dict[str, Any]]:
        """One's own accounts: limit, reserved, spent and remaining, as exact decimal texts."""
        return list(self._transport.get("/accounts"))

    def predict(self, release: str, records: list[dict[str, Any]]) -> list[dict[str, Any]]:
        """Classify records by a released model, at the service; they are neither stored nor logged there."""
        return list(self._transport.post(f"/releases/{release}/predict", {"records": records}, repeat=True))
