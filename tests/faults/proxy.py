import json
import random
import threading
from dataclasses import dataclass
from enum import StrEnum
from io import BufferedIOBase
from types import TracebackType

from localslack.methods.response_urls import RESPONSE_PATH

from tests.emulators.relay import Answer, Asked, Relay

# what no client can make sense of: not HTTP, not JSON, JSON that ends early, and JSON of another shape
_NO_HTTP = b"\x16\x03\x01\x00\xff garbage \x00\x00\r\n\r\n"
_BODIES = (b"\xff\xfe\x00garbage", b"<html><h1>It works!</h1></html>", b'{"ok": true, "data": {', b"[]", b'"ok"')


class ServiceName(StrEnum):
    SLACK = "Slack"
    GITHUB = "GitHub"
    CLAUDE = "Claude"


class ServiceFault(StrEnum):
    """A way in which a service fails."""

    DOWN = "down"
    SLOW = "slow"
    REFUSING = "refusing"
    FAILING = "failing"
    LIMITED = "rate-limited"
    CUT = "cut in the middle"
    GARBAGE = "answering garbage"


# seconds that a limited service asks for
RETRY_AFTER = 3
_JSON = ("Content-Type", "application/json")


def _refusal(status: int, value: object, *headers: tuple[str, str]) -> Answer:
    return Answer(status, (_JSON, *headers), json.dumps(value).encode())


_WAIT = ("Retry-After", str(RETRY_AFTER))
_CLAUDE_ERRORS = {401: "authentication_error", 529: "overloaded_error", 429: "rate_limit_error"}


def _refuse_for_slack(fault: ServiceFault) -> Answer:
    if fault is ServiceFault.REFUSING:
        return _refusal(200, {"ok": False, "error": "account_inactive"})
    if fault is ServiceFault.LIMITED:
        return _refusal(429, {"ok": False, "error": "ratelimited"}, _WAIT)
    return _refusal(503, {"ok": False, "error": "service_unavailable"})


def _refuse_for_github(fault: ServiceFault) -> Answer:
    if fault is ServiceFault.REFUSING:
        return _refusal(401, {"message": "Bad credentials"})
    if fault is ServiceFault.LIMITED:
        return _refusal(429, {"message": "You have exceeded a secondary rate limit."}, _WAIT)
    return _refusal(503, {"message": "Service unavailable"})


def _refuse_for_claude(fault: ServiceFault) -> Answer:
    status = {ServiceFault.REFUSING: 401, ServiceFault.LIMITED: 429}.get(fault, 529)
    error = {"type": _CLAUDE_ERRORS[status], "message": "Not now"}
    headers = (_WAIT,) if status == 429 else ()
    return _refusal(status, {"type": "error", "error": error}, *headers)


_REFUSALS = {
    ServiceName.SLACK: _refuse_for_slack,
    ServiceName.GITHUB: _refuse_for_github,
    ServiceName.CLAUDE: _refuse_for_claude,
}


@dataclass(frozen=True)
class PlannedFault:
    """A fault that is on; ``seconds`` is how slow a slow service is."""

    kind: ServiceFault
    seconds: float
    choice: random.Random


class FaultProxy(Relay):
    """Stands before one service. ``requests`` counts what came; ``failed`` what a fault was done to."""

    def __init__(self, service: ServiceName) -> None:
        super().__init__()
        self.service = service
        self.requests = 0
        self.failed = 0
        self._fault: PlannedFault | None = None
        self._healed = threading.Event()

    def inject(self, fault: PlannedFault) -> None:
        self._healed.clear()
        self._fault = fault
        if fault.kind is ServiceFault.DOWN:
            self.leave()

    def heal(self) -> None:
        """Hand on all that comes, as if nothing had been; what is slow is answered now."""
        fault, self._fault = self._fault, None
        self._healed.set()
        if fault and fault.kind is ServiceFault.DOWN:
            self.come_back()

    def serve(self, asked: Asked, out: BufferedIOBase) -> bool:
        self.requests += 1
        fault = self._fault
        if fault is None or (fault.kind is ServiceFault.REFUSING and asked.path.startswith(RESPONSE_PATH)):
            # an address for answers is its own permission: it works without a token
            return super().serve(asked, out)
        self.failed += 1
        match fault.kind:
            case ServiceFault.DOWN:
                return False
            case ServiceFault.SLOW:
                answer = self.ask(asked)
                self._healed.wait(fault.seconds)
                out.write(answer.head() + answer.body)
                return True
            case ServiceFault.CUT:
                answer = self.ask(asked)
                whole = answer.head() + answer.body
                out.write(whole[: len(whole) - max(1, len(answer.body) // 2)])
                return False
            case ServiceFault.GARBAGE:
                out.write(self._garble(asked, fault.choice))
                return False
            case _:
                refusal = _REFUSALS[self.service](fault.kind)
                out.write(refusal.head() + refusal.body)
                return True

    def _garble(self, asked: Asked, choice: random.Random) -> bytes:
        """What is no answer, half of the time to a request that had its effect."""
        headers = self.ask(asked).headers if choice.random() < 0.5 else (_JSON,)
        garbage = choice.choice((_NO_HTTP, *_BODIES))
        return garbage if garbage is _NO_HTTP else Answer(200, headers, garbage).head() + garbage

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.heal()
        super().__exit__(kind, error, trace)
