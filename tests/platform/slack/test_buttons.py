from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from localslack.rules.blocks import BLOCK
from localslack.rules.messages import check_message, find_mentions

from bot.app import App
from bot.dates import Span
from bot.errors import UsageError
from bot.features.digest.lead import render_lead
from bot.features.digest.rules import Digest
from bot.features.digest.service import build_overview
from bot.features.digest.view import render_digest
from bot.features.merges.requests import DigestRequest, RisksRequest, SummaryRequest
from bot.features.merges.risk import Risk
from bot.features.merges.view import Entry, render_reference, render_risk
from bot.platform.commands import AllowedRepositories
from bot.platform.pulls.models import ChangedFile, PullRequest, Reference
from bot.platform.pulls.paths import NO_FILTERS, Filters
from bot.platform.slack import blocks
from bot.platform.slack.answers import Answer
from bot.platform.slack.blocks import (
    Post,
    count_characters,
    read_reference,
    read_request,
    write_reference,
    write_request,
)
from bot.platform.slack.notices import render_notice
from bot.platform.slack.terminal import format_message
from impact.repository import Repository
from tests.features.digest.hostile_days import LONGEST, NUMBERS, WORST, digests, elsewhere, full_day, texts
from tests.helpers.apps import Answers, make_digest_app
from tests.helpers.builders import DAY, NOON, REPOSITORY, changed_file, digest, entry, pull, summary
from tests.helpers.doubles import ScriptedPulls, Summaries
from tests.platform.slack.accepted import (
    MOST_CHARACTERS,
    actions_of,
    assert_accepted,
    assert_taken,
    invisible,
    read_post,
    strings,
)

LAST = 999_999_999  # the highest number that a reference may have
KINDS = (blocks.SHARE_SUMMARY, blocks.SHARE_RISKS, blocks.SHARE_DIGEST)
SPAN = Span(DAY.date, DAY.date, DAY.zone)
WEEK = Span(DAY.date.replace(day=22), DAY.date, DAY.zone)
KNOWN = AllowedRepositories(REPOSITORY, (LONGEST,))

pulls = st.lists(st.builds(pull, st.integers(1, LAST), title=texts(256)), max_size=20)


def ids(post: Post) -> list[str]:
    return [element["action_id"] for element in actions_of(post)]


def options(menu: Any) -> list[tuple[str, str]]:
    return [(option["text"]["text"], option["value"]) for option in menu["options"]] if menu else []


def row(*elements: dict[str, Any]) -> dict[str, Any]:
    return {"type": "actions", "elements": list(elements)}


# Buttons alone


@given(pulls)
def test_hostile_titles_make_a_menu_that_slack_takes(pull_requests: list[PullRequest]) -> None:
    menu = blocks.make_details_menu(pull_requests)
    assert (menu is None) == (not pull_requests)
    assert menu is None or BLOCK(row(menu))
    assert [text for text, _ in options(menu) if invisible(text) or "\n" in text or len(text) > 75] == []


@given(st.builds(pull, st.integers(1, LAST), title=texts(256)), st.sampled_from(KINDS))
def test_every_button_of_a_hostile_pull_request_is_taken(pull_request: PullRequest, kind: str) -> None:
    request = SummaryRequest((Reference(pull_request.repository, pull_request.number),))
    post = blocks.add_buttons(
        render_notice("Here."),
        blocks.make_details_button(pull_request),
        blocks.make_ask_button(),
        blocks.make_share_button(kind, request),
    )
    assert_taken(post, ())
    assert len(set(ids(post))) == 3


# where the names are longest, there is room for a number that no repository has come near to
@pytest.mark.parametrize(
    ("repository", "number"), [(REPOSITORY, LAST), (LONGEST, 9_999_999)], ids=["usual", "longest"]
)
def test_what_a_button_carries_names_the_same_pull_request(repository: Repository, number: int) -> None:
    made = pull(number, repository=repository, title="W" * 256)
    button, menu = blocks.make_details_button(made), blocks.make_details_menu([made])
    assert menu is not None
    assert BLOCK(row(button, menu))
    assert button["value"] == menu["options"][0]["value"]
    assert len(button["value"]) <= 150
    assert read_reference(button["value"], AllowedRepositories(repository)) == Reference(repository, number)


def test_actions_are_named_apart() -> None:
    assert len({blocks.DETAILS, blocks.DETAILS_OF, blocks.ASK, *KINDS}) == 6


def test_a_menu_names_each_pull_request_once_in_the_order_given() -> None:
    menu = blocks.make_details_menu([pull(3), pull(1), pull(3), pull(2)])
    assert options(menu) == [(f"#{n} Change number {n}", f"2|octo/engine#{n}") for n in (3, 1, 2)]


def test_a_menu_is_no_longer_than_anybody_reads() -> None:
    assert len(options(blocks.make_details_menu(pull(number) for number in range(1, 100)))) == 10


def test_there_is_no_menu_of_nothing() -> None:
    assert blocks.make_details_menu([]) is None
    assert ids(blocks.add_buttons(render_notice("Here."), None, blocks.make_ask_button())) == [blocks.ASK]


def test_a_row_leaves_the_message_above_as_it_was() -> None:
    post = render_notice("Here.")
    below = blocks.add_buttons(post, blocks.make_ask_button())
    assert (below.text, below.blocks[:-1]) == (post.text, post.blocks)
    assert len(below.blocks) == 2


# Requests that buttons carry


def parse_shared(value: str) -> RisksRequest:
    """What a button asks for; as it would be typed, where it is too long otherwise."""
    read = read_request(value, [RisksRequest])
    return RisksRequest.parse(read, KNOWN, DAY) if isinstance(read, str) else read


@pytest.mark.parametrize(
    "text",
    [
        "",
        "today private",
        "7d top:10",
        'path:vllm/v1 path:"a b/c" author:ada label:"good first issue"',
        f"repo:{LONGEST} 2026-02-22..2026-02-28",
        "label:“curly quotes” author:o'brien",
        " ".join(f"path:{n}" for n in range(8)),
    ],
)
def test_a_shared_list_asks_for_the_same_again(text: str) -> None:
    request = RisksRequest.parse(text, KNOWN, DAY)
    button = blocks.make_share_button(blocks.SHARE_RISKS, request)
    assert BLOCK(row(button))
    assert parse_shared(button["value"]) == replace(request, is_private=False)


@given(st.lists(st.tuples(st.sampled_from(["path", "author", "label"]), texts(60)), max_size=8))
def test_a_shared_list_with_hostile_filters_asks_for_the_same_again(filters: list[tuple[str, str]]) -> None:
    words = " ".join(f'{kind}:"{value}"' for kind, value in filters)
    try:
        request = RisksRequest.parse(words, KNOWN, DAY)
    except UsageError:
        return
    button = blocks.make_share_button(blocks.SHARE_RISKS, request)
    assert BLOCK(row(button))
    assert parse_shared(button["value"]) == request


def test_as_many_filters_as_are_taken_can_be_shared() -> None:
    request = RisksRequest.parse(" ".join(f"path:{n}" for n in range(10)), KNOWN, DAY)
    assert RisksRequest.parse(str(request), KNOWN, DAY) == request


@pytest.mark.parametrize("length", range(700, 1_701, 50))
def test_a_list_that_is_too_long_to_be_shared_is_refused_at_once(length: int) -> None:
    try:
        request = RisksRequest.parse(f"path:{'x' * length} repo:{LONGEST}", KNOWN, DAY)
    except UsageError:
        return
    button = blocks.make_share_button(blocks.SHARE_RISKS, request)
    assert BLOCK(row(button))
    assert parse_shared(button["value"]) == request


def test_the_longest_requests_fit_a_button() -> None:
    references = tuple(Reference(LONGEST, LAST - n) for n in range(5))
    summaries, overview = SummaryRequest(references), DigestRequest(LONGEST, WEEK)
    requests = (RisksRequest(LONGEST, WEEK, Filters(("x" * 800,)), 10), summaries, overview)
    assert all(BLOCK(row(blocks.make_share_button(blocks.SHARE_RISKS, request))) for request in requests)
    assert SummaryRequest.parse(str(summaries), KNOWN) == summaries
    assert DigestRequest.parse(str(overview), KNOWN, DAY) == overview


# The row of the lead


@given(digests())
@pytest.mark.slow
def test_the_lead_of_a_hostile_day_is_taken_with_its_buttons(day_digest: Digest) -> None:
    post = render_digest(day_digest).lead
    assert_accepted(post, day_digest)
    assert (blocks.ASK in ids(post)) == bool(day_digest.entries)
    assert len(ids(post)) == len(set(ids(post)))


@pytest.mark.parametrize("count", [0, 1, 2, 67, 150])
@pytest.mark.parametrize("text", WORST.values(), ids=list(WORST))
@pytest.mark.slow
def test_slack_takes_the_lead_of_a_day_of_any_size_with_its_buttons(count: int, text: str) -> None:
    day_digest = full_day(count, text)
    payload = render_digest(day_digest).lead.build_payload()
    assert check_message(payload) is None
    assert find_mentions(payload) == []


@pytest.mark.parametrize("count", [67, 150])
@pytest.mark.slow
def test_the_lead_of_a_full_day_stays_within_the_budget_with_its_buttons(count: int) -> None:
    assert count_characters(list(render_digest(full_day(count, WORST["blanks"])).lead.blocks)) <= MOST_CHARACTERS


@pytest.mark.parametrize("text", WORST.values(), ids=list(WORST))
@pytest.mark.slow
def test_the_lead_of_a_repository_with_the_longest_name_is_short(text: str) -> None:
    day_digest = elsewhere(full_day(67, text), LONGEST)
    assert_accepted(render_digest(day_digest).lead, day_digest)


def test_the_lead_of_a_day_whose_texts_are_full_of_numbers_is_short() -> None:
    day_digest = full_day(67, NUMBERS)
    assert_accepted(render_digest(day_digest).lead, day_digest)


def test_a_lead_without_merges_has_no_buttons() -> None:
    assert render_digest(digest()).lead == render_lead(digest())


def test_a_day_of_which_nothing_is_worth_opening_has_no_menu() -> None:
    day_digest = digest(*full_day(3, "a", trivial=True).entries)
    quiet = [
        replace(each, risk=Risk(0, ()), summary=replace(each.summary, action="")) for each in day_digest.entries
    ]
    assert ids(render_digest(digest(*quiet)).lead) == [blocks.ASK]


def trivial(number: int, **fields: Any) -> Entry:
    made = full_day(1, "a", trivial=True).entries[0].summary
    return entry(number, entry_summary=replace(made, action=fields.pop("action", "")), **fields)


def test_the_menu_begins_with_what_the_lead_names() -> None:
    risky = replace(trivial(4), risk=Risk(20, ("touches 4 product folders",)))
    gone = trivial(3, title="Count once", merged_at=NOON)
    back = entry(9, title='Revert "Count once"', merged_at=NOON.replace(hour=21))
    day_digest = digest(back, entry(8), trivial(7), gone, risky, trivial(5, action="Set the flag"))
    menu = actions_of(render_digest(day_digest).lead)[0]
    assert [value.split("#")[1] for _, value in options(menu)] == ["4", "3", "5", "9", "8"]


def test_a_terminal_shows_no_buttons() -> None:
    day_digest = digest(entry(1), entry(2))
    assert format_message(render_digest(day_digest).lead) == format_message(render_lead(day_digest))
    assert "Ask about this" not in format_message(render_digest(day_digest).lead)


# What the lead shares with other messages


@given(texts(256))
def test_a_named_pull_request_is_a_link_and_its_title_on_one_line(title: str) -> None:
    link, text = render_reference(pull(5, title=title))
    assert (link["text"], link["url"]) == ("#5", pull(5).url)
    assert len(text["text"]) <= 161
    assert invisible(text["text"]) == []
    assert "\n" not in text["text"]


@pytest.mark.parametrize(
    ("reasons", "claim", "expected"),
    [
        (("one",), "", "#5 Change number 5 — one. 🔴 highest risk"),
        (("one", "two", "three", "four"), "", "#5 Change number 5 — one; two. 🔴 highest risk"),
        (("one",), "It may count twice.", "#5 Change number 5 — It may count twice. 🔴 highest risk: one"),
        (("one",), "It may count twice", "#5 Change number 5 — It may count twice. 🔴 highest risk: one"),
        # whole or not at all
        (("one", "a" * 30), "b" * 30, "#5 Change number 5 — one. 🔴 highest risk"),
    ],
)
def test_a_risk_gives_the_claim_first_and_two_reasons(reasons: tuple[str, ...], claim: str, expected: str) -> None:
    made = replace(entry(5, entry_summary=summary(risk_reason=claim)), risk=Risk(20, reasons))
    assert "".join(strings(render_risk(made, {}, 20))) == expected


def test_a_claim_links_only_to_known_numbers() -> None:
    made = replace(entry(5, entry_summary=summary(risk_reason="As in #6 and #7.")), risk=Risk(20, ("one",)))
    urls = [element["url"] for element in render_risk(made, {6: pull(6).url}) if element["type"] == "link"]
    assert urls == [pull(5).url, pull(6).url]


# Answers


LARGE = (changed_file("engine/core.py", 600, 300),)


def answers(
    *merges: PullRequest, files: tuple[ChangedFile, ...] = LARGE, repository: Repository = REPOSITORY
) -> Answers:
    return Answers(open_days(merges, files, repository))


def overview(
    request: DigestRequest, *merges: PullRequest, files: tuple[ChangedFile, ...] = LARGE, asker: str = "ada"
) -> Answer:
    return build_overview(open_days(merges, files, REPOSITORY), request, asker, "C0DIGEST")


def open_days(merges: Iterable[PullRequest], files: tuple[ChangedFile, ...], repository: Repository) -> App:
    known = ScriptedPulls(tuple(replace(each, repository=repository, files=None) for each in merges), files=files)
    names = {"name_repository": lambda each: each.name, "get_today": lambda: DAY}
    repositories = AllowedRepositories(repository)
    return make_digest_app(known, None, 1, model=Summaries(), repositories=repositories, **names)


def assert_twice(answer: Answer, kind: str, value: str, *more: str) -> None:
    """The same message twice: with a thread to ask in and who asked for everybody, or to be shared."""
    assert answer.public.blocks[:-2] == answer.private.blocks[:-1]
    assert "".join(strings(answer.public.blocks[-2])) == "Asked for by ada"
    assert answer.public.text == answer.private.text
    assert ids(answer.public) == [*more, blocks.ASK]
    assert ids(answer.private) == [*more, kind]
    assert actions_of(answer.private)[-1]["value"] == value


@pytest.mark.parametrize("repository", [REPOSITORY, LONGEST], ids=["usual", "longest"])
def test_a_summary_can_be_opened_asked_about_and_shared(repository: Repository) -> None:
    reference = Reference(repository, LAST)
    answer = answers(pull(LAST, files=None), repository=repository).build_summary(reference, "ada")
    assert_twice(answer, blocks.SHARE_SUMMARY, write_request(SummaryRequest((reference,))), blocks.DETAILS)
    assert actions_of(answer.public)[0]["value"] == write_reference(reference)
    assert "Requests are counted once" in read_post(answer.public)
    for post in (answer.public, answer.private):
        assert_taken(post, {f"https://github.com/{reference.repository}/pull/{LAST}"})


@pytest.mark.parametrize("repository", [REPOSITORY, LONGEST], ids=["usual", "longest"])
def test_a_list_has_a_menu_of_what_it_names(repository: Repository) -> None:
    request = RisksRequest(repository, SPAN, NO_FILTERS, 3)
    gone = pull(3, title="Count once", merged_at=NOON.replace(hour=8))
    back = pull(9, title='Revert "Count once"', merged_at=NOON)
    answer = answers(back, gone, pull(5), repository=repository).build_risks(request, "ada")
    assert_twice(answer, blocks.SHARE_RISKS, write_request(request), blocks.DETAILS_OF)
    assert [value for _, value in options(actions_of(answer.public)[0])] == [
        f"2|{repository}#5",
        f"2|{repository}#3",
    ]
    for post in (answer.public, answer.private):
        assert_taken(post, {f"https://github.com/{repository}/pull/{number}" for number in (3, 5, 9)})


def test_a_list_of_nothing_has_no_menu() -> None:
    request = RisksRequest(REPOSITORY, SPAN)
    assert_twice(answers(files=()).build_risks(request, "ada"), blocks.SHARE_RISKS, write_request(request))
    assert_twice(
        answers(pull(1), files=()).build_risks(request, "ada"), blocks.SHARE_RISKS, write_request(request)
    )


def test_an_overview_has_a_menu_of_its_riskiest() -> None:
    request = DigestRequest(REPOSITORY, SPAN)
    answer = overview(request, *(pull(number) for number in range(1, 6)))
    assert_twice(answer, blocks.SHARE_DIGEST, write_request(request), blocks.DETAILS_OF)
    assert len(options(actions_of(answer.public)[0])) == 3
    for post in (answer.public, answer.private):
        assert_taken(post, {pull(number).url for number in range(1, 6)})


def test_an_overview_of_calm_days_has_no_menu() -> None:
    request = DigestRequest(REPOSITORY, WEEK)
    assert_twice(overview(request, pull(1), files=()), blocks.SHARE_DIGEST, write_request(request))
    assert_twice(overview(request), blocks.SHARE_DIGEST, write_request(request))


def test_an_answer_to_somebody_without_a_name_is_not_signed() -> None:
    answer = overview(DigestRequest(REPOSITORY, SPAN), pull(1), asker="")
    assert answer.public.blocks[:-1] == answer.private.blocks[:-1]


@given(texts(80))
def test_the_name_of_an_asker_neither_pings_nor_links_nor_breaks_the_line(asker: str) -> None:
    post = blocks.add_asker(render_notice("Here."), asker)
    assert_taken(post, ())
    assert post.blocks[: len(render_notice("Here.").blocks)] == render_notice("Here.").blocks
    assert [text for text in strings(list(post.blocks)) if invisible(text) or "\n" in text] == []
