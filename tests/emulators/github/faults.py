"""The ways in which a test lets GitHub fail."""

import time
from dataclasses import dataclass
from typing import Literal

from localslack.loopback import HangUp, Response

from tests.emulators.github.documents import problem
from tests.emulators.github.limits import LIMIT_MESSAGE

FailureKind = Literal[
    "401", "404", "429", "429-bare", "500", "502",
    "graphql-rate-limited", "hang_up", "primary", "secondary", "timeout-502-html",
]  # fmt: skip


@dataclass
class Fault:
    kind: str
    times: int
    match: str


def failure(kind: str, retry_after: int | str) -> Response:
    """The answer of a scripted failure; ``retry_after`` is the seconds that limits name, or what stands there."""
    if kind == "hang_up":
        raise HangUp
    wait = {"Retry-After": str(retry_after)}
    ends = int(time.time()) + retry_after if isinstance(retry_after, int) else retry_after
    reset = {"X-RateLimit-Remaining": "0", "X-RateLimit-Reset": str(ends)}
    secondary = "You have exceeded a secondary rate limit. Please wait a few minutes before you try again."
    answers = {
        "401": problem(401, "Bad credentials"),
        "404": problem(404, "Not Found"),
        "429": problem(429, secondary, wait),
        "429-bare": problem(429, secondary),
        "500": problem(500, "Server Error"),
        "502": problem(502, "Server Error"),
        "graphql-rate-limited": Response.of_json(
            {"errors": [{"type": "RATE_LIMITED", "message": LIMIT_MESSAGE}]}, headers=reset
        ),
        "primary": problem(403, LIMIT_MESSAGE, reset),
        "secondary": problem(403, secondary, wait),
        "timeout-502-html": Response(502, b"<html><h1>Unicorn!</h1></html>", {"Content-Type": "text/html"}),
    }
    return answers[kind]
