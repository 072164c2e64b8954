"""Random secrets and their hashes; passwords by argon2.

A session, a token and a link are 256 random bits; the database holds their SHA-256, which nobody can invert since
there is nothing to guess. A password can be guessed, so it is hashed by argon2id with a salt of its own.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
from functools import cache

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError

from discreet.errors import ParameterError

TOKEN_PREFIX = "dsc_"
"""Lets scanners of repositories recognise a token that was committed by mistake."""
SHORTEST_PASSWORD, LONGEST_PASSWORD = 12, 256
"""Characters. The longest bounds the work of hashing."""
HASHER = PasswordHasher(time_cost=2, memory_cost=19_456, parallelism=1)
"""Argon2id with the parameters that OWASP's cheat sheet names first: 19 MiB, two passes, one lane."""


def new_secret(prefix: str = "") -> str:
    """256 random bits as text for a URL or a cookie."""
    return prefix + secrets.token_urlsafe(32)


def digest(secret: str) -> str:
    """What the database holds of a secret."""
    return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).hexdigest()


def same(one: str, other: str) -> bool:
    """Whether two texts are equal, in a time that does not depend on where they differ."""
    return hmac.compare_digest(one.encode("utf-8", "surrogatepass"), other.encode("utf-8", "surrogatepass"))


def hash_password(password: str) -> str:
    """Hash a new password, or refuse one that is too short or too long."""
    if not SHORTEST_PASSWORD <= len(password) <= LONGEST_PASSWORD:
        raise ParameterError(f"a password has {SHORTEST_PASSWORD} to {LONGEST_PASSWORD} characters: choose another")
    return HASHER.hash(password)


@cache
def _nobody() -> str:
    """A hash that no password fits, so that an unknown name costs as much time as a known one."""
    return HASHER.hash(secrets.token_urlsafe(32))


def password_fits(stored: str | None, password: str) -> bool:
    """Whether the password fits the hash; with no hash (unknown, disabled, OIDC only) the same work, and False."""
    try:
        fits = HASHER.verify(stored or _nobody(), password[:LONGEST_PASSWORD])
    except (VerificationError, InvalidHashError):
        return False
    return fits and stored is not None and len(password) <= LONGEST_PASSWORD
