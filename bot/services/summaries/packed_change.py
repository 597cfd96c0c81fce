"""What a model is shown of a pull request: its packed diff, and the whole files that its functions come from."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from bot.domain.pull_requests.models import ChangedFile, PullRequest
from bot.domain.pull_requests.path_classes import PathClasses
from bot.domain.summaries.diff_packing import PackedDiff, list_source_paths, pack_diff
from impact.source.models import SourceFile

# as budgets of diffs count them
_CHARACTERS_PER_TOKEN = 4

SourceLookup = Callable[[PullRequest, Sequence[str]], Mapping[str, SourceFile]]


@dataclass(frozen=True, slots=True)
class PackedChange:
    """The diff as the model gets it, and the files that were read for it, as they are after the change."""

    diff: PackedDiff
    sources: Mapping[str, SourceFile]


def read_nothing(pull: PullRequest, paths: Sequence[str]) -> Mapping[str, SourceFile]:
    """Return no files: the diffs have to do."""
    return {}


def choose_smaller_budget(text: str, excess: int | None) -> int:
    """Return the tokens for a diff whose prompt was too long by ``excess`` tokens; half of it if that is unknown.

    A sixteenth is left over, because tokens are estimated.
    """
    tokens = len(text) // _CHARACTERS_PER_TOKEN
    return tokens // 2 if excess is None else max(0, tokens - excess - tokens // 16)


def pack_change(
    pull: PullRequest,
    files: Sequence[ChangedFile],
    budget: int,
    classes: PathClasses,
    read_sources: SourceLookup = read_nothing,
) -> PackedChange:
    """Pack the changed files of a pull request into ``budget`` tokens, with functions from the files around."""
    paths = list_source_paths(files, classes)
    sources = read_sources(pull, paths) if paths else {}
    return PackedChange(pack_diff(files, budget, pull.changed_files, classes, sources), sources)
