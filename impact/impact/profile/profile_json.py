"""Profiles as JSON: in files that people move between machines, and in the store."""

from __future__ import annotations

import json

from bot.ports.codecs.versioned_json import LaterVersion, VersionedJson
from impact.errors import UsageError
from impact.profile.models import Profile

NOT_A_PROFILE = "That is not a profile: use a file that prdigest profile scan wrote."
_CODEC = VersionedJson(Profile, 1)


def dump_profile(profile: Profile) -> str:
    """Return a profile as JSON on one line."""
    return json.dumps(_CODEC.dump(profile))


def parse_profile(text: str) -> Profile:
    """Return the profile of a text. Raises UsageError if it is none that this version reads."""
    try:
        fields = json.loads(text)
        return _CODEC.load(fields)
    except LaterVersion as error:
        raise UsageError("That profile is of another version of prdigest: scan the tree again.") from error
    except (ValueError, AttributeError, RecursionError) as error:
        raise UsageError(NOT_A_PROFILE) from error
