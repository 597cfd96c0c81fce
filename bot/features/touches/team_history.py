"""What the clone of a team's code says beside its profile: what may go, and how the team adapted to a name before.

To look for either takes seconds, so what was found is kept for the commit of the team's.
"""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace

from bot.app import App
from bot.features.profiles.service import ProfileEntry
from bot.features.touches.checking import explain_failure, name_packages, open_mirrors
from bot.features.touches.lines import NO_LESSONS, TeamLessons
from bot.platform import deadlines
from bot.platform.cleaning import clean_code, clean_line, clean_path
from bot.platform.pulls.models import PullRequest
from bot.platform.store.tables import Table
from impact.checker.program import CheckerFailed
from impact.clones.lessons import MAX_NAMES, Lesson, find_lessons
from impact.clones.spent_uses import list_spent
from impact.coverage import Coverage, CoveredList, CoveredPart
from impact.errors import ImpactError, attempt
from impact.git.clone_trees import CloneTrees
from impact.profile.models import Profile
from impact.text.strings import collapse_lines, truncate_text
from impact.touches.models import MergeTouches
from impact.touches.spent import SpentUse

log = logging.getLogger(__name__)

# part of the keys: raise it when something else is found
_VERSION = 2
# seconds of a look, and the share of the time that is left: no digest is late for it
_MOST_SECONDS, _SHARE = 30.0, 0.5
MAX_SUBJECT = 100


@dataclass(frozen=True, slots=True)
class KeptSpent:
    uses: tuple[SpentUse, ...] = ()


@dataclass(frozen=True, slots=True)
class KeptLessons:
    lessons: tuple[Lesson, ...] = ()


SPENT = Table(
    "may_go:{version}:{team}:{packages}:{start}:{end}:{merges}",
    KeptSpent,
    "what of a team's code may go after some merges, with the lines that differ from upstream's",
    days=30,
    counted_as="may_go",
)
LESSONS = Table(
    "lessons:{version}:{team}:{packages}:{name}",
    KeptLessons,
    "in which commits a team adapted to a name of upstream, with their subjects",
    days=30,
    counted_as="lessons",
)


@contextmanager
def _open_mirrors(app: App, entry: ProfileEntry) -> Iterator[tuple[CloneTrees, CloneTrees]]:
    """Yield upstream and the team's code. Raises CheckerFailed with a clause, also for a failure in the block."""
    seconds = min(_MOST_SECONDS, deadlines.get_seconds_left() * _SHARE)
    try:
        with deadlines.bound_work(seconds), open_mirrors(app, entry) as mirrors:
            yield mirrors
    except (ImpactError, OSError) as error:
        log.info("the history of %s can't be read: %s", entry.name, error)
        raise CheckerFailed(explain_failure(error)) from error


def find_spent(
    app: App, entry: ProfileEntry, profile: Profile, start: str, end: str, merges: Sequence[PullRequest]
) -> CoveredList[SpentUse]:
    """Return what of a team's code may go at the end of a way, by the mirrors of both repositories.

    ``merges`` are those that the end holds and the start does not: of two tags that were cut from the default
    branch at the same commit, one may have copies more.
    """
    name = name_spent(profile, start, end, (each.number for each in merges))
    kept = app.tables.get(SPENT, *name)
    if kept is None:
        try:
            with _open_mirrors(app, entry) as (upstream, team):
                spent = list_spent(team, profile, upstream, start, end, merges, str(entry.upstream))
        except CheckerFailed as error:
            return CoveredList((), Coverage.of(CoveredPart("what may go", 1, 0, str(error))))
        kept = KeptSpent(tuple(replace(each, difference=clean_code(each.difference)) for each in spent))
        app.tables.put(SPENT, kept, *name)
    return CoveredList(kept.uses)


def name_spent(profile: Profile, start: str, end: str, merges: Iterable[int]) -> tuple[object, ...]:
    """Return the parts of the key of what may go after the merges with some numbers."""
    numbers = " ".join(map(str, sorted(merges)))
    held = hashlib.sha256(numbers.encode()).hexdigest()[:12]
    return (_VERSION, profile.commit, name_packages(profile), start, end, held)


def read_lessons(app: App, entry: ProfileEntry, profile: Profile, names: Collection[str]) -> TeamLessons:
    """Return how a team adapted to some names of upstream before, the newest first. Raises StoreUnavailable."""
    distinct = [*dict.fromkeys(names)][:MAX_NAMES]
    about = (_VERSION, profile.commit, name_packages(profile))
    keys = {name: (*about, hashlib.sha256(name.encode()).hexdigest()[:16]) for name in distinct}
    kept = app.tables.get_each(LESSONS, [*keys.values()])
    by_name = {name: each.lessons for name, each in zip(distinct, kept, strict=True) if each}
    url = f"{app.repositories.web}/{entry.source}"
    if missing := [name for name in distinct if name not in by_name]:
        try:
            with _open_mirrors(app, entry) as (upstream, team):
                fresh = attempt(
                    "a team's history",
                    find_lessons,
                    team,
                    profile.commit,
                    missing,
                    profile.packages,
                    upstream,
                    entry.upstream.name,
                )
        except CheckerFailed as error:
            return TeamLessons(by_name, str(error), url)
        if fresh is None:
            return TeamLessons(by_name, "it met a defect", url)
        for name in missing:
            by_name[name] = tuple(map(_clean, fresh.get(name, ())))
            app.tables.put(LESSONS, KeptLessons(by_name[name]), *keys[name])
    return TeamLessons(by_name, "", url)


def _clean(lesson: Lesson) -> Lesson:
    subject = truncate_text(collapse_lines(clean_line(lesson.subject)), MAX_SUBJECT)
    return replace(lesson, subject=subject, paths=tuple(map(clean_path, lesson.paths)))


def read_hit_lessons(app: App, entry: ProfileEntry, hits: Iterable[MergeTouches]) -> TeamLessons:
    """Return how a team adapted to what each hit changes first. Raises StoreUnavailable.

    Where its history is not at hand there are never any, which is no gap: nobody asked for them.
    """
    names = [hit.touches[0].change.name for hit in hits if hit.touches]
    if not (names and app.settings.mirror_folder and entry.source):
        return NO_LESSONS
    return read_lessons(app, entry, app.profiles.require_scanned(entry), names)
