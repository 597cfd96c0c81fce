"""Relands: pull requests that merge a reverted change again, with the earlier attempts."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from bot.domain.history.mentions import Extent, Statement, statement, statements, verb
from bot.domain.history.merge_index import Earlier, title_key
from bot.domain.history.revert_claims import lands_again
from bot.domain.history.reverts import Revert, is_revert, reverts_in
from bot.domain.pull_requests.models import PullRequest
from bot.domain.text.description import prose

_LANDS = (
    r"(?:re-?land(?:s|ed|ing)?|re-?appl(?:y|ies|ied|ying)|un-?revert(?:s|ed)?"
    r"|(?:second|third|2nd|3rd|another|new|next|fresh)\s(?:attempt|try|take)(?:\s(?:at|on|to\s(?:re-?)?(?:land|merge)))?"
    r"|(?:take|attempt)\s(?:\d|two|three))"
)
# these words have other meanings too: they count if the pull request that they name was reverted
_REPEATS = (
    r"(?:re-?introduc(?:es?|ed|ing)|re-?instat(?:es?|ing)|re-?submit(?:s|ted)?|re-?do(?:es|ing)?|re-?merges?|re-?try"
    r"|re-?adds?|re-?enables?|restores?|brings?\sback)"
)
_SAYS, _MAY_MEAN = verb(_LANDS), verb(_REPEATS)
_HINT = re.compile(
    r"\bre-?(?:land|appl|intro|inst|sub|do|merge|try|add|enab|stor)|\bun-?revert|\battempt|\btry\b|\btake\b|\bbring",
    re.I,
)
# the words before a title that mark a reland, as a tag or as the verb of the title itself
_LEAD = re.compile(
    rf"[\[(]\s*(?:{_LANDS}|{_REPEATS}|try\s?\d|\d(?:nd|rd|th)\s(?:try|attempt)|v\d)\b[^\])]{{0,20}}[\])][\s:\u2013\u2014-]*"
    rf"|(?:(?:fix|fixes|fixed)\sand\s)?(?:{_LANDS}|{_REPEATS})\b(?:\^\d|\s?x?\d\b)?(?:\sof\b)?[\s:\u2013\u2014-]*",
    re.I,
)
_TAG = re.compile(r"\[[^\]]{0,60}\]\s*|\w{1,30}(?:\([^()]{0,60}\))?!?:\s*")
# words after a title: take 2, v2, 2nd try, fix for reverted PR
_TAIL = re.compile(
    r"\((?=[^()]*\b(?:take|try|attempt|re-?land(?:ed)?|re-?appl(?:y|ied)|revert(?:ed)?|again|v\d)\b)"
    r"[^()]*\)$|[,:\u2013\u2014-]?\s(?:(?:take|try|attempt)\s(?:\d|two|three)|v[2-9]|again)$",
    re.I,
)
_MOST_WORDS = 4
# characters: shorter titles such as "Fix typo" do not identify a change
_SHORTEST_TITLE = 16
_MOST_TRIES = 50


@dataclass(frozen=True, slots=True)
class Try:
    """An earlier pull request of a change, and the number of its revert; None if that is unknown."""

    number: int
    reverted_by: int | None


@dataclass(frozen=True, slots=True)
class Reland:
    """A merge that lands a change again. ``tries`` are the earlier attempts, oldest first, at least one."""

    number: int
    tries: tuple[Try, ...]


def relands_among(pulls: Iterable[PullRequest]) -> tuple[Reland, ...]:
    """Return the relands of earlier ``pulls``, in the order of their merges.

    A reland says so, reverts a revert, or has the title of a change whose earlier attempts were all reverted.
    The time is linear except for sorts. Of the attempts of one change only the last 50 are returned.
    """
    history = _History(pulls)
    return tuple(reland for pull in history.pulls if (reland := history.next(pull)))


def change_key(title: str) -> str:
    """Return a key that is equal for the titles of all attempts: without "[Reland]", "(take 2)" and the like."""
    text = title_key(title)
    for _ in range(_MOST_WORDS):
        before = text
        if lead := _lead(text):
            text = text[: lead.start()] + text[lead.end() :]
        text = _TAIL.sub("", title_key(text)).strip()
        text = text.removeprefix('"').removesuffix('"') if text.startswith('"') else text
        if text == before:
            break
    return text


def _lead(title: str) -> re.Match[str] | None:
    at = 0
    while not (lead := _LEAD.match(title, at)):
        tag = _TAG.match(title, at)
        if not tag:
            return None
        at = tag.end()
    return lead


class _History:
    """The merges up to a pull request, by change. Each change is a list of its attempts in order."""

    def __init__(self, pulls: Iterable[PullRequest]) -> None:
        self._earlier = Earlier(pulls)
        self.pulls = tuple(
            sorted(self._earlier.by_number.values(), key=lambda each: (each.merge_time, each.number))
        )
        self._order = {pull.number: at for at, pull in enumerate(self.pulls)}
        self._reverts: dict[int, tuple[Revert, ...]] = {}
        self._taken_back: dict[int, Revert] = {}
        self._landing: set[int] = set()
        self._changes: dict[int, list[int]] = {}
        self._by_title: dict[str, list[PullRequest]] = {}

    def next(self, pull: PullRequest) -> Reland | None:
        """Process the next pull request in order; return its reland, if it is one."""
        own = self._reverts[pull.number] = reverts_in(pull, self._earlier)
        origins = self._origins(pull, own)
        attempts = [
            Try(number, last_revert.by if last_revert else None)
            for number in self._joined(origins, pull.number)
            if (last_revert := self._taken_back.get(number)) or number in origins
        ]
        self._taken_back.update({revert.number: revert for revert in own})
        self._by_title.setdefault(change_key(pull.title), []).append(pull)
        if not attempts:
            return None
        self._landing.add(pull.number)
        return Reland(pull.number, tuple(attempts))

    def _origins(self, pull: PullRequest, own: tuple[Revert, ...]) -> set[int]:
        reverted = {revert.number for revert in own}
        undone = (each.number for each in own if not each.is_partial)
        restored = {each for number in undone for each in self._undid(number) if not self._only_reverts(each)}
        origins = restored | self._said(pull)
        if not origins and (same := self._of_title(pull)) and not is_revert(pull):
            origins = same
        return origins - reverted

    def _said(self, pull: PullRequest) -> set[int]:
        """Return the pull requests that title or description names; for a revert, those that it reverted."""
        certain = self._landed(self._stated(pull, _SAYS, lands_again(pull.title)), pull)
        possible = self._landed(self._stated(pull, _MAY_MEAN, not lands_again(pull.title)), pull)
        return certain | {number for number in possible if number in self._taken_back}

    def _stated(self, pull: PullRequest, says: re.Pattern[str], is_titled: bool) -> Iterator[Statement]:  # noqa: FBT001
        lead = _lead(pull.title) if is_titled else None
        if lead and (in_title := statement(pull.title, lead.end(), is_title=True)):
            yield in_title
        if _HINT.search(pull.body):
            yield from statements(prose(pull.body), says)

    def _landed(self, statements: Iterable[Statement], by: PullRequest) -> set[int]:
        mentions = (
            each
            for statement in statements
            if statement.extent is not Extent.PLANNED
            for each in statement.mentions
        )
        named = {pull.number for mention in mentions if (pull := self._earlier.named(mention, by))}
        return {
            origin
            for number in named
            for origin in (self._undid(number) if self._only_reverts(number) else ()) or {number}
        }

    def _undid(self, number: int) -> set[int]:
        return {revert.number for revert in self._reverts[number]}

    def _only_reverts(self, number: int) -> bool:
        """Return whether a pull request is a revert and not a reland.

        The revert of a revert is an attempt of the original change.
        """
        return number not in self._landing and is_revert(self._earlier.by_number[number])

    def _of_title(self, pull: PullRequest) -> set[int]:
        """Return the last attempt with the same title.

        Unless the title says that it is a reland, all attempts must have been reverted.
        """
        key = change_key(pull.title)
        tries = [each for each in self._by_title.get(key, ())[-_MOST_TRIES:] if each.merge_time < pull.merge_time]
        if lands_again(pull.title):
            tries = tries or [
                each for name in (_TAG.sub("", key), key) for each in self._earlier.titled(name, pull)
            ]
        elif len(key) < _SHORTEST_TITLE or any(each.number not in self._taken_back for each in tries):
            return set()
        return {tries[-1].number} if tries else set()

    def _joined(self, origins: set[int], number: int) -> list[int]:
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
        return together[-_MOST_TRIES - 1 : -1]
