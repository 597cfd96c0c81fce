"""Files of JSON that evaluations write, and that people may edit."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError

from bot.errors import UsageError

T = TypeVar("T", bound=BaseModel)


class Part(BaseModel):
    """Base of what is kept in a file."""

    model_config = ConfigDict(frozen=True, extra="forbid")


def read_part(path: Path, shape: type[T]) -> T:
    """Read a file.

    Raises:
        UsageError: it can't be used; the sentence says why.
    """
    try:
        return shape.model_validate_json(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"{path.parent.name}/{path.name} can't be read: {error}.") from error
    except ValidationError as error:
        raise UsageError(f"{path.parent.name}/{path.name} can't be used: {describe_problems(error)}.") from error


def describe_problems(error: ValidationError) -> str:
    """Return which fields are wrong and why, at most three."""
    problems = [f"{'.'.join(map(str, each['loc'])) or 'the file'}: {each['msg']}" for each in error.errors()[:3]]
    return "; ".join(problems)


def write_json(path: Path, value: BaseModel | Mapping[str, Any]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    plain = value.model_dump(mode="json") if isinstance(value, BaseModel) else value
    path.write_text(json.dumps(plain, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")


def replace_undefined(value: Any) -> Any:
    """Return the value with None for each number that is not finite, which JSON can't have."""
    if isinstance(value, dict):
        return {key: replace_undefined(each) for key, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [replace_undefined(each) for each in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
