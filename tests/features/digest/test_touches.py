from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from hypothesis import given

from bot.dates import Span
from bot.features.digest.lead import render_catch_up, render_lead
from bot.features.digest.posts import mark_outcomes
from bot.features.digest.rules import Digest, MultiDayDigest, Overview
from bot.features.digest.thread import render_thread
from bot.features.digest.view import render_digest, render_report
from bot.features.merges.outcomes import MergeOutcome
from bot.features.merges.requests import DigestView, ViewLevel
from bot.features.touches.lines import TeamLessons, TouchVerdict, read_hit_task, read_hit_vote
from bot.platform.commands import AllowedRepositories
from bot.platform.pulls.sources import CountCheck
from bot.platform.slack.blocks import MAX_LEAD_WORDS, count_words
from impact.contract.deprecations import DeprecationState
from impact.contract.models import ChangeKind, ContractClass
from impact.coverage import UnreadFile
from impact.history.outcomes import OutcomeKind
from impact.profile.models import MovedHit, ProfileMove, UseKind
from impact.touches.models import MergeTouches, TouchLevel
from impact.touches.profile_index import DeprecationStep
from tests.features.digest.hostile_days import WORST, full_day
from tests.features.touches.touched_days import (
    change,
    contract,
    fill,
    list_known,
    make_hit,
    make_lessons,
    report,
    step,
    touch,
    touched_days,
    use,
)
from tests.helpers.builders import DAY, NOON, REPOSITORY, digest, entry, pull
from tests.helpers.data.attacks import attack
from tests.platform.slack.accepted import assert_taken, items, nodes, read_post

PLACE, LINK, DO = "ours/core/scheduler.py:120", "(sched.py:88)", "Hint: use Scheduler.plan."
UNSURE = "may break (likely; not proved)"
BROKEN = f"{PLACE} breaks: Scheduler.schedule is gone {LINK}"
BOTH = "def schedule(self) → def schedule(self, budget)"
BACK = pull(9, title='Revert "Change"', merged_at=NOON + timedelta(hours=1))


def make_digest(*hits: MergeTouches, **fields: Any) -> Digest:
    day_digest = digest(*(entry(number) for number in (5, 4, 3, 2, 1)))
    return replace(day_digest, touches=report(*hits, **fields))


def section(day_digest: Digest) -> list[str]:
    """The lines of the first block below the headline."""
    return [
        "".join(part["text"] for part in piece["elements"])
        for piece in nodes(render_lead(day_digest).blocks[1], "rich_text_section")
    ]


LINES = {
    "breaks": (make_hit(1), f"#1 {BROKEN}. {DO}"),
    "may break, nothing known to do": (
        make_hit(1, TouchLevel.MAY_BREAK, touch(action="")),
        f"#1 {PLACE} {UNSURE}: Scheduler.schedule is gone {LINK}.",
    ),
    "a use that was added by hand": (
        make_hit(1, TouchLevel.BREAKS, touch(uses=(use(0, path="added by hand", kind=UseKind.FLAG),))),
        f"#1 added by hand breaks: Scheduler.schedule is gone {LINK}. {DO}",
    ),
    "touches at three places": (
        make_hit(1, TouchLevel.TOUCHES, touch(uses=(use(), use(7), use(9)))),
        f"#1 {PLACE} is touched: Scheduler.schedule is gone {LINK} (+2 places). {DO}",
    ),
    "before and after": (
        make_hit(
            1,
            TouchLevel.BREAKS,
            touch(
                change=change(ChangeKind.SIGNATURE, after="def schedule(self, budget)"),
                reason="`Scheduler.schedule` has other parameters",
                action="",
            ),
        ),
        f"#1 {PLACE} breaks: Scheduler.schedule has other parameters ({BOTH}) {LINK}.",
    ),
    "the reason names the parameter": (
        make_hit(
            1,
            TouchLevel.BREAKS,
            touch(
                change=change(ChangeKind.SIGNATURE, after="def schedule(self, budget)"),
                reason="must accept `budget`, which upstream now passes",
                action="",
            ),
        ),
        f"#1 {PLACE} must accept budget, which upstream now passes {LINK}.",
    ),
    "a flag that takes no value now": (
        make_hit(
            1,
            TouchLevel.MAY_BREAK,
            touch(
                change=change(
                    ChangeKind.SIGNATURE,
                    "--resume",
                    subject=ContractClass.FLAG,
                    before="--resume",
                    after="--resume default off",
                ),
                reason="`--resume` no longer takes a value",
                action="upstream deleted its own call `f()`",
            ),
        ),
        f"#1 {PLACE} {UNSURE}: --resume no longer takes a value {LINK}. Hint: upstream deleted its own call f().",
    ),
    "a sentence that is too long is left out whole": (
        make_hit(1, TouchLevel.BREAKS, touch(reason="`f` has " + "many " * 20, action="do " * 30)),
        f"#1 {PLACE} breaks: Scheduler.schedule {LINK}.",
    ),
}


@pytest.mark.parametrize(("merge_touches", "line"), LINES.values(), ids=LINES)
def test_a_hit_is_one_line(merge_touches: MergeTouches, line: str) -> None:
    assert section(make_digest(merge_touches)) == ["Touches ascend (1 of 31 merges)", line]


def test_the_strongest_come_first_and_the_rest_is_counted() -> None:
    hits = (
        make_hit(5, TouchLevel.TOUCHES),
        make_hit(4, TouchLevel.BREAKS),
        make_hit(3, TouchLevel.MAY_BREAK),
        make_hit(2, TouchLevel.TOUCHES, score=0.95),
        make_hit(1, TouchLevel.TOUCHES),
    )
    title, *lines, rest = section(make_digest(*hits))
    assert (title, rest) == ("Touches ascend (5 of 31 merges)", "and 2 more, in the thread")
    assert [line.partition(" ")[0] for line in lines] == ["#4", "#3", "#2"]


def test_what_was_taken_back_says_so_and_comes_last() -> None:
    outcomes = (
        MergeOutcome(entry(2).pull, BACK, OutcomeKind.REVERTED),
        MergeOutcome(entry(1).pull, BACK, OutcomeKind.REPAIRED),
    )
    day_digest = replace(make_digest(make_hit(2), make_hit(1, TouchLevel.TOUCHES)), outcomes=outcomes)
    assert [line.partition(" ours")[0] for line in section(day_digest)[1:]] == [
        "#1 (repaired after 1.0 h by #9)",
        "#2 (reverted after 1.0 h by #9)",
    ]


@pytest.mark.parametrize(
    ("unread", "sentence"),
    [
        ((), "Nothing touches ascend (31 merges, 412 uses checked)."),
        (
            (UnreadFile("a.cu", "it is too large"),),
            "I couldn't read 1 of 2 changed files (a.cu: it is too large), so I can't tell. 5 merged.",
        ),
    ],
)
def test_where_nothing_touches_it_says_what_was_checked(unread: tuple[UnreadFile, ...], sentence: str) -> None:
    assert section(make_digest(unread=unread)) == [sentence]


def test_a_day_of_nothing_that_touches_is_one_line_where_only_that_is_wanted() -> None:
    view = DigestView(only=ViewLevel.TOUCHING, profile="ascend")
    count = CountCheck(31, "the commits of main")
    made = render_digest(digest(view=view, hidden=31, touches=report(), count=count))
    assert read_post(made.lead).split("\n") == [
        "Engine · Saturday 28 February 2026 · 0 of 31 merged",
        "Nothing touches ascend (31 merges, 412 uses checked).",
        "0 of 31 shown: only:touching profile:ascend",
    ]
    assert (made.thread, made.attachment) == ((), None)


def test_a_day_without_merges_has_no_section() -> None:
    assert "ascend" not in read_post(render_lead(digest(touches=report(merges=0))))


STEPS = {
    "one": ((step(),), "Deprecated: --old was removed since v1.1.0."),
    "what is gone comes first": (
        (step(DeprecationState.ANNOUNCED), step(name="--gone"), step(DeprecationState.DUE)),
        "Deprecated: --gone was removed since v1.1.0; and 2 more, in the thread.",
    ),
}


@pytest.mark.parametrize(("steps", "line"), STEPS.values(), ids=STEPS)
def test_what_became_of_a_deprecation_is_one_line(steps: tuple[DeprecationStep, ...], line: str) -> None:
    day_digest = replace(make_digest(), deprecations=steps)
    assert line in read_post(render_lead(day_digest)).split("\n")
    first, *_ = render_thread(day_digest)
    text = read_post(first)
    assert text.startswith("Deprecated, and used by us")
    assert "was removed since v1.1.0: " in text
    assert "used at ours/core/scheduler.py:120" in text


def test_what_became_of_earlier_merges_when_the_code_moved_is_one_line_in_the_thread() -> None:
    moves = (ProfileMove(NOON, (MovedHit(5, "a.B.run"), MovedHit(6, "--old")), (MovedHit(7, "a.b.gone"),)),)
    day_digest = replace(make_digest(), moves=moves)
    first, *_ = render_thread(day_digest)
    line = "Since your code moved: #5 B.run, #6 --old now touch you; #7 b.gone no longer does."
    assert read_post(first).split("\n") == [line]
    assert "Since your code moved" not in read_post(render_lead(day_digest))
    many = ProfileMove(NOON, tuple(MovedHit(number, attack("escaped-bars", 3_000)) for number in range(1, 21)))
    first, *_ = render_thread(replace(make_digest(), moves=(many,)))
    assert_taken(first, {f"https://github.com/{REPOSITORY}/pull/{number}" for number in range(1, 21)})
    assert "and 16 more now touch you." in read_post(first)


def test_what_touches_is_shortened_last() -> None:
    overview = Overview("Requests are now counted once, in one place. " * 13)
    day_digest = replace(full_day(67, "plain words " * 60), overview=overview)
    numbers = [made.number for made in day_digest.entries]
    lines = section(replace(day_digest, touches=report(*map(make_hit, numbers[:3]))))
    assert [line.partition(" ")[2] for line in lines[1:]] == [f"{BROKEN}. {DO}"] * 3


@given(touched_days())
@pytest.mark.slow
def test_hostile_names_make_messages_that_slack_takes(day_digest: Digest) -> None:
    known = list_known(day_digest)
    lead, *posts = render_lead(day_digest), *render_thread(day_digest)
    assert count_words(lead.blocks) <= MAX_LEAD_WORDS
    for post in (lead, *posts):
        assert_taken(post, known)


@pytest.mark.parametrize("count", [1, 67])
@pytest.mark.parametrize("text", WORST.values(), ids=list(WORST))
@pytest.mark.slow
def test_a_day_of_any_size_is_short_and_taken(count: int, text: str) -> None:
    day_digest = fill(full_day(count, text, is_reviewed=True), text, 1)
    lead = render_lead(day_digest)
    assert count_words(lead.blocks) <= MAX_LEAD_WORDS
    nothing = replace(day_digest, touches=report(unread=(day_digest.touches or report()).touching.coverage.files))
    assert count_words(render_lead(nothing).blocks) <= MAX_LEAD_WORDS
    known = list_known(day_digest)
    for post in (lead, *render_thread(day_digest)):
        assert_taken(post, known)


# --- the thread


def test_each_hit_has_its_places_and_a_button_for_each_choice() -> None:
    again = touch(TouchLevel.TOUCHES, uses=(use(3, text=""),), action="")
    day_digest = make_digest(
        make_hit(4, TouchLevel.BREAKS, touch(uses=(use(), use(7))), again), make_hit(2, TouchLevel.TOUCHES)
    )
    first, *_ = render_thread(day_digest)
    assert [line[0]["text"] + line[1]["text"] for line in items(first) if line[0]["type"] == "link"] == [
        "#4 breaks us",
        "#2 touches",
    ]
    assert f"{BROKEN}. Ours: def schedule(self):, also at ours/core/scheduler.py:7. {DO}" in read_post(first)
    rows = list(nodes(first.blocks, "actions"))
    assert [row["block_id"] for row in rows] == ["hit-4", "hit-2"]
    allowed = AllowedRepositories(REPOSITORY)
    votes = [read_hit_vote(button["value"], allowed) for button in rows[0]["elements"][:3]]
    assert [(vote.verdict, vote.profile, str(vote.reference)) for vote in votes] == [
        (verdict, "ascend", "octo/engine#4") for verdict in TouchVerdict
    ]
    labels = ", ".join(button["text"]["text"] for button in rows[0]["elements"])
    assert labels == "Ours to do, Not us, Done, Task for an agent, Watch"
    profile, reference = read_hit_task(rows[0]["elements"][3]["value"], allowed)
    assert (profile, str(reference)) == ("ascend", "octo/engine#4")


ONCE, UNREAD = "You adapted to this once: 1111111 Follow.", "How you adapted before was not read: git is away"
LESSONS = {
    "once": (make_lessons("Follow"), ONCE, []),
    "often": (make_lessons(*"Follow"), "You adapted to this 6 times: 1111111 F, 2222222, 3333333.", []),
    "never": (make_lessons(), "", []),
    "of another name": (make_lessons("Follow", name="engine.core.other"), "", []),
    "not read": (TeamLessons({}, "git is away"), "", [UNREAD]),
    "not all of it was read": (make_lessons("Follow", gap="git is away"), ONCE, [UNREAD]),
}


@pytest.mark.parametrize(("lessons", "sentence", "below"), LESSONS.values(), ids=LESSONS)
def test_how_the_team_adapted_before_is_said_at_the_hit(
    lessons: TeamLessons, sentence: str, below: list[str]
) -> None:
    plain = make_digest(make_hit(4), make_hit(2, touches=()))
    first, *rest = read_post(render_thread(plain)[0]).split("\n")
    known = replace(plain, lessons=lessons)
    assert read_post(render_thread(known)[0]).split("\n") == [first + sentence, *rest, *below]
    assert render_lead(known) == render_lead(plain)


def test_files_that_could_not_be_read_are_named_in_the_thread() -> None:
    unread = tuple(UnreadFile(f"csrc/{n}.cu", "it is too large") for n in range(7))
    [first, *_] = render_thread(make_digest(unread=unread))
    shown = read_post(first)
    assert shown.startswith("I couldn't read 7 of 8 changed files (0.cu: it is too large, among others)")
    assert "Could not be read: csrc/0.cu (it is too large), csrc/1.cu" in shown
    assert "csrc/4.cu (it is too large), and 2 more." in shown


def test_a_revert_later_is_said_behind_the_hit_in_lead_and_thread() -> None:
    made = render_digest(make_digest(make_hit(4), make_hit(2)))
    outcome = MergeOutcome(entry(4).pull, BACK, OutcomeKind.REVERTED)
    for post in (made.lead, made.thread[0]):
        before, after = post.build_payload(), mark_outcomes(post.build_payload(), [outcome])
        known = list(nodes(before["blocks"], "rich_text_section"))
        [line] = [each for each in nodes(after["blocks"], "rich_text_section") if each not in known]
        assert "".join(part["text"] for part in line["elements"]).startswith("#4")


def test_the_contract_table_is_by_class_with_what_was_removed_first_and_no_behaviour() -> None:
    rows = (
        change(ChangeKind.DEFAULT, "--max-model-len", subject=ContractClass.FLAG, before="1", after="2"),
        change(ChangeKind.SIGNATURE, "a.B.c", before="c(self)", after="c(self, d)"),
        change(ChangeKind.BEHAVIOUR, "a.B.e"),
        change(ChangeKind.REMOVED, "a.B.f", before="f(self)"),
        change(ChangeKind.RENAMED, "a.B.g", new_name="a.B.h"),
    )
    day_digest = replace(make_digest(), contracts=(contract(4, *rows),))
    methods = (
        "#4 B.f removed: f(self) (sched.py:88)",
        "#4 B.g renamed: B.h (sched.py:88)",
        "#4 B.c other signature: c(self) → c(self, d) (sched.py:88)",
    )
    text = read_post(render_thread(day_digest)[-1])
    assert text.partition("Method · ")[2].split("\n") == [
        f"3 contract changes{''.join(methods)}",
        "Flag · 1 contract change#4 --max-model-len other default: 1 → 2 (sched.py:88)",
    ]


# --- other places


def test_an_overview_of_days_begins_with_what_touches() -> None:
    days = MultiDayDigest(
        Span(DAY.date, DAY.date, DAY.zone),
        (make_digest(make_hit(1)), make_digest(make_hit(2, TouchLevel.TOUCHES))),
    )
    first = render_catch_up(days).blocks[1]
    lines = ["".join(part["text"] for part in piece["elements"]) for piece in nodes(first, "rich_text_section")]
    assert (lines[0], len(lines)) == ("Touches ascend (2 of 62 merges)", 3)


@pytest.mark.parametrize(
    ("hits", "line"),
    [((make_hit(4), make_hit(2, TouchLevel.TOUCHES)), "#4 breaks us, #2 touches"), ((), "nothing")],
)
def test_a_report_with_a_profile_has_one_line_more(hits: tuple[MergeTouches, ...], line: str) -> None:
    day_digest = make_digest(*hits)
    with_profile, without = render_report(day_digest), render_report(replace(day_digest, touches=None))
    assert with_profile.replace(f"**Touches ascend:** {line}\n\n", "") == without
