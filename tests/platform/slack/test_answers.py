import json
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from localslack.rules.messages import find_links, find_mentions

from bot.dates import LocalDay, Span
from bot.errors import PullRequestNotFound, RepositoryNotFound, UsageError
from bot.features.merges.outcomes import MergeOutcome
from bot.features.merges.requests import DigestRequest, RisksRequest, ScoreRequest, SummaryRequest
from bot.features.risks.rules import Tally, TrackRecordScore
from bot.platform.commands import AllowedRepositories
from bot.platform.pulls.models import PullRequest, Reference
from bot.platform.pulls.paths import Filters
from bot.platform.slack.answers import Answer
from bot.platform.slack.blocks import Post, read_request
from bot.platform.slack.client import make_slack_client
from bot.platform.slack.messenger import SlackEphemeralMessenger, SlackMessenger
from tests.emulators.slack.server import SlackEmulator
from tests.features.digest.posting import HOME
from tests.helpers.apps import Answers, make_digest_app
from tests.helpers.builders import DAY, NOON, REPOSITORY, changed_file, pull, summary
from tests.helpers.doubles import KnownPulls, Summaries, slack_request

HEAVY = (changed_file("engine/core.py", 500, 500),)
TODAY = LocalDay(DAY.date + timedelta(days=30), DAY.zone)
REPOSITORIES = AllowedRepositories(REPOSITORY)
WEEK = Span(DAY.date - timedelta(days=6), DAY.date, DAY.zone)
ONE_DAY = Span(DAY.date, DAY.date, DAY.zone)


def merge(number: int, days: float = 0, **fields: Any) -> PullRequest:
    return replace(pull(number, files=HEAVY, merged_at=NOON + timedelta(days=days, seconds=number)), **fields)


HIT = MergeOutcome(merge(3), merge(9, 1, title='Revert "Change number 3" (#3)'))
# of a list that found one
SCORE = TrackRecordScore(digests=1, listed=Tally(1, 1), others=Tally(2), hits=(HIT,))


def answers(*merges: PullRequest, summaries: Summaries | None = None, pulls: KnownPulls | None = None) -> Answers:
    app = make_digest_app(
        pulls or KnownPulls(merges),
        model=summaries or Summaries(),
        name_repository="The {0.name}".format,
        get_today=lambda: TODAY,
        # that readers expect
        get_channel_zone=lambda _: TODAY.zone,
    )
    return Answers(app, SCORE)


def row(post: Post) -> list[dict[str, Any]]:
    *others, last = post.build_payload()["blocks"]
    assert [block["type"] for block in (*others, last)].count("actions") == 1
    elements: list[dict[str, Any]] = list(last["elements"])
    return elements


def actions(post: Post) -> list[str]:
    return [element["action_id"] for element in row(post)]


def value(post: Post, action: str) -> str:
    (button,) = [element for element in row(post) if element["action_id"] == action]
    return str(button["value"])


def options(post: Post) -> list[str]:
    return [option["value"] for element in row(post) for option in element.get("options", ())]


REVERT = merge(9, 1, title='Revert "Change number 3" (#3)')
Ask = Callable[[Answers, str], Answer]
ASKED: dict[str, tuple[Ask, str]] = {
    "summary": (lambda builder, asker: builder.build_summary(Reference(REPOSITORY, 1), asker), "share_summary"),
    "risks": (lambda builder, asker: builder.build_risks(RisksRequest(REPOSITORY, WEEK), asker), "share_risks"),
    "overview": (
        lambda builder, asker: builder.build_overview(DigestRequest(REPOSITORY, WEEK), asker, HOME),
        "share_digest",
    ),
}
EACH: dict[str, tuple[Ask, str]] = {
    **ASKED,
    "score": (lambda builder, asker: builder.build_score(ScoreRequest(REPOSITORY, WEEK), asker), "share_risks"),
}


@pytest.mark.parametrize(("ask", "share"), EACH.values(), ids=EACH)
def test_the_two_forms_of_an_answer_differ_only_in_their_buttons(ask: Ask, share: str) -> None:
    answer = ask(answers(merge(1), merge(2), merge(3), REVERT), "")
    assert answer.public.text == answer.private.text
    assert answer.public.blocks[:-1] == answer.private.blocks[:-1]
    details = "details" if share == "share_summary" else "details_of"
    assert (actions(answer.public), actions(answer.private)) == ([details, "ask"], [details, share])


@pytest.mark.parametrize(("ask", "share"), EACH.values(), ids=EACH)
@pytest.mark.parametrize("asker", ["ada", "<!channel> & *Eve*"])
def test_everybody_sees_who_asked_and_nobody_is_pinged(ask: Ask, share: str, asker: str) -> None:
    unsigned, answer = ask(answers(merge(1)), ""), ask(answers(merge(1)), asker)
    (line,) = [block for block in answer.public.blocks if block not in unsigned.public.blocks]
    assert f"Asked for by {asker}" in json.dumps(line)
    assert (find_links(answer.public.build_payload()), find_mentions(answer.public.build_payload())) == (
        find_links(unsigned.public.build_payload()),
        find_mentions(unsigned.public.build_payload()),
    )
    assert answer.private == unsigned.private


@pytest.mark.parametrize(("ask", "share"), EACH.values(), ids=EACH)
@pytest.mark.parametrize("text", ["Plain", "<!channel> <@U0BOSS> &amp; *bold* `code`", "T" * 250], ids=len)
@pytest.mark.slow
def test_slack_takes_both_forms(slack: SlackEmulator, ask: Ask, share: str, text: str) -> None:
    many = [merge(n, -(n % 7), title=f"{text} {n}") for n in range(1, 60)]
    long_summary = summary(
        **dict.fromkeys(("what_changed_and_why", "technical_impact", "potential_risks"), text * 12)
    )
    answer = ask(answers(*many, REVERT, summaries=Summaries(long_summary)), text)
    client = make_slack_client(slack.token, slack.url)
    SlackMessenger(client).post_message(HOME, answer.public.build_payload(), "key")
    asked = slack_request(response_url=slack.make_response_url(HOME, "U0ASKER"))
    SlackEphemeralMessenger(client).send(asked, answer.private)
    assert (len(slack.list_messages(HOME)), len(slack.ephemerals)) == (1, 1)
    assert slack.list_calls_to("chat.postEphemeral") == []


def test_a_summary_is_of_the_pull_request_that_was_named() -> None:
    answer = answers(merge(1), merge(2)).build_summary(Reference(REPOSITORY, 2), "ada")
    assert answer.public.text == "#2 Change number 2"
    assert value(answer.public, "details") == "2|octo/engine#2"


def test_an_open_pull_request_has_a_summary_too() -> None:
    opened = merge(1, merged_at=None, merge_commit=None, state="OPEN")
    assert answers(opened).build_summary(Reference(REPOSITORY, 1), "ada").public.text == "#1 Change number 1"


def test_what_can_not_be_summarised_is_passed_on() -> None:
    closed = merge(1, merged_at=None, merge_commit=None, state="CLOSED")
    with pytest.raises(UsageError):
        answers(closed).build_summary(Reference(REPOSITORY, 1), "ada")
    with pytest.raises(PullRequestNotFound):
        answers(closed).build_summary(Reference(REPOSITORY, 2), "ada")


SHARED_RISKS: list[type[RisksRequest | ScoreRequest]] = [RisksRequest, ScoreRequest]
RISKS = [
    RisksRequest(REPOSITORY, WEEK),
    RisksRequest(REPOSITORY, ONE_DAY, top=10),
    RisksRequest(REPOSITORY, WEEK, Filters(("engine", "*.cu"), ("ada-dev",), ("needs review",)), 1),
]


@pytest.mark.parametrize("request_", RISKS, ids=str)
def test_sharing_a_risk_list_asks_the_same_again(request_: RisksRequest) -> None:
    answer = answers(merge(1, labels=("needs review",))).build_risks(replace(request_, is_private=True), "ada")
    typed = value(answer.private, "share_risks")
    assert read_request(typed, SHARED_RISKS) == request_


@pytest.mark.parametrize("days", [WEEK, ONE_DAY], ids=str)
def test_sharing_an_overview_asks_the_same_again(days: Span) -> None:
    answer = answers(merge(1)).build_overview(DigestRequest(REPOSITORY, days, is_private=True), "ada", HOME)
    typed = value(answer.private, "share_digest")
    assert read_request(typed, [DigestRequest]) == DigestRequest(REPOSITORY, days)


def test_sharing_a_score_asks_the_same_again() -> None:
    answer = answers().build_score(ScoreRequest(REPOSITORY, WEEK, is_private=True), "ada")
    typed = value(answer.private, "share_risks")
    assert read_request(typed, SHARED_RISKS) == ScoreRequest(REPOSITORY, WEEK)


def test_the_thread_of_a_score_is_about_what_it_names_not_about_months() -> None:
    answer = answers().build_score(ScoreRequest(REPOSITORY, WEEK), "ada")
    assert (answer.about, options(answer.public)) == ("summary octo/engine#3", ["2|octo/engine#3"])


def test_the_thread_of_a_score_that_names_nothing_is_about_the_last_digest() -> None:
    subject = replace(answers(), score=TrackRecordScore())
    answer = subject.build_score(ScoreRequest(REPOSITORY, WEEK), "ada")
    assert (answer.about, actions(answer.public)) == ("digest 2026-03-29 repo:octo/engine", ["ask"])


def test_sharing_a_summary_asks_the_same_again() -> None:
    answer = answers(merge(1)).build_summary(Reference(REPOSITORY, 1), "ada")
    typed = value(answer.private, "share_summary")
    assert read_request(typed, [SummaryRequest]) == SummaryRequest((Reference(REPOSITORY, 1),))


def test_a_risk_list_is_named_and_its_menu_has_what_it_lists() -> None:
    answer = answers(merge(1), merge(2), merge(3), REVERT).build_risks(RisksRequest(REPOSITORY, ONE_DAY), "ada")
    assert answer.public.text.startswith("Risky changes · The engine · Saturday 28 February 2026")
    assert options(answer.public) == ["2|octo/engine#2", "2|octo/engine#1", "2|octo/engine#3"]


def test_a_pull_request_that_is_risky_and_was_repaired_is_in_the_menu_once() -> None:
    repair = merge(9, 1, title="Fix retries", body="Fixes a bug caused by #1.")
    answer = answers(merge(1), repair).build_risks(RisksRequest(REPOSITORY, ONE_DAY), "ada")
    assert options(answer.public) == ["2|octo/engine#1"]


def test_an_overview_is_named_and_its_menu_has_the_riskiest_of_all_days() -> None:
    merges = [merge(n, -n) for n in range(4)]
    answer = answers(*(replace(each, number=each.number + 1) for each in merges)).build_overview(
        DigestRequest(REPOSITORY, WEEK), "ada", HOME
    )
    assert answer.public.text.startswith("The engine · 22 – 28 February 2026. I couldn't read")  # noqa: RUF001 (a dash)
    assert answer.public.text.endswith(" 4 merged.")
    named = set(options(answer.public))
    assert (len(named), named <= {f"2|octo/engine#{n}" for n in range(1, 5)}) == (3, True)


@pytest.mark.parametrize(("ask", "share"), list(ASKED.values())[1:], ids=list(ASKED)[1:])
def test_days_without_merges_have_no_menu(ask: Ask, share: str) -> None:
    answer = ask(answers(), "ada")
    assert (actions(answer.public), actions(answer.private)) == (["ask"], [share])
    assert "nothing merged" in answer.public.text


@pytest.mark.parametrize(("ask", "share"), list(ASKED.values())[1:], ids=list(ASKED)[1:])
def test_days_that_can_not_be_had_are_passed_on(ask: Ask, share: str) -> None:
    pulls = KnownPulls(failing={f"day {day.date}": RepositoryNotFound("No such.") for day in WEEK.days})
    with pytest.raises(RepositoryNotFound):
        ask(answers(pulls=pulls), "ada")


def test_an_overview_reads_each_pull_request_once_for_all_who_ask_later() -> None:
    summaries = Summaries()
    subject = answers(merge(1), merge(2, -1), summaries=summaries)
    subject.build_overview(DigestRequest(REPOSITORY, WEEK), "ada", HOME)
    subject.build_summary(Reference(REPOSITORY, 1), "ada")
    subject.build_risks(RisksRequest(REPOSITORY, WEEK), "ada")
    assert sorted(summaries.numbers) == [1, 2]
