from enum import Enum

from bot.features.reviews.reading import REVIEW_LIMITS, REVIEW_VERSION
from bot.features.reviews.report import ReviewAnswer, SuspicionAnswer
from bot.platform.models.prompts import read_instructions

NUMBERS = ("no", "one", "two", "three", "four", "five", "six")


def test_every_field_and_value_is_explained() -> None:
    text = read_instructions(REVIEW_VERSION)
    fields = {**SuspicionAnswer.model_fields, "recognised": ReviewAnswer.model_fields["recognised"]}
    kinds = [field.annotation for field in fields.values()]
    enums = [kind for kind in kinds if isinstance(kind, type) and issubclass(kind, Enum)]
    assert len(enums) == 7
    values = [f'"{value}"' for kind in enums for value in kind]
    assert [word for word in (*fields, *values) if word not in text] == []


def test_rounds_calls_and_tokens_are_those_of_the_limits() -> None:
    text = read_instructions(REVIEW_VERSION)
    rounds, calls = NUMBERS[REVIEW_LIMITS.rounds], NUMBERS[REVIEW_LIMITS.calls]
    assert f"You have {rounds} rounds at most, of up to {calls} calls each" in text
    assert f"once some {REVIEW_LIMITS.new_tokens:,} tokens" in text
