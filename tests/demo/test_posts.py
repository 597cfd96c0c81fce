"""Whatever the bot posts or opens is shown, whole: nothing of it is a block that the page does not know."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given, settings
from localslack.blockkit import Names, render_document, render_message, render_view
from localslack.testing.html import ParsedHtml, parse_html

from bot.demo.sample.sources import SampleSources
from bot.features.digest.rules import Digest
from bot.features.digest.view import render_digest
from bot.features.home import LatestDigest, render_home
from bot.features.questions.view import MODEL_NOTE, format_search_answer, render_footer, render_private_answer
from bot.features.risks.view import render_risk_list, render_score
from bot.features.subscriptions.view import render_changes, render_confirmation, render_listing
from bot.features.summaries.view import render_details, render_loading_view, render_summary
from bot.platform.pulls.models import Reference
from bot.platform.slack.blocks import Post
from impact.coverage import CoveredList
from tests.features.digest.hostile_days import digests
from tests.features.risks.test_list_view import make_list, pair, risky
from tests.features.risks.test_score_view import SPAN, USUAL, make_hit
from tests.features.subscriptions.test_form import OLD, make_submission, render_opened
from tests.features.subscriptions.test_view import DUE, ENGINE, FIXED
from tests.features.test_home_page import WELL
from tests.helpers.builders import REPOSITORY
from tests.platform.slack.accepted import list_literal_markup, strings

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
NAMES = Names(
    {"U0ADA": "ada", "U0BOB": "bob"}, {"C0DIGEST": "digest", "C0OPEN": "open"}, UTC, lambda: NOW, "U0ADA"
)
SAMPLE = SampleSources().build_digest()


Json = dict[str, Any]


def assert_whole(document: ParsedHtml, blocks: Sequence[Any]) -> None:
    """Every text of the blocks is there to be read, or is said before something is done."""
    assert document.find_by_class("bk-unknown") == []
    asked = "".join(tag.attributes.get(name, "") for tag in document.tags for name in ("data-confirm", "title"))
    assert [text for text in strings(blocks) if text not in document.text and text not in asked] == []


def show(post: Post, **more: Any) -> ParsedHtml:
    return parse_html(render_message({"ts": "1.0", **post.build_payload(), **more}, NAMES))


def posts() -> dict[str, Post]:
    rendered = render_digest(SAMPLE)
    risks = make_list(taken_back=(pair(1),), riskiest=CoveredList((risky(2, "said"),)))
    foot = render_footer("It was cut.", "2 files", "3 files", 1, author=MODEL_NOTE)
    return {
        "lead": rendered.lead,
        **{f"thread {place}": post for place, post in enumerate(rendered.thread)},
        **{f"summary {entry.number}": render_summary(entry) for entry in SAMPLE.entries},
        "risks": render_risk_list(risks),
        "score": render_score("engine", SPAN, replace(USUAL, hits=(make_hit(9),))),
        "subscribed": render_confirmation(ENGINE, DUE, DUE),
        "paused": render_changes([ENGINE], "Paused", ""),
        "list": render_listing([(ENGINE, DUE), (FIXED, DUE)]),
        "answer": render_private_answer(format_search_answer("No model.", "the day", SAMPLE.entries), foot),
    }


POSTS = posts()


@pytest.mark.parametrize("post", POSTS.values(), ids=POSTS)
def test_what_the_bot_posts_is_shown_whole(post: Post) -> None:
    document = show(post)
    # of an answer the text is Markdown, of which not every sign is seen
    assert_whole(document, [block for block in post.blocks if block["type"] != "markdown"])
    assert len(document.find_by_class("bk-block")) == len(post.blocks)
    assert list_literal_markup(post.build_payload()) == []


def test_marks_of_code_in_a_title_are_shown_nowhere() -> None:
    title = "Drop `old` for `new`"
    entries = tuple(replace(each, pull=replace(each.pull, title=title)) for each in SAMPLE.entries)
    rendered = render_digest(replace(SAMPLE, entries=entries))
    payloads = [each.build_payload() for each in (rendered.lead, *rendered.thread, render_summary(entries[0]))]
    assert "Drop old for new" in str(payloads)
    assert list_literal_markup([*payloads, render_details(entries[0])]) == []
    assert list_literal_markup([{"type": "plain_text", "text": title}, {"type": "text", "text": "[a](https://b)"}])


def test_a_file_is_shown_with_its_title() -> None:
    attachment = render_digest(SAMPLE).attachment
    assert attachment is not None
    file = {"id": "F1", "name": attachment.name, "title": attachment.title}
    assert attachment.title in show(Post("", ()), files=[file]).text


def test_the_report_of_the_sample_day_is_shown_whole() -> None:
    attachment = render_digest(SAMPLE).attachment
    assert attachment is not None
    document = parse_html(render_document(attachment.text))
    assert len(document.find_all("h2")) == len(SampleSources().numbers)
    assert {tag["href"].split("/")[2] for tag in document.find_all("a")} == {"github.com"}


VIEWS: dict[str, Json] = {
    **{f"details {entry.number}": render_details(entry) for entry in SAMPLE.entries},
    "loading": render_loading_view(Reference(REPOSITORY, 5)),
    "form": make_submission(render_opened()),
    "change": make_submission(render_opened(OLD)),
    "home": {
        "type": "home",
        "blocks": [*render_home([LatestDigest("a", "https://a.example", NOW, "")], [(ENGINE, DUE)], WELL)],
    },
    "empty home": {"type": "home", "blocks": [*render_home([], [], WELL, "A note")]},
}


@pytest.mark.parametrize("view", VIEWS.values(), ids=VIEWS)
def test_what_the_bot_opens_is_shown_whole(view: Json) -> None:
    document = parse_html(render_view({"id": "V1", **view}, NAMES))
    assert_whole(document, view["blocks"] if "state" not in view else [block["label"] for block in view["blocks"]])
    assert list_literal_markup(view) == []
    assert len(document.find_by_class("bk-input")) == sum(block["type"] == "input" for block in view["blocks"])


def test_a_form_shows_what_was_put_in_before() -> None:
    document = parse_html(render_view({"id": "V1", **make_submission(render_opened(OLD))}, NAMES))
    chosen = [tag["value"] for tag in document.tags if {"selected", "checked"} & tag.attributes.keys()]
    assert chosen == ["Acme/web.app", "channel", "C0OPEN", "weekdays", "risky"]
    assert [tag["value"] for tag in document.find_by_class("bk-field")] == [
        "17:30",
        "Europe/Berlin",
        'path:src label:"a b"',
    ]


@settings(max_examples=15)
@given(digests(3))
def test_any_digest_is_shown_whole(digest: Digest) -> None:
    rendered = render_digest(digest)
    for post in (rendered.lead, *rendered.thread):
        assert_whole(show(post), post.blocks)
