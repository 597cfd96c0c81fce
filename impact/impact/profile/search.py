"""Search for uses in a profile, by a name or a path as somebody asks for it."""

from __future__ import annotations

from collections.abc import Sequence

from impact.coverage import CoveredList
from impact.errors import attempt_all
from impact.profile.models import Profile, Use

# longer texts are in no name
_MAX_LENGTH = 300


def find_uses(profile: Profile, text: str) -> CoveredList[Use]:
    """Return uses of a name's last parts or in a path, in the tree's order, else those that contain the text."""
    query = text.strip().strip("`/").removesuffix("()").casefold()[:_MAX_LENGTH]

    def search(uses: Sequence[Use]) -> tuple[Use, ...]:
        exact = [use for use in uses if _is_named(use, query)]
        matches = exact or [use for use in uses if any(query in each for each in _list_texts(use))]
        return tuple(sorted(matches, key=lambda use: (use.path, use.line, use.name)))

    uses, failed = attempt_all(search, profile.uses if query else (), lambda use: use.path)
    return CoveredList(uses, profile.note_defects(use.path for use in failed).coverage)


def _is_named(use: Use, query: str) -> bool:
    """Return whether a use is of a name with these last parts, or in a file or folder of this path."""
    path = use.path.casefold()
    names = (use.name, *use.definitions)
    return (
        any(f".{name.casefold()}".endswith(f".{query}") for name in names)
        or f"{path}/".startswith(f"{query}/")
        or f"/{path}".endswith(f"/{query}")
    )


def _list_texts(use: Use) -> tuple[str, ...]:
    return tuple(text.casefold() for text in (use.name, *use.definitions, use.path, use.owner))
