"""Claims of a pull request to revert others, in its title, its description and its merge commit message."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from bot.domain.history.mentions import Extent, Mention, Statement, statement, statements, verb
from bot.domain.pull_requests.models import PullRequest
from bot.domain.text.description import prose

_WORDS = (
    r"(?:reverts?|reverting|reverted|roll(?:s|ing|ed)?[ -]?backs?|back(?:s|ing|ed)?[ -]?outs?|undo(?:es|ing)?"
    r"|undid|unlands?)"
)
_SAYS = verb(_WORDS)
_MAY_SAY = re.compile(r"rever|back|und[oi]|unland", re.I)
# Each part of a pattern begins where the preceding one can't continue, so that no text makes the search slow.
_TAGS = r"[^\w\[]*(?:\[[^\]]*\][^\w\[]*)*"
# an area in front, as in conventional commits: fix(core)!: …
_AREA = r"(?:\w{1,30}(?:\([^()]{0,60}\))?!?:\s*)?"
_AFTER = r"(?:\([^()\"#]{0,60}\)!?:)?[\s:\u2013\u2014-]*"
_PART = r"(?:temporarily\s)?(?P<part>(?:partial(?:ly)?|partly|mostly)[\s-])?"
_TITLE = re.compile(rf"{_TAGS}{_AREA}{_PART}{_WORDS}\b{_AFTER}(?:of\s+(?=[\"\u201c'\u2018#]))?", re.I)
_TAGGED = re.compile(
    rf"[^\w\[]*(?:\[[^\]]*\]\s*)*?\[\s*{_PART}(?:revert|roll-?back|back-?out)\s*\][\s:\u2013\u2014-]*", re.I
)
_WITHIN = re.compile(rf"(?:[:;,(\u2013\u2014]\s?|\s-\s|\b(?:and|by|then)\s){_PART}{_WORDS}\s", re.I)
_CLOSING = {'"': '"\u201d', "\u201c": '"\u201d', "'": "'\u2019", "\u2018": "'\u2019", "«": "»"}
_BEHIND = re.compile(r"\s*[(\[]?(?=#|PR)", re.I)
_PART_BEHIND = re.compile(r"\bpartial(?:ly)?\b|\bin part\b|\bpartly\b", re.I)
_NO_TITLE = re.compile(
    r"(?:back\s+)?to\b|(?P<planned>(?:(?:the|a|our)\s)?(?:temporary|temp|interim|stop-?gap|work-?around)\b)", re.I
)
# an unquoted title begins as titles do, not as a sentence goes on
_LIKE_A_TITLE = re.compile(r"\[|[A-Z][\w-]*\s|[a-z]+(?:\([^()]{0,60}\))?!?:\s")
_SHORTEST_TITLE = 16
# a reland says so with these words, and may quote the revert
_AGAIN = re.compile(
    rf"{_TAGS}{_AREA}(?:(?:fix|fixes|fixed)\s+and\s+)?(?:re-?land(?:s|ed|ing)?|re-?appl(?:y|ies|ied|ying)|un-?reverts?)\b"
    rf"|[^\w\[]*(?:\[[^\]]*\]\s*)*?\[\s*(?:re-?land(?:ed)?|re-?appl(?:y|ied)|un-?revert(?:ed)?)\b[^\]]*\]",
    re.I,
)
# in the message of a merge commit only exact references to a pull request or commit count; it may join messages
# of the branch's own commits, of which one can revert another and the next undo that
_IN_MESSAGE = re.compile(
    r"^(?:this )?reverts?(?= commits? [0-9a-f]{7}| [\w.-]{1,100}/[\w.-]{1,100}#\d)", re.I | re.M
)
# the reverted merge in the title that git gives to its revert
_OF_MERGE = re.compile(r"Merge (?:pull request|PR) #(\d{1,9})(?!\d)")
# the branch of GitHub's "Revert" button, as the message of its merge names it
_BUTTON = re.compile(r"Merge pull request #\d{1,9} from [\w.-]{1,100}/revert-(\d{1,9})-")
_TAKEN_BACK_WITHIN = re.compile(
    r'\n(?:- )?(?:re-?apply\s+["\u201c]|re-?land\s+["\u201c]|revert\s+["\u201c]revert\b)', re.I
)


@dataclass(slots=True)
class Claim:
    """What a pull request claims to revert: by number or commit, or by one of several titles.

    ``perhaps`` are commits that may belong to its own branch.
    """

    named: list[tuple[Mention, bool]] = field(default_factory=list)
    perhaps: list[tuple[Mention, bool]] = field(default_factory=list)
    titles: tuple[str, ...] = ()
    planned: set[Mention] = field(default_factory=set)
    is_partial: bool = False

    def add(self, stated: Statement | None) -> None:
        """Add the references of a statement, if there is one."""
        if stated and stated.extent is Extent.PLANNED:
            self.planned.update(stated.mentions)
        elif stated:
            self.named += [(mention, stated.extent is Extent.PART) for mention in stated.mentions]


def claim_of(pull: PullRequest) -> Claim:
    """Return the claim of a pull request; it is empty for a reland and for the end of a temporary change."""
    claim = Claim()
    if not any(_MAY_SAY.search(text) for text in (pull.title, pull.body, pull.commit_message)):
        return claim
    if lands_again(pull.title) or not _read_title(claim, pull.title):
        return Claim()
    if _MAY_SAY.search(pull.body):
        for stated in statements(prose(pull.body), _SAYS):
            claim.add(stated)
    _read_message(claim, pull.commit_message)
    button = _BUTTON.match(pull.commit_message)
    if button and _MAY_SAY.search(pull.title):
        claim.named.append((Mention(number=int(button[1])), claim.is_partial))
    claim.planned = {_at_home(mention, pull) for mention in claim.planned}
    named = ((_at_home(mention, pull), part) for mention, part in claim.named)
    claim.named = [each for each in named if not each[0].repository and each[0] not in claim.planned]
    return claim


def _at_home(mention: Mention, pull: PullRequest) -> Mention:
    is_own = mention.repository.casefold() == str(pull.repository).casefold()
    return Mention(mention.number, mention.commit) if is_own and mention.web in ("", pull.web) else mention


def _read_title(claim: Claim, title: str) -> bool:
    """Add the claims of a title; return False if it ends something temporary, which overrides all else."""
    match = _TITLE.match(title) or _TAGGED.match(title)
    if not match:
        _read_within(claim, title)
        return True
    claim.is_partial, start = bool(match["part"]), match.end()
    if title[start : start + 1] in _CLOSING:
        _read_quoted(claim, title[start:])
        return True
    stated = statement(title, start, is_part=claim.is_partial, is_title=True)
    claim.add(stated)
    rest = title[start:].strip()
    other = _NO_TITLE.match(rest)
    if not stated and not other and len(rest) >= _SHORTEST_TITLE and _LIKE_A_TITLE.match(rest):
        claim.titles = (rest,)
    return not (other and other["planned"])


def _read_quoted(claim: Claim, text: str) -> None:
    """Add the claims of ``"A"`` and the text after it, or of ``"A" and "B"``.

    Quotation marks may be nested, or the closing one may be missing.
    """
    inside, closing = text[1:], _CLOSING[text[0]]
    last = max(inside.rfind(mark) for mark in closing)
    quoted, behind = (inside[:last], inside[last + 1 :]) if last > 0 else (inside, "")
    claim.is_partial |= bool(_PART_BEHIND.search(behind))
    claim.titles = tuple(dict.fromkeys((quoted.strip(), inside.strip())))
    if merge := _OF_MERGE.match(inside):
        claim.named.append((Mention(number=int(merge[1])), claim.is_partial))
    if _BEHIND.match(behind):
        claim.add(statement(f" {behind.lstrip(' ([')}", 0, is_part=claim.is_partial))


def _read_within(claim: Claim, title: str) -> None:
    """Add the claims of a later part, as in ``Fix the counter and revert #5``: only direct objects count."""
    for match in _WITHIN.finditer(title):
        part = bool(match["part"])
        if title[match.end() : match.end() + 1] in _CLOSING:
            claim.is_partial = part
            _read_quoted(claim, title[match.end() :])
            return
        stated = statement(title, match.end(), is_part=part)
        claim.add(stated if stated and (part or stated.extent is not Extent.PART) else None)


def _read_message(claim: Claim, message: str) -> None:
    if not _MAY_SAY.search(message):
        return
    text = prose(message)
    if _TAKEN_BACK_WITHIN.search(text):
        return
    for match in _IN_MESSAGE.finditer(text):
        stated = statement(text, match.end())
        if stated and stated.mentions[0].commit and "\n- " in text:
            claim.perhaps += [(mention, False) for mention in stated.mentions]
        else:
            claim.add(stated)


def lands_again(title: str) -> bool:
    """Return whether a title begins as that of a reland: "Reland X", ``Reapply "X"``, "[Reland] X"."""
    return bool(_AGAIN.match(title))
