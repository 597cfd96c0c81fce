"""What became of merges, by what the texts of later ones say: reverts, repairs and relands."""

from __future__ import annotations

import re
import threading
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from bot.platform.pulls.models import PullRequest
from impact.errors import attempt
from impact.history import outcomes, reverts
from impact.history.mentions import Extent, Statement, compile_verb, find_statements, parse_statement
from impact.history.reverts import Revert, RevertClaim, build_title_key, is_reland_title, parse_claim
from impact.text.description import extract_prose

RevertIndex = reverts.RevertIndex[PullRequest]
MergeOutcome = outcomes.MergeOutcome[PullRequest]
# texts: two years of a busy repository, in some megabytes
_MAX_TEXTS = 20_000


class ClaimMemory:
    """Claims of pull requests by the texts that they were parsed from. The oldest ones are dropped.

    Another text of the same pull request is parsed, such as its recorded copy, which may be cut.
    """

    def __init__(self, most: int = _MAX_TEXTS) -> None:
        self._most = most
        self._claims: dict[int, RevertClaim] = {}
        self._lock = threading.Lock()

    def get_claim(self, pull: PullRequest) -> RevertClaim:
        # the texts of months would take most of the memory
        repository = pull.repository
        key = hash((pull.web, repository.owner, repository.name, pull.title, pull.body, pull.commit_message))
        with self._lock:
            claim = self._claims.get(key)
            if claim is None:
                claim = self._claims[key] = parse_claim(pull)
                if len(self._claims) > self._most:
                    del self._claims[next(iter(self._claims))]
        return claim

    def index_pulls(self, pulls: Iterable[PullRequest]) -> RevertIndex:
        merges = tuple(pulls)
        return RevertIndex(merges, {pull.number: self.get_claim(pull) for pull in merges})


_RELAND_WORDS = (
    r"(?:re-?land(?:s|ed|ing)?|re-?appl(?:y|ies|ied|ying)|un-?revert(?:s|ed)?"
    r"|(?:second|third|2nd|3rd|another|new|next|fresh)\s(?:attempt|try|take)(?:\s(?:at|on|to\s(?:re-?)?(?:land|merge)))?"
    r"|(?:take|attempt)\s(?:\d|two|three))"
)
# these words have other meanings too: they count if the pull request that they name was reverted
_REPEAT_WORDS = (
    r"(?:re-?introduc(?:es?|ed|ing)|re-?instat(?:es?|ing)|re-?submit(?:s|ted)?|re-?do(?:es|ing)?|re-?merges?|re-?try"
    r"|re-?adds?|re-?enables?|restores?|brings?\sback)"
)
_RELAND_VERB, _REPEAT_VERB = compile_verb(_RELAND_WORDS), compile_verb(_REPEAT_WORDS)
_RELAND_HINT = re.compile(
    r"\bre-?(?:land|appl|intro|inst|sub|do|merge|try|add|enab|stor)|\bun-?revert|\battempt|\btry\b|\btake\b|\bbring",
    re.I,
)
# the words before a title that mark a reland, as a tag or as the verb of the title itself
_TITLE_LEAD = re.compile(
    rf"[\[(]\s*(?:{_RELAND_WORDS}|{_REPEAT_WORDS}|try\s?\d|\d(?:nd|rd|th)\s(?:try|attempt)|v\d)\b[^\])]{{0,20}}[\])][\s:\u2013\u2014-]*"
    rf"|(?:(?:fix|fixes|fixed)\sand\s)?(?:{_RELAND_WORDS}|{_REPEAT_WORDS})\b(?:\^\d|\s?x?\d\b)?(?:\sof\b)?[\s:\u2013\u2014-]*",
    re.I,
)
_TITLE_TAG = re.compile(r"\[[^\]]{0,60}\]\s*|\w{1,30}(?:\([^()]{0,60}\))?!?:\s*")
# words after a title: take 2, v2, 2nd try, fix for reverted PR
_TITLE_TAIL = re.compile(
    r"\((?=[^()]*\b(?:take|try|attempt|re-?land(?:ed)?|re-?appl(?:y|ied)|revert(?:ed)?|again|v\d)\b)"
    r"[^()]*\)$|[,:\u2013\u2014-]?\s(?:(?:take|try|attempt)\s(?:\d|two|three)|v[2-9]|again)$",
    re.I,
)
_MAX_TITLE_PREFIXES = 4
# characters: shorter titles such as "Fix typo" do not identify a change
_MIN_TITLE_LENGTH = 16
_MAX_ATTEMPTS = 50


@dataclass(frozen=True, slots=True)
class Attempt:
    """An earlier pull request of a change, and the number of its revert; None if that is unknown."""

    number: int
    reverted_by: int | None


@dataclass(frozen=True, slots=True)
class Reland:
    """A merge that lands a change again. ``attempts`` are the earlier ones, oldest first, at least one."""

    number: int
    attempts: tuple[Attempt, ...]


def find_relands(index: RevertIndex) -> tuple[Reland, ...]:
    """Return the relands among the merges of an index, in the order of the merges.

    A reland says so, reverts a revert, or has the title of a change whose earlier attempts were all reverted.
    The time is linear except for sorts. Of the attempts of one change only the last 50 are returned.
    """
    history = _RelandHistory(index)
    relands = (attempt(f"#{pull.number}", history.process_next, pull) for pull in history.pulls)
    return tuple(filter(None, relands))


def build_change_key(title: str) -> str:
    """Return a key that is equal for the titles of all attempts: without "[Reland]", "(take 2)" and the like."""
    text = build_title_key(title)
    for _ in range(_MAX_TITLE_PREFIXES):
        before = text
        if lead := _match_lead(text):
            text = text[: lead.start()] + text[lead.end() :]
        text = _TITLE_TAIL.sub("", build_title_key(text)).strip()
        text = text.removeprefix('"').removesuffix('"') if text.startswith('"') else text
        if text == before:
            break
    return text


def _match_lead(title: str) -> re.Match[str] | None:
    at = 0
    while not (lead := _TITLE_LEAD.match(title, at)):
        tag = _TITLE_TAG.match(title, at)
        if not tag:
            return None
        at = tag.end()
    return lead


class _RelandHistory:
    """The merges up to a pull request, by change. Each change is a list of its attempts in order."""

    def __init__(self, index: RevertIndex) -> None:
        self._index = index
        self.pulls = tuple(sorted(self._index.by_number.values(), key=lambda each: (each.merge_time, each.number)))
        self._order = {pull.number: at for at, pull in enumerate(self.pulls)}
        self._taken_back: dict[int, Revert] = {}
        self._landing: set[int] = set()
        self._changes: dict[int, list[int]] = {}
        self._by_title: dict[str, list[PullRequest]] = {}

    def process_next(self, pull: PullRequest) -> Reland | None:
        own = self._index.list_reverts_by(pull.number)
        origins = self._find_origins(pull, own)
        attempts = [
            Attempt(number, last_revert.by if last_revert else None)
            for number in self._join_changes(origins, pull.number)
            if (last_revert := self._taken_back.get(number)) or number in origins
        ]
        self._taken_back.update({revert.number: revert for revert in own})
        self._by_title.setdefault(build_change_key(pull.title), []).append(pull)
        if not attempts:
            return None
        self._landing.add(pull.number)
        return Reland(pull.number, tuple(attempts))

    def _find_origins(self, pull: PullRequest, own: tuple[Revert, ...]) -> set[int]:
        reverted = {revert.number for revert in own}
        undone = (each.number for each in own if not each.is_partial)
        restored = {
            each for number in undone for each in self._list_reverted(number) if not self._is_plain_revert(each)
        }
        origins = restored | self._find_stated_origins(pull)
        if not origins and (same := self._find_by_title(pull)) and not self._index.is_revert(pull.number):
            origins = same
        return origins - reverted

    def _find_stated_origins(self, pull: PullRequest) -> set[int]:
        """Return the pull requests that title or description names; for a revert, those that it reverted."""
        prose = extract_prose(pull.body) if _RELAND_HINT.search(pull.body) else ""
        is_titled = is_reland_title(pull.title)
        certain = self._resolve_origins(_iterate_statements(pull, prose, _RELAND_VERB, is_titled), pull)
        possible = self._resolve_origins(_iterate_statements(pull, prose, _REPEAT_VERB, not is_titled), pull)
        return certain | {number for number in possible if number in self._taken_back}

    def _resolve_origins(self, statements: Iterable[Statement], by: PullRequest) -> set[int]:
        mentions = (
            each
            for statement in statements
            if statement.extent is not Extent.PLANNED
            for each in statement.mentions
        )
        named = {pull.number for mention in mentions if (pull := self._index.find_mentioned(mention, by))}
        return {
            origin
            for number in named
            for origin in (self._list_reverted(number) if self._is_plain_revert(number) else ()) or {number}
        }

    def _list_reverted(self, number: int) -> set[int]:
        return {revert.number for revert in self._index.list_reverts_by(number)}

    def _is_plain_revert(self, number: int) -> bool:
        """Return whether a pull request is a revert and not a reland."""
        # the revert of a revert is an attempt of the original change
        return number not in self._landing and self._index.is_revert(number)

    def _find_by_title(self, pull: PullRequest) -> set[int]:
        """Return the last attempt of that title. All must have been reverted, unless the title says "reland"."""
        key = build_change_key(pull.title)
        tries = [
            each for each in self._by_title.get(key, ())[-_MAX_ATTEMPTS:] if each.merge_time < pull.merge_time
        ]
        if is_reland_title(pull.title):
            tries = tries or [
                each for name in (_TITLE_TAG.sub("", key), key) for each in self._index.find_titled(name, pull)
            ]
        elif len(key) < _MIN_TITLE_LENGTH or any(each.number not in self._taken_back for each in tries):
            return set()
        return {tries[-1].number} if tries else set()

    def _join_changes(self, origins: set[int], number: int) -> list[int]:
        """Return the earlier attempts of the change of ``number``; join changes that turn out to be the same."""
        changes = {id(change): change for each in origins if (change := self._changes.setdefault(each, [each]))}
        together = max(changes.values(), key=len, default=[])
        for change in changes.values():
            if change is not together:
                together += change
                self._changes.update(dict.fromkeys(change, together))
        if len(changes) > 1:
            together.sort(key=lambda each: self._order[each])
        self._changes[number] = together
        together.append(number)
        return together[-_MAX_ATTEMPTS - 1 : -1]


def _iterate_statements(
    pull: PullRequest,
    prose: str,
    says: re.Pattern[str],
    is_titled: bool,  # noqa: FBT001
) -> Iterator[Statement]:
    lead = _match_lead(pull.title) if is_titled else None
    if lead and (in_title := parse_statement(pull.title, lead.end(), is_title=True)):
        yield in_title
    yield from find_statements(prose, says)
