"""What merges say that they revert, in their titles, descriptions and messages; and which reverts still hold."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import timedelta
from itertools import islice
from operator import attrgetter
from types import MappingProxyType
from typing import Generic, TypeVar

from impact.errors import attempt
from impact.history.mentions import Extent, Mention, Statement, compile_verb, find_statements, parse_statement
from impact.history.merges import WrittenMerge
from impact.text.description import extract_prose

M = TypeVar("M", bound=WrittenMerge)

# how long reverts are looked for after a day: four of five come within a week
WATCH_WINDOW = timedelta(days=7)


@dataclass(frozen=True, slots=True)
class Revert:
    """A pair of pull requests: ``by`` reverts ``number`` or, if ``is_partial``, a part of it."""

    number: int
    by: int
    is_partial: bool = False


def expand_pairs(numbers: Iterable[int], reverts: Iterable[Revert]) -> frozenset[int]:
    others: dict[int, list[int]] = {}
    for revert in reverts:
        others.setdefault(revert.number, []).append(revert.by)
        others.setdefault(revert.by, []).append(revert.number)
    connected, new = set(numbers), list(numbers)
    while new:
        more = {other for number in new for other in others.get(number, ())} - connected
        connected |= more
        new = list(more)
    return frozenset(connected)


def select_standing(reverts: Iterable[Revert], pulls: Iterable[WrittenMerge]) -> tuple[Revert, ...]:
    """Return the full and partial reverts that still hold: those that were not fully reverted themselves."""
    merged = {pull.number: (pull.merge_time, pull.number) for pull in pulls}
    held: list[Revert] = []
    gone: set[int] = set()
    for revert in sorted(reverts, key=lambda revert: merged[revert.by], reverse=True):
        if revert.by not in gone:
            held.append(revert)
            if not revert.is_partial:
                gone.add(revert.number)
    return tuple(held)


def list_reverted_numbers(held: Iterable[Revert]) -> frozenset[int]:
    return frozenset(revert.number for revert in held if not revert.is_partial)


# --- the claim of one pull request

_REVERT_WORDS = (
    r"(?:reverts?|reverting|reverted|roll(?:s|ing|ed)?[ -]?backs?|back(?:s|ing|ed)?[ -]?outs?|undo(?:es|ing)?"
    r"|undid|unlands?)"
)
_REVERT_VERB = compile_verb(_REVERT_WORDS)
_REVERT_HINT = re.compile(r"rever|back|und[oi]|unland", re.I)
# Each part of a pattern begins where the preceding one can't continue, so that no text makes the search slow.
_TITLE_TAGS = r"[^\w\[]*(?:\[[^\]]*\][^\w\[]*)*"
# an area in front, as in conventional commits: fix(core)!: …
_TITLE_AREA = r"(?:\w{1,30}(?:\([^()]{0,60}\))?!?:\s*)?"
_AFTER_VERB = r"(?:\([^()\"#]{0,60}\)!?:)?[\s:\u2013\u2014-]*"
_PARTIAL = r"(?:temporarily\s)?(?P<part>(?:partial(?:ly)?|partly|mostly)[\s-])?"
_REVERT_TITLE = re.compile(
    rf"{_TITLE_TAGS}{_TITLE_AREA}{_PARTIAL}{_REVERT_WORDS}\b{_AFTER_VERB}(?:of\s+(?=[\"\u201c'\u2018#]))?", re.I
)
_TAGGED_TITLE = re.compile(
    rf"[^\w\[]*(?:\[[^\]]*\]\s*)*?\[\s*{_PARTIAL}(?:revert|roll-?back|back-?out)\s*\][\s:\u2013\u2014-]*", re.I
)
_LATER_PART = re.compile(rf"(?:[:;,(\u2013\u2014]\s?|\s-\s|\b(?:and|by|then)\s){_PARTIAL}{_REVERT_WORDS}\s", re.I)
_CLOSING_QUOTES = {'"': '"\u201d', "\u201c": '"\u201d', "'": "'\u2019", "\u2018": "'\u2019", "«": "»"}
_AFTER_QUOTE = re.compile(r"\s*[(\[]?(?=#|PR)", re.I)
_PARTIAL_AFTER_QUOTE = re.compile(r"\bpartial(?:ly)?\b|\bin part\b|\bpartly\b", re.I)
_OTHER_OBJECT = re.compile(
    r"(?:back\s+)?to\b|(?P<planned>(?:(?:the|a|our)\s)?(?:temporary|temp|interim|stop-?gap|work-?around)\b)", re.I
)
# an unquoted title begins as titles do, not as a sentence goes on
_TITLE_BEGINNING = re.compile(r"\[|[A-Z][\w-]*\s|[a-z]+(?:\([^()]{0,60}\))?!?:\s")
_MIN_TITLE_LENGTH = 16
# a reland says so with these words, and may quote the revert
_RELAND_TITLE = re.compile(
    rf"{_TITLE_TAGS}{_TITLE_AREA}(?:(?:fix|fixes|fixed)\s+and\s+)?(?:re-?land(?:s|ed|ing)?|re-?appl(?:y|ies|ied|ying)|un-?reverts?)\b"
    rf"|[^\w\[]*(?:\[[^\]]*\]\s*)*?\[\s*(?:re-?land(?:ed)?|re-?appl(?:y|ied)|un-?revert(?:ed)?)\b[^\]]*\]",
    re.I,
)
# in the message of a merge commit only exact references to a pull request or commit count; it may join messages
# of the branch's own commits, of which one can revert another and the next undo that
_MESSAGE_VERB = re.compile(
    r"^(?:this )?reverts?(?= commits? [0-9a-f]{7}| [\w.-]{1,100}/[\w.-]{1,100}#\d)", re.I | re.M
)
# the reverted merge in the title that git gives to its revert
_MERGE_TITLE = re.compile(r"Merge (?:pull request|PR) #(\d{1,9})(?!\d)")
# the branch of GitHub's "Revert" button, as the message of its merge names it
_REVERT_BUTTON_BRANCH = re.compile(r"Merge pull request #\d{1,9} from [\w.-]{1,100}/revert-(\d{1,9})-")
_UNDONE_IN_BRANCH = re.compile(
    r'\n(?:- )?(?:re-?apply\s+["\u201c]|re-?land\s+["\u201c]|revert\s+["\u201c]revert\b)', re.I
)


@dataclass(slots=True)
class RevertClaim:
    """The claim of a pull request to revert others: by number or commit, or by one of several titles.

    Each reference comes with whether only a part is reverted. ``possible`` are commits that may belong to the
    pull request's own branch, ``planned`` are temporary changes that it ends.
    """

    exact: tuple[tuple[Mention, bool], ...] = ()
    possible: tuple[tuple[Mention, bool], ...] = ()
    titles: tuple[str, ...] = ()
    planned: frozenset[Mention] = frozenset()
    is_partial: bool = False

    @property
    def is_revert(self) -> bool:
        """Whether it says that it reverts another, without ``possible``, which these commits alone decide."""
        return bool(self.exact or self.titles)

    def add_statement(self, stated: Statement | None) -> None:
        if stated and stated.extent is Extent.PLANNED:
            self.planned |= set(stated.mentions)
        elif stated:
            self.exact += tuple((mention, stated.extent is Extent.PART) for mention in stated.mentions)


def parse_claim(pull: WrittenMerge) -> RevertClaim:
    """Return the claim of all texts; empty for a reland and the end of a temporary change. An index reads once."""
    if not any(_REVERT_HINT.search(text) for text in (pull.title, pull.body, pull.commit_message)):
        return RevertClaim()
    claim = RevertClaim()
    if is_reland_title(pull.title) or not _read_title(claim, pull.title):
        return RevertClaim()
    if _REVERT_HINT.search(pull.body):
        for stated in find_statements(extract_prose(pull.body), _REVERT_VERB):
            claim.add_statement(stated)
    _read_message(claim, pull.commit_message)
    button = _REVERT_BUTTON_BRANCH.match(pull.commit_message)
    if button and _REVERT_HINT.search(pull.title):
        claim.exact += ((Mention(number=int(button[1])), claim.is_partial),)
    claim.planned = frozenset(_remove_own_repository(mention, pull) for mention in claim.planned)
    named = ((_remove_own_repository(mention, pull), part) for mention, part in claim.exact)
    claim.exact = tuple(each for each in named if not each[0].repository and each[0] not in claim.planned)
    return claim


def _remove_own_repository(mention: Mention, pull: WrittenMerge) -> Mention:
    is_own = mention.repository.casefold() == str(pull.repository).casefold()
    return Mention(mention.number, mention.commit) if is_own and mention.web in ("", pull.web) else mention


def _read_title(claim: RevertClaim, title: str) -> bool:
    """Add the claims of a title; return False if it ends something temporary, which overrides all else."""
    match = _REVERT_TITLE.match(title) or _TAGGED_TITLE.match(title)
    if not match:
        _read_later_parts(claim, title)
        return True
    claim.is_partial, start = bool(match["part"]), match.end()
    if title[start : start + 1] in _CLOSING_QUOTES:
        _read_quoted(claim, title[start:])
        return True
    stated = parse_statement(title, start, is_part=claim.is_partial, is_title=True)
    claim.add_statement(stated)
    rest = title[start:].strip()
    other = _OTHER_OBJECT.match(rest)
    if not stated and not other and len(rest) >= _MIN_TITLE_LENGTH and _TITLE_BEGINNING.match(rest):
        claim.titles = (rest,)
    return not (other and other["planned"])


def _read_quoted(claim: RevertClaim, text: str) -> None:
    """Add what ``"A"`` or ``"A" and "B"`` claims, with quotation marks that are nested or never close."""
    inside, closing = text[1:], _CLOSING_QUOTES[text[0]]
    last = max(inside.rfind(mark) for mark in closing)
    quoted, behind = (inside[:last], inside[last + 1 :]) if last > 0 else (inside, "")
    claim.is_partial |= bool(_PARTIAL_AFTER_QUOTE.search(behind))
    claim.titles = tuple(dict.fromkeys((quoted.strip(), inside.strip())))
    if merge := _MERGE_TITLE.match(inside):
        claim.exact += ((Mention(number=int(merge[1])), claim.is_partial),)
    if _AFTER_QUOTE.match(behind):
        claim.add_statement(parse_statement(f" {behind.lstrip(' ([')}", 0, is_part=claim.is_partial))


def _read_later_parts(claim: RevertClaim, title: str) -> None:
    """Add the claims of a later part, as in ``Fix the counter and revert #5``: only direct objects count."""
    for match in _LATER_PART.finditer(title):
        part = bool(match["part"])
        if title[match.end() : match.end() + 1] in _CLOSING_QUOTES:
            claim.is_partial = part
            _read_quoted(claim, title[match.end() :])
            return
        stated = parse_statement(title, match.end(), is_part=part)
        claim.add_statement(stated if stated and (part or stated.extent is not Extent.PART) else None)


def _read_message(claim: RevertClaim, message: str) -> None:
    if not _REVERT_HINT.search(message):
        return
    text = extract_prose(message)
    if _UNDONE_IN_BRANCH.search(text):
        return
    for match in _MESSAGE_VERB.finditer(text):
        stated = parse_statement(text, match.end())
        if stated and stated.mentions[0].commit and "\n- " in text:
            claim.possible += tuple((mention, False) for mention in stated.mentions)
        else:
            claim.add_statement(stated)


def is_revert(pull: WrittenMerge) -> bool:
    """Return whether a pull request says that it reverts another, by parsing its claim."""
    return parse_claim(pull).is_revert


def is_reland_title(title: str) -> bool:
    """Return whether a title begins as that of a reland: "Reland X", ``Reapply "X"``, "[Reland] X"."""
    return bool(_RELAND_TITLE.match(title))


# --- the reverts among many

_OWN_NUMBER = re.compile(r"\s?\(#\d{1,9}\)\Z")
_MAX_NUMBER_LENGTH = 13  # characters that it matches
_QUOTES = str.maketrans({"\u201c": '"', "\u201d": '"', "\u2018": "'", "\u2019": "'", "`": None, "\\": None})
_MIN_HASH_LENGTH = 7
# characters: a truncated title identifies a change only if it is long enough
_MIN_BEGINNING_LENGTH = 30
_MAX_SAME_TITLE = 50
_TITLE_SEPARATOR = re.compile(r"[\"\u201d],? (?:and|&) [\"\u201c]")
_LAST_NUMBER = re.compile(r"\(?#(?P<number>\d{1,9})\)?$")
# the words of a temporary change about itself
_TEMPORARY_TITLE = re.compile(
    r"\btemporarily\b|[\[(]\s*(?:temp|tmp|temporary)\s*[\])]|\btemporary\s+(?:fix|work-?around|pin|hack|patch|solution|"
    r"change|measure|skip|revert|mitigation|bump|disabl)|\bwork-?around\s+(?:until|till)\b|\bto be reverted\b",
    re.I,
)
_TEMPORARY_BODY = re.compile(
    r"^(?:- )?temporarily\b|\bthis(?: PR| pull request| change| commit| patch)? (?:(?:is|was) (?:only |just )?"
    r"(?:meant to be )?(?:an? )?temporary\b|(?:only )?temporarily\b)|\bwork-?around (?:until|till)\b"
    r"|\bto be reverted (?:once|when|after|as soon|later|before|in|by)\b"
    r"|\b(?:will|should|must|shall)(?: be)? revert(?:ed| this| it)(?: back)? (?:once|when|after|as soon|later)\b",
    re.I | re.M,
)
_TEMPORARY_HINT = re.compile(r"tempora|work-?around|revert", re.I)


def build_title_key(title: str) -> str:
    """Return a key that is equal for equivalent titles, without the number that GitHub appends."""
    key = _build_numbered_key(title)
    end = len(key)
    # from the end: a search from the front takes quadratic time for a row of numbers
    while match := _OWN_NUMBER.search(key, max(0, end - _MAX_NUMBER_LENGTH), end):
        end = match.start()
    return key[:end]


def _build_numbered_key(title: str) -> str:
    return " ".join(title.translate(_QUOTES).split()).casefold()


def _list_keys(title: str) -> set[str]:
    return {build_title_key(title), _build_numbered_key(title)}


class RevertIndex(Generic[M]):
    """An index of merges in which the texts of each are searched once for what it reverts.

    All that looks for reverts, relands and repairs among the same merges shares one index. It is built in linear
    time except for sorts. Pull requests keep the order in which they are passed.
    """

    def __init__(self, pulls: Iterable[M], claims: Mapping[int, RevertClaim] = MappingProxyType({})) -> None:
        """``claims`` are those of pull requests by number that are parsed already; the others are parsed."""
        self.by_number = {pull.number: pull for pull in pulls}
        self._by_title: dict[str, list[M]] = defaultdict(list)
        self._by_commit: dict[str, list[M]] = defaultdict(list)
        for pull in sorted(self.by_number.values(), key=lambda pull: (pull.merge_time, pull.number)):
            for key in attempt(f"#{pull.number}", _list_keys, pull.title) or ():
                self._by_title[key].append(pull)
            if pull.merge_commit:
                self._by_commit[pull.merge_commit[:_MIN_HASH_LENGTH]].append(pull)
        self._titles = sorted(self._by_title)
        self.claims = {
            n: claims.get(n) or attempt(f"#{n}", parse_claim, each) or RevertClaim()
            for n, each in self.by_number.items()
        }
        self._by = {n: attempt(f"#{n}", self._find_reverts_by, pull) or () for n, pull in self.by_number.items()}

    @property
    def reverts(self) -> tuple[Revert, ...]:
        """The reverts within the index: not other quoted numbers, nor the end of a temporary change."""
        return tuple(revert for reverts in self._by.values() for revert in reverts)

    def is_revert(self, number: int) -> bool:
        """Return whether a pull request of the index says that it reverts another. Raise KeyError for others."""
        return self.claims[number].is_revert

    def list_reverts_by(self, number: int) -> tuple[Revert, ...]:
        """Return the reverts that a pull request of the index makes, by number. Raise KeyError for others."""
        return self._by[number]

    def select(self, numbers: Iterable[int]) -> RevertIndex[M]:
        """Return the index of some of the merges; no text is parsed again."""
        return RevertIndex([self.by_number[number] for number in numbers], self.claims)

    def find_mentioned(self, mention: Mention, by: WrittenMerge) -> M | None:
        """Return the pull request that ``by`` mentions if it is of the same repository and was merged before."""
        own = f"{by.web}/{by.repository}".casefold()
        if f"{mention.web or by.web}/{mention.repository or by.repository}".casefold() != own:
            return None
        pull = self.by_number.get(mention.number)
        if not mention.number:
            candidates = self._by_commit.get(mention.commit[:_MIN_HASH_LENGTH], ())
            matches = [each for each in candidates if (each.merge_commit or "").startswith(mention.commit)]
            pull = matches[0] if len(matches) == 1 else None
        return pull if pull and pull.merge_time < by.merge_time else None

    def find_titled(self, title: str, by: WrittenMerge) -> tuple[M, ...]:
        """Return earlier merges of a title, oldest first; of a long one that is cut, the only one."""
        cut = title.rstrip()
        if not cut.endswith(("…", "...")):
            # a number at the end of a title may be part of it
            numbered = self._list_before(_build_numbered_key(title), by)
            return numbered or self._list_before(build_title_key(title), by)
        key = build_title_key(cut.rstrip(".…").rstrip(" ("))
        if len(key) < _MIN_BEGINNING_LENGTH:
            return ()
        start = bisect_left(self._titles, key)
        titles = list(islice(self._titles, start, start + _MAX_SAME_TITLE))
        groups = [same for each in titles if each.startswith(key) and (same := self._list_before(each, by))]
        return groups[0] if len({build_title_key(pulls[-1].title) for pulls in groups}) == 1 else ()

    def _list_before(self, key: str, by: WrittenMerge) -> tuple[M, ...]:
        pulls = self._by_title.get(key, ())
        # a bot may use the same title very often: the last few are enough
        count = bisect_left(pulls, by.merge_time, key=attrgetter("merge_time"))
        return tuple(pulls[max(0, count - _MAX_SAME_TITLE) : count])

    def _find_reverts_by(self, pull: M) -> tuple[Revert, ...]:
        claim = self.claims[pull.number]
        partial_by_number: dict[int, bool] = {}
        for mention, is_partial in (*claim.exact, *claim.possible):
            if target := self.find_mentioned(mention, pull):
                partial_by_number[target.number] = partial_by_number.get(target.number, False) or is_partial
        for titled in self._resolve_titles(claim.titles, pull, is_exact=bool(partial_by_number)):
            partial_by_number.setdefault(titled.number, claim.is_partial)
        planned = {target.number for each in claim.planned if (target := self.find_mentioned(each, pull))}
        return tuple(
            Revert(number, pull.number, partial_by_number[number] or claim.is_partial)
            for number in sorted(partial_by_number.keys() - planned)
            if not self._is_temporary(number)
        )

    def _is_temporary(self, number: int) -> bool:
        """Return whether a change calls itself temporary. A revert never counts: its revert is a reland."""
        pull = self.by_number[number]
        says_so = _TEMPORARY_TITLE.search(pull.title) or (
            _TEMPORARY_HINT.search(pull.body) and _TEMPORARY_BODY.search(extract_prose(pull.body))
        )
        return bool(says_so) and not self.is_revert(number)

    def _resolve_titles(self, titles: tuple[str, ...], by: M, *, is_exact: bool) -> list[M]:
        """Return the pull request meant by the first title that has a match, else by the parts of the first title.

        With ``is_exact``, others are mentioned by number or commit.
        """
        for title in titles:
            if target := self._resolve_title(title, by, is_exact=is_exact):
                return [target]
        parts = _TITLE_SEPARATOR.split(titles[0]) if titles else ()
        return [target for part in parts if (target := self._resolve_title(part, by, is_exact=is_exact))]

    def _resolve_title(self, title: str, by: M, *, is_exact: bool) -> M | None:
        # titles are not unique ("Bump version"): if there is an exact reference, the title must be unambiguous too
        like = self.find_titled(title, by)
        is_verbatim = any(_build_numbered_key(pull.title) == _build_numbered_key(title) for pull in like)
        number = None if is_verbatim else _LAST_NUMBER.search(title)
        numbered = self.find_mentioned(Mention(int(number["number"])), by) if number else None
        if not is_exact:
            return numbered or (like[-1] if like else None)
        if numbered:
            return numbered if build_title_key(numbered.title) == build_title_key(title) else None
        return like[0] if len(like) == 1 else None
