"""Our text and the public one about a pull request, as A and B, in a form that does not say whose each is."""

from __future__ import annotations

import html
import random
import re
import secrets
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from bot.errors import UsageError
from bot.features.digest.rules import Digest
from bot.features.digest.view import NO_INSIGHTS, render_report
from bot.features.merges.summary import NO_RISKS
from bot.features.summaries.reading import MAX_QUOTES, SummaryAnswer
from bot.platform.markdown import JOINER
from bot.platform.pulls.models import ChangedFile, PullRequest
from bot.settings import Settings
from evals.json_files import write_json
from evals.trial.days import TrialDays
from evals.trial.folder import Key, Pair, Side, Trial, TrialFolder, copy_text
from evals.trial.prompts import build_answered_digests, raise_about, read_answer
from impact.text.strings import remove_invisible

_SECRET_BYTES = 16
HEADINGS = ("What changed and why", "Technical impact", "Potential risks", "Key insights")
# a section that says nothing: the sentences that reports of ours have there would give them away
NOTHING = "None."
_EMPTY = (NO_RISKS, NO_INSIGHTS)

_ENTRY = re.compile(r"^## \d+\. ", re.M)
_NUMBER = re.compile(r"^- \*\*PR Number:\*\* #(\d+)[ ]*$", re.M)
_SUMMARY = re.compile(r"^### Summary[ ]*$", re.M)
_HEADING = re.compile(rf"^\*\*({'|'.join(HEADINGS)})\*\*[ ]*$", re.M)
_END = re.compile(r"\s*^---[ ]*\s*\Z", re.M)

_CODE = re.compile(r"(?<![\\`])(`+)(?!`)(.+?)(?<!`)\1(?!`)")
# reports of ours escape the parenthesis
_LINK = re.compile(r"!?\[([^\[\]]*)\]\\?\([^()\s]*\)")
_ADDRESS = re.compile(r"<?\b(?:https?://|www\.)[^\s<>)]+>?")
# reports of ours escape what imitates their labels
_BOLD = re.compile(r"\\?\*\*(\S(?:[^*]*\S)?)\*\*|__(\S(?:[^_]*\S)?)__")
_ITALIC = re.compile(r"(?<![\w*])\*(\S(?:[^*]*\S)?)\*(?![\w*])")
_ESCAPE = re.compile(r"\\([!-/:-@\[-`{-~])")
_LIST_ITEM = re.compile(r"\s*(?:[-+*•]|\d{1,2}[.)])\s+")
# quotation marks, dashes and the ellipsis of typography, as a keyboard has them
_SIGNS = str.maketrans(
    {"\u2018": "'", "\u2019": "'", "\u201c": '"', "\u201d": '"', "\u2013": "-", "\u2014": "-", "\u2026": "..."}
)


@dataclass(frozen=True, slots=True)
class QuoteCount:
    """How many quotes the answers gave as evidence, and how many of them are in changed lines."""

    total: int
    verified: int


def pair_trial(folder: TrialFolder, trial: Trial, days: TrialDays, settings: Settings, golden: Path) -> QuoteCount:
    """Write the pairs of a trial whose prompts are answered, and the key apart from them; count the quotes.

    Raises:
        UsageError: answers are missing, or the bot would refuse them; a public text is missing; or prompts have
            changed since they were collected.
    """
    digests = build_answered_digests(folder, trial, days, settings)
    # as somebody reads them in a report
    reports = [parse_report(render_report(digest), "our report") for digest in digests]
    ours = {number: text for report in reports for number, text in report.items()}
    theirs = _read_golden(golden, days.dates)
    numbers = [pull.number for pull in trial.pulls]
    raise_about("There is no public text about", [number for number in numbers if number not in theirs])
    old = folder.read_key()
    key = make_key(numbers, old.secret if old else secrets.token_hex(_SECRET_BYTES))
    pulls = {entry.number: entry.pull for digest in digests for entry in digest.entries}
    for number in numbers:
        pair = make_pair(pulls[number], ours[number], theirs[number], key.first[number])
        write_json(folder.get_file("pairs", number), pair)
    (folder.path / "verdicts").mkdir(exist_ok=True)
    copy_text("judge.md", folder.path / "pairs" / "README.md")
    write_json(folder.key, key)
    return _count_quotes(folder, numbers, digests)


def _count_quotes(folder: TrialFolder, numbers: Sequence[int], digests: Sequence[Digest]) -> QuoteCount:
    texts = (read_answer(folder.get_file("answers", number)) for number in numbers)
    answers = map(SummaryAnswer.model_validate_json, texts)
    entries = (entry for digest in digests for entry in digest.entries)
    return QuoteCount(
        total=sum(len(answer.evidence[:MAX_QUOTES]) for answer in answers),
        verified=sum(len(entry.summary.evidence) for entry in entries if entry.number in numbers),
    )


def _read_golden(folder: Path, dates: Iterable[str]) -> dict[int, str]:
    texts: dict[int, str] = {}
    for date in dates:
        path = folder / f"{date}.md"
        if not path.is_file():
            raise UsageError(f"{folder} has no report {path.name}.")
        texts |= parse_report(path.read_text(encoding="utf-8"), path.name)
    return texts


def make_key(numbers: Sequence[int], secret: str) -> Key:
    """Choose whose text is A: ours in half of the pairs, by the secret alone."""
    sides: tuple[Side, Side] = ("ours", "theirs")
    ordered = sorted(numbers)
    first = [sides[place % 2] for place in range(len(ordered))]
    # no secret of cryptography, but nobody can guess the seed
    random.Random(secret).shuffle(first)  # noqa: S311
    return Key(secret=secret, first=dict(zip(ordered, first, strict=True)))


def make_pair(pull: PullRequest, ours: str, theirs: str, first: Side) -> Pair:
    texts: Mapping[Side, str] = {"ours": ours, "theirs": theirs}
    second: Side = "theirs" if first == "ours" else "ours"
    return Pair(
        number=pull.number,
        title=pull.title,
        url=pull.url,
        merge_commit=pull.merge_commit or "",
        description=pull.body,
        A=texts[first],
        B=texts[second],
        files=tuple(map(_describe_file, pull.files or ())),
    )


def _describe_file(file: ChangedFile) -> dict[str, object]:
    return {
        "path": file.path,
        "previous_path": file.previous_path,
        "status": file.status,
        "additions": file.additions,
        "deletions": file.deletions,
        "patch": file.patch,
    }


def parse_report(text: str, name: str) -> dict[int, str]:
    """Return the normal text of each pull request of a report, by number.

    Raises:
        UsageError: one has no number, or not the four sections; ``name`` is that of the report.
    """
    return dict(_parse_entry(entry, name) for entry in _ENTRY.split(text)[1:])


def _parse_entry(entry: str, name: str) -> tuple[int, str]:
    number = _NUMBER.search(entry)
    if number is None:
        raise UsageError(f"{name}: an entry has no number.")
    _, *summary = _SUMMARY.split(entry, maxsplit=1)
    _, *parts = _HEADING.split(summary[0] if summary else "")
    if tuple(parts[::2]) != HEADINGS:
        raise UsageError(f"{name}: #{number[1]} does not have the four sections of a report.")
    sections = (normalise_text(_END.sub("", part)) for part in parts[1::2])
    return int(number[1]), "\n\n".join(map("\n".join, zip(HEADINGS, sections, strict=True)))


def normalise_text(text: str) -> str:
    """Return a section as one paragraph of plain text.

    Lists become sentences. Emphasis, code marks, links, addresses, escapes and typographic signs go.
    """
    sentences = [_normalise_line(line) for line in _join_items(text)]
    paragraph = " ".join(" ".join(sentences).split())
    return NOTHING if paragraph in ("", *_EMPTY) else paragraph


def _join_items(text: str) -> Iterator[str]:
    """Yield the lines without the marks of lists; the end of an item ends a sentence."""
    # reports of ours break addresses by an invisible sign
    for line in remove_invisible(text.replace(JOINER, "")).split("\n"):
        marker = _LIST_ITEM.match(line)
        item = line[marker.end() :].strip() if marker else line.strip()
        yield f"{item}." if marker and item and item[-1] not in ".:;!?" else item


def _normalise_line(line: str) -> str:
    pieces, at = [], 0
    for code in _CODE.finditer(line):
        # a bar is escaped in code, too: reports may be shown in tables
        pieces += [_remove_marks(line[at : code.start()]), code[2].strip().replace(r"\|", "|")]
        at = code.end()
    return "".join([*pieces, _remove_marks(line[at:])]).translate(_SIGNS)


def _remove_marks(text: str) -> str:
    plain = _ADDRESS.sub("", _LINK.sub(r"\1", text))
    plain = _BOLD.sub(lambda match: match[1] or match[2], plain)
    return html.unescape(_ESCAPE.sub(r"\1", _ITALIC.sub(r"\1", plain)))
