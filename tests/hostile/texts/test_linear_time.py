"""Whatever reads text from outside takes time in proportion to its length, also of texts that are made to hurt.

Ten times the text may take thirty times the time, and what is quadratic takes a hundred times. The time is that of
the thread on the processor: others may be at work beside it.
"""

import re
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import pytest

from bot.dates import parse_span, parse_time, parse_zone
from bot.errors import UsageError
from bot.features.digest.thread import render_thread
from bot.features.digest.view import render_report
from bot.features.merges.outcomes import RevertIndex, build_change_key, find_relands
from bot.features.merges.requests import DigestRequest, RisksRequest, ScoreRequest, SummaryRequest
from bot.features.merges.risk import assess_pull_request, is_fix
from bot.features.merges.summary import build_fallback_summary
from bot.features.merges.view import Entry
from bot.features.questions.markdown import AnswerMarkdown, Links
from bot.features.questions.rules import (
    Citation,
    is_for_others,
    is_remark,
    parse_subject,
    search_by_words,
    verify_citation,
)
from bot.features.questions.texts import Where, find_places, search_entries
from bot.features.subscriptions.rules import SubscriptionRequest, SubscriptionSelector
from bot.features.summaries.reading import build_summary_prompt
from bot.features.summaries.view import format_summary as in_terminal
from bot.features.summaries.view import render_details, render_summary
from bot.features.touches.tasks import split_text
from bot.platform import markdown as sanitize
from bot.platform.commands import AllowedRepositories
from bot.platform.markdown import write_fence
from bot.platform.models.packing import Coverage, pack_diff
from bot.platform.models.prompts import fence_text
from bot.platform.pulls.diff import find_quote
from bot.platform.pulls.models import parse_reference
from bot.platform.pulls.paths import list_default_patterns
from bot.platform.slack import blocks as mrkdwn
from bot.platform.slack import blocks as rich_text
from bot.platform.slack.requests import find_pull_requests, restore_bot_text, restore_user_text
from bot.platform.source.excerpts import annotate_file, find_name, list_scopes, list_uses, mark_lines
from bot.platform.source.standing import describe_standing, format_standing, list_names
from bot.platform.store.merge_records import trim_pull_request
from bot.redaction import redact_patch, redact_text
from bot.text import remove_unknown_numbers
from impact.contract.extraction import extract_contract
from impact.contract.models import FileVersions, MergeContract
from impact.contract.surfaces.comparison import list_surface_changes
from impact.git.clone_trees import parse_commits, parse_github_url
from impact.history.mentions import find_references
from impact.history.merges import detect_repository, sort_merges
from impact.history.outcomes import find_outcomes
from impact.history.reverts import build_title_key, is_reland_title, is_revert
from impact.path_globs import PathGlobs
from impact.profile.file_uses import scan_file
from impact.profile.manual import parse_manual
from impact.profile.models import Use, UseKind
from impact.profile.reasons import find_reasons
from impact.python.outline import build_outline
from impact.repository import Repository
from impact.source.models import SourceFile, TreeCommit
from impact.source.reading import build_source_file
from impact.text.description import extract_advice, extract_prose
from impact.text.strings import collapse_lines, parse_date, remove_comments, remove_invisible
from impact.touches.breakage.traceback_names import condense_trace, iterate_error_lines, parse_trace
from tests.helpers.builders import DAY, NOON, REPOSITORY, changed_file, digest, entry, failed, pull
from tests.helpers.data.attacks import PIECES, attack

pytestmark = pytest.mark.slow

Parser = Callable[[str], object]
# what is done within that many seconds may be noise: at a length of LONG, and at longer ones. A square that takes
# the first for LONG takes four hundred times as long for LONGEST.
FLOOR, LONGEST_FLOOR = 0.00125, 0.03
# in a short text, what is linear hides more of a square
MOST_GROWTH, USUAL_GROWTH = 30, 12
SHORT, LONG = 200, 2_000
# where those leave a doubt
LONGER, LONGEST = 4_000, 40_000
# what once took the square of its length is looked at in larger texts
ONCE_SHORT, ONCE_LONG, ONCE_LONGEST = 1_000, 10_000, 100_000
TRIES = 4
SCANNED = (
    "a.sh a.yaml Dockerfile a.json a.env a.jsonnet Makefile requirements.txt pyproject.toml setup.cfg uv.lock"
).split()
SURFACES = "csrc/a.cpp a.proto pyproject.toml Dockerfile CMakeLists.txt requirements.txt setup.cfg".split()
KNOWN = AllowedRepositories(REPOSITORY)
DEEP, SEARCHING = "a/" * 60 + "b", PathGlobs(["**/a/" * 9 + "zz", "**/*a*a*/**/*a*a*/~", "*?" * 9 + "~"])
CLASSES = PathGlobs(" ".join(list_default_patterns().values()).split())


def refusing(parse: Parser) -> Parser:
    """A parser of what people type: most of it is refused."""

    def read(text: str) -> object:
        try:
            return parse(text)
        except (UsageError, ValueError):
            return None

    return read


def among_others(field: str) -> Parser:
    """Reverts, repairs and relands among three pull requests."""

    # the later ones have the text, behind a word that begins a repair
    def read(text: str) -> object:
        fields: dict[str, Any] = {"title": "Fix the counter", field: f"Fix {text}"}
        index = RevertIndex([pull(1), pull(2, **fields), pull(3, merged_at=NOON, **fields)])
        # repairs are outcomes too
        return find_outcomes(index), find_relands(index)

    return read


def make_entry(text: str) -> Entry:
    """An entry of a pull request with this title and description, rated as if they were others."""
    made = entry(1)
    return replace(made, pull=replace(made.pull, title=text, body=text))


def said_of(text: str) -> Entry:
    made = entry(1, files=[changed_file(text)])
    return replace(made, summary=replace(made.summary, what_changed_and_why=text, key_insights=text))


def changed_surface(path: str) -> Parser:
    return lambda text: list_surface_changes([FileVersions(None, SourceFile(path, text))])


def scanned(path: str, start: str = "") -> Parser:
    return lambda text: scan_file(path, start + text, ["up"])


def extract_from_text(text: str) -> object:
    """The contract of a merge that changes a Python file from half of it to all of it."""
    files = [FileVersions(*(SourceFile("up/a.py", each) for each in (text[: len(text) // 2], text)))]
    return extract_contract(MergeContract(1, "a" * 40, NOON), files, lambda _: None)


def make_use(number: int, line: int) -> Use:
    return Use(UseKind.PATCH, f"up.f{number}", "a.py", line)


def commit(text: str) -> TreeCommit:
    return TreeCommit("a" * 40, NOON, text)


def record_of(text: str) -> bytes:
    return b"\0".join((b"a" * 40, b"1772308800", b"Ada", text.encode(), b""))


def stream_text(text: str) -> object:
    """As it is streamed, some characters at a time."""
    answer = AnswerMarkdown(Links(lambda _: None, lambda _: None))
    for at in range(0, len(text), 40):
        answer.feed(text[at : at + 40])
    return answer.end_answer()


PARSERS: dict[str, Parser] = {
    "one_line": collapse_lines,
    "printable": remove_invisible,
    "pasted_error": parse_trace,
    "pasted_error_condensed": lambda text: condense_trace(text, 1_000),
    "error_line": lambda text: list(iterate_error_lines(text)),
    "scan-python": lambda text: scan_file("a.py", f"import up\nx = {text!r}", ["up"]),
    **{f"scan-{path}": scanned(path) for path in SCANNED},
    **{f"scan-{path}-of-a-command": scanned(path, "up serve ") for path in SCANNED},
    "manual_profile": refusing(parse_manual),
    **{f"surface-{path}": changed_surface(path) for path in SURFACES},
    "without_comments": remove_comments,
    "prose": extract_prose,
    "advice": extract_advice,
    "reason": lambda text: list(find_reasons("a.sh", text, [make_use(0, line) for line in range(1, 100)])),
    "typed": restore_user_text,
    "labelled": restore_bot_text,
    "without_secrets": redact_text,
    "patch_without_secrets": redact_patch,
    "fenced": lambda text: fence_text("data", text),
    "title_key": build_title_key,
    "change_key": build_change_key,
    "lands_again": is_reland_title,
    "is_fix": is_fix,
    "references": lambda text: list(find_references(text)),
    "references-of-a-message": lambda text: find_pull_requests(
        {"text": text, "attachments": [{"x": text}]}, KNOWN
    ),
    "code_fence": lambda text: write_fence(text, "diff"),
    "pieces-of-a-task": lambda text: list(split_text(text)),
    "numbers": lambda text: remove_unknown_numbers(text, frozenset({1})),
    **{f"outcomes-in-{field}": among_others(field) for field in ("title", "body", "commit_message")},
    "revert-of-title": lambda text: RevertIndex([pull(1, title=text), pull(2, title=f"Revert {text}")]).reverts,
    "revert-quoted": lambda text: RevertIndex([pull(1, title=text), pull(2, title=f'Revert "{text}"')]).reverts,
    "is_revert": lambda text: is_revert(pull(title=text, body=text, commit_message=text)),
    "assess": lambda text: assess_pull_request(pull(title=text, body=text)),
    "merges_of": lambda text: sort_merges([commit(text)], REPOSITORY),
    "merges_of-body": lambda text: sort_merges([commit(f"Merge #1\n\n{text}")], REPOSITORY),
    "spoken_of": lambda text: detect_repository([text]),
    "git_records": lambda text: list(parse_commits([record_of(text)])),
    "brief": lambda text: trim_pull_request(pull(title=text, body=text, commit_message=f"Title\n\n{text}")),
    "scopes-python": lambda text: list_scopes("a.py", text),
    "scopes-braces": lambda text: list_scopes("a.cpp", text),
    "annotated": lambda text: annotate_file(SourceFile("a.py", text), f"@@ -1 +1 @@\n {text}"),
    "find_name": lambda text: find_name(SourceFile("a.cpp", text), "x"),
    "find_name-python": lambda text: find_name(SourceFile("a.py", text), "x"),
    "find_name-itself": lambda text: list_uses([text], text),
    "proven-read": lambda text: verify_citation(
        Citation("1", "a.py", text, 1), pull(), [mark_lines(SourceFile("a.py", text or "x"), None)]
    ),
    "source": lambda text: build_source_file("a.py", text.encode("utf-8", "replace")),
    "pack": lambda text: pack_diff((changed_file(patch=text),), 30_000, 1),
    "standing": lambda text: format_standing(
        describe_standing((changed_file(patch=f"@@ -1,2 +1,1 @@\n-{text}\n {text}"),), {}), None
    ),
    "names-of-a-line": lambda text: list(list_names(text)),
    "find_quote": lambda text: find_quote(text, "never there"),
    "find_quote-long": lambda text: find_quote("@@ -1 +1 @@\n+one line", text),
    "find_quote-itself": lambda text: find_quote(f"@@ -1 +1 @@\n+{text}", text),
    "proven": lambda text: verify_citation(
        Citation("1", "engine/core.py", text), pull(files=[changed_file(patch=text)])
    ),
    "search": lambda text: list(
        search_entries([entry(body=text, files=[changed_file(patch=text)])], ["x"], Where.DIFF)
    ),
    "search-text": lambda text: list(search_entries([make_entry(text)], ["x"], Where.TEXT)),
    "places": lambda text: find_places((changed_file(patch=text),), "x"),
    "found_by_words": lambda text: search_by_words(text, [make_entry(text)]),
    "fallback": lambda text: build_fallback_summary(pull(title=text, body=text), failed("away"), Coverage.FULL),
    "prompt": lambda text: build_summary_prompt("m", pull(title=text, body=text), pack_diff((), 1_000, 0)),
    "is_remark": is_remark,
    "is_for_others": lambda text: is_for_others(text, "U1"),
    "reference": refusing(lambda text: parse_reference(text, REPOSITORY)),
    "repository": refusing(Repository.parse),
    "span": refusing(lambda text: parse_span(text, DAY, 14)),
    "summary-request": refusing(lambda text: SummaryRequest.parse(text, KNOWN)),
    "risks-request": refusing(lambda text: RisksRequest.parse(text, KNOWN, DAY)),
    "digest-request": refusing(lambda text: DigestRequest.parse(text, KNOWN, DAY)),
    "score-request": refusing(lambda text: ScoreRequest.parse(text, KNOWN, DAY)),
    "wish": refusing(lambda text: SubscriptionRequest.parse(text, KNOWN)),
    "which": refusing(lambda text: SubscriptionSelector.parse(text, KNOWN)),
    "time": refusing(parse_time),
    "date": refusing(parse_date),
    "zone": refusing(parse_zone),
    "subject": lambda text: parse_subject(text, KNOWN, DAY),
    "subject-of-digest": lambda text: parse_subject(f"digest:T1:C1:{text}", KNOWN, DAY),
    "origin": parse_github_url,
    "globs": lambda text: PathGlobs([text]).has_match(DEEP),
    "globs-of-a-path": SEARCHING.has_match,
    "globs-of-classes": CLASSES.has_match,
    "escape": mrkdwn.escape_mrkdwn,
    "literal": sanitize.sanitize_text,
    "rich-prose": lambda text: rich_text.make_prose(text, {1: "https://x"}, 100_000),
    "summary_post": lambda text: render_summary(make_entry(text)),
    "details_view": lambda text: render_details(make_entry(text)),
    "in_terminal": lambda text: in_terminal(make_entry(text)),
    "report": lambda text: render_report(digest(make_entry(text), outcomes=())),
    "report-of-a-model": lambda text: render_report(digest(said_of(text), outcomes=())),
    "thread": lambda text: render_thread(digest(make_entry(text), outcomes=())),
    "answer": stream_text,
    "answer-open": lambda text: stream_text(f"<answer>{text}"),
}

# what Python files repeat, with a number that tells one from the next
STATEMENTS = {
    "imports": "from up.a{0} import b as c{0}\n",
    "functions": "def f{0}(a, b=1):\n    return up.g{0}(a)\n",
    "classes": "class C{0}(up.B):\n    x: int = 1\n\n    def m(self):\n        self.y = up.f(self.x)\n",
    "flags": 'parser.add_argument("--x-{0}", default=1, help="deprecated, use --y")\n',
}
CODE_PARSERS: dict[str, Parser] = {
    "outline": lambda text: build_outline("up/a.py", text),
    "scan": lambda text: scan_file("a.py", f"import up\n{text}", ["up"]),
    "contract": extract_from_text,
    "reasons": lambda text: list(find_reasons("a.py", text, map(make_use, *[range(1, text.count("\n"))] * 2))),
}
CODE_SHORT, CODE_LONG = 50, 500

# each took the square of its length, or ended in a defect
ONCE_SLOW = [
    ("title_key", "own-numbers-unended"),
    ("title_key", "numbers-unspaced"),
    ("change_key", "own-numbers-unended"),
    ("outcomes-in-title", "own-numbers-unended"),
    ("outcomes-in-title", "numbers-unspaced"),
    ("revert-quoted", "own-numbers"),
    ("numbers", "blanks"),
    ("numbers", "windows-lines"),
    ("span", "range-blanks"),
    ("zone", "folders"),
    ("literal", "angles"),
    ("globs", "double-stars"),
    ("globs-of-a-path", "folders"),
    ("git_records", "letters"),
]


def seconds(parse: Parser, text: str) -> float:
    before = time.thread_time()
    parse(text)
    return time.thread_time() - before


def grows(
    parse: Parser, name: str, short: int, long: int, most: float, floor: float = LONGEST_FLOOR, idle: float = 0
) -> bool:
    """Whether ten times the text takes more than ``most`` times the time, each time that it is tried.

    ``idle`` is what it takes for no text at all, which counts for neither.
    """
    return all(
        (duration := seconds(parse, attack(name, long)) - idle) > floor
        and duration > most * (seconds(parse, attack(name, short)) - idle)
        for _ in range(TRIES)
    )


def slow(parse: Parser) -> Iterator[str]:
    """The texts that take too long. The longest are tried only where the shorter ones leave a doubt."""
    idle = min(seconds(parse, "") for _ in range(TRIES))
    for name in PIECES:
        is_doubtful = grows(parse, name, SHORT, LONG, USUAL_GROWTH, FLOOR, idle)
        if is_doubtful and grows(parse, name, LONGER, LONGEST, MOST_GROWTH):
            yield name


@pytest.mark.parametrize("name", PARSERS)
def test_no_text_takes_the_square_of_its_length(name: str) -> None:
    assert list(slow(PARSERS[name])) == []


@pytest.mark.parametrize("statement", STATEMENTS)
@pytest.mark.parametrize("parser", CODE_PARSERS)
def test_code_takes_no_square_of_its_length(parser: str, statement: str) -> None:
    short, long = (
        "".join(STATEMENTS[statement].format(number) for number in range(count))
        for count in (CODE_SHORT, CODE_LONG)
    )
    parse = CODE_PARSERS[parser]
    parse(short)
    assert any(seconds(parse, long) < MOST_GROWTH * seconds(parse, short) for _ in range(TRIES))


@pytest.mark.parametrize(("parser", "piece"), ONCE_SLOW)
def test_what_took_the_square_of_its_length_takes_it_no_more(parser: str, piece: str) -> None:
    assert not grows(PARSERS[parser], piece, ONCE_SHORT, ONCE_LONG, MOST_GROWTH)
    assert not grows(PARSERS[parser], piece, ONCE_LONG, ONCE_LONGEST, MOST_GROWTH)


def test_what_takes_the_square_of_its_length_is_noticed() -> None:
    """The pattern that was looked for from the front, for the numbers at the end of a title."""
    numbers = re.compile(r"(?:\s?\(#\d{1,9}\))+$")
    assert grows(numbers.search, "own-numbers-unended", SHORT, LONG, USUAL_GROWTH, FLOOR)
    assert grows(numbers.search, "own-numbers-unended", 500, 5_000, MOST_GROWTH)
