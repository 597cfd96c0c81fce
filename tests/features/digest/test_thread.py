from collections.abc import Iterable
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from hypothesis import given

from bot.features.digest.rules import Digest
from bot.features.digest.thread import render_thread
from bot.features.merges.review import BugReview, FindingStatus
from bot.features.merges.summary import ChangeType
from bot.features.merges.view import Entry
from bot.platform.models.packing import Coverage
from bot.platform.pulls.models import Account
from bot.platform.slack.blocks import Post
from tests.features.digest.hostile_days import WORST, digests, full_day
from tests.helpers.builders import NOON, changed_file, digest, entry, failed, finding, summary
from tests.helpers.tables import check_rows
from tests.platform.slack.accepted import assert_accepted, invisible, items, nodes, read_post, strings

TRIVIAL = summary(type=ChangeType.TRIVIAL)


def heads(posts: Iterable[Post]) -> list[str]:
    lines = [line for post in posts for line in items(post)]
    assert all(line[0]["type"] == "link" for line in lines)
    return [line[0]["url"] for line in lines]


def own_links(day_digest: Digest) -> list[str]:
    return [node["url"] for post in render_thread(day_digest) for node in nodes(post.blocks, "link")]


def line_of(made: Entry, *others: Entry) -> str:
    lines = [line for post in render_thread(digest(made, *others)) for line in items(post)]
    [own_line] = [line for line in lines if line[0]["text"] == f"#{made.number}"]
    return "".join(element["text"] for element in own_line)


def assert_complete(day_digest: Digest) -> None:
    posts = render_thread(day_digest)
    for post in posts:
        assert_accepted(post, day_digest)
    assert sorted(heads(posts)) == sorted(entry.pull.url for entry in day_digest.entries)


@given(digests())
@pytest.mark.slow
def test_a_hostile_day_makes_a_thread_that_slack_takes_with_every_pull_request_once(day_digest: Digest) -> None:
    assert_complete(day_digest)


@pytest.mark.parametrize("count", [0, 1, 2, 67, 150])
@pytest.mark.parametrize("text", WORST.values(), ids=list(WORST))
@pytest.mark.slow
def test_a_day_of_any_size_is_shown_whole(count: int, text: str) -> None:
    assert_complete(full_day(count, text))


@pytest.mark.parametrize("count", [1, 2, 67, 150])
def test_a_trivial_day_is_shown_whole(count: int) -> None:
    day_digest = full_day(count, "W" * 300, trivial=True)
    assert_complete(day_digest)
    assert own_links(day_digest) == [entry.pull.url for entry in day_digest.entries]


@pytest.mark.parametrize("count", [1, 2, 67, 150])
def test_without_numbers_in_headlines_each_address_stands_once_in_the_thread(count: int) -> None:
    day_digest = full_day(count, "plain words " * 60)
    assert sorted(own_links(day_digest)) == sorted(entry.pull.url for entry in day_digest.entries)


@pytest.mark.slow
def test_a_day_of_300_areas_is_split_at_the_most_blocks() -> None:
    made = [replace(entry(n), area=f"Area {n // 2}") for n in range(300, 0, -1)]
    day_digest = digest(*made)
    assert_complete(day_digest)
    assert len(render_thread(day_digest)) > 300 // 2 // 45


def test_a_day_without_merges_has_no_thread() -> None:
    assert render_thread(digest()) == ()


def test_messages_are_numbered_and_named_by_their_groups() -> None:
    made = [*(replace(entry(n), area="R&D <!here>") for n in (3, 2)), entry(1, entry_summary=TRIVIAL)]
    [post] = render_thread(digest(*made))
    assert post.text == "Part 1: R&amp;D &lt;!here&gt;, Trivial"
    texts = [post.text for post in render_thread(full_day(300, "W" * 40))]
    assert [text.split(":")[0] for text in texts] == [f"Part {n}" for n in range(1, len(texts) + 1)]


def test_a_line_holds_title_headline_size_people_and_time() -> None:
    made = entry(
        35617,
        title="Count once",
        files=[changed_file("engine/core.py", 1200, 34), changed_file("engine/loop.py", 0, 5)],
        merged_at=NOON + timedelta(minutes=5),
    )
    assert line_of(made) == (
        "#35617 Count once: Requests are counted once (2 files, +1,200 −39; ada-dev, merged 12:05 by merge-bot)"  # noqa: RUF001 (a minus)
    )


@pytest.mark.parametrize(
    ("fields", "ending"),
    [
        pytest.param({"coverage": Coverage.CLIPPED}, "; diff clipped)", id="clipped"),
        pytest.param({"coverage": Coverage.NONE}, "; diff none)", id="none"),
        pytest.param({"fallback": failed()}, "; facts only)", id="fallback"),
        pytest.param({}, "by merge-bot)", id="complete"),
    ],
)
def test_a_line_admits_what_it_rests_on(fields: dict[str, Any], ending: str) -> None:
    assert line_of(entry(1, entry_summary=summary(**fields))).endswith(ending)


@check_rows(
    {
        "confirmed": (BugReview((finding(),)), "AI bug review: confirmed bug"),
        "possible": (BugReview((finding(status=FindingStatus.POSSIBLE),)), "AI bug review: unconfirmed bug"),
        "nothing": (BugReview(refuted=3), ""),
        "not read": (None, ""),
    }
)
def test_a_line_says_what_the_second_reading_found(review: BugReview | None, fact: str) -> None:
    line = line_of(replace(entry(5), review=review))
    assert line.endswith(f"by merge-bot; {fact})" if fact else "by merge-bot)")


def test_a_fallback_shows_no_headline() -> None:
    assert "counted once" not in line_of(entry(1, entry_summary=summary(fallback=failed("the model is busy"))))


def test_what_was_taken_back_says_by_what() -> None:
    again = [entry(n, title="Revert #5", merged_at=NOON + timedelta(hours=n)) for n in (9, 7)]
    assert "; reverted after 9.1 h by #9; reverted after 7.1 h by #7)" in line_of(entry(5), *again)


def test_numbers_in_a_headline_link_only_to_the_day() -> None:
    made = entry(2, entry_summary=summary(headline="Follows #1 and #77"))
    assert sorted(own_links(digest(made, entry(1)))) == [entry(1).pull.url, entry(1).pull.url, made.pull.url]


def test_titles_are_bold_unless_trivial() -> None:
    [post] = render_thread(digest(entry(2, title="Loud"), entry(1, title="Quiet", entry_summary=TRIVIAL)))
    bold = [node["text"] for node in nodes(post.blocks, "text") if node.get("style", {}).get("bold")]
    assert bold == ["Engine and scheduling", " Loud", "Trivial"]


def test_a_ghost_and_a_bot_are_named_as_github_names_them() -> None:
    made = entry(1, author=Account("ghost"), merged_by=Account("dependabot", is_bot=True))
    assert "ghost, merged 11:59 by dependabot" in line_of(made)


@given(digests())
@pytest.mark.slow
def test_no_text_of_others_breaks_lines_or_reads_backwards(day_digest: Digest) -> None:
    """Logins are ASCII letters, digits and hyphens by GitHub's own rule."""
    ada = Account("ada-dev")
    entries = tuple(replace(e, pull=replace(e.pull, author=ada, merged_by=ada)) for e in day_digest.entries)
    for post in render_thread(replace(day_digest, entries=entries)):
        assert [text for text in strings(list(post.blocks)) if invisible(text) or "\n" in text] == []
        assert read_post(post)


@pytest.mark.parametrize("folder", ["\u200b", "\u202e", "\x01", " "], ids=ascii)
def test_a_folder_without_a_visible_name_makes_a_heading_that_slack_takes(folder: str) -> None:
    assert_complete(digest(entry(1, files=[changed_file(f"{folder}/main.rs")])))
