"""A small provider of OpenID Connect on loopback: authorisation code with PKCE, signed ID tokens; and ways to cheat."""

import base64
import hashlib
import json
import secrets
import threading
import time
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlencode, urlsplit

from joserfc import jwt
from joserfc.jwk import OctKey, RSAKey

CLIENT, SECRET = "discreet", "client secret of the tests"


class Provider:
    """What the provider knows; `changes` alters the claims, `signing` the key of what it signs."""

    def __init__(self, url):
        self.url = url
        self.key = RSAKey.generate_key(2048, {"kid": "one"})
        self.signing = self.key
        self.algorithm = "RS256"
        self.codes = {}
        self.subject, self.name = "subject-1", "Nina Neu"
        self.changes = {}
        self.seen = []

    def authorise(self, query):
        """The redirect after the person has signed in here."""
        assert query["response_type"] == "code"
        assert query["code_challenge_method"] == "S256"
        assert "openid" in query["scope"].split()
        code = secrets.token_urlsafe(16)
        self.codes[code] = query
        return query["redirect_uri"] + "?" + urlencode({"code": code, "state": query["state"]})

    def token(self, form, authorization):
        """The ID token for a code, once, for the client that has its secret and the verifier."""
        self.seen.append(form)
        expected = "Basic " + base64.b64encode(f"{CLIENT}:{SECRET.replace(' ', '+')}".encode()).decode()
        plain = "Basic " + base64.b64encode(f"{CLIENT}:{SECRET}".encode()).decode()
        asked = self.codes.pop(form.get("code"), None)
        if authorization not in (expected, plain) or asked is None:
            return 400, {"error": "invalid_grant"}
        challenge = base64.urlsafe_b64encode(hashlib.sha256(form["code_verifier"].encode()).digest()).rstrip(b"=")
        if challenge.decode() != asked["code_challenge"] or form["redirect_uri"] != asked["redirect_uri"]:
            return 400, {"error": "invalid_grant"}
        now = int(time.time())
        claims = {"iss": self.url, "aud": CLIENT, "sub": self.subject, "iat": now, "exp": now + 300}
        claims |= {"nonce": asked["nonce"], "name": self.name} | self.changes
        token = jwt.encode({"alg": self.algorithm, "kid": "one"}, claims, self.signing, algorithms=[self.algorithm])
        return 200, {"access_token": "x", "token_type": "Bearer", "id_token": token}

    def cheat_with_hmac(self):
        """Sign with the client's secret, as HS256 would allow."""
        self.signing, self.algorithm = OctKey.import_key(SECRET), "HS256"


@contextmanager
def provider():
    """A provider that runs in a thread."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            parts = urlsplit(self.path)
            query = {name: values[0] for name, values in parse_qs(parts.query).items()}
            if parts.path == "/.well-known/openid-configuration":
                ends = {"authorization_endpoint": "/authorise", "token_endpoint": "/token", "jwks_uri": "/keys"}
                self.reply(200, {"issuer": made.url} | {name: made.url + end for name, end in ends.items()})
            elif parts.path == "/keys":
                self.reply(200, {"keys": [made.key.as_dict(private=False)]})
            else:
                self.send_response(302)
                self.send_header("Location", made.authorise(query))
                self.send_header("Content-Length", "0")
                self.end_headers()

        def do_POST(self):
            body = self.rfile.read(int(self.headers["Content-Length"])).decode()
            form = {name: values[0] for name, values in parse_qs(body).items()}
            self.reply(*made.token(form, self.headers.get("Authorization")))

        def reply(self, status, content):
            body = json.dumps(content).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    made = Provider(f"http://127.0.0.1:{server.server_port}")
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield made
    finally:
        server.shutdown()
        server.server_close()
        thread.join(10)
