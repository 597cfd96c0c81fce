"""History of a repository from a local clone: its merges, what was known before each, and what became of them."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, time

from bot.domain.evaluation import caveats
from bot.domain.evaluation.labels import HARD, TAKEN_BACK, Window, outcomes_of
from bot.domain.evaluation.models import Source
from bot.domain.history.commits import Commit, Merges, merges_of, spoken_of
from bot.domain.history.file_history import Past
from bot.domain.history.repairs import repairs_among
from bot.domain.history.reverts import Revert, is_revert, reverts_among
from bot.domain.pull_requests.models import Repository
from bot.domain.pull_requests.path_classes import ClassesOf, PathClasses, default_classes
from bot.ports.git import Clone, CloneFacts
from bot.services.history.merge_timeline import past_of
from bot.services.risk.evaluation import History

Progress = Callable[[int, int], None]
# stands for the repository of a clone that does not come from GitHub
_NOWHERE = Repository("local", "clone")


def history_of(
    clone: Clone,
    repository: Repository | None,
    window: Window,
    history_from: dt.date,
    progress: Progress,
    classes_of: ClassesOf = default_classes,
) -> History:
    """Read the history of a clone.

    Without ``repository``, use that of the clone's origin on GitHub, or else the one that its reverts name.

    Raises:
        UsageError: the clone can't be read.
    """
    facts, since = clone.facts(), datetime.combine(history_from, time(), UTC)
    commits = list(clone.commits(since, progress))
    origin = repository or facts.repository or spoken_of(commits) or _NOWHERE
    merges, classes = merges_of(commits, origin, facts.branch), classes_of(origin)
    everything = (*merges.pulls, *merges.direct)
    reverts = reverts_among(everything)
    return History(
        Source(str(origin), facts.branch, history_from),
        merges.pulls,
        _past(merges, classes),
        outcomes_of(everything, reverts, repairs_among(everything)),
        (TAKEN_BACK, HARD),
        max((commit.committed_at for commit in commits), default=since),
        classes,
        tuple(_doubts(facts, commits, merges, reverts, window)),
    )


def _doubts(
    facts: CloneFacts, commits: list[Commit], merges: Merges, reverts: tuple[Revert, ...], window: Window
) -> Iterator[str]:
    """Yield the caveats about the depth of the clone, its numbered merges, and its reverts."""
    numbered = sum(pull.merge_time in window for pull in merges.pulls)
    yield from caveats.on_depth(is_shallow=facts.is_shallow)
    yield from caveats.on_names(numbered, sum(commit.committed_at in window for commit in commits))
    # if nothing was merged, a lack of reverts explains nothing
    yield from caveats.on_reverts(len(reverts)) if numbered else ()


def _past(merges: Merges, classes: PathClasses) -> Past:
    """Return the history that a bot would have recorded, and the reverts made without a pull request."""
    return past_of([*merges.pulls, *(commit for commit in merges.direct if is_revert(commit))], classes)
