"""Why a job failed is kept with the job, and enters the log when its slot is over."""

import sqlalchemy as sa
from alembic import op

revision = "s0002"
down_revision = "s0001"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the column."""
    op.add_column("jobs", sa.Column("cause", sa.String(length=60), nullable=True))
