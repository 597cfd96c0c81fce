"""What is read of a server's answers: checked types, with unknown fields left out.

Reasoning, in ``reasoning_content`` or ``reasoning``, is only counted. It is no part of an answer.
"""

from __future__ import annotations

from typing import Annotated, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from bot.adapters.models.openai_compatible.errors import WrongService
from bot.domain.errors import ModelBusy, ModelRefusal
from bot.domain.operations.usage import Usage
from bot.platform.http import model_sentences

# no prompt and no answer has more tokens
_MAX_TOKENS = 100_000_000
_Count = Annotated[int, Field(ge=0, le=_MAX_TOKENS)]
# how an answer ends: complete, or cut at its length limit
_WHOLE_REASONS, _CUT_REASON = {"stop", "tool_calls"}, "length"


class _Shape(BaseModel):
    """Base of the shapes. Nothing is converted: a number is no text."""

    model_config = ConfigDict(frozen=True, extra="ignore", strict=True)


ShapeT = TypeVar("ShapeT", bound=_Shape)


class _PromptDetails(_Shape):
    cached_tokens: _Count | None = None


class UsageShape(_Shape):
    """The tokens of a call as the server counts them."""

    prompt_tokens: _Count
    completion_tokens: _Count | None = None
    prompt_tokens_details: _PromptDetails | None = None

    def convert_usage(self) -> Usage:
        """Return the usage. Tokens of the prompt that the server had computed before are counted apart."""
        cached = self.prompt_tokens_details.cached_tokens if self.prompt_tokens_details else None
        cached = min(cached or 0, self.prompt_tokens)
        return Usage(self.prompt_tokens - cached, self.completion_tokens or 0, cached)


class _Reasoned(_Shape):
    """Text, and the reasoning beside it."""

    content: str | None = None
    reasoning_content: str | None = None
    reasoning: str | None = None
    refusal: str | None = None

    @property
    def has_reasoning(self) -> bool:
        """Whether the server keeps the reasoning apart from the text."""
        return bool(self.reasoning_content or self.reasoning)

    @property
    def length(self) -> int:
        """The characters of text and reasoning."""
        reasoning = self.reasoning_content or self.reasoning or ""
        return len(self.content or "") + len(reasoning)


class FunctionDelta(_Shape):
    """A part of a call's name and arguments."""

    name: str | None = None
    arguments: str | None = None


class CallDelta(_Shape):
    """A part of one of the calls of a turn."""

    index: Annotated[int, Field(ge=0)]
    id: str | None = None
    function: FunctionDelta | None = None


class Delta(_Reasoned):
    """The next part of a turn."""

    tool_calls: tuple[CallDelta, ...] | None = Field(default=None, strict=False)


class _ChunkChoice(_Shape):
    index: int = 0
    delta: Delta | None = None
    finish_reason: str | None = None


class Chunk(_Shape):
    """An event of a stream. The last one may have usage alone."""

    choices: tuple[_ChunkChoice, ...] = Field(strict=False)
    usage: UsageShape | None = None

    @property
    def choice(self) -> _ChunkChoice | None:
        """The part of the one answer that was asked for."""
        return next((each for each in self.choices if each.index == 0), None)


class _Choice(_Shape):
    index: int = 0
    message: _Reasoned
    finish_reason: str | None = None


class Answer(_Shape):
    """An answer that is not streamed."""

    choices: Annotated[tuple[_Choice, ...], Field(min_length=1, strict=False)]
    usage: UsageShape | None = None


class ListedModel(_Shape):
    """A model in the server's list. vLLM says how long its context window is."""

    id: str
    max_model_len: Annotated[int | None, Field(ge=1, le=_MAX_TOKENS)] = None


class ModelList(_Shape):
    """The list of the server's models."""

    data: tuple[ListedModel, ...] = Field(strict=False)


def parse_chunk(event: dict[str, object]) -> Chunk:
    """Return an event of a stream. Raises WrongService."""
    return _parse_shape(Chunk, event)


def parse_answer(body: dict[str, object]) -> Answer:
    """Return an answer. Raises WrongService."""
    return _parse_shape(Answer, body)


def parse_models(body: dict[str, object]) -> ModelList:
    """Return the list of models. Raises WrongService."""
    return _parse_shape(ModelList, body)


def _parse_shape(shape: type[ShapeT], value: dict[str, object]) -> ShapeT:
    """Return a value in a shape; usage that can't be right counts as none. Raises WrongService."""
    try:
        return shape.model_validate(value)
    except ValidationError as error:
        if value.get("usage") and all(each["loc"][0] == "usage" for each in error.errors()):
            return _parse_shape(shape, {**value, "usage": None})
        raise WrongService from error


def check_end(finish_reason: str | None, refusal: str | None, usage: Usage) -> bool:
    """Return whether an answer was cut at its length limit; otherwise it is complete.

    Raises:
        ModelRefusal: the model or a filter declined.
        ModelBusy: the answer ended for another reason.
    """
    if refusal or finish_reason == "content_filter":
        raise ModelRefusal(model_sentences.MODEL_DECLINED, usage)
    if finish_reason == _CUT_REASON:
        return True
    if finish_reason not in _WHOLE_REASONS:
        error = ModelBusy(model_sentences.MODEL_STOPPED)
        error.usage = usage
        raise error
    return False
