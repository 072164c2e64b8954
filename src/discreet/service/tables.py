"""The tables of the service: people, data sets, projects, jobs, releases and the log. Money is in privacy/accounts.

No column holds a value of the data, but these, which only an owner reads: `versions.draft`, the draft of a schema,
which is erased when the owner confirms it, and holds nothing that is rare in the data (drafts.py); `findings.content`,
how many values did not fit. `versions.snapshot_hash` is keyed, so that nobody can test a guess of the data with it.
`jobs.outcome`, `jobs.finished_at` and log lines with `owner_only` are internal too: they depend on the data.
"""

from __future__ import annotations

from sqlalchemy import (
    JSON,
    BigInteger,
    Boolean,
    CheckConstraint,
    Column,
    ForeignKey,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    String,
    Table,
    Text,
    UniqueConstraint,
)

from discreet.service.clock import Moment

service_metadata = MetaData(
    naming_convention={
        "ix": "ix_%(column_0_label)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
        "ck": "ck_%(table_name)s_%(constraint_name)s",
        "fk": "fk_%(table_name)s_%(column_0_name)s",
        "pk": "pk_%(table_name)s",
    }
)
NAME = String(120)
UUID = String(36)
HASH = String(64)

JOB_KINDS = ("train", "score", "count", "draft", "snapshot")
PAID_KINDS = ("train", "score", "count")
"""Kinds of jobs that analysts ask for and pay."""
JOB_STATES = ("requested", "reserved", "running", "released", "failed", "refused", "cancelled", "expired")
VERSION_STATES = ("drafting", "drafted", "confirming", "ready", "failed")
PURPOSES = ("owner", "invite", "reset")


def _one_of(column: str, values: tuple[str, ...]) -> CheckConstraint:
    listed = ", ".join(f"'{value}'" for value in values)
    return CheckConstraint(f"{column} IN ({listed})", name=column)


people = Table(
    "people",
    service_metadata,
    Column("id", Integer, primary_key=True),
    Column("name", NAME, nullable=False, unique=True),
    Column("display", NAME, nullable=False),
    Column("password_hash", String(255)),
    Column("oidc_subject", String(255), unique=True),
    Column("is_owner", Boolean, nullable=False, default=False),
    Column("is_analyst", Boolean, nullable=False, default=False),
    Column("is_auditor", Boolean, nullable=False, default=False),
    Column("created_at", Moment, nullable=False),
    Column("disabled_at", Moment),
)

tokens = Table(
    "tokens",
    service_metadata,
    Column("id", Integer, primary_key=True),
    Column("person_id", ForeignKey("people.id"), nullable=False, index=True),
    Column("name", NAME, nullable=False),
    Column("hash", HASH, nullable=False, unique=True),
    Column("scopes", JSON, nullable=False),
    Column("created_at", Moment, nullable=False),
    Column("expires_at", Moment),
    Column("revoked_at", Moment),
    Column("last_used_at", Moment),
)

sessions = Table(
    "sessions",
    service_metadata,
    Column("hash", HASH, primary_key=True),
    Column("person_id", ForeignKey("people.id"), nullable=False, index=True),
    Column("csrf", String(64), nullable=False),
    Column("created_at", Moment, nullable=False),
    Column("expires_at", Moment, nullable=False),
)

links = Table(
    "links",
    service_metadata,
    Column("hash", HASH, primary_key=True),
    Column("purpose", String(12), nullable=False),
    Column("person_id", ForeignKey("people.id")),
    Column("role", String(12)),
    Column("created_by", ForeignKey("people.id")),
    Column("expires_at", Moment, nullable=False),
    Column("used_at", Moment),
    _one_of("purpose", PURPOSES),
)

sources = Table(
    "sources",
    service_metadata,
    Column("name", NAME, primary_key=True),
    Column("kind", String(12), nullable=False),
    Column("described", String(400), nullable=False),
    Column("published_at", Moment, nullable=False),
)

datasets = Table(
    "datasets",
    service_metadata,
    Column("id", Integer, primary_key=True),
    Column("name", NAME, nullable=False, unique=True),
    Column("title", String(200), nullable=False),
    Column("description", Text, nullable=False),
    Column("population_account", Integer, nullable=False),
    Column("dataset_account", Integer, nullable=False),
    Column("source_name", NAME, nullable=False),
    Column("created_by", ForeignKey("people.id"), nullable=False),
    Column("created_at", Moment, nullable=False),
    Column("withdrawn_at", Moment),
)

versions = Table(
    "versions",
    service_metadata,
    Column("id", Integer, primary_key=True),
    Column("dataset_id", ForeignKey("datasets.id"), nullable=False),
    Column("number", Integer, nullable=False),
    Column("source_name", NAME, nullable=False),
    Column("target", NAME, nullable=False),
    Column("ignore", JSON, nullable=False),
    Column("draft", JSON(none_as_null=True)),
    Column("schema", JSON(none_as_null=True)),
    Column("schema_hash", HASH),
    Column("records_declared", BigInteger),
    Column("snapshot_hash", HASH),
    Column("state", String(12), nullable=False),
    Column("created_at", Moment, nullable=False),
    UniqueConstraint("dataset_id", "number"),
    _one_of("state", VERSION_STATES),
)

findings = Table(
    "findings",
    service_metadata,
    Column("version_id", ForeignKey("versions.id"), primary_key=True),
    Column("content", JSON, nullable=False),
)

projects = Table(
    "projects",
    service_metadata,
    Column("id", Integer, primary_key=True),
    Column("name", NAME, nullable=False, unique=True),
    Column("title", String(200), nullable=False),
    Column("created_at", Moment, nullable=False),
)

members = Table(
    "members",
    service_metadata,
    Column("project_id", ForeignKey("projects.id"), primary_key=True),
    Column("person_id", ForeignKey("people.id"), primary_key=True, index=True),
)

project_accounts = Table(
    "project_accounts",
    service_metadata,
    Column("project_id", ForeignKey("projects.id"), primary_key=True),
    Column("population_account", Integer, primary_key=True),
    Column("account", Integer, nullable=False),
)

grants = Table(
    "grants",
    service_metadata,
    Column("id", Integer, primary_key=True),
    Column("project_id", ForeignKey("projects.id"), nullable=False),
    Column("person_id", ForeignKey("people.id"), nullable=False, index=True),
    Column("dataset_id", ForeignKey("datasets.id"), nullable=False, index=True),
    Column("account", Integer, nullable=False),
    Column("kinds", JSON, nullable=False),
    Column("approve_up_to_nano", BigInteger, nullable=False),
    Column("created_at", Moment, nullable=False),
    Column("expires_at", Moment),
    Column("revoked_at", Moment),
    CheckConstraint("approve_up_to_nano >= 0", name="rule"),
)

jobs = Table(
    "jobs",
    service_metadata,
    Column("id", UUID, primary_key=True),
    Column("kind", String(12), nullable=False),
    Column("person_id", ForeignKey("people.id"), nullable=False),
    Column("grant_id", ForeignKey("grants.id")),
    Column("version_id", ForeignKey("versions.id"), nullable=False),
    Column("request", JSON, nullable=False),
    Column("request_hash", HASH, nullable=False),
    Column("idempotency_key", String(120), nullable=False),
    Column("epsilon", Text, nullable=False),
    Column("nano", BigInteger, nullable=False),
    Column("state", String(12), nullable=False),
    Column("created_at", Moment, nullable=False),
    Column("expires_at", Moment, nullable=False),
    Column("decided_by", ForeignKey("people.id")),
    Column("decided_at", Moment),
    Column("note", String(400), nullable=False, default=""),
    Column("worker", NAME),
    Column("started_at", Moment),
    Column("visible_at", Moment),
    Column("outcome", String(12)),
    Column("finished_at", Moment),
    Column("cause", String(60)),
    UniqueConstraint("person_id", "idempotency_key"),
    _one_of("kind", JOB_KINDS),
    _one_of("state", JOB_STATES),
    CheckConstraint("outcome IN ('released', 'failed')", name="outcome"),
    CheckConstraint("nano >= 0", name="nano"),
    Index("ix_jobs_queue", "state", "decided_at"),
    Index("ix_jobs_person", "person_id", "created_at"),
    Index("ix_jobs_created", "created_at"),
    Index("ix_jobs_version", "version_id"),
    Index("ix_jobs_grant", "grant_id"),
)

releases = Table(
    "releases",
    service_metadata,
    Column("id", UUID, primary_key=True),
    Column("job_id", ForeignKey("jobs.id"), nullable=False, unique=True),
    Column("kind", String(12), nullable=False),
    Column("content", LargeBinary, nullable=False),
    Column("content_hash", HASH, nullable=False),
    Column("card", JSON, nullable=False),
    Column("visible_at", Moment, nullable=False, index=True),
)

log = Table(
    "log",
    service_metadata,
    Column("id", Integer, primary_key=True),
    Column("at", Moment, nullable=False, index=True),
    Column("person_id", ForeignKey("people.id")),
    Column("action", String(40), nullable=False),
    Column("subject", String(200), nullable=False),
    Column("detail", JSON, nullable=False),
    Column("owner_only", Boolean, nullable=False, default=False),
)

APPEND_ONLY = ("log",)
"""Tables whose rows are never changed or removed: triggers refuse it on both databases."""
