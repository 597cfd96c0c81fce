"""Claims of a pull request to revert others, in its title, its description and its merge commit message."""

from __future__ import annotations

import re
from dataclasses import dataclass

from impact.history.mentions import Extent, Mention, Statement, compile_verb, find_statements, parse_statement
from impact.history.merges import WrittenMerge
from impact.text.description import extract_prose

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
