import json
import re
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from localslack.rules.messages import UPDATE_TEXT, check_message, find_links, find_mentions

from bot.dates import LocalDay, Span
from bot.features.digest.lead import render_catch_up, render_lead
from bot.features.digest.rules import Digest, MultiDayDigest, Overview, UnknownDay
from bot.features.digest.thread import render_thread
from bot.features.digest.view import RenderedDigest, describe_skipped_days, render_digest, render_report
from bot.features.merges.requests import MAX_DIGEST_DAYS, DigestRequest, DigestView, ViewLevel
from bot.features.merges.summary import build_evidence_url
from bot.features.merges.view import Entry
from bot.platform.commands import AllowedRepositories
from bot.platform.pulls.paths import Filters
from bot.platform.slack.blocks import Post, count_characters
from impact.repository import Repository
from tests.features.digest.hostile_days import LONGEST, WORST, digests, elsewhere, full_day
from tests.features.digest.test_multi_day import days, number_entries
from tests.helpers.builders import DAY, NOON, REPOSITORY, digest, entry, failed, summary
from tests.helpers.processes.command import environment
from tests.platform.slack.accepted import items, list_addresses, read_post


def test_a_digest_is_its_lead_its_thread_and_its_report() -> None:
    day_digest = digest(entry(2), entry(1))
    rendered = render_digest(day_digest)
    assert (rendered.lead.blocks[:-1], rendered.thread) == (
        render_lead(day_digest).blocks,
        render_thread(day_digest),
    )
    assert [element["type"] for element in rendered.lead.blocks[-1]["elements"]] == ["static_select", "button"]
    assert rendered.attachment is not None
    assert rendered.attachment.name == "Engine-2026-02-28.md"
    assert rendered.attachment.title == "Full report of 2026-02-28"
    assert rendered.attachment.text == render_report(day_digest)


def test_a_day_without_merges_is_a_lead_alone() -> None:
    rendered = render_digest(digest())
    assert (rendered.thread, rendered.attachment) == ((), None)


@pytest.mark.parametrize(
    ("name", "stem"),
    [
        ("vLLM", "vLLM"),
        ("My Team's repo", "My-Team-s-repo"),
        ("../../etc/passwd", "etc-passwd"),
        ("a/b\\c:d", "a-b-c-d"),
        ("..", "report"),
        ("", "report"),
        ("漢字", "report"),
        ("<!channel>", "channel"),
        ("evil\u202egnp.exe", "evil-gnp.exe"),
    ],
    ids=ascii,
)
def test_the_file_is_named_without_odd_signs(name: str, stem: str) -> None:
    attachment = render_digest(replace(digest(entry(1)), name=name)).attachment
    assert attachment is not None
    assert attachment.name == f"{stem}-2026-02-28.md"


@given(digests())
@pytest.mark.slow
def test_a_hostile_digest_is_plain_json_that_slack_takes(day_digest: Digest) -> None:
    rendered = render_digest(day_digest)
    payload = rendered.to_payload()
    assert json.loads(json.dumps(payload)) == payload
    assert set(payload) == {"lead", "thread"}
    reviewed = [
        (entry.pull, finding) for entry in day_digest.entries if entry.review for finding in entry.review.findings
    ]
    known = {entry.pull.url for entry in day_digest.entries}
    known |= {build_evidence_url(pull, finding.evidence) for pull, finding in reviewed if finding.evidence}
    for message in (payload["lead"], *payload["thread"]):
        assert check_message(message) is None
        assert (find_mentions(message), set(find_links(message)) - known) == ([], set())
    assert rendered.attachment is None or re.fullmatch(r"[\w.-]+\.md", rendered.attachment.name, re.A)


# of a process with a hash seed of its own
RENDER = """
from bot.features.digest.view import render_digest
from tests.features.digest.hostile_days import WORST, full_day
for text in WORST.values():
    print(ascii(render_digest(full_day(27, text, is_reviewed=True))))
"""


@pytest.mark.slow
def test_another_process_renders_the_same() -> None:
    """Sets have another order there: one process posts a digest, others amend it."""
    ours = [ascii(render_digest(full_day(27, text, is_reviewed=True))) for text in WORST.values()]
    line, env = [sys.executable, "-c", RENDER], environment(PYTHONHASHSEED="1")
    theirs = subprocess.run(line, env=env, capture_output=True, check=True, text=True).stdout
    assert theirs.splitlines() == ours


# 13,200 is where Slack has been seen to refuse; lower still with many rich blocks
FAR_BELOW = 10_000


def friday_to_sunday(*sizes: int) -> MultiDayDigest:
    first = 1
    made: list[Digest] = []
    for size in sizes:
        made.append(digest(*(entry(number) for number in range(first + size - 1, first - 1, -1))))
        first += size
    return days(*made)


def heads(post: Post) -> list[str]:
    return [item[0]["text"] for item in items(post)]


def assert_postable(made: RenderedDigest, urls: set[str]) -> None:
    for message in (made.lead.build_payload(), *(part.build_payload() for part in made.thread)):
        # what is posted may be edited later, and edits take less
        assert check_message(message, text_limit=UPDATE_TEXT) is None
        assert count_characters(message["blocks"]) <= FAR_BELOW
        assert (find_mentions(message), set(find_links(message)) - urls) == ([], set())


def test_days_are_one_lead_one_thread_and_one_report() -> None:
    multi_day_digest = friday_to_sunday(2, 0, 3)
    made = render_digest(multi_day_digest)
    assert made.lead.blocks[:-1] == render_catch_up(multi_day_digest).blocks
    assert [element["type"] for element in made.lead.blocks[-1]["elements"]] == ["static_select", "button"]
    assert (made.merged, made.gaps) == (5, ())
    assert made.attachment is not None
    assert made.attachment.name == "Engine-2026-02-26..2026-02-28.md"
    assert made.attachment.title == "Full report of 2026-02-26..2026-02-28"
    assert made.attachment.text == "".join(render_report(each) for each in multi_day_digest.digests)


def test_each_post_of_the_thread_says_of_which_day_it_is() -> None:
    made = render_digest(friday_to_sunday(2, 0, 3))
    titles = [part.blocks[0]["text"]["text"] for part in made.thread]
    assert titles == ["Thursday 26 February", "Saturday 28 February"]
    assert [part.text.partition(",")[0] for part in made.thread] == titles
    assert [part.blocks[0]["type"] for part in made.thread] == ["header", "header"]
    assert [heads(part) for part in made.thread] == [["#2", "#1"], ["#5", "#4", "#3"]]


def test_a_day_of_the_thread_is_as_that_day_alone() -> None:
    multi_day_digest = friday_to_sunday(70, 1)
    made = render_digest(multi_day_digest)
    alone = [part for each in multi_day_digest.digests for part in render_thread(each)]
    assert [part.blocks[1:] for part in made.thread] == [part.blocks for part in alone]
    assert len(made.thread) > 2


@pytest.mark.parametrize("worst", ["many numbers", "wide signs"])
@pytest.mark.slow
def test_three_days_as_busy_as_any_are_taken_with_every_pull_request_once(worst: str) -> None:
    full = [
        number_entries(elsewhere(full_day(67, WORST[worst]), LONGEST), 100_000 + 100 * day) for day in range(3)
    ]
    multi_day_digest = days(*full)
    made = render_digest(multi_day_digest, ["A note. " * 40])
    urls = list_addresses(multi_day_digest.combined.entries)
    assert_postable(made, urls)
    linked = [item[0]["url"] for part in made.thread for item in items(part)]
    assert sorted(linked) == sorted(urls)
    assert len(linked) == len(set(linked)) == 3 * 67
    titles = dict.fromkeys(part.blocks[0]["text"]["text"] for part in made.thread)
    assert list(titles) == ["Thursday 26 February", "Friday 27 February", "Saturday 28 February"]


@settings(max_examples=10)
@given(st.lists(digests(3), min_size=1, max_size=3))
@pytest.mark.slow
def test_hostile_days_are_plain_json_that_slack_takes(day_digests: list[Digest]) -> None:
    made = days(*(number_entries(each, 10 * place + 1) for place, each in enumerate(day_digests)))
    rendered = render_digest(made, ["<!channel> https://evil.example"])
    assert_postable(rendered, list_addresses(made.combined.entries))
    assert json.loads(json.dumps(rendered.to_payload())) == rendered.to_payload()


def test_days_without_merges_are_a_lead_alone() -> None:
    made = render_digest(friday_to_sunday(0, 0, 0))
    assert (made.thread, made.attachment, made.merged) == ((), None, 0)
    assert read_post(made.lead).startswith("Engine · 26 – 28 February 2026 · nothing merged")  # noqa: RUF001 (a dash)


def test_the_gaps_of_a_day_are_those_of_the_digest() -> None:
    multi_day_digest = friday_to_sunday(1, 1)
    late = replace(
        multi_day_digest.digests[0], overview=Overview("Most of it.", fallback=failed("the model is busy"))
    )
    made = render_digest(replace(multi_day_digest, digests=(late, multi_day_digest.digests[1])))
    assert made.gaps == ("2026-02-27: no overview by the model (the model is busy)",)


# --- views

BOTS = DigestView(Filters(not_authors=("bots",)))


@pytest.mark.parametrize("view", [DigestView(only=ViewLevel.RISKY), BOTS], ids=str)
def test_the_file_of_a_view_has_a_name_of_its_own(view: DigestView) -> None:
    for made in (
        render_digest(digest(entry(1), view=view, hidden=2)),
        render_digest(days(digest(entry(1), view=view), digest(view=view))),
    ):
        assert made.attachment is not None
        assert re.fullmatch(rf"Engine-[\d.-]*2026-02-28-{view.fingerprint}\.md", made.attachment.name)
        assert made.attachment.title.startswith("Report of ")


def test_a_view_that_shows_nothing_of_some_days_is_a_lead_that_says_so() -> None:
    day_digests = [replace(digest(view=BOTS), hidden=hidden) for hidden in (3, 2)]
    made = render_digest(days(*day_digests))
    assert (made.thread, made.attachment, made.merged) == ((), None, 5)
    assert "0 of 5 merged" in read_post(made.lead)
    assert "0 of 5 shown: not-author:bots" in read_post(made.lead)


# --- notes


@pytest.mark.parametrize("size", [0, 1])
def test_notes_stand_in_small_print_above_the_buttons(size: int) -> None:
    notes = ["First <!here>", "Second"]
    for made in (
        render_digest(digest(*[entry(1)][:size]), notes),
        render_digest(friday_to_sunday(size, 0), notes),
    ):
        blocks = [block for block in made.lead.blocks if block["type"] != "actions"]
        assert [block["elements"][0]["text"] for block in blocks[-2:]] == notes
        assert {block["elements"][0]["type"] for block in blocks[-2:]} == {"plain_text"}
        assert find_mentions(made.lead.build_payload()) == []


KNOWN = AllowedRepositories(REPOSITORY, (Repository("Octo", "Big.Repo-1"),))
_COMMAND = re.compile(r"To see it: /prdigest (.+)$")


@pytest.mark.parametrize("repository", [KNOWN.default, *KNOWN.others], ids=str)
@pytest.mark.parametrize(("length", "shown"), [(1, 1), (3, 3), (14, 14), (15, 14), (90, 14)])
def test_what_was_skipped_comes_with_a_command_that_shows_it(
    repository: Repository, length: int, shown: int
) -> None:
    skipped = Span(DAY.date - timedelta(days=length - 1), DAY.date, DAY.zone)
    note = describe_skipped_days(repository, skipped)
    assert note.startswith(f"Skipped because I was offline for too long: {skipped.title}. ")
    match = _COMMAND.search(note)
    assert match
    much_later = LocalDay(DAY.date + timedelta(days=200), DAY.zone)
    request = DigestRequest.parse(match[1], KNOWN, much_later)
    assert (request.repository, request.span.last, len(request.span)) == (repository, DAY.date, shown)
    assert request.span.zone == DAY.zone
    assert shown <= MAX_DIGEST_DAYS


def test_the_command_is_shown_whole() -> None:
    note = describe_skipped_days(LONGEST, Span(DAY.date - timedelta(days=13), DAY.date, DAY.zone))
    assert note in read_post(render_digest(digest(entry(1)), [note]).lead)


# --- what tells the same


def costly(multi_day_digest: MultiDayDigest, cost: float, *, kept: bool) -> MultiDayDigest:
    def set_price(each: Entry) -> Entry:
        return replace(each, cost=cost, from_cache=kept)

    return replace(
        multi_day_digest,
        digests=tuple(
            replace(each, entries=tuple(map(set_price, each.entries))) for each in multi_day_digest.digests
        ),
    )


def test_what_it_cost_is_shown_and_tells_no_digest_from_another() -> None:
    multi_day_digest = friday_to_sunday(2, 1)
    makes: Sequence[tuple[RenderedDigest, RenderedDigest]] = [
        (
            render_digest(costly(multi_day_digest, 0.5, kept=False)),
            render_digest(costly(multi_day_digest, 0, kept=True)),
        ),
        (
            render_digest(costly(multi_day_digest, 0.5, kept=False).digests[0], ["n"]),
            render_digest(costly(multi_day_digest, 0, kept=True).digests[0], ["n"]),
        ),
    ]
    for first, again in makes:
        assert first.lead != again.lead
        assert (first.fingerprint, first.thread) == (again.fingerprint, again.thread)
    assert all(first.fingerprint for first, _ in makes)


def test_notes_and_unknown_days_tell_a_digest_from_one_without() -> None:
    whole = friday_to_sunday(1, 1)
    unknown = replace(whole, unknown_days=(UnknownDay(DAY.date - timedelta(days=2), "GitHub is away"),))
    made = [render_digest(whole, notes).fingerprint for notes in ([], ["One"], ["Two"])]
    made += [render_digest(unknown).fingerprint, render_digest(whole.digests[0]).fingerprint]
    assert len(set(made)) == len(made)


def test_the_overview_of_a_revert_over_two_days_names_it() -> None:
    first = digest(entry(1, title="Count once", entry_summary=summary(action="Set the flag")))
    second = digest(entry(2, title='Revert "Count once"', merged_at=NOON + timedelta(days=1)))
    made = render_digest(days(first, second))
    assert "Already reverted or repaired#1 Count once, reverted after 24.0 h by #2\n" in read_post(made.lead)
    assert "Set the flag" not in read_post(made.lead)
