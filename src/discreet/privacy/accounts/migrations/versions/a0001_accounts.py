"""Accounts, reservations, entries and chains, with triggers that keep entries as they were written."""

import sqlalchemy as sa
from alembic import op

revision = "a0001"
down_revision = None
branch_labels = None
depends_on = None

LOCKED = {"entries": ("UPDATE", "DELETE"), "accounts": ("DELETE",), "reservations": ("DELETE",), "chains": ("DELETE",)}
"""What triggers refuse. Balances and states change, but always together with a new entry."""


def upgrade() -> None:
    """Make the tables and their triggers."""
    _make_accounts()
    _make_movements()
    op.execute("INSERT INTO account_numbering (id, last) VALUES (1, 0)")
    (_protect_on_sqlite if op.get_bind().dialect.name == "sqlite" else _protect_on_postgres)()


def _make_accounts() -> None:
    op.create_table(
        "accounts",
        sa.Column("id", sa.Integer, primary_key=True, autoincrement=False),
        sa.Column("kind", sa.String(16), nullable=False),
        sa.Column("name", sa.Text, nullable=False),
        sa.Column("population_id", sa.Integer, sa.ForeignKey("accounts.id"), nullable=False),
        sa.Column("dataset_id", sa.Integer, sa.ForeignKey("accounts.id")),
        sa.Column("project_id", sa.Integer, sa.ForeignKey("accounts.id")),
        sa.Column("adjacency", sa.String(16), nullable=False),
        sa.Column("limit_nano", sa.BigInteger, nullable=False),
        sa.Column("reserved_nano", sa.BigInteger, nullable=False, server_default="0"),
        sa.Column("spent_nano", sa.BigInteger, nullable=False, server_default="0"),
        sa.CheckConstraint("kind IN ('population', 'dataset', 'project', 'grant')", name="known_kind"),
        sa.CheckConstraint("reserved_nano >= 0 AND spent_nano >= 0", name="not_negative"),
        sa.CheckConstraint("reserved_nano + spent_nano <= limit_nano", name="within_limit"),
    )
    only = sa.text("kind = 'population'")
    op.create_index(
        "one_population_of_a_name", "accounts", ["name"], unique=True, sqlite_where=only, postgresql_where=only
    )
    op.create_index("one_account_of_a_name", "accounts", ["population_id", "kind", "name"], unique=True)
    op.create_table(
        "account_numbering",
        sa.Column("id", sa.Integer, primary_key=True, autoincrement=False),
        sa.Column("last", sa.Integer, nullable=False),
    )


def _make_movements() -> None:
    op.create_table(
        "reservations",
        sa.Column("id", sa.String(64), primary_key=True),
        sa.Column("population_id", sa.Integer, sa.ForeignKey("accounts.id"), nullable=False),
        sa.Column("name", sa.Text, nullable=False),
        sa.Column("epsilon", sa.Text, nullable=False),
        sa.Column("adjacency", sa.String(16)),
        sa.Column("nano", sa.BigInteger, nullable=False),
        sa.Column("account_ids", sa.Text, nullable=False),
        sa.Column("state", sa.String(16), nullable=False),
        sa.Column("created_at", sa.String(40), nullable=False),
        sa.CheckConstraint("state IN ('reserved', 'spent', 'returned')", name="known_state"),
        sa.CheckConstraint("nano > 0", name="costs_something"),
    )
    op.create_index("reservations_by_name", "reservations", ["population_id", "name"])
    op.create_table(
        "entries",
        sa.Column("population_id", sa.Integer, sa.ForeignKey("accounts.id"), nullable=False),
        sa.Column("number", sa.BigInteger, nullable=False),
        sa.Column("kind", sa.String(16), nullable=False),
        sa.Column("reservation_id", sa.String(64)),
        sa.Column("name", sa.Text, nullable=False),
        sa.Column("epsilon", sa.Text, nullable=False),
        sa.Column("adjacency", sa.String(16)),
        sa.Column("nano", sa.BigInteger, nullable=False),
        sa.Column("accounts", sa.Text, nullable=False),
        sa.Column("at", sa.String(40), nullable=False),
        sa.Column("previous", sa.String(64), nullable=False),
        sa.Column("hash", sa.String(64), nullable=False),
        sa.PrimaryKeyConstraint("population_id", "number"),
        sa.CheckConstraint("kind IN ('open', 'limit', 'reserve', 'spend', 'return', 'import')", name="known_kind"),
    )
    op.create_table(
        "chains",
        sa.Column("population_id", sa.Integer, sa.ForeignKey("accounts.id"), primary_key=True, autoincrement=False),
        sa.Column("count", sa.BigInteger, nullable=False),
        sa.Column("head", sa.String(64), nullable=False),
    )


def _protect_on_sqlite() -> None:
    for table, words in LOCKED.items():
        for word in words:
            op.execute(
                f"CREATE TRIGGER {table}_refuse_{word.lower()} BEFORE {word} ON {table} "
                f"BEGIN SELECT RAISE(ABORT, '{table} are never changed this way'); END"
            )
    # REPLACE deletes rows without a trigger of DELETE: an entry may only be added at the end
    op.execute(
        "CREATE TRIGGER entries_only_at_the_end BEFORE INSERT ON entries "
        "WHEN EXISTS (SELECT 1 FROM entries WHERE population_id = NEW.population_id AND number >= NEW.number) "
        "BEGIN SELECT RAISE(ABORT, 'entries are never changed this way'); END"
    )


def _protect_on_postgres() -> None:
    op.execute(
        "CREATE FUNCTION accounts_refuse() RETURNS trigger LANGUAGE plpgsql AS "
        "$$ BEGIN RAISE EXCEPTION '% are never changed this way', TG_TABLE_NAME; END $$"
    )
    for table, words in LOCKED.items():
        for word in words:
            op.execute(
                f"CREATE TRIGGER {table}_refuse_{word.lower()} BEFORE {word} ON {table} "
                "FOR EACH ROW EXECUTE FUNCTION accounts_refuse()"
            )
        op.execute(
            f"CREATE TRIGGER {table}_refuse_truncate BEFORE TRUNCATE ON {table} "
            "FOR EACH STATEMENT EXECUTE FUNCTION accounts_refuse()"
        )
