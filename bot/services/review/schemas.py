"""The answer of a review, and the arguments of its tools.

Limits of length are applied here, because the service can't enforce them. Texts that are too long are cut. A
suspicion without a consequence or a trigger is dropped.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Any, ClassVar

from pydantic import AfterValidator, BeforeValidator, Field, StringConstraints

from bot.domain.review.models import Certainty, FindingAdvice
from bot.domain.text.redaction import redact_text
from bot.platform.models.tools import ToolArguments
from bot.services.summaries.schemas import AnswerShape, SafeLine, limit_length

# the prompt asks for six; more would be read by nobody
MAX_SUSPICIONS = 12
_MAX_SENTENCE_LENGTH = 300
_MAX_AFFECTED_LENGTH = 160
# a longer one is no single line; paths of git end at 4,096 bytes on common systems
_MAX_QUOTE_LENGTH, _MAX_PATH_LENGTH = 400, 1_000
_MAX_LINE_NUMBER = 1_000_000_000


class SuspicionStatus(StrEnum):
    """What the model made of a suspicion."""

    CONFIRMED = "confirmed"
    REFUTED = "refuted"
    POSSIBLE = "possible"


class QuoteSide(StrEnum):
    """What the pull request did to a quoted line."""

    ADDED = "added"
    REMOVED = "removed"
    UNCHANGED = "unchanged"


def _limit_number(line: int) -> int:
    return line if 0 < line < _MAX_LINE_NUMBER else 0


def _limit_list(suspicions: Any) -> Any:
    # what is beyond the limit is not even parsed
    return suspicions[:MAX_SUSPICIONS] if isinstance(suspicions, list) else suspicions


Sentence = Annotated[str, SafeLine, limit_length(_MAX_SENTENCE_LENGTH)]


class SuspicionAnswer(AnswerShape):
    """One suspicion. Its quote is not verified."""

    consequence: Sentence
    trigger: Sentence
    affected: Annotated[str, SafeLine, limit_length(_MAX_AFFECTED_LENGTH)] = ""
    path: Annotated[str, StringConstraints(strip_whitespace=True), limit_length(_MAX_PATH_LENGTH)] = ""
    quote: Annotated[str, AfterValidator(redact_text), limit_length(_MAX_QUOTE_LENGTH)] = ""
    line: Annotated[int, AfterValidator(_limit_number)] = 0
    side: QuoteSide = QuoteSide.ADDED
    status: SuspicionStatus
    certainty: Certainty
    advice: FindingAdvice

    @property
    def is_complete(self) -> bool:
        """Whether it says what fails and when."""
        return bool(self.consequence and self.trigger)


class ReviewAnswer(AnswerShape):
    """The report on one pull request. ``recognised``: the model says that it knows what became of the change."""

    suspicions: Annotated[list[SuspicionAnswer], BeforeValidator(_limit_list)]
    recognised: bool = False


class ReadFileArguments(ToolArguments):
    """Arguments of the tool that reads a part of a file."""

    description: ClassVar[str] = (
        "Up to 200 lines of any file of the repository at the merge commit: from a line on, or around a name "
        "(where it is defined first)."
    )

    path: Annotated[str, Field(min_length=1, max_length=_MAX_PATH_LENGTH)]
    first: Annotated[int, Field(ge=1, lt=_MAX_LINE_NUMBER)] = 1
    last: int = Field(0, ge=0, lt=_MAX_LINE_NUMBER, description="default: 200 lines")
    around: str = Field("", max_length=200, description="a name, in place of lines")


class FindUsesArguments(ToolArguments):
    """Arguments of the search for a name."""

    description: ClassVar[str] = (
        "The lines that have a name as a whole word at the merge commit: of all files, or only of those that the "
        "pull request changed; the result says which."
    )

    name: Annotated[str, Field(min_length=1, max_length=200)]


class ListChangesArguments(ToolArguments):
    """Arguments of the history of a path."""

    description: ClassVar[str] = (
        "The last commits up to the merge that changed a file or folder, with their titles."
    )

    path: Annotated[str, Field(min_length=1, max_length=_MAX_PATH_LENGTH)]
