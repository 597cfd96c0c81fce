"""Commits of an upstream clone judged by the tree of a downstream clone, and what that tree uses."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from impact.checker.diagnostics import NOT_CHECKED
from impact.clones.clone_range import HEAD, find_place, select_line
from impact.clones.clone_upgrade import CloneUpgradeReader
from impact.clones.line_checks import check_line, list_commits
from impact.clones.tree_scan import read_modules
from impact.coverage import CoveredList
from impact.errors import UsageError, attempt
from impact.git.clone_trees import CloneTrees
from impact.history.revert_index import RevertIndex
from impact.history.reverts import select_standing
from impact.profile.models import Profile, Use, UseKind, find_uses
from impact.profile.reasons import find_reasons
from impact.source.models import BlobVersion, LineCommit
from impact.touches.judgement import find_doubts, judge_commits
from impact.touches.models import JudgedCommit
from impact.touches.profile_index import ProfileIndex

# uses whose lines are looked at for why they stand there
MAX_REASONS = 5_000


@dataclass(frozen=True, slots=True)
class JudgedRange:
    """Commits with the profile that they were judged by, which is linked to upstream at ``base``."""

    profile: Profile
    base: str
    commits: CoveredList[JudgedCommit]
    messages: Mapping[str, str]
    judges: str = ""

    @property
    def uses(self) -> Iterator[Use]:
        """The uses that are touched."""
        for each in self.commits.ignore_coverage():
            for touch in each.touches.touches:
                yield from touch.uses


class CommitJudge:
    """Judge of commits of an upstream clone. What was read of large clones is kept.

    Each method raises UsageError for what is in none of the clones, and ImpactError if one can't be read.
    """

    def __init__(
        self, reader: CloneUpgradeReader, team: CloneTrees | None = None, until: float = math.inf
    ) -> None:
        """Have a type checker judge beside the rules if there is ``team``, the clone of what is judged by.

        Its last check is over ``until``, by ``time.monotonic``.
        """
        self.reader, self._team, self._until = reader, team, until

    def select_commits(self, names: Sequence[str], most: int | None = None) -> tuple[LineCommit, ...]:
        """Return commits of the branch, oldest first: those named, or those of a range BASE..TARGET after BASE."""
        if len(names) == 1 and ".." in names[0]:
            base, _, target = names[0].partition("..")
            chosen = select_line(self.reader.trees, base, target or HEAD)
        else:
            line = self.reader.trees.list_line()
            known = {commit.sha: place for place, commit in enumerate(line, 1)}
            places = {known.get(name) or find_place(self.reader.trees, name) for name in names}
            chosen = tuple(line[place - 1] for place in sorted(places) if place)
        if not chosen:
            raise UsageError(
                "There is no commit to judge: name hashes, or a range such as 97f2f160fd..c9461e05a4."
            )
        if most and len(chosen) > most:
            raise UsageError(f"These are {len(chosen):,} commits, more than {most:,}: ask for them in parts.")
        return chosen

    def judge(
        self, line: Sequence[LineCommit], downstream: Callable[[str], Profile], base: str = ""
    ) -> JudgedRange:
        """Judge commits, oldest first, by the profile that ``downstream`` gives for ``base`` or the one before."""
        base = self.reader.find_base(base) or line[0].parent or line[0].sha
        profile = downstream(base)
        merges, named = self.reader.read_merges(line)
        reverts = [each for each in select_standing(RevertIndex(named).reverts, named) if not each.is_partial]
        contracts = self.reader.extract_contracts(merges)
        checked = NOT_CHECKED
        index, upstream, kept = ProfileIndex(profile), self.reader.trees, self.reader.kept
        if self._team:
            files, doubts = read_modules(self._team, profile.commit), find_doubts(contracts, index)
            way = list_commits(merges)
            checked = check_line(
                upstream, files, profile.packages, way, contracts, doubts, kept, until=self._until
            )
        judged = judge_commits(index, contracts, reverts, checked)
        messages = {each.commit.sha: each.commit.message for each in merges}
        return JudgedRange(profile, base, judged, messages, checked.sentence)


def select_uses(profile: Profile, kinds: Iterable[UseKind], text: str) -> CoveredList[Use]:
    """Return the uses of some kinds, all without any, that a name or path names, by place."""
    chosen = frozenset(kinds) or frozenset(UseKind)
    every = find_uses(profile, text) if text.strip() else CoveredList(profile.uses, profile.coverage)
    return every.derive(lambda uses: sorted((use for use in uses if use.kind in chosen), key=_get_place))


def _get_place(use: Use) -> tuple[str, int, str]:
    return use.path, use.line, use.name


def explain_uses(trees: CloneTrees, commit: str, uses: Iterable[Use]) -> dict[Use, str]:
    """Return why uses stand where they do, as far as the files of a commit say it."""
    by_path: dict[str, dict[Use, None]] = defaultdict(dict)
    for use in [*dict.fromkeys(uses)][:MAX_REASONS]:
        by_path[use.path][use] = None
    listed = trees.list_files(commit) if by_path else {}
    reasons: dict[Use, str] = {}
    for path, group in by_path.items():
        file = trees.read_file(BlobVersion(path, listed[path])) if path in listed else None
        if file and not file.problem:
            reasons.update(attempt(path, lambda *of: [*find_reasons(*of)], path, file.text, group) or ())
    return reasons


def name_clone(trees: CloneTrees, folder: Path) -> str:
    """Return the name of a clone's repository, or of its folder where nothing says it."""
    origin = trees.read_facts().repository
    return origin.name if origin else folder.resolve().name
