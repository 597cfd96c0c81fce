from dataclasses import dataclass
from threading import Event
from typing import Any

from jsonschema import Draft202012Validator
from localslack.loopback import HangUp

from tests.emulators.claude.request import schema_of


@dataclass(frozen=True)
class Text:
    """An answer in plain text; ``pace`` is seconds before each event of a stream, else the emulator's."""

    text: str
    stop_reason: str = "end_turn"
    delay: float = 0.0
    pace: float | None = None


@dataclass(frozen=True)
class Json:
    """An answer that is one JSON value; it must match the request's schema unless ``lenient``."""

    value: Any
    delay: float = 0.0
    lenient: bool = False


@dataclass(frozen=True)
class Refusal:
    """The model declines: no text, ``stop_reason`` "refusal"."""

    explanation: str = "This request was declined."


@dataclass(frozen=True)
class Truncated:
    """The answer ends early, ``stop_reason`` "max_tokens"."""

    text: str


@dataclass(frozen=True)
class Failure:
    """An HTTP error, such as 429 rate_limit_error, 529 overloaded_error or 500 api_error."""

    status: int
    type: str
    message: str = ""
    retry_after: float | None = None


@dataclass(frozen=True)
class Hang:
    """No answer for some seconds, then the connection closes."""

    seconds: float


@dataclass(frozen=True)
class Drop:
    """The connection closes without an answer."""


@dataclass(frozen=True)
class MidStreamError:
    """A stream that breaks off with an error event; a request without a stream gets a plain 500.

    Without ``text_before`` it breaks before anything is said.
    """

    text_before: str
    type: str = "overloaded_error"


@dataclass(frozen=True)
class Cut:
    """A stream whose connection closes in the middle, without an error event; without a stream, no answer.

    ``clean`` ends the body in good order all the same, as a proxy may: only the last events are missing.
    """

    text_before: str
    clean: bool = False


@dataclass(frozen=True)
class Stall:
    """A stream that says something, then for some seconds nothing but pings, then ends normally with ``rest``.

    Without ``pings`` it is wholly silent. A request without a stream gets its answer after those seconds.
    """

    text_before: str
    seconds: float
    rest: str = ""
    pings: int = 4


@dataclass(frozen=True)
class ToolUse:
    """The model calls a tool of the request as its schema says; ``lenient`` lets it err in name and input.

    ``text`` are its words before the call: None for none, blank for a block that says nothing, as models do.
    """

    name: str
    input: dict[str, Any]
    text: str | None = None
    lenient: bool = False

    @property
    def calls(self) -> tuple[tuple[str, dict[str, Any]], ...]:
        return ((self.name, self.input),)


@dataclass(frozen=True)
class ToolUses:
    """The model calls several tools in one turn, each by name and input, after words as in ``ToolUse``."""

    calls: tuple[tuple[str, dict[str, Any]], ...]
    text: str | None = None
    lenient: bool = False


Step = (
    Text | Json | Refusal | Truncated | Failure | Hang | Drop | MidStreamError | Cut | Stall | ToolUse | ToolUses
)


def summary_answer(**overrides: Any) -> dict[str, Any]:
    """A valid summary of one pull request that claims nothing about code."""
    words = {
        "headline": "A small change to one part",
        "condition": "",
        "what_changed_and_why": "One part of the code was changed to make it simpler.",
        "technical_impact": "Callers see the same behaviour as before.",
        "key_insights": "The change is contained.",
        "risk_reason": "",
        "action": "",
    }
    return {"type": "SUBSTANTIAL", **words, "risks": [], "evidence": [], **overrides}


def overview_answer(**overrides: Any) -> dict[str, Any]:
    """A valid overview of a day that claims nothing about its pull requests."""
    return {"overview": "A day of small changes.", "themes": [], **overrides}


def review_answer(*suspicions: dict[str, Any], recognised: str = "no") -> dict[str, Any]:
    return {"suspicions": list(suspicions), "recognised": recognised}


def suspicion(**overrides: Any) -> dict[str, Any]:
    """A suspicion that is possible and quotes nothing."""
    return {
        "consequence": "Startup fails.",
        "trigger": "A batch of size 1",
        "reached_by": "What `pull_request` changes",
        "affected": "Those who run it.",
        "harm": "crash",
        "exposure": "some",
        "path": "",
        "quote": "",
        "line": 0,
        "side": "added",
        "status": "possible",
        "certainty": "medium",
        "advice": "watch",
        "wait_for": 0,
    } | overrides


def default_answer(body: dict[str, Any]) -> Step:
    properties = (schema_of(body) or {}).get("properties", {})
    if "headline" in properties:
        return Json(summary_answer())
    if "suspicions" in properties:
        return Json(review_answer())
    return Json(overview_answer()) if "overview" in properties else Text("Nothing to add.")


def mismatch(value: Any, schema: dict[str, Any]) -> str:
    """Where a value is not what the schema allows; empty if it is."""
    errors = Draft202012Validator(schema).iter_errors(value)
    return "; ".join(f"{error.json_path}: {error.message}" for error in errors)


def check_answer(value: Any, schema: dict[str, Any] | None) -> None:
    """Raise AssertionError if a scripted value is not what the request's schema allows."""
    reasons = "" if schema is None else mismatch(value, schema)
    if reasons:
        raise AssertionError(f"the answer does not match the request's schema: {reasons}")


def find_failure(step: Step, closing: Event, *, is_streamed: bool) -> Failure | None:
    """Return the error that a step ends in, perhaps after a wait; None for an answer. Raises HangUp."""
    match step:
        case Hang(seconds):
            closing.wait(seconds)
            raise HangUp
        case Drop():
            raise HangUp
        case Cut() if not is_streamed:
            raise HangUp
        case Stall(_, seconds) if not is_streamed:
            closing.wait(seconds)
        case Failure():
            return step
        case MidStreamError(_, kind) if not is_streamed:
            return Failure(500, kind)
    return None
