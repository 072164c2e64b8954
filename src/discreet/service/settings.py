"""What the service needs to know to run: where its folder and its database are, and a few public numbers."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from discreet.errors import FileError

FOLDER = "discreet-service"


@dataclass(frozen=True)
class Settings:
    """Settings of the web process and of workers. `Settings.of` fills in what is not given.

    Attributes
    ----------
    folder : holds `discreet.db` (SQLite), `web/` (the secret key of the pages) and `worker/` (sources and snapshots).
        The web process never opens `worker/`; with separate accounts it cannot.
    database : a URL, `sqlite:///...` or `postgresql://...`.
    public_url : where people reach the service, for links.
    least_slot : the shortest slot of a job in seconds (slots.py); public.
    request_days : a request that nobody decided, or that no worker took, expires after this many days.
    job_memory : the memory in GiB that the process of one job may take beyond its packages; None sets no limit.
        Public.
    with_worker : whether `discreet serve` starts a worker of its own.
    oidc_issuer, oidc_client, oidc_secret_file : sign-on by OpenID Connect, if given.
    """

    folder: Path
    database: str
    public_url: str = "http://127.0.0.1:8000"
    least_slot: float = 10.0
    request_days: float = 14.0
    session_hours: float = 12.0
    link_hours: float = 24.0
    job_memory: float | None = None
    with_worker: bool = True
    worker_name: str = "worker"
    oidc_issuer: str | None = None
    oidc_client: str | None = None
    oidc_secret_file: Path | None = None

    @classmethod
    def of(cls, folder: str | Path = FOLDER, database: str | None = None, **others: object) -> Settings:
        """Settings for a folder; without a database URL, SQLite in that folder."""
        folder = Path(folder).absolute()
        return cls(folder, database or f"sqlite:///{folder / 'discreet.db'}", **others)  # type: ignore[arg-type]

    @property
    def worker_folder(self) -> Path:
        """Where a worker keeps sources.toml, its key and the snapshots; no other process opens it."""
        return self.folder / "worker"

    @property
    def secret_file(self) -> Path:
        """The key that signs cookies of the pages."""
        return self.folder / "web" / "secret.key"

    def secret_key(self) -> str:
        """The key that signs cookies; made at the first start, readable by its owner only."""
        return private_key(self.secret_file)


def private_key(path: Path) -> str:
    """The key in a file of mode 0600; made if it is not there. Two processes that make it at once agree on one."""
    private_folder(path.parent)
    try:
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        return _key_in(path)
    with os.fdopen(handle, "w") as file:
        key = os.urandom(32).hex()
        file.write(key)
        file.flush()
        os.fsync(file.fileno())
    return key


def _key_in(path: Path) -> str:
    try:
        key = path.read_text().strip()
    except OSError as error:
        raise FileError(f"cannot read {path}: {error.strerror}; it belongs to the account that made it") from None
    if len(key) < 64:
        raise FileError(f"{path} does not hold a whole key; remove it and start again, which signs everybody out")
    return key


def private_folder(path: Path) -> Path:
    """A folder of mode 0700; made if it is not there."""
    try:
        path.mkdir(parents=True, exist_ok=True, mode=0o700)
    except OSError as error:
        raise FileError(f"cannot make {path}: {error.strerror}; check the folder") from None
    return path
