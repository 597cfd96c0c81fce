"""Days that touch the code of a team, also such of which every text is hostile."""

from dataclasses import replace
from typing import Any

from hypothesis import strategies as st

from bot.features.digest.rules import Digest
from bot.features.merges.summary import Evidence, build_evidence_url
from bot.features.touches.lines import TeamLessons
from bot.features.touches.team_history import MAX_SUBJECT
from bot.platform.cleaning import clean_line
from impact.clones.lessons import Lesson
from impact.contract.deprecations import Deprecation, DeprecationNews, DeprecationState, Release
from impact.contract.models import ChangeKind, ContractChange, ContractClass, MergeContract, cover_contracts
from impact.coverage import Coverage, CoveredList, UnreadFile
from impact.profile.models import Use, UseKind
from impact.source.models import DiffSide
from impact.text.strings import collapse_lines, truncate_text
from impact.touches.models import MergeTouches, Touch, TouchLevel, TouchReport
from impact.touches.profile_index import DeprecationStep, UsedDeprecation
from tests.features.digest.hostile_days import digests
from tests.helpers.builders import NOON
from tests.platform.slack.accepted import list_addresses

NAME = "engine.core.sched.Scheduler.schedule"
LEVELS = tuple(level for level in TouchLevel if level is not TouchLevel.NO)


def change(kind: ChangeKind = ChangeKind.REMOVED, name: str = NAME, **fields: Any) -> ContractChange:
    """A method of the scheduler that was changed at line 88."""
    made = ContractChange(
        ContractClass.METHOD, kind, name, "def schedule(self)", "", "engine/core/sched.py", 88, DiffSide.OLD
    )
    return replace(made, **fields)


def use(line: int = 120, **fields: Any) -> Use:
    made = Use(UseKind.OVERRIDE, NAME, "ours/core/scheduler.py", line, "def schedule(self):")
    return replace(made, **fields)


def touch(level: TouchLevel = TouchLevel.BREAKS, **fields: Any) -> Touch:
    made = Touch(level, change(), (use(),), "`Scheduler.schedule` is gone", 0.9, "use `Scheduler.plan`")
    return replace(made, **fields)


def make_hit(number: int, level: TouchLevel = TouchLevel.BREAKS, *touches: Touch, **fields: Any) -> MergeTouches:
    """A merge with these touches, by default one."""
    strongest, *rest = touches or (touch(),)
    all_touches = (replace(strongest, level=level), *rest)
    made = MergeTouches(number, f"Change number {number}", f"{number:040x}", level, 0.9, all_touches)
    return replace(made, **fields)


def report(*hits: MergeTouches, unread: tuple[UnreadFile, ...] = (), **fields: Any) -> TouchReport:
    """A report on 31 merges and 412 uses."""
    return replace(TouchReport("ascend", 31, 412, CoveredList(hits, cover_files(unread))), **fields)


def cover_files(unread: tuple[UnreadFile, ...]) -> Coverage:
    return cover_contracts([MergeContract(1, "c" * 40, NOON, files=("a.py",), unread=unread)])


def contract(number: int, *changes: ContractChange) -> MergeContract:
    return MergeContract(number, f"{number:040x}", NOON, changes=changes)


def step(
    state: DeprecationState = DeprecationState.REMOVED, name: str = "--old", **fields: Any
) -> DeprecationStep:
    entry = replace(Deprecation(ContractClass.FLAG, name, 5, "c" * 40, NOON), **fields)
    news = DeprecationNews(state, entry, NOON, Release("v1.1.0", (1, 1, 0), NOON))
    return DeprecationStep(news, UsedDeprecation(entry, (use(name=name),)))


def make_lessons(*subjects: str, name: str = NAME, gap: str = "") -> TeamLessons:
    """A commit for each subject, with hashes of one digit."""
    made = tuple(Lesson(f"{number:x}" * 40, NOON, text, ()) for number, text in enumerate(subjects, 1))
    return TeamLessons({name: made}, gap, "https://github.com/octo/ours")


def list_known(day_digest: Digest) -> set[str]:
    """The addresses that the messages of a day may link: those of its entries, and the lines that changed."""
    changes = [
        (each.number, touch.change)
        for each in (day_digest.touches or report()).touching.ignore_coverage()
        for touch in each.touches
    ]
    changes += [(each.number, changed) for each in day_digest.contracts for changed in each.changes]
    pulls = {entry.number: entry.pull for entry in day_digest.entries}
    lines = {
        build_evidence_url(pulls[number], Evidence(each.path, "", each.side, each.line))
        for number, each in changes
        if number in pulls
    }
    steps = {
        f"https://github.com/{day_digest.repository}/pull/{each.news.entry.number}"
        for each in day_digest.deprecations
    }
    about = day_digest.lessons or make_lessons()
    lessons = {about.link(lesson) for each in about.by_name.values() for lesson in each}
    return list_addresses(day_digest.entries) | lines | steps | lessons


def fill(day_digest: Digest, text: str, count: int = 40) -> Digest:
    hostile = touch(
        change=change(name=text, before=text, after=f"{text}x", path=text, new_name=text),
        uses=tuple(use(line, path=text, text=text) for line in range(9)),
        reason=text,
        action=text,
    )
    hits = [
        make_hit(entry.number, LEVELS[entry.number % 3], *[hostile] * 6, title=text)
        for entry in day_digest.entries
    ]
    rows = [
        change(kind, text, before=text, after=text, path=text, subject=each)
        for each in ContractClass
        for kind in ChangeKind
    ]
    unread = tuple(UnreadFile(f"{text}{number}", text) for number in range(9))
    subject = truncate_text(collapse_lines(clean_line(text)), MAX_SUBJECT)
    return replace(
        day_digest,
        touches=report(*hits, profile="a" * 40, unread=unread),
        contracts=tuple(contract(entry.number, *rows) for entry in day_digest.entries[:count]),
        deprecations=tuple(step(each, text, text=text, when=text, replacement=text) for each in DeprecationState),
        lessons=make_lessons(*[subject] * 5, name=text, gap=text),
    )


@st.composite
def touched_days(draw: st.DrawFn) -> Digest:
    day_digest = draw(digests())
    texts = [
        day_digest.name,
        *(text for entry in day_digest.entries for text in (entry.pull.title, entry.summary.action)),
    ]
    filled = fill(day_digest, draw(st.sampled_from(texts)))
    hits = (filled.touches or report()).touching.ignore_coverage()
    return replace(filled, touches=report(*hits[: draw(st.integers(0, len(hits)))]))
