"""Profiles as JSON: in files that people move between machines, and in a store."""

from __future__ import annotations

import json
from functools import cache

from pydantic import TypeAdapter

from impact.errors import UsageError
from impact.profile.models import Profile

NOT_A_PROFILE = "That is not a profile: use a file that prdigest profile scan wrote."
_VERSION = 1


def dump_profile(profile: Profile) -> str:
    """Return a profile as JSON on one line, the same for equal ones. Fields with default values are left out."""
    fields = _build_adapter().dump_python(profile, mode="json", exclude_defaults=True)
    for each in fields.get("classes", {}).values():
        each.update({name: sorted(each[name]) for name in ("members",) if name in each})
    return json.dumps({"version": _VERSION, **fields})


def parse_profile(text: str) -> Profile:
    """Return the profile of a text. Raises UsageError if it is none that this version reads."""
    try:
        fields = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise UsageError(NOT_A_PROFILE) from error
    version = fields.pop("version", None) if isinstance(fields, dict) else None
    if isinstance(version, int) and version > _VERSION:
        raise UsageError("That profile is of another version of prdigest: scan the tree again.")
    if version != _VERSION:
        raise UsageError(NOT_A_PROFILE)
    try:
        return _build_adapter().validate_python(fields)
    except (ValueError, RecursionError) as error:
        raise UsageError(NOT_A_PROFILE) from error


@cache
def _build_adapter() -> TypeAdapter[Profile]:
    # it takes milliseconds to build: once, when it is first needed
    return TypeAdapter(Profile)
