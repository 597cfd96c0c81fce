"""A profile as JSON. Uses stand under their file, and what is as by default is left out."""

from __future__ import annotations

import json
from collections import defaultdict
from functools import cache
from typing import Any

from pydantic import TypeAdapter, ValidationError

from bot.domain.errors import UsageError
from bot.domain.profile.models import Profile

VERSION = 1


def encode_profile(profile: Profile) -> str:
    """Return a profile as JSON, which is the same for the same profile."""
    fields = _get_adapter().dump_python(profile, mode="json", exclude_defaults=True)
    files: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for use in fields.pop("uses", []):
        files[use.pop("path")].append(use)
    for derived in fields.get("classes", {}).values():
        derived["members"] = sorted(derived.get("members", []))
    return json.dumps({"version": VERSION, **fields, "uses": files}, ensure_ascii=False, separators=(",", ":"))


def decode_profile(text: str) -> Profile:
    """Return the profile of a JSON text.

    Raises:
        UsageError: it is none, or of a later version.
    """
    try:
        fields = json.loads(text)
        version = fields.pop("version")
        files = fields.pop("uses")
        fields["uses"] = [{**use, "path": path} for path, uses in files.items() for use in uses]
    except (ValueError, RecursionError, AttributeError, KeyError, TypeError) as error:
        raise UsageError(
            "The file holds no profile: `prdigest profile scan PATH --out FILE` writes one."
        ) from error
    if version != VERSION:
        raise UsageError("The profile is of another version of prdigest: scan the tree again.")
    try:
        return _get_adapter().validate_python(fields)
    except ValidationError as error:
        raise UsageError("The file holds no whole profile: scan the tree again.") from error


@cache
def _get_adapter() -> TypeAdapter[Profile]:
    # it takes milliseconds to build
    return TypeAdapter(Profile)
