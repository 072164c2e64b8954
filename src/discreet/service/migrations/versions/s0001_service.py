"""People, data sets, projects, grants, jobs, releases and the log, which triggers keep as it was written."""

import sqlalchemy as sa
from alembic import op

from discreet.service.clock import Moment

revision = "s0001"
down_revision = None
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Make the tables and the triggers of the log."""
    for make in (
        _people,
        _projects,
        _sources,
        _datasets,
        _links,
        _log,
        _members,
        _project_accounts,
        _sessions,
        _tokens,
        _grants,
        _versions,
        _findings,
        _jobs,
        _releases,
    ):
        make()
    (_protect_on_sqlite if op.get_bind().dialect.name == "sqlite" else _protect_on_postgres)()


def _people() -> None:
    op.create_table(
        "people",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("name", sa.String(length=120), nullable=False),
        sa.Column("display", sa.String(length=120), nullable=False),
        sa.Column("password_hash", sa.String(length=255), nullable=True),
        sa.Column("oidc_subject", sa.String(length=255), nullable=True),
        sa.Column("is_owner", sa.Boolean(), nullable=False),
        sa.Column("is_analyst", sa.Boolean(), nullable=False),
        sa.Column("is_auditor", sa.Boolean(), nullable=False),
        sa.Column("created_at", Moment(), nullable=False),
        sa.Column("disabled_at", Moment(), nullable=True),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_people")),
        sa.UniqueConstraint("name", name=op.f("uq_people_name")),
        sa.UniqueConstraint("oidc_subject", name=op.f("uq_people_oidc_subject")),
    )


def _projects() -> None:
    op.create_table(
        "projects",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("name", sa.String(length=120), nullable=False),
        sa.Column("title", sa.String(length=200), nullable=False),
        sa.Column("created_at", Moment(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_projects")),
        sa.UniqueConstraint("name", name=op.f("uq_projects_name")),
    )


def _sources() -> None:
    op.create_table(
        "sources",
        sa.Column("name", sa.String(length=120), nullable=False),
        sa.Column("kind", sa.String(length=12), nullable=False),
        sa.Column("described", sa.String(length=400), nullable=False),
        sa.Column("published_at", Moment(), nullable=False),
        sa.PrimaryKeyConstraint("name", name=op.f("pk_sources")),
    )


def _datasets() -> None:
    op.create_table(
        "datasets",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("name", sa.String(length=120), nullable=False),
        sa.Column("title", sa.String(length=200), nullable=False),
        sa.Column("description", sa.Text(), nullable=False),
        sa.Column("population_account", sa.Integer(), nullable=False),
        sa.Column("dataset_account", sa.Integer(), nullable=False),
        sa.Column("source_name", sa.String(length=120), nullable=False),
        sa.Column("created_by", sa.Integer(), nullable=False),
        sa.Column("created_at", Moment(), nullable=False),
        sa.Column("withdrawn_at", Moment(), nullable=True),
        sa.ForeignKeyConstraint(["created_by"], ["people.id"], name=op.f("fk_datasets_created_by")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_datasets")),
        sa.UniqueConstraint("name", name=op.f("uq_datasets_name")),
    )


def _links() -> None:
    op.create_table(
        "links",
        sa.Column("hash", sa.String(length=64), nullable=False),
        sa.Column("purpose", sa.String(length=12), nullable=False),
        sa.Column("person_id", sa.Integer(), nullable=True),
        sa.Column("role", sa.String(length=12), nullable=True),
        sa.Column("created_by", sa.Integer(), nullable=True),
        sa.Column("expires_at", Moment(), nullable=False),
        sa.Column("used_at", Moment(), nullable=True),
        sa.CheckConstraint("purpose IN ('owner', 'invite', 'reset')", name=op.f("ck_links_purpose")),
        sa.ForeignKeyConstraint(["created_by"], ["people.id"], name=op.f("fk_links_created_by")),
        sa.ForeignKeyConstraint(["person_id"], ["people.id"], name=op.f("fk_links_person_id")),
        sa.PrimaryKeyConstraint("hash", name=op.f("pk_links")),
    )


def _log() -> None:
    op.create_table(
        "log",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("at", Moment(), nullable=False),
        sa.Column("person_id", sa.Integer(), nullable=True),
        sa.Column("action", sa.String(length=40), nullable=False),
        sa.Column("subject", sa.String(length=200), nullable=False),
        sa.Column("detail", sa.JSON(), nullable=False),
        sa.Column("owner_only", sa.Boolean(), nullable=False),
        sa.ForeignKeyConstraint(["person_id"], ["people.id"], name=op.f("fk_log_person_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_log")),
    )
    op.create_index(op.f("ix_log_at"), "log", ["at"], unique=False)


def _members() -> None:
    op.create_table(
        "members",
        sa.Column("project_id", sa.Integer(), nullable=False),
        sa.Column("person_id", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(["person_id"], ["people.id"], name=op.f("fk_members_person_id")),
        sa.ForeignKeyConstraint(["project_id"], ["projects.id"], name=op.f("fk_members_project_id")),
        sa.PrimaryKeyConstraint("project_id", "person_id", name=op.f("pk_members")),
    )
    op.create_index(op.f("ix_members_person_id"), "members", ["person_id"], unique=False)


def _project_accounts() -> None:
    op.create_table(
        "project_accounts",
        sa.Column("project_id", sa.Integer(), nullable=False),
        sa.Column("population_account", sa.Integer(), nullable=False),
        sa.Column("account", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(["project_id"], ["projects.id"], name=op.f("fk_project_accounts_project_id")),
        sa.PrimaryKeyConstraint("project_id", "population_account", name=op.f("pk_project_accounts")),
    )


def _sessions() -> None:
    op.create_table(
        "sessions",
        sa.Column("hash", sa.String(length=64), nullable=False),
        sa.Column("person_id", sa.Integer(), nullable=False),
        sa.Column("csrf", sa.String(length=64), nullable=False),
        sa.Column("created_at", Moment(), nullable=False),
        sa.Column("expires_at", Moment(), nullable=False),
        sa.ForeignKeyConstraint(["person_id"], ["people.id"], name=op.f("fk_sessions_person_id")),
        sa.PrimaryKeyConstraint("hash", name=op.f("pk_sessions")),
    )
    op.create_index(op.f("ix_sessions_person_id"), "sessions", ["person_id"], unique=False)


def _tokens() -> None:
    op.create_table(
        "tokens",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("person_id", sa.Integer(), nullable=False),
        sa.Column("name", sa.String(length=120), nullable=False),
        sa.Column("hash", sa.String(length=64), nullable=False),
        sa.Column("scopes", sa.JSON(), nullable=False),
        sa.Column("created_at", Moment(), nullable=False),
        sa.Column("expires_at", Moment(), nullable=True),
        sa.Column("revoked_at", Moment(), nullable=True),
        sa.Column("last_used_at", Moment(), nullable=True),
        sa.ForeignKeyConstraint(["person_id"], ["people.id"], name=op.f("fk_tokens_person_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_tokens")),
        sa.UniqueConstraint("hash", name=op.f("uq_tokens_hash")),
    )
    op.create_index(op.f("ix_tokens_person_id"), "tokens", ["person_id"], unique=False)


def _grants() -> None:
    op.create_table(
        "grants",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("project_id", sa.Integer(), nullable=False),
        sa.Column("person_id", sa.Integer(), nullable=False),
        sa.Column("dataset_id", sa.Integer(), nullable=False),
        sa.Column("account", sa.Integer(), nullable=False),
        sa.Column("kinds", sa.JSON(), nullable=False),
        sa.Column("approve_up_to_nano", sa.BigInteger(), nullable=False),
        sa.Column("created_at", Moment(), nullable=False),
        sa.Column("expires_at", Moment(), nullable=True),
        sa.Column("revoked_at", Moment(), nullable=True),
        sa.CheckConstraint("approve_up_to_nano >= 0", name=op.f("ck_grants_rule")),
        sa.ForeignKeyConstraint(["dataset_id"], ["datasets.id"], name=op.f("fk_grants_dataset_id")),
        sa.ForeignKeyConstraint(["person_id"], ["people.id"], name=op.f("fk_grants_person_id")),
        sa.ForeignKeyConstraint(["project_id"], ["projects.id"], name=op.f("fk_grants_project_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_grants")),
    )
    op.create_index(op.f("ix_grants_dataset_id"), "grants", ["dataset_id"], unique=False)
    op.create_index(op.f("ix_grants_person_id"), "grants", ["person_id"], unique=False)


def _versions() -> None:
    op.create_table(
        "versions",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("dataset_id", sa.Integer(), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("source_name", sa.String(length=120), nullable=False),
        sa.Column("target", sa.String(length=120), nullable=False),
        sa.Column("ignore", sa.JSON(), nullable=False),
        sa.Column("draft", sa.JSON(none_as_null=True), nullable=True),
        sa.Column("schema", sa.JSON(none_as_null=True), nullable=True),
        sa.Column("schema_hash", sa.String(length=64), nullable=True),
        sa.Column("records_declared", sa.BigInteger(), nullable=True),
        sa.Column("snapshot_hash", sa.String(length=64), nullable=True),
        sa.Column("state", sa.String(length=12), nullable=False),
        sa.Column("created_at", Moment(), nullable=False),
        sa.CheckConstraint(
            "state IN ('drafting', 'drafted', 'confirming', 'ready', 'failed')", name=op.f("ck_versions_state")
        ),
        sa.ForeignKeyConstraint(["dataset_id"], ["datasets.id"], name=op.f("fk_versions_dataset_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_versions")),
        sa.UniqueConstraint("dataset_id", "number", name=op.f("uq_versions_dataset_id_number")),
    )


def _findings() -> None:
    op.create_table(
        "findings",
        sa.Column("version_id", sa.Integer(), nullable=False),
        sa.Column("content", sa.JSON(), nullable=False),
        sa.ForeignKeyConstraint(["version_id"], ["versions.id"], name=op.f("fk_findings_version_id")),
        sa.PrimaryKeyConstraint("version_id", name=op.f("pk_findings")),
    )


def _jobs() -> None:
    op.create_table(
        "jobs",
        sa.Column("id", sa.String(length=36), nullable=False),
        sa.Column("kind", sa.String(length=12), nullable=False),
        sa.Column("person_id", sa.Integer(), nullable=False),
        sa.Column("grant_id", sa.Integer(), nullable=True),
        sa.Column("version_id", sa.Integer(), nullable=False),
        sa.Column("request", sa.JSON(), nullable=False),
        sa.Column("request_hash", sa.String(length=64), nullable=False),
        sa.Column("idempotency_key", sa.String(length=120), nullable=False),
        sa.Column("epsilon", sa.Text(), nullable=False),
        sa.Column("nano", sa.BigInteger(), nullable=False),
        sa.Column("state", sa.String(length=12), nullable=False),
        sa.Column("created_at", Moment(), nullable=False),
        sa.Column("expires_at", Moment(), nullable=False),
        sa.Column("decided_by", sa.Integer(), nullable=True),
        sa.Column("decided_at", Moment(), nullable=True),
        sa.Column("note", sa.String(length=400), nullable=False),
        sa.Column("worker", sa.String(length=120), nullable=True),
        sa.Column("started_at", Moment(), nullable=True),
        sa.Column("visible_at", Moment(), nullable=True),
        sa.Column("outcome", sa.String(length=12), nullable=True),
        sa.Column("finished_at", Moment(), nullable=True),
        sa.CheckConstraint("kind IN ('train', 'score', 'count', 'draft', 'snapshot')", name=op.f("ck_jobs_kind")),
        sa.CheckConstraint("outcome IN ('released', 'failed')", name=op.f("ck_jobs_outcome")),
        sa.CheckConstraint(
            "state IN ('requested', 'reserved', 'running', 'released', 'failed', 'refused', 'cancelled', 'expired')",
            name=op.f("ck_jobs_state"),
        ),
        sa.CheckConstraint("nano >= 0", name=op.f("ck_jobs_nano")),
        sa.ForeignKeyConstraint(["decided_by"], ["people.id"], name=op.f("fk_jobs_decided_by")),
        sa.ForeignKeyConstraint(["grant_id"], ["grants.id"], name=op.f("fk_jobs_grant_id")),
        sa.ForeignKeyConstraint(["person_id"], ["people.id"], name=op.f("fk_jobs_person_id")),
        sa.ForeignKeyConstraint(["version_id"], ["versions.id"], name=op.f("fk_jobs_version_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_jobs")),
        sa.UniqueConstraint("person_id", "idempotency_key", name=op.f("uq_jobs_person_id_idempotency_key")),
    )
    op.create_index("ix_jobs_created", "jobs", ["created_at"], unique=False)
    op.create_index("ix_jobs_grant", "jobs", ["grant_id"], unique=False)
    op.create_index("ix_jobs_person", "jobs", ["person_id", "created_at"], unique=False)
    op.create_index("ix_jobs_queue", "jobs", ["state", "decided_at"], unique=False)
    op.create_index("ix_jobs_version", "jobs", ["version_id"], unique=False)


def _releases() -> None:
    op.create_table(
        "releases",
        sa.Column("id", sa.String(length=36), nullable=False),
        sa.Column("job_id", sa.String(length=36), nullable=False),
        sa.Column("kind", sa.String(length=12), nullable=False),
        sa.Column("content", sa.LargeBinary(), nullable=False),
        sa.Column("content_hash", sa.String(length=64), nullable=False),
        sa.Column("card", sa.JSON(), nullable=False),
        sa.Column("visible_at", Moment(), nullable=False),
        sa.ForeignKeyConstraint(["job_id"], ["jobs.id"], name=op.f("fk_releases_job_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_releases")),
        sa.UniqueConstraint("job_id", name=op.f("uq_releases_job_id")),
    )
    op.create_index(op.f("ix_releases_visible_at"), "releases", ["visible_at"], unique=False)


def _protect_on_sqlite() -> None:
    for word in ("UPDATE", "DELETE"):
        op.execute(
            f"CREATE TRIGGER log_refuse_{word.lower()} BEFORE {word} ON log "
            "BEGIN SELECT RAISE(ABORT, 'the log is never changed'); END"
        )


def _protect_on_postgres() -> None:
    op.execute(
        "CREATE FUNCTION log_refuse() RETURNS trigger LANGUAGE plpgsql AS "
        "$$ BEGIN RAISE EXCEPTION 'the log is never changed'; END $$"
    )
    for word, each in (("UPDATE", "ROW"), ("DELETE", "ROW"), ("TRUNCATE", "STATEMENT")):
        op.execute(
            f"CREATE TRIGGER log_refuse_{word.lower()} BEFORE {word} ON log "
            f"FOR EACH {each} EXECUTE FUNCTION log_refuse()"
        )
