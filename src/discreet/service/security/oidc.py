"""Sign-in by a provider of OpenID Connect: authorisation code with PKCE, state and nonce; the ID token is verified.

What is kept between the two steps (state, nonce, verifier, the invitation that is being accepted) travels in a signed
cookie that lives ten minutes, so that no table holds half a sign-in.

Guarantee  `finish` returns a subject only for an ID token that the provider signed for this client, this browser and
           this attempt.
Proof      the signature is checked against the provider's published keys, with asymmetric algorithms only; issuer,
           audience, expiry and nonce are claims that must match; state must equal the cookie's; the code can be
           redeemed only with the verifier, which is in the cookie alone.
Test       tests/service/test_oidc.py
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote_plus

import httpx
from authlib.oauth2.base import OAuth2Error
from authlib.oauth2.client import OAuth2Client
from itsdangerous import BadData, URLSafeTimedSerializer
from joserfc import jwt
from joserfc.errors import JoseError
from joserfc.jwk import KeySet

from discreet.service.problems import Problem, Problems
from discreet.service.security.secrets import new_secret, same

ALGORITHMS = ["RS256", "PS256", "ES256", "EdDSA"]
"""Asymmetric ones: with HS256 a leaked client secret would sign anybody in."""
COOKIE = "discreet_oidc"
MINUTES = 10
SECONDS_TO_ANSWER = 10
LEEWAY = 60
"""Seconds by which the provider's clock may differ."""


@dataclass(frozen=True)
class Provider:
    """What the settings say of a provider. The secret is never shown."""

    issuer: str
    client_id: str
    client_secret: str = field(repr=False)
    scope: str = "openid profile"


@dataclass(frozen=True)
class Attempt:
    """The first step: where the browser goes, and the cookie that it keeps meanwhile."""

    address: str
    cookie: str


@dataclass(frozen=True)
class Identity:
    """Who signed in: the subject is the provider's, and qualified by its issuer."""

    subject: str
    name: str
    link: str | None


class SignIn:
    """The two steps of a sign-in. The provider's metadata are fetched once; its keys again when a key is unknown."""

    def __init__(
        self, provider: Provider, key: str, redirect: str, session: Callable[[], httpx.Client] | None = None
    ) -> None:
        self._provider = provider
        self._signer = URLSafeTimedSerializer(key, salt="discreet.oidc")
        self._redirect = redirect
        self._session = session or (lambda: httpx.Client(timeout=SECONDS_TO_ANSWER, follow_redirects=False))
        self._metadata: Mapping[str, Any] | None = None

    def start(self, link: str | None = None) -> Attempt:
        """Where to send the browser. `link` is an invitation that the person is about to accept."""
        state, nonce, verifier = new_secret(), new_secret(), new_secret()
        with self._session() as session:
            endpoint = self._known(session)["authorization_endpoint"]
            address, _ = self._client(session).create_authorization_url(
                endpoint, state=state, code_verifier=verifier, nonce=nonce
            )
        return Attempt(address, self._signer.dumps([state, nonce, verifier, link]))

    def finish(self, cookie: str | None, state: str | None, code: str | None) -> Identity:
        """The identity that the provider vouches for, or the problem that says nothing but to sign in again."""
        try:
            expected, nonce, verifier, link = self._signer.loads(cookie or "", max_age=60 * MINUTES)
            if not code or not state or not same(expected, state):
                raise Problem(Problems.NOT_SIGNED_IN)
            with self._session() as session:
                token = self._client(session).fetch_token(
                    self._known(session)["token_endpoint"],
                    code=code,
                    code_verifier=verifier,
                    auth=httpx.BasicAuth(
                        quote_plus(self._provider.client_id), quote_plus(self._provider.client_secret)
                    ),
                )
                claims = self._claims(session, token["id_token"], nonce)
        except (BadData, OAuth2Error, JoseError, httpx.HTTPError, KeyError, ValueError, TypeError):
            raise Problem(Problems.NOT_SIGNED_IN) from None
        shown = claims.get("preferred_username") or claims.get("name") or ""
        return Identity(f"{self._provider.issuer} {claims['sub']}", str(shown)[:100], link)

    def _client(self, session: httpx.Client) -> OAuth2Client:
        return OAuth2Client(
            session,
            client_id=self._provider.client_id,
            client_secret=self._provider.client_secret,
            scope=self._provider.scope,
            redirect_uri=self._redirect,
            code_challenge_method="S256",
        )

    def _known(self, session: httpx.Client) -> Mapping[str, Any]:
        if self._metadata is None:
            try:
                found = session.get(self._provider.issuer.rstrip("/") + "/.well-known/openid-configuration")
                metadata = found.raise_for_status().json()
                if metadata["issuer"] != self._provider.issuer:
                    raise ValueError("another issuer")
                self._metadata = {
                    name: metadata[name] for name in ("authorization_endpoint", "token_endpoint", "jwks_uri")
                }
            except (httpx.HTTPError, json.JSONDecodeError, KeyError, TypeError, ValueError):
                raise Problem(Problems.UNAVAILABLE, "The provider of identities does not answer.") from None
        return self._metadata

    def _claims(self, session: httpx.Client, token: str, nonce: str) -> Mapping[str, Any]:
        published = session.get(self._known(session)["jwks_uri"]).raise_for_status().json()
        decoded = jwt.decode(token, KeySet.import_key_set(published), algorithms=ALGORITHMS)
        jwt.JWTClaimsRegistry(
            leeway=LEEWAY,
            iss={"essential": True, "value": self._provider.issuer},
            aud={"essential": True, "value": self._provider.client_id},
            sub={"essential": True},
            exp={"essential": True},
            nonce={"essential": True, "value": nonce},
        ).validate(decoded.claims)
        several = isinstance(decoded.claims["aud"], list) and len(decoded.claims["aud"]) > 1
        if several and decoded.claims.get("azp") != self._provider.client_id:
            raise ValueError("a token for another client")
        return decoded.claims
