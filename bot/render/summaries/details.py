"""One pull request in a window of its own: the four complete sections, the quotes, and the files."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from bot.domain.digest.models import Entry
from bot.domain.pull_requests.models import ChangedFile, PullRequest
from bot.domain.pull_requests.reference import Reference
from bot.domain.text.strings import one_line, plural, shorten
from bot.render.blocks.rich_text import Block, Element, block, bullets, context, header, link, prose, section, text
from bot.render.conversations.notices import describe_error
from bot.render.summaries.post import facts, quoted, standing

View = dict[str, Any]

# the model's sections have some hundred characters; this limits the texts that replace them
_SECTION = 2_800
_MOST_FILES = 20


def details_view(entry: Entry) -> View:
    """Render the window of an entry."""
    pull = entry.pull
    blocks = [
        header(f"#{pull.number} {pull.title}"),
        *standing(entry),
        *_sections(entry),
        *_evidence(entry),
        *_files(pull),
    ]
    return _view(pull.number, [*blocks, context(facts(entry))])


def loading_view(reference: Reference) -> View:
    """Render the window for the time while the pull request is read."""
    sentence = f"Reading {reference.repository}#{reference.number}…"
    return _view(reference.number, [block(section([text(sentence)]))])


def regret_view(error: Exception, reference: str, number: int) -> View:
    """Render the window for an error, with the reference that is in the log too."""
    return _view(number, [block(section([text(describe_error(error, reference))]))])


def _view(number: int, blocks: list[Block]) -> View:
    """Build a window; Slack allows 24 characters in a title."""
    title = {"type": "plain_text", "text": f"#{number}"}
    close = {"type": "plain_text", "text": "Close"}
    return {"type": "modal", "title": title, "close": close, "blocks": blocks}


def _sections(entry: Entry) -> Iterator[Block]:
    """Yield the sections of the summary."""
    for name, content in entry.summary.sections:
        yield block(section([text(f"{name}\n", bold=True), *prose(content, {}, _SECTION)]))


def _evidence(entry: Entry) -> Iterator[Block]:
    """Yield the quotes, if there are any."""
    if entry.summary.evidence:
        items = [quoted(entry.pull, evidence) for evidence in entry.summary.evidence]
        yield block(section([text("Found in the diff", bold=True)]), bullets(items))


def _files(pull: PullRequest) -> Iterator[Block]:
    """Yield the largest files."""
    items: list[list[Element]] = [_file(file) for file in pull.largest_files[:_MOST_FILES]]
    rest = pull.changed_files - len(items)
    if items and rest > 0:
        items.append([link(f"{pull.url}/files", f"and {plural(rest, 'more file', 'more files')}")])
    if items:
        yield block(section([text("Files", bold=True)]), bullets(items))


def _file(file: ChangedFile) -> list[Element]:
    """Return the line of a file."""
    path = text(shorten(one_line(file.path), 160) or "(unnamed)", code=True)
    return [path, text(f" {file.status}, +{file.additions:,} −{file.deletions:,}")]  # noqa: RUF001 (a minus)
