"""What people mute for themselves, when "Less like …" weighs, and what of use is counted without names."""

from __future__ import annotations

import datetime as dt
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from redis import Redis

from bot.dates import LocalDay
from bot.errors import UsageError
from bot.features.digest.lead import build_lead
from bot.features.digest.rules import Digest
from bot.features.digest.view import render_digest
from bot.features.merges.outcomes import MergeOutcome
from bot.features.merges.review import BugReview
from bot.features.merges.risk import Risk, RuleHit
from bot.features.merges.summary import RiskKind, SummaryRisk
from bot.features.merges.view import Entry, LeadRule
from bot.features.noise import service
from bot.features.noise.rules import (
    LESS_DAYS,
    MAX_LESS_WANTED,
    MIN_PEOPLE,
    FoldedMerges,
    LessClick,
    LineFeature,
    Mute,
    MuteKind,
    Use,
    UseKind,
    count_uses,
    is_muted,
    make_less_menu,
    make_muted_button,
    parse_mutes,
    select_less_wanted,
)
from bot.features.noise.service import LESS_CLICKS, MUTES, USES, find_less_wanted, load_mutes
from bot.platform.commands import AllowedRepositories
from bot.platform.pulls.models import Account, PullRequest
from bot.platform.slack.blocks import UNKNOWN_BUTTON, Post
from bot.platform.store.erasure import StoreEraser
from bot.platform.store.forgotten_ids import ForgottenIds
from impact.contract.models import ChangeKind, ContractChange, ContractClass, MergeContract
from impact.source.models import DiffSide
from tests.features.digest.hostile_days import digests
from tests.helpers.apps import make_app
from tests.helpers.builders import DAY, NOON, REPOSITORY, changed_file, digest, entry, finding, pull, summary
from tests.helpers.doubles import slack_request
from tests.helpers.tables import check_rows
from tests.platform.slack.accepted import assert_accepted, assert_taken, read_post

AREA, LATER = "Kernels and attention", DAY.date + timedelta(days=9)
ALLOWED = AllowedRepositories(REPOSITORY)
TODAY = LocalDay(DAY.date, DAY.zone)
HOSTILE = [
    "a|b|c",
    "<!channel> *bold*",
    "x" * 10_000,
    "\u202eright to left\u202c",
    "`code` | <https://a.b|c>",
    "\ud800",
    "x" * 39 + " a blank where it is cut",
]


def mute(kind: MuteKind, value: str) -> Mute:
    return Mute(kind, value, LATER)


# --- muting

MATCHED: dict[str, tuple[Mute, PullRequest, bool]] = {
    "an area, whatever its case": (mute(MuteKind.AREA, "kernels AND attention"), pull(), True),
    "another area": (mute(MuteKind.AREA, "Kernels"), pull(), False),
    "a repository": (mute(MuteKind.REPOSITORY, str(REPOSITORY).upper()), pull(), True),
    "another repository": (mute(MuteKind.REPOSITORY, "other/place"), pull(), False),
    "an author": (mute(MuteKind.AUTHOR, "ADA-dev"), pull(), True),
    "bots": (mute(MuteKind.AUTHOR, "bots"), pull(author=Account("renovate[bot]")), True),
    "a person is no bot": (mute(MuteKind.AUTHOR, "bots"), pull(), False),
    "never what is about security": (mute(MuteKind.AREA, AREA), pull(title="Fix CVE-2026-1 in the parser"), False),
    "nor by another of its words": (mute(MuteKind.AREA, AREA), pull(title="Fix RCE by a pickled message"), False),
    "nor what is labelled so": (mute(MuteKind.AREA, AREA), pull(labels=("Security",)), False),
}


@check_rows(MATCHED)
def test_a_mute_folds_what_it_names(one: Mute, merge: PullRequest, is_folded: bool) -> None:
    assert is_muted([one], merge, AREA) is is_folded
    risky = summary(risks=(SummaryRisk("Tokens leak", kind=RiskKind.SECURITY),))
    assert not is_muted([one], merge, AREA, risky)


TYPED: dict[str, tuple[str, list[str]]] = {
    "an area": ("area:LoRA until 2026-03-09", ["area:LoRA 2026-03-09"]),
    "with blanks": ('area:"CI and tests" until 2w', ['area:"CI and tests" 2026-03-14']),
    "several": ("author:bots area:LoRA until 2w", ["area:LoRA 2026-03-14", "author:bots 2026-03-14"]),
    "a repository by its name": (f"{REPOSITORY}", [f"repo:{REPOSITORY} 2026-05-29"]),
    "or as an option": (f"repo:{REPOSITORY}", [f"repo:{REPOSITORY} 2026-05-29"]),
}


@check_rows(TYPED)
def test_what_people_type_is_read_with_its_day(text: str, mutes: list[str]) -> None:
    assert [f"{each} {each.until}" for each in parse_mutes(text, ALLOWED, TODAY)] == mutes


@pytest.mark.parametrize(
    "text",
    [
        "",
        "until monday",
        "path:a",
        "other/place",
        "area:LoRA until never",
        f"area:LoRA until {DAY.date}",
        f"area:{'x' * 81}",
        "area:vllm/*",
        "area:\u200b",
        "author:",
        "author:renovate*",
    ],
)
def test_a_mistake_is_told(text: str) -> None:
    with pytest.raises(UsageError):
        parse_mutes(text, ALLOWED, TODAY)


def test_a_digest_that_one_person_reads_folds_what_they_mute_and_loses_nothing() -> None:
    whole = digest(*(entry(number, files=[changed_file("csrc/a.cu")]) for number in (1, 2)), entry(3))
    folded = whole.fold_muted([mute(MuteKind.AREA, AREA)])
    assert ([each.number for each in folded.entries], [each.number for each in folded.muted]) == ([3], [1, 2])
    rendered = render_digest(folded)
    assert "1 of 3 merged" in rendered.lead.text
    assert "muted for you: #1, #2" in read_post(rendered.lead)
    (button,) = [each for each in rendered.lead.blocks[-1]["elements"] if each["action_id"] == "muted"]
    assert button["text"]["text"] == "2 muted: show"
    assert FoldedMerges.parse(button["value"], ALLOWED).numbers == (1, 2)
    assert rendered.attachment == render_digest(whole).attachment
    assert rendered.ratings
    assert [each.number for each in rendered.ratings.rated] == [1, 2, 3]
    assert folded.unfold() == whole


def test_a_day_that_is_muted_as_a_whole_still_says_what_there_is() -> None:
    rendered = render_digest(digest(entry(1), entry(2)).fold_muted([mute(MuteKind.REPOSITORY, str(REPOSITORY))]))
    assert "0 of 2 merged" in rendered.lead.text
    assert "2 muted: show" in str(rendered.lead.blocks)
    assert rendered.attachment


def gone(number: int) -> MergeContract:
    change = ContractChange(ContractClass.FLAG, ChangeKind.REMOVED, "--old", "--old", "", "a.py", 7, DiffSide.OLD)
    made = pull(number)
    return MergeContract(number, made.commit, made.merge_time, made.title, (change,))


def test_breaks_reverts_and_security_fixes_stay_whatever_somebody_mutes() -> None:
    back = pull(9, title='Revert "Count once" (#5)', merged_at=NOON + timedelta(hours=1))
    day = digest(
        entry(1),
        entry(2),
        entry(3, title="Close a security hole"),
        entry(5),
        entry(9, title='Revert "Count once" (#5)'),
        contracts=(gone(2),),
        outcomes=(MergeOutcome(pull(5), back),),
    )
    kept = day.fold_muted([mute(MuteKind.AUTHOR, "ada-dev"), mute(MuteKind.REPOSITORY, str(REPOSITORY))]).entries
    assert [each.number for each in kept] == [2, 3, 5, 9]


@given(digests(), st.sampled_from(list(MuteKind)), st.sampled_from(["ada-dev", AREA, str(REPOSITORY), "Other"]))
def test_whatever_is_muted_each_merge_is_shown_or_counted(day: Digest, kind: MuteKind, value: str) -> None:
    folded = day.fold_muted([mute(kind, value)])
    assert {*folded.numbers, *(each.number for each in folded.muted)} == day.numbers
    assert folded.merged_count == day.merged_count
    rendered = render_digest(folded)
    assert_accepted(rendered.lead, day)
    is_shown = f"{len(folded.muted)} muted: show" in str(rendered.lead.blocks)
    assert is_shown is bool(folded.muted)


@pytest.mark.parametrize(
    "value",
    [
        "",
        "1|octo/engine|2026-02-28|2026-02-28|7",
        "2|octo/engine|2026-02-28|2026-02-28|seven",
        "2|octo/engine|2026-02-28|2020-02-28|7",
        "2|octo/engine|2020-02-28|2026-02-28|7",
        "2|other/place|2026-02-28|2026-02-28|7",
        *HOSTILE,
    ],
)
def test_a_forged_button_shows_nothing(value: str) -> None:
    with pytest.raises(UsageError):
        FoldedMerges.parse(value, ALLOWED)
    with pytest.raises(UsageError, match=UNKNOWN_BUTTON):
        LineFeature.parse(value)


def test_so_many_that_a_button_can_not_hold_them_are_still_a_valid_button() -> None:
    button = make_muted_button([pull(10_000_000 + number) for number in range(600)])
    assert button
    assert button["text"]["text"] == "600 muted: show"
    assert len(button["value"]) <= 2_000


# --- less like this


def risky(number: int, rule: str = "size", action: str = "", **fields: Any) -> Entry:
    made = entry(number, entry_summary=summary(action=action), **fields)
    return replace(made, risk=Risk(40 - number, ("adds 400 lines",), (RuleHit(rule, 20, "adds 400 lines"),)))


def feature(one: Entry, rule: LeadRule = LeadRule.RISKY) -> LineFeature:
    made = digest(one).find_feature(one, rule)
    assert made
    return made


def clicks(one: LineFeature, people: int, days: float = 0) -> list[LessClick]:
    return [LessClick(f"U0{person}", str(one), NOON - timedelta(days=days)) for person in range(people)]


SIZE = feature(risky(1))
WEIGHED: dict[str, tuple[list[LessClick], int, bool]] = {
    "two people": (clicks(SIZE, MIN_PEOPLE - 1), MIN_PEOPLE, False),
    "three people": (clicks(SIZE, MIN_PEOPLE), MIN_PEOPLE, True),
    "three people, a month ago": (clicks(SIZE, MIN_PEOPLE, 30), MIN_PEOPLE, True),
    "three people, longer ago": (clicks(SIZE, MIN_PEOPLE, 31), MIN_PEOPLE, False),
    "six people, of whom each counts less by now": (clicks(SIZE, 2 * MIN_PEOPLE, 45), MIN_PEOPLE, True),
    "many, too long ago": (clicks(SIZE, 60, LESS_DAYS), MIN_PEOPLE, False),
    "from a clock that is ahead": (clicks(SIZE, MIN_PEOPLE, -1), MIN_PEOPLE, True),
    "who reads alone": (clicks(SIZE, 1), 1, True),
}


@check_rows(WEIGHED)
def test_enough_people_weigh_until_it_fades(made: list[LessClick], needed: int, weighs: bool) -> None:
    assert select_less_wanted(made, NOON, needed) == ({SIZE} if weighs else set())


def test_clicks_on_a_rule_that_is_gone_are_passed_over_with_one_line(caplog: pytest.LogCaptureFixture) -> None:
    gone = LessClick("U0ADA", "ab|gone|size|Core", NOON)
    assert (select_less_wanted([*clicks(SIZE, 1), gone], NOON, 1), len(caplog.messages)) == (frozenset({SIZE}), 1)


def test_lines_that_are_less_wanted_lose_their_place_but_not_the_first_and_not_many() -> None:
    day = digest(*(risky(number) for number in (1, 2, 3)), less_wanted=frozenset({SIZE}))
    post, lines = build_lead(day)
    assert [(each.number, each.rule) for each in lines] == [
        (1, LeadRule.RISKY),
        (2, LeadRule.LESS_WANTED),
        (3, LeadRule.LESS_WANTED),
    ]
    assert "and 2 more, in the thread: #2, #3" in read_post(post)
    actions = [risky(number, action=f"Set --flag-{number}.") for number in range(1, 9)]
    many = digest(*actions, less_wanted=frozenset({SIZE, feature(actions[0], LeadRule.SHOULD_ACT)}))
    assert [each.rule for each in build_lead(many)[1]].count(LeadRule.LESS_WANTED) == MAX_LESS_WANTED


def test_other_areas_causes_and_repositories_keep_their_place() -> None:
    others = [risky(1), risky(2, "fixes"), risky(3, files=[changed_file("csrc/a.cu")])]
    day = digest(*others, less_wanted=frozenset({SIZE}))
    assert [each.rule for each in build_lead(day)[1]] == [LeadRule.RISKY] * 3
    assert LineFeature.build(REPOSITORY, LeadRule.RISKY, "size", "a") != replace(SIZE, area="a", repository="x")


PROVEN = finding("It stops", trigger="a is b")
STAYING: dict[str, tuple[LeadRule, dict[str, Any]]] = {
    **{
        rule: (rule, {})
        for rule in (
            LeadRule.TOUCHES_US,
            LeadRule.REVERTED,
            LeadRule.REPAIRED,
            LeadRule.GONE_FOR_CALLERS,
            LeadRule.CONFIRMED_FINDING,
            LeadRule.MUST_ACT,
            LeadRule.NOT_REACHABLE,
        )
    },
    "a security fix": (LeadRule.RISKY, {"title": "Fix a vulnerability"}),
}


@check_rows(STAYING)
def test_what_stays_can_not_be_refused(rule: LeadRule, fields: dict[str, Any]) -> None:
    assert digest().find_feature(risky(1, **fields), rule) is None


def test_the_menu_has_the_lines_that_may_be_refused_each_kind_once() -> None:
    day = digest(risky(1), risky(2), replace(entry(3), review=BugReview((PROVEN,))))
    (menu,) = [each for each in render_digest(day).lead.blocks[-1]["elements"] if each["action_id"] == "less_like"]
    assert [option["text"]["text"] for option in menu["options"]] == ["#1 Change number 1"]
    assert LineFeature.parse(menu["options"][0]["value"].removeprefix("2|")) == SIZE


@given(st.lists(st.sampled_from(HOSTILE), min_size=1, max_size=20), st.sampled_from(HOSTILE))
def test_a_menu_of_hostile_lines_is_one_that_slack_takes(titles: list[str], area: str) -> None:
    lines = [
        (pull(number, title=title), LineFeature.build(REPOSITORY, LeadRule.RISKY, f"{number}{title}", area))
        for number, title in enumerate(titles, 1)
    ]
    menu = make_less_menu(lines)
    assert menu
    for option in menu["options"]:
        assert 0 < len(option["text"]["text"]) <= 75
        assert len(option["value"]) <= 150
        assert str(LineFeature.parse(option["value"].removeprefix("2|"))) == option["value"].removeprefix("2|")
    assert_taken(Post("x", ({"type": "actions", "elements": [menu]},)), ())


# --- what was of use


def uses(kind: UseKind, people: int, area: str = AREA, times: int = 1) -> list[Use]:
    return [Use(f"U0{person}", kind, area) for person in range(people) for _ in range(times)]


def test_what_fewer_than_three_people_did_is_not_shown_at_all() -> None:
    counted = count_uses(
        [
            *uses(UseKind.OPENED, 3, times=4),
            *uses(UseKind.MUTED, 2, times=9),
            *uses(UseKind.ASKED, 1, "LoRA", 50),
            *uses(UseKind.MARKED, 5, "Models"),
        ]
    )
    assert counted == {AREA: {UseKind.OPENED: 10}, "Models": {UseKind.MARKED: 0}}
    shown = read_post(service.render_usefulness(counted, {SIZE}))
    assert f"{AREA}: opened 10+ times" in shown
    assert "Models: marked fewer than 10 times" in shown
    assert "LoRA" not in shown
    assert "U0" not in shown
    assert SIZE.label in shown
    assert "Nothing was done by as many as 3 others." in read_post(service.render_usefulness({}, ()))


@given(
    st.lists(
        st.builds(Use, st.sampled_from(["U1", "U2", "U3", "U4"]), st.sampled_from(UseKind), st.text(max_size=3))
    )
)
def test_nobody_can_be_recognized_by_a_count(made: list[Use]) -> None:
    for area, counts in count_uses(made).items():
        for kind in counts:
            assert len({use.user for use in made if (use.area, use.kind) == (area, kind)}) >= MIN_PEOPLE
    assert_taken(service.render_usefulness(count_uses(made), ()), ())


# --- what is kept


def test_mutes_end_with_their_day_and_all_of_a_person_is_forgotten(store: Redis) -> None:
    app = make_app(store)
    ada, ben = slack_request(user="U0ADA"), slack_request(user="U0BEN")
    for asker in (ada, ben):
        over = Mute(MuteKind.AREA, "LoRA", app.get_today().date)
        lasting = Mute(MuteKind.AUTHOR, "bots", app.get_today().date + timedelta(days=1))
        app.tables.put(MUTES, service.Mutes(asker.user, (over, lasting)), asker.user)
        click = LessClick(asker.user, str(SIZE), app.now())
        app.tables.put_field(LESS_CLICKS, f"{asker.user}|{SIZE}", click, "C0DIGEST")
        for _ in range(2):
            # a job that runs again
            service.note_use(app, asker, UseKind.OPENED, AREA, AREA)
    assert [str(each) for each in load_mutes(app, "U0ADA")] == ["author:bots"]
    assert load_mutes(app, "") == ()
    today = app.now().astimezone(dt.UTC).date()
    assert len(app.tables.list_fields(USES, today)) == 2
    assert 0 < store.ttl(f"uses:{today}") <= 31 * 86_400
    assert 0 < store.ttl("less:C0DIGEST") <= LESS_DAYS * 86_400
    assert find_less_wanted(app, "C0DIGEST") == frozenset()
    StoreEraser(store).erase(ForgottenIds(frozenset({"U0ADA"})))
    assert load_mutes(app, "U0ADA") == ()
    assert [each.user for each in app.tables.list_fields(USES, today).values()] == ["U0BEN"]
    assert [each.user for each in app.tables.list_fields(LESS_CLICKS, "C0DIGEST").values()] == ["U0BEN"]
    assert load_mutes(app, "U0BEN")
