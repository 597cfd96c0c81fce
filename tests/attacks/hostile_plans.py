"""What changes for a team, as values of which every text was written by somebody who means harm."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import timedelta

from hypothesis import strategies as st

from bot.dates import Span
from bot.features.digest.since import SincePage, build_stories, render_since
from bot.features.merges.outcomes import MergeOutcome, RevertIndex
from bot.features.merges.risk import Risk
from bot.features.previews import PullCard, RangeCard
from bot.features.touches.contracts import ContractList
from bot.features.touches.lines import HitContext, TouchVerdict
from bot.features.touches.tasks import AgentTask, MigrationHunk
from bot.features.touches.upgrade_view import render_upgrade_post
from bot.features.touches.view import (
    StatedDeprecation,
    render_contract_list,
    render_deprecations,
    render_suspects,
    render_touch_list,
    render_touch_score,
)
from bot.platform.pulls.diff import DiffLine
from bot.platform.pulls.models import PullRequest
from bot.platform.slack.blocks import Post
from impact.contract.deprecations import Deprecation, DeprecationState
from impact.contract.models import ChangeKind, ContractChange, ContractClass, MergeContract
from impact.contract.net_changes import MergeReference, NetChange
from impact.coverage import Coverage, CoveredList, CoveredPart, UnreadFile
from impact.profile.models import Profile, Use, UseKind
from impact.source.models import DiffSide
from impact.touches.breakage.suspects import Suspect, SuspectReport
from impact.touches.breakage.traceback_names import parse_trace
from impact.touches.models import MergeTouches, Touch, TouchLevel, TouchReport
from impact.touches.profile_index import UsedDeprecation
from impact.touches.upgrade import FileWork, StoppingPoint, UpgradeItem, UpgradePlan
from tests.features.digest.hostile_days import texts
from tests.helpers.builders import DAY, NOON, REPOSITORY, pull

URL = f"https://github.com/{REPOSITORY}"
SPAN = Span(DAY.date, DAY.date, DAY.zone)
_LEVELS = tuple(level for level in TouchLevel if level is not TouchLevel.NO)


@dataclass(frozen=True)
class Words:
    """A few hostile texts, of which each field gets one: the next in turn."""

    pool: tuple[str, ...]
    turn: list[int]

    def text(self, limit: int = 700) -> str:
        self.turn[0] += 1
        return self.pool[self.turn[0] % len(self.pool)][:limit]

    def use(self) -> Use:
        return Use(UseKind.CALL, self.text(), self.text(), 7, self.text(200), (self.text(),), owner=self.text())

    def uses(self) -> tuple[Use, ...]:
        return tuple(replace(self.use(), line=line) for line in range(1, 5))

    def change(self, kind: ChangeKind, subject: ContractClass) -> ContractChange:
        side = DiffSide.OLD if kind is ChangeKind.REMOVED else DiffSide.NEW
        new = self.text() if kind in (ChangeKind.MOVED, ChangeKind.RENAMED) else ""
        return ContractChange(
            subject, kind, self.text(), self.text(), self.text(), self.text(), 3, side, new_name=new
        )

    def changes(self) -> tuple[ContractChange, ...]:
        subjects = tuple(ContractClass)
        return tuple(self.change(kind, subjects[place % len(subjects)]) for place, kind in enumerate(ChangeKind))

    def touch(self, level: TouchLevel) -> Touch:
        kinds = tuple(ChangeKind)
        changed = self.change(kinds[self.turn[0] % len(kinds)], ContractClass.METHOD)
        return Touch(level, changed, self.uses(), self.text(), 0.9, self.text())

    def unread(self) -> tuple[UnreadFile, ...]:
        return tuple(UnreadFile(self.text(), self.text()) for _ in range(4))

    def cover(self) -> Coverage:
        part = CoveredPart("changed files", 2, 4, self.text())
        return Coverage((part, CoveredPart(f"the code of {self.text()}", 1)), self.unread())

    def pulls(self) -> tuple[PullRequest, ...]:
        return tuple(
            pull(number, title=self.text(256), body=self.text(), merged_at=NOON + timedelta(minutes=number))
            for number in range(1, 7)
        )

    def report(self) -> TouchReport:
        hits = tuple(
            MergeTouches(number, self.text(256), "c" * 40, level, 0.9, (self.touch(level), self.touch(level)))
            for number, level in enumerate(_LEVELS, 1)
        )
        return TouchReport(self.text(80), 31, 412, CoveredList(hits, self.cover()))

    def deprecations(self) -> tuple[UsedDeprecation, ...]:
        return tuple(
            UsedDeprecation(
                Deprecation(
                    ContractClass.FLAG,
                    self.text(),
                    number,
                    "c" * 40,
                    NOON,
                    self.text(),
                    self.text(),
                    3,
                    self.text(),
                    self.text(),
                ),
                self.uses() if number % 2 else (),
            )
            for number in range(-1, 4)
        )


# the messages, by the command that they answer


def render_contract(words: Words) -> Post:
    contract = MergeContract(1, "c" * 40, NOON, words.text(256), words.changes(), unread=words.unread())
    caveats = (words.text(), words.text())
    return render_contract_list(
        ContractList(
            words.text(100), SPAN, 3, words.pulls(), CoveredList((contract,), words.cover()), words.text(), caveats
        )
    )


def render_ledger(words: Words) -> Post:
    states = tuple(DeprecationState)
    entries: list[StatedDeprecation] = [
        (states[place % len(states)], used) for place, used in enumerate(words.deprecations())
    ]
    return render_deprecations(words.text(100), CoveredList(tuple(entries), words.cover()), URL)


def render_hits(words: Words) -> Post:
    verdicts = {1: (TouchVerdict.OURS,), 2: tuple(TouchVerdict)}
    pulls = words.pulls()[:2]  # one hit has none
    caveats = (words.text(), words.text())
    context = HitContext.build(pulls, ())
    return render_touch_list(f"What touches {words.text(100)}", words.report(), context, verdicts, caveats)


def render_score(words: Words) -> Post:
    return render_touch_score(words.text(100), ())


def render_broke(words: Words) -> Post:
    suspects = tuple(
        Suspect(number, words.text(256), "c" * 40, NOON, 92.4, words.text(), change, reverted_by=2)
        for number, change in zip((-1, 1, 2, 3), words.changes(), strict=False)
    )
    error = f"{words.text()}\nTypeError: {words.text()}() got an unexpected keyword argument '{words.text(40)}'"
    report = SuspectReport(
        parse_trace(error), words.text(80), words.text(80), 120, CoveredList(suspects, words.cover()), 2
    )
    return render_suspects(words.text(100), REPOSITORY, report)


def make_plan(words: Words) -> UpgradePlan:
    items = tuple(
        UpgradeItem(
            NetChange(touch.change, (MergeReference(1, 1, "c" * 40, NOON, words.text(256)),), (words.text(),)),
            touch,
            touch.uses,
        )
        for touch in map(words.touch, _LEVELS)
    )
    return UpgradePlan(
        words.text(80),
        "a" * 40,
        "b" * 40,
        3,
        412,
        CoveredList(tuple(FileWork(words.text(), items) for _ in range(3)), words.cover()),
        (StoppingPoint("a" * 40, 1, words.text(256), items),),
        2,
        tuple(used for used in words.deprecations() if used.uses),
    )


def make_task(words: Words) -> AgentTask:
    merge = words.report().touching.ignore_coverage()[-1]
    lines = tuple(DiffLine(mark, words.text(), 1, 1) for mark in "+- ")
    hunk = MigrationHunk(words.text(), words.text(), (*lines, None))
    team = Profile(words.text(40), ("engine",), words.text(), words.text(40), NOON, words.uses())
    return AgentTask(words.pulls()[0], merge, team, (hunk,), 3, words.uses(), (words.text(), words.text()))


def render_plan(words: Words) -> Post:
    return render_upgrade_post(make_plan(words), URL)


def render_return(words: Words) -> Post:
    pulls = words.pulls()
    stories = build_stories(RevertIndex(pulls))
    page = SincePage(words.text(100), SPAN, len(pulls), stories, touches=words.report(), coverage=words.cover())
    return render_since(replace(page, notes=(words.text(), words.text())))


def render_pull_card(words: Words) -> Post:
    shown = words.pulls()[0]
    by = words.pulls()[1]
    touches = MergeTouches(1, words.text(256), "c" * 40, TouchLevel.BREAKS, 0.9, (words.touch(TouchLevel.BREAKS),))
    outcome = MergeOutcome(shown, by)
    card = PullCard(shown, DAY.date, words.text(), Risk(13, (words.text(),)), outcome, words.text(80), touches)
    return Post("card", card.render())


def render_range_card(words: Words) -> Post:
    pulls = words.pulls()
    stories = build_stories(RevertIndex(pulls))
    page = SincePage(words.text(100), SPAN, len(pulls), stories, touches=words.report(), coverage=words.cover())
    return Post("card", RangeCard("v1.2.0", "v1.3.0", f"{URL}/compare/v1.2.0...v1.3.0", page).render())


DOORS: dict[str, Callable[[Words], Post]] = {
    "contract": render_contract,
    "deprecations": render_ledger,
    "touches": render_hits,
    "touches score": render_score,
    "broke": render_broke,
    "upgrade": render_plan,
    "since": render_return,
    "link to a pull request": render_pull_card,
    "link to a comparison": render_range_card,
}


@st.composite
def words(draw: st.DrawFn) -> Words:
    return Words(tuple(draw(st.lists(texts(700), min_size=5, max_size=9))), [draw(st.integers(0, 8))])
