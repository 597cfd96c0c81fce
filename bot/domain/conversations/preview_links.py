"""Links that get a preview: a pull request, or the range of a compare page, of a repository that may be shown."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from html import unescape
from typing import TypeAlias

from bot.domain.conversations.commands import AllowedRepositories
from bot.domain.errors import UsageError
from bot.domain.pull_requests.models import Repository
from bot.domain.pull_requests.reference import Reference
from bot.domain.source.revisions import is_hash, is_tag

# the address of a comparison has two names of up to a hundred characters; nobody pastes a longer one by hand
MAX_LINK_LENGTH = 1_000
_REPOSITORY = r"/([\w.-]{1,100}/[\w.-]{1,100})"
_REST = r"(?:[/?#].*)?"
_PULL = re.compile(rf"{_REPOSITORY}/pull/([1-9]\d{{0,8}}){_REST}", re.ASCII)
_END = r"[\w+-](?:[\w+-]|\.(?!\.)){0,99}"
_COMPARE = re.compile(rf"{_REPOSITORY}/compare/({_END})\.{{2,3}}({_END}){_REST}", re.ASCII)


@dataclass(frozen=True, slots=True)
class CommitRange:
    """The commits of a repository after ``start`` up to ``end``: hashes, their beginnings, or tags."""

    repository: Repository
    start: str
    end: str

    def __str__(self) -> str:
        return f"{self.repository} {self.start}..{self.end}"


PreviewTarget: TypeAlias = Reference | CommitRange


def parse_preview_link(link: str, repositories: AllowedRepositories) -> PreviewTarget | None:
    """Return what a link of a message is about, None if it gets no preview.

    Only addresses that begin with that of GitHub's pages count: no other scheme, host, port or user, and nothing
    encoded in what is read of them. The rest of the address is ignored. Branches get no preview.
    """
    # Slack writes some characters of its messages as entities
    address = unescape(link)
    if len(link) > MAX_LINK_LENGTH or not address.startswith(f"{repositories.web}/"):
        return None
    path = address.removeprefix(repositories.web)
    try:
        if match := _PULL.fullmatch(path):
            return Reference(repositories.require_known(Repository.parse(match[1])), int(match[2]))
        match = _COMPARE.fullmatch(path)
        if match and all(is_hash(name) or is_tag(name) for name in match.group(2, 3)):
            return CommitRange(repositories.require_known(Repository.parse(match[1])), match[2], match[3])
    except UsageError:
        return None
    return None


def compute_link_fingerprint(target: PreviewTarget) -> str:
    """Return a short text that two links share only if they are about the same."""
    return hashlib.sha256(str(target).lower().encode()).hexdigest()[:20]
