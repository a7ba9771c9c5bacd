"""A small OpenID Connect provider: authorization code flow with discovery, PKCE and signed identity tokens, for people who exist.

It refuses whatever a real one would: an unknown client, another address to come back to, a code that was used, a wrong verifier.
"""

from __future__ import annotations

import base64
import hashlib
import html
import json
import secrets
import threading
import time
from collections.abc import Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self
from urllib.parse import parse_qs, unquote, urlencode, urlsplit

from joserfc import jwt
from joserfc.jwk import KeySet, RSAKey

CLIENT, SECRET = "memdash", "of-the-client-9f2c"


class IdentityProvider:
    """Runs until closed. ``people`` are the claims of everybody who can sign in, by name; ``redirect_uri`` is the client's."""

    def __init__(self, people: Mapping[str, Mapping[str, object]]) -> None:
        self.redirect_uri = ""
        self.signed_in: list[str] = []
        self._people = people
        self._key = RSAKey.generate_key(2048, {"kid": "one", "use": "sig", "alg": "RS256"})
        self._codes: dict[str, dict[str, str]] = {}
        self._http = _Http(self)
        self.url = f"http://127.0.0.1:{self._http.server_port}"
        threading.Thread(target=self._http.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()

    def secrets_toml(self, cookie_secret: str) -> str:
        """Return the ``[auth]`` table with which Streamlit signs people in here."""
        settings = {
            "redirect_uri": self.redirect_uri,
            "cookie_secret": cookie_secret,
            "client_id": CLIENT,
            "client_secret": SECRET,
            "server_metadata_url": f"{self.url}/.well-known/openid-configuration",
        }
        return "[auth]\n" + "".join(f"{name} = {json.dumps(value)}\n" for name, value in settings.items())

    def close(self) -> None:
        self._http.shutdown()
        self._http.server_close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # -- what it is asked ----------------------------------------------------------------------------------------------------

    def discovery(self) -> dict[str, object]:
        return {
            "issuer": self.url,
            "authorization_endpoint": f"{self.url}/authorize",
            "token_endpoint": f"{self.url}/token",
            "jwks_uri": f"{self.url}/jwks",
            "end_session_endpoint": f"{self.url}/end",
            "response_types_supported": ["code"],
            "subject_types_supported": ["public"],
            "id_token_signing_alg_values_supported": ["RS256"],
            "token_endpoint_auth_methods_supported": ["client_secret_basic"],
            "code_challenge_methods_supported": ["S256"],
        }

    def jwks(self) -> dict[str, Any]:
        return dict(KeySet([self._key]).as_dict(private=False))

    def authorize(self, asked: Mapping[str, str]) -> str | tuple[int, str]:
        """Return where to send the browser, or a page on which to choose who one is."""
        self._expect(asked.get("client_id") == CLIENT, "no such client")
        self._expect(
            asked.get("redirect_uri") == self.redirect_uri, "that is not where this client comes back to"
        )
        self._expect(
            asked.get("response_type") == "code" and "openid" in asked.get("scope", ""), "not the code flow"
        )
        self._expect(
            asked.get("code_challenge_method") == "S256" and bool(asked.get("nonce")), "no PKCE, or no nonce"
        )
        if asked.get("as") not in self._people:
            links = "".join(
                f'<p><a href="/authorize?{html.escape(urlencode({**asked, "as": one}))}">Continue as {html.escape(one)}</a></p>'
                for one in self._people
            )
            return 200, f"<!doctype html><title>Who are you?</title>{links}"
        code = secrets.token_urlsafe(16)
        self._codes[code] = dict(asked)
        return f"{self.redirect_uri}?{urlencode({'code': code, 'state': asked['state']})}"

    def token(self, form: Mapping[str, str], authorization: str) -> dict[str, object]:
        """Take a code for an identity token, once."""
        client = base64.b64decode(authorization.removeprefix("Basic ")).decode()
        self._expect(unquote(client) == f"{CLIENT}:{SECRET}", "that is not the client")
        asked = self._codes.pop(form.get("code", ""), None)
        assert asked is not None, "an unknown code, or one that was used"
        digest = hashlib.sha256(form.get("code_verifier", "").encode()).digest()
        challenge = base64.urlsafe_b64encode(digest).rstrip(b"=").decode()
        self._expect(challenge == asked["code_challenge"], "a wrong verifier")
        self._expect(form.get("redirect_uri") == self.redirect_uri, "another address to come back to")
        self.signed_in.append(asked["as"])
        now = int(time.time())
        claims = {
            "iss": self.url,
            "aud": CLIENT,
            "sub": hashlib.sha256(asked["as"].encode()).hexdigest()[:12],
            "iat": now,
            "exp": now + 600,
            "nonce": asked["nonce"],
            **self._people[asked["as"]],
        }
        signed = jwt.encode({"alg": "RS256", "kid": "one"}, claims, self._key)
        return {
            "access_token": secrets.token_urlsafe(8),
            "token_type": "Bearer",
            "expires_in": 600,
            "id_token": signed,
        }

    @staticmethod
    def _expect(holds: bool, what: str) -> None:
        assert holds, what


class _Http(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, provider: IdentityProvider) -> None:
        self.provider = provider
        super().__init__(("127.0.0.1", 0), _Handler)


class _Handler(BaseHTTPRequestHandler):
    server: _Http

    def do_GET(self) -> None:
        provider, address = self.server.provider, urlsplit(self.path)
        asked = {name: values[0] for name, values in parse_qs(address.query).items()}
        try:
            if address.path == "/.well-known/openid-configuration":
                self._json(provider.discovery())
            elif address.path == "/jwks":
                self._json(provider.jwks())
            elif address.path == "/favicon.ico":
                self._send(204, b"", "image/x-icon")
            elif address.path == "/end":
                self._go_to(asked["post_logout_redirect_uri"])
            elif isinstance(answer := provider.authorize(asked), str):
                self._go_to(answer)
            else:
                self._send(answer[0], answer[1].encode(), "text/html")
        except AssertionError as refusal:
            self._send(400, str(refusal).encode(), "text/plain")

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["content-length"])).decode()
        form = {name: values[0] for name, values in parse_qs(body).items()}
        try:
            self._json(self.server.provider.token(form, self.headers.get("authorization", "")))
        except AssertionError as refusal:
            self._json({"error": "invalid_grant", "error_description": str(refusal)}, status=400)

    def log_message(self, *_: Any) -> None:
        """Nothing is printed."""

    def _go_to(self, address: str) -> None:
        self.send_response(302)
        self.send_header("location", address)
        self.end_headers()

    def _json(self, data: Mapping[str, object], status: int = 200) -> None:
        self._send(status, json.dumps(data).encode(), "application/json")

    def _send(self, status: int, body: bytes, kind: str) -> None:
        self.send_response(status)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
