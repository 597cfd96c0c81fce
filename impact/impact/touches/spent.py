"""Replacements, overrides and copies of upstream functions whose reason is gone: they may go.

What a team put in the place of an upstream function is compared with that function before and after a way, by the
hashes of its code and of its lines that the profile has. What was meant is not known: so a person decides.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from types import MappingProxyType

from impact.contract.net_changes import MergeReference
from impact.coverage import Coverage, CoveredList, CoveredPart
from impact.profile.models import Use, UseKind

_OWN_FUNCTIONS = frozenset({UseKind.PATCH, UseKind.OVERRIDE, UseKind.COPY})
# telling lines that a change adds or leaves out: one alone may stand in a function for another reason
_MIN_LINES = 2
# what stands between the words of a comment
_BETWEEN = re.compile(r"[\s()\[\]{},;:!?`'\"<>]")
_DIGITS = re.compile(r"#?(\d{1,9})[.\w-]{0,20}", re.A)
_PAGES, _NOUNS = ("pull", "issues"), ("pr", "request", "issue")
# a comment that says when the code goes; one that only names a merge may tell what the code is made of
_WAITS = re.compile(
    r"\b(?:until|once|wait\w{0,3}|temporar\w{1,4}"
    r"|(?:remove|revert|drop|delete)\w?(?: \S{1,40}){0,6} (?:when|after|if))\b",
    re.I,
)
# the reason may say that a thing is missing, or that it is wrong, until it is merged
_MAX_NUMBERS = 5


@dataclass(frozen=True, slots=True)
class UpstreamFunction:
    """A function of upstream at a commit: hashes of its code and of its telling lines.

    ``name`` is where it is defined. ``is_alias``: it is another name for something now, and no function.
    """

    name: str
    body: str = ""
    lines: frozenset[str] = frozenset()
    is_alias: bool = False
    text: str = ""


@dataclass(frozen=True, slots=True)
class SpentUse:
    """A use whose reason is gone, with why as a clause; ``merge`` is the one that its comment names, if any.

    ``difference`` is what sets the team's function apart from upstream's at the end, as the lines of a diff.
    """

    use: Use
    why: str
    merge: MergeReference | None = None
    difference: str = ""


# the text of a team's code is needed for its comments, too
NOT_LOOKED_FOR: CoveredList[SpentUse] = CoveredList(
    (), Coverage.of(CoveredPart("what may go", 1, 0, "your code is not at hand"))
)


def select_own_functions(uses: Iterable[Use]) -> list[Use]:
    """Return the uses that stand in for a function of upstream, without those of tests."""
    return [use for use in uses if use.kind in _OWN_FUNCTIONS and not use.is_test]


def find_spent(
    uses: Sequence[Use],
    before: Mapping[str, UpstreamFunction],
    after: Mapping[str, UpstreamFunction],
    reasons: Mapping[Use, Sequence[str]],
    merged: Mapping[int, MergeReference],
    repository: str = "",
    earlier: Mapping[int, MergeReference] = MappingProxyType({}),
) -> Iterator[SpentUse]:
    """Yield those of some own functions whose reason is gone at the end of a way, each once.

    ``before`` is upstream at the pin, ``after`` at the end, by names. ``reasons`` are the comments beside them and
    notes on them elsewhere. ``merged`` are the merges on the way by their own numbers and those of the issues that
    they close, ``earlier`` those that the pin has: they count where the comment says that it waits.
    ``repository`` is upstream's name: a number that a comment says of another one does not count.
    """
    for use in uses:
        pairs = ((before.get(name), after.get(name)) for name in get_compared_names(use))
        why = next(filter(None, (_compare(use, old, new) for old, new in pairs)), "")
        if why:
            yield SpentUse(use, why)
            continue
        for reason in reasons.get(use, ()):
            numbers, waits = list_numbers(reason, repository), bool(_WAITS.search(reason))
            merge = next((merged[number] for number in numbers if number in merged), None)
            passed = next((earlier[number] for number in numbers if waits and number in earlier), None)
            if merge or passed:
                names = "the change that its comment names was merged"
                yield SpentUse(use, names if merge else f"{names} before your pin", merge or passed)
                break


def get_compared_names(use: Use) -> tuple[str, ...]:
    """Return the names of the upstream functions that a use stands in for."""
    return use.definitions[:1] or (use.name,)


def _compare(use: Use, old: UpstreamFunction | None, new: UpstreamFunction | None) -> str:
    """Return why a function of the team's own may go, as a clause; empty if nothing says so."""
    if old is None or new is None or not (use.body and use.lines):
        return ""
    if use.kind is UseKind.PATCH and new.is_alias and not old.is_alias:
        return f"upstream's name is another name for {new.name} now"
    if use.kind is not UseKind.COPY and use.body in (old.body, new.body):
        is_same = use.body == new.body
        return "upstream's function does the same" if is_same else "it does what upstream did at the pin"
    own = frozenset(use.lines)
    added, left_out = own - old.lines, old.lines - own
    if len(added) + len(left_out) < _MIN_LINES or not added or new.body == old.body:
        return ""
    # a function that shares little is another one, whose lines may stand anywhere
    if len(own & old.lines) < len(added):
        return ""
    return "upstream's function has what it adds" if added <= new.lines and not left_out & new.lines else ""


def list_numbers(reason: str, repository: str) -> list[int]:
    """Return the numbers of pull requests and issues of a repository that a comment names.

    It names one by its address, as ``octo/engine#12`` or ``#12``, or as ``PR 12``.
    """
    numbers: dict[int, None] = {}
    words = _BETWEEN.split(reason)
    for before, word in pairwise(["", *words]):
        parts = word.split("/")
        of, mark, rest = word.rpartition("#")
        if len(parts) > 3 and parts[-2] in _PAGES:
            of, rest = "/".join(parts[-4:-2]), parts[-1]
        elif not mark and before.lower() not in _NOUNS:
            continue
        match = _DIGITS.fullmatch(rest)
        if match and of.casefold() in ("", repository.casefold()):
            numbers[int(match[1])] = None
    return [*numbers][:_MAX_NUMBERS]
