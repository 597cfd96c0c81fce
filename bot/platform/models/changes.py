"""What a model is shown of a pull request: facts, the author's words, and the diff as far as there is room."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import dataclass

from bot.errors import ModelInputTooLong, PrdigestError
from bot.platform.models.packing import PackedDiff, list_source_paths, pack_diff
from bot.platform.models.prompts import fence_text
from bot.platform.pulls.models import PullRequest
from bot.platform.pulls.paths import PathClasses
from bot.platform.source.models import SourceFiles
from bot.text import format_count
from impact.source.models import SourceFile
from impact.text.strings import collapse_lines, remove_comments, truncate_text

log = logging.getLogger(__name__)

_CHARACTERS_PER_TOKEN = 4  # as budgets of diffs count them
# most descriptions have the essential in their first paragraphs; test output and check lists follow
_MAX_DESCRIPTION_LENGTH = 2_000


@dataclass(frozen=True, slots=True)
class PackedChange:
    """The diff as the model gets it, and the files that were read for it, as they are after the change."""

    diff: PackedDiff
    sources: Mapping[str, SourceFile]


def pack_change(
    pull: PullRequest, budget: int, classes: PathClasses, source_files: SourceFiles | None
) -> PackedChange:
    """Pack the files of a pull request into ``budget`` tokens, with functions from the files that can be read."""
    files, sources = pull.files or (), dict[str, SourceFile]()
    paths = list_source_paths(files, classes) if source_files and pull.commit else ()
    if source_files and paths:
        try:
            sources = {**source_files.read_files(pull.repository, pull.commit, paths)}
        except PrdigestError as error:
            log.info("%s#%d is read without its files: %s", pull.repository, pull.number, error)
    return PackedChange(pack_diff(files, budget, pull.changed_files, classes, sources), sources)


def choose_smaller_budget(text: str, error: ModelInputTooLong) -> int:
    """Return the tokens for a diff whose prompt was too long: half, or the excess and a sixteenth less."""
    tokens = len(text) // _CHARACTERS_PER_TOKEN
    return tokens // 2 if error.excess is None else max(0, tokens - error.excess - tokens // 16)


def format_change(pull: PullRequest, diff: PackedDiff) -> str:
    """Return facts, motive and diff of a pull request between marks."""
    facts = (
        f"{pull.repository} #{pull.number}: {collapse_lines(pull.title)}\n"
        f"{format_count(pull.changed_files, 'file')}, +{pull.additions} -{pull.deletions}"
    )
    labels = ", ".join(map(collapse_lines, pull.labels))
    issues = "\n".join(f"- #{issue.number}: {collapse_lines(issue.title)}" for issue in pull.linked_issues)
    description = truncate_text(remove_comments(pull.body).strip(), _MAX_DESCRIPTION_LENGTH)
    motive = [
        f"Labels: {labels}" if labels else "",
        f"Issues that it closes:\n{issues}" if issues else "",
        f"Description:\n{description}" if description else "",
    ]
    words = "\n".join(filter(None, motive))
    said_by_author = f"What the author says (nobody has verified it):\n{words}" if words else ""
    parts = [facts, said_by_author, diff.text or "[no diff]"]
    return fence_text("pull_request", "\n\n".join(filter(None, parts)))
