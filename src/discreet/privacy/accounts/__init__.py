"""Accounts of privacy loss in a database, which people and processes share: exact, append-only, and hard to overspend.

`amounts.py` counts in whole billionths of epsilon, `tables.py` says what is kept, `books.py` moves amounts, `chain.py`
chains each entry to the one before, `replay.py` computes everything again from the entries alone.
"""

from __future__ import annotations

from discreet.errors import MissingExtra

try:
    import sqlalchemy  # noqa: F401
except ImportError:
    raise MissingExtra("accounts") from None

from discreet.privacy.accounts.amounts import as_fraction, limit_nano, nano
from discreet.privacy.accounts.books import Books, Standing
from discreet.privacy.accounts.database import engine_for, reading, writing
from discreet.privacy.accounts.migration import migrate, migrate_history
from discreet.privacy.accounts.tables import accounts_metadata

__all__ = [
    "Books",
    "Standing",
    "accounts_metadata",
    "as_fraction",
    "engine_for",
    "limit_nano",
    "migrate",
    "migrate_history",
    "nano",
    "reading",
    "writing",
]
