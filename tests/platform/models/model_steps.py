"""What a model's service does, step by step, and what must come of it: the same for every provider."""

from dataclasses import dataclass

from bot.errors import ModelBusy, ModelError, ModelRefusal, ModelRequestRejected
from tests.emulators.claude.script import Cut, Drop, Failure, MidStreamError, Refusal, Step, Text

HALF = "Half of what there is to say, and "


@dataclass(frozen=True)
class Told:
    """How a talk fails: what was heard before, whether the service told what it took, and when to ask again."""

    kind: type[ModelError]
    heard: str = ""
    has_usage: bool = True
    retry_after: float | None = None


def make_refusal(kind: type[ModelError], retry_after: float | None = None) -> Told:
    return Told(kind, has_usage=False, retry_after=retry_after)


PASSING = ("overloaded_error", "rate_limit_error", "api_error", "timeout_error")
LASTING = ("invalid_request_error", "authentication_error")
STEPS: list[tuple[Step, Told]] = [
    *((MidStreamError(words, kind), Told(ModelBusy, words)) for kind in PASSING for words in ("", HALF)),
    *(
        (MidStreamError(words, kind), Told(ModelRequestRejected, words))
        for kind in LASTING
        for words in ("", HALF)
    ),
    *((Cut(words), Told(ModelBusy, words)) for words in ("", HALF)),
    (Drop(), make_refusal(ModelBusy)),
    (Refusal(), Told(ModelRefusal)),
    (Text(HALF, "refusal"), Told(ModelRefusal, HALF)),
    (Failure(400, "invalid_request_error"), make_refusal(ModelRequestRejected)),
    (Failure(401, "authentication_error"), make_refusal(ModelRequestRejected)),
    (Failure(403, "permission_error"), make_refusal(ModelRequestRejected)),
    (Failure(404, "not_found_error"), make_refusal(ModelRequestRejected)),
    (Failure(413, "request_too_large"), make_refusal(ModelRequestRejected)),
    (Failure(408, "timeout_error"), make_refusal(ModelBusy)),
    (Failure(409, "conflict_error"), make_refusal(ModelBusy)),
    (Failure(429, "rate_limit_error"), make_refusal(ModelBusy)),
    (Failure(429, "rate_limit_error", retry_after=7), make_refusal(ModelBusy, 7.0)),
    (Failure(500, "api_error"), make_refusal(ModelBusy)),
    (Failure(529, "overloaded_error"), make_refusal(ModelBusy)),
    (Failure(529, "overloaded_error", retry_after=2), make_refusal(ModelBusy, 2.0)),
]
CLEAN: list[tuple[Step, Told]] = [(Cut(words, clean=True), Told(ModelBusy, words)) for words in ("", HALF)]


STATUSES: list[tuple[Failure, type[ModelError], float | None]] = [
    (Failure(400, "invalid_request_error"), ModelRequestRejected, None),
    (Failure(401, "authentication_error"), ModelRequestRejected, None),
    (Failure(403, "permission_error"), ModelRequestRejected, None),
    (Failure(404, "not_found_error"), ModelRequestRejected, None),
    (Failure(413, "request_too_large"), ModelRequestRejected, None),
    (Failure(408, "timeout_error"), ModelBusy, None),
    (Failure(429, "rate_limit_error"), ModelBusy, None),
    (Failure(429, "rate_limit_error", retry_after=7), ModelBusy, 7.0),
    (Failure(500, "api_error"), ModelBusy, None),
    (Failure(529, "overloaded_error"), ModelBusy, None),
    (Failure(529, "overloaded_error", retry_after=2), ModelBusy, 2.0),
]
