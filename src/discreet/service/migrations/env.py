"""Run by Alembic: applies the steps of a history on the connection that `migration.py` holds."""

from alembic import context

given = context.config.attributes
context.configure(connection=given["connection"], version_table=given["version_table"])
context.run_migrations()
