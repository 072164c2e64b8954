"""Names of people, data sets, populations, projects and sources."""

from __future__ import annotations

import re

NAME = re.compile(r"[a-z0-9](?:[a-z0-9._@-]{0,118}[a-z0-9])?")
"""Small letters, digits, dots, dashes; no slash."""
