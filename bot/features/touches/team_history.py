"""What the clone of a team's code says beside its profile: what may go, and how the team adapted to a name before.

To look for either takes seconds, so what was found is kept for the commit of the team's.
"""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace

from bot.app import App
from bot.features.profiles.service import ProfileEntry
from bot.features.touches.checking import name_packages, open_mirror
from bot.platform.cleaning import clean_code, clean_line, clean_path
from bot.platform.pulls.models import PullRequest
from bot.platform.slack.blocks import Element, make_link, make_text
from bot.platform.store.tables import Table
from bot.text import format_count
from impact.checker.program import CheckerFailed
from impact.clones.lessons import MAX_NAMES, Lesson, find_lessons
from impact.clones.spent_uses import list_spent
from impact.coverage import Coverage, CoveredList, CoveredPart
from impact.errors import ImpactError, attempt
from impact.git.clone_trees import CloneTrees
from impact.profile.models import Profile
from impact.text.strings import collapse_lines, truncate_text
from impact.touches.spent import SpentUse

log = logging.getLogger(__name__)

# part of the keys: raise it when something else is found
_VERSION = 1
# lessons of a hit in a message, and characters of a subject
_MAX_SHOWN, MAX_SUBJECT = 3, 100
_HASH_LENGTH = 7


@dataclass(frozen=True, slots=True)
class KeptSpent:
    uses: tuple[SpentUse, ...] = ()


@dataclass(frozen=True, slots=True)
class KeptLessons:
    lessons: tuple[Lesson, ...] = ()


SPENT = Table(
    "may_go:{version}:{team}:{packages}:{start}:{end}",
    KeptSpent,
    "what of a team's code may go at the end of a way, with the lines that differ from upstream's",
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


@dataclass(frozen=True, slots=True)
class TeamLessons:
    """What is known of names. ``gap`` says as a clause why nothing is, ``url`` is the page of the team's code."""

    by_name: Mapping[str, Sequence[Lesson]]
    gap: str = ""
    url: str = ""

    def link(self, lesson: Lesson) -> str:
        return f"{self.url}/commit/{lesson.commit}"


NO_LESSONS = TeamLessons({})


@contextmanager
def _open_mirrors(app: App, entry: ProfileEntry) -> Iterator[tuple[CloneTrees, CloneTrees]]:
    """Yield upstream and the team's code. Raises CheckerFailed with a clause, also for a failure in the block."""
    root = app.settings.mirror_folder
    if root is None:
        raise CheckerFailed("this bot keeps no mirror of the repositories")
    if entry.source is None:
        raise CheckerFailed("the profile is from a file, so your code is not at hand")
    try:
        with (
            closing(open_mirror(root, entry.upstream)) as upstream,
            closing(open_mirror(root, entry.source)) as team,
        ):
            yield upstream, team
    except (ImpactError, OSError) as error:
        log.info("the history of %s can't be read: %s", entry.name, error)
        # sentences of git's name folders of this machine
        is_ours = isinstance(error, CheckerFailed)
        raise CheckerFailed(str(error).rstrip(".") if is_ours else "a mirror can't be read") from error


def find_spent(
    app: App, entry: ProfileEntry, profile: Profile, start: str, end: str, merges: Sequence[PullRequest]
) -> CoveredList[SpentUse]:
    """Return what of a team's code may go at the end of a way, by the mirrors of both repositories."""
    kept = app.tables.get(SPENT, *_name_spent(profile, start, end))
    if kept is None:
        try:
            with _open_mirrors(app, entry) as (upstream, team):
                spent = list_spent(team, profile, upstream, start, end, merges, str(entry.upstream))
        except CheckerFailed as error:
            return CoveredList((), Coverage.of(CoveredPart("what may go", 1, 0, str(error))))
        kept = KeptSpent(tuple(replace(each, difference=clean_code(each.difference)) for each in spent))
        put_spent(app, profile, start, end, kept)
    return CoveredList(kept.uses)


def put_spent(app: App, profile: Profile, start: str, end: str, kept: KeptSpent) -> None:
    app.tables.put(SPENT, kept, *_name_spent(profile, start, end))


def _name_spent(profile: Profile, start: str, end: str) -> tuple[object, ...]:
    return (_VERSION, profile.commit, name_packages(profile), start, end)


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


def render_lessons(lessons: Sequence[Lesson], about: TeamLessons) -> list[Element]:
    """Return the sentence of a hit: ``You adapted to this twice: a1b2c3d Follow the new cache, d4e5f6a``."""
    if not lessons:
        return []
    count = {1: "once", 2: "twice"}.get(len(lessons), format_count(len(lessons), "time"))
    elements = [make_text(f" You adapted to this {count}: ")]
    for place, lesson in enumerate(lessons[:_MAX_SHOWN]):
        # the newest is the one to look at
        label = f"{lesson.commit[:_HASH_LENGTH]}{'' if place else f' {lesson.subject}'}".strip()
        elements += [*([make_text(", ")] if place else []), make_link(about.link(lesson), label)]
    return [*elements, make_text(".")]
