"""The merge that a team's code stands on: from a hash, a tag, or the pin in its own tree."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from bot.domain.errors import UsageError
from bot.domain.pull_requests.models import PullRequest, Repository
from bot.domain.text.strings import quote_input
from bot.ports import PullRequestBackground
from impact.profile.models import Profile, Use, UseKind
from impact.source.revisions import find_hashes, is_tag

_VERSION = re.compile(r"==\s{0,3}v?(?P<version>\d{1,4}(?:\.\d{1,4}){1,3})(?![\w.])", re.A)

# a tree may pin commits of other repositories, too
_MAX_HASHES = 5

# returns the last merge of the default branch that a tag holds, as a full hash; empty if there is no such tag
TagLookup = Callable[[Repository, str], str]


@dataclass(frozen=True, slots=True)
class Pin:
    """A merge, and what people call it: a tag, or the hash again."""

    name: str
    merge: PullRequest


class PinFinder:
    """Finder of pins. ``background`` is None where there are no commits, as in the demo."""

    def __init__(self, background: Callable[[], PullRequestBackground | None], find_tag: TagLookup) -> None:
        self._background = background
        self._find_tag = find_tag

    def find_pin(self, upstream: Repository, start: str, profile: Profile) -> Pin:
        """Return the pin that a start names; without one, that of the profile's tree.

        Raises:
            UsageError: there is no such merge, or the tree pins none.
            PrdigestError: the source does not answer.
        """
        names = (start,) if start else _list_pins(profile, upstream)
        for name in names:
            if merge := self.find_merge(upstream, name):
                return Pin(name, merge)
        if not names:
            raise UsageError(
                f"Which commit does {profile.name} use? Add it, such as upgrade 97f2f160fd or v1.2.0."
            )
        unknown = f"no {'tag' if is_tag(names[0]) else 'merge'} of {upstream} that I know"
        if start:
            raise UsageError(f"{quote_input(start)} is {unknown}: write another commit or tag.")
        raise UsageError(f"{profile.name} pins {quote_input(names[0])}, {unknown}: add a commit or tag of it.")

    def find_merge(self, upstream: Repository, name: str) -> PullRequest | None:
        """Return the merge of a hash or a tag, None if there is none. Raises PrdigestError."""
        commit = self._find_tag(upstream, name) if is_tag(name) else name
        background = self._background()
        if not commit or background is None:
            return None
        return next(iter(background.find_merges(upstream, [commit]).values()), None)


def _list_pins(profile: Profile, upstream: Repository) -> tuple[str, ...]:
    """Return the commits that a tree pins, or else the tags that its first pinned version may have."""
    pins = [use for use in profile.uses if use.kind is UseKind.PIN]
    hashes = dict.fromkeys(pinned_hashes[0] for use in pins if (pinned_hashes := find_hashes(use.text.lower())))
    if hashes:
        return tuple(hashes)[:_MAX_HASHES]
    own = {upstream.name.lower(), *(package.lower() for package in profile.packages)}
    for use in pins:
        if _name_package(use) in own and (match := _VERSION.search(use.text)):
            return (f"v{match['version']}", match["version"])
    return ()


def _name_package(use: Use) -> str:
    return use.name.lower().replace("-", "_")
