"""Bedrock and Vertex AI before the loopback Claude: they check paths and signatures, as the clouds do.

Behind them answers ``ClaudeEmulator`` with all its limits; each takes from a request what only its cloud has.
"""

import json
import re
import threading
from collections.abc import Mapping
from dataclasses import replace
from urllib.parse import parse_qs

from botocore.auth import SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials
from localslack.loopback import Loopback, Request, Response

from tests.emulators.claude.limits import MODELS
from tests.emulators.claude.server import ClaudeEmulator

_SIGNATURE = re.compile(
    r"AWS4-HMAC-SHA256 Credential=([^/]+)/(\d{8})/([^/]+)/([^/]+)/aws4_request, "
    r"SignedHeaders=([^,]+), Signature=([0-9a-f]{64})"
)
_VERTEX_PATH = re.compile(
    r"/v1/projects/([^/]+)/locations/([^/]+)/publishers/anthropic/models/([^/:]+):(rawPredict|streamRawPredict)"
)


def _refuse(status: int, kind: str, message: str) -> Response:
    return Response.of_json({"type": "error", "error": {"type": kind, "message": message}}, status)


class _Front(Loopback):
    """``seen`` has the path of each request that was let through, ``refused`` why others were not."""

    def __init__(self, claude: ClaudeEmulator) -> None:
        super().__init__()
        self.seen: list[str] = []
        self.refused: list[str] = []
        self._claude = claude
        self._guard = threading.Lock()

    def pass_on(self, request: Request, body: Mapping[str, object]) -> Response:
        """Ask Claude itself, with its own key."""
        with self._guard:
            self.seen.append(request.path)
        headers = {name: value for name, value in request.headers.items() if name != "authorization"}
        headers |= {"x-api-key": self._claude.api_key, "anthropic-version": "2026-10-21"}
        inner = replace(request, path="/v1/messages", headers=headers, body=json.dumps(body).encode())
        return self._claude.handle(inner)

    def count_tokens(self, request: Request, model: str) -> Response:
        if model not in MODELS:
            return _refuse(404, "not_found_error", f"model: {model}")
        with self._guard:
            self.seen.append(request.path)
        return Response.of_json({"input_tokens": 8})

    def turn_away(self, reason: str) -> Response:
        with self._guard:
            self.refused.append(reason)
        return _refuse(403, "permission_error", reason)


class BedrockFront(_Front):
    """Bedrock's Messages API. It computes each signature again, with the secret of the one user that it knows."""

    def __init__(self, claude: ClaudeEmulator, region: str, user: str, secret: str) -> None:
        super().__init__(claude)
        self._region = region
        self._credentials = Credentials(user, secret)

    def handle(self, request: Request) -> Response:
        fault = self._find_fault(request)
        if fault:
            return self.turn_away(fault)
        body = request.json()
        prefix, _, model = str(body["model"]).partition(".")
        if prefix != "anthropic":
            return _refuse(404, "not_found_error", f"model: {body['model']}")
        if request.path == "/anthropic/v1/messages/count_tokens":
            return self.count_tokens(request, model)
        if request.path == "/anthropic/v1/messages":
            return self.pass_on(request, body | {"model": model})
        return _refuse(404, "not_found_error", "Not found")

    def _find_fault(self, request: Request) -> str:
        """Why the signature is not that of this request, empty if it is."""
        match = _SIGNATURE.fullmatch(request.headers.get("authorization", ""))
        if not match:
            return "no signature"
        user, _, region, service, names, signature = match.groups()
        if (user, region, service) != (self._credentials.access_key, self._region, "bedrock-mantle"):
            return f"signed by {user} for {service} in {region}"
        signed = {name: request.headers[name] for name in names.split(";")}
        if not {"host", "x-amz-date"} <= signed.keys():
            return "host and date are not signed"
        made = AWSRequest(request.method, f"{self.url}{request.path}", headers=signed, data=request.body)
        made.context["timestamp"] = request.headers["x-amz-date"]
        auth = SigV4Auth(self._credentials, service, region)
        text = auth.string_to_sign(made, auth.canonical_request(made))
        return "" if auth.signature(text, made) == signature else "the signature is wrong"


class VertexFront(_Front):
    """Vertex AI, and at ``/token`` the server that gives a service account its token.

    It lets in callers with the token ``accepted``.
    """

    TOKEN = "ya29.loopback"

    def __init__(self, claude: ClaudeEmulator, project: str, region: str) -> None:
        super().__init__(claude)
        self._place = (project, region)
        self.accepted = self.TOKEN
        self.tokens_given = 0

    def handle(self, request: Request) -> Response:
        if request.path == "/token":
            return self._give_token(request)
        if request.headers.get("authorization") != f"Bearer {self.accepted}":
            return self.turn_away("no token")
        match = _VERTEX_PATH.fullmatch(request.path)
        body = request.json()
        if not match or match.groups()[:2] != self._place:
            return _refuse(404, "not_found_error", "Not found")
        model, verb = match.groups()[2:]
        if model == "count-tokens":
            return self.count_tokens(request, body["model"])
        if "model" in body or not body.pop("anthropic_version", ""):
            return _refuse(400, "invalid_request_error", "the model belongs in the path, the version in the body")
        if bool(body.get("stream")) != (verb == "streamRawPredict"):
            return _refuse(400, "invalid_request_error", f"{verb} and stream do not agree")
        return self.pass_on(request, body | {"model": model})

    def _give_token(self, request: Request) -> Response:
        asked = parse_qs(request.body.decode())
        if asked.get("grant_type") != ["urn:ietf:params:oauth:grant-type:jwt-bearer"] or not asked.get(
            "assertion"
        ):
            return Response.of_json({"error": "invalid_grant"}, 400)
        self.tokens_given += 1
        return Response.of_json({"access_token": self.TOKEN, "expires_in": 3600, "token_type": "Bearer"})
