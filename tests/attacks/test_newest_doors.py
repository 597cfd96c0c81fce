"""Whatever the texts about a team's code say, the local Slack takes the message, and nobody is notified."""

from collections.abc import Iterator
from urllib.parse import urlsplit

import pytest
from hypothesis import HealthCheck, given, settings
from localslack.rules.messages import find_links, find_mentions
from localslack.state.workspace import Json
from markdown_it import MarkdownIt
from slack_sdk import WebClient

from bot.features.touches.tasks import render_agent_task, render_task_view
from bot.features.touches.upgrade_view import render_upgrade
from bot.platform.slack.blocks import Post
from bot.platform.slack.client import make_slack_client
from tests.attacks.hostile_plans import DOORS, URL, Words, make_plan, make_task, words
from tests.emulators.slack.server import SlackEmulator
from tests.platform.slack.accepted import invisible, strings

PARSER = MarkdownIt("commonmark").enable(["table", "strikethrough"])
# an example shares the Slack of the test, in which it is one more message
SHARED = settings(suppress_health_check=[HealthCheck.function_scoped_fixture])


@pytest.fixture(scope="module")
def team() -> Iterator[tuple[SlackEmulator, WebClient]]:
    with SlackEmulator() as slack:
        yield slack, make_slack_client(slack.token, slack.url)


def deliver(team: tuple[SlackEmulator, WebClient], post: Post) -> tuple[Json, set[str]]:
    slack, client = team
    ts = str(client.chat_postMessage(channel=slack.home, **post.build_payload())["ts"])
    return slack.get_message(slack.home, ts), slack.collect_live_parts(slack.home, ts)


@pytest.mark.parametrize("door", DOORS)
@SHARED
@given(hostile_words=words())
def test_slack_takes_the_message_and_notifies_nobody(
    door: str, hostile_words: Words, team: tuple[SlackEmulator, WebClient]
) -> None:
    message, live = deliver(team, DOORS[door](hostile_words))
    assert [part for part in live if not part.startswith(f"{URL}/")] == []
    assert invisible("".join(strings(message["blocks"]))) == []


@given(hostile_words=words())
def test_the_plan_of_an_upgrade_links_the_repository_alone(hostile_words: Words) -> None:
    """It is Markdown, for a file or an issue."""
    for token in PARSER.parse(render_upgrade(make_plan(hostile_words), URL)):
        assert token.type not in ("html_block", "fence")
        for each in token.children or ():
            assert each.type not in ("image", "html_inline")
            if each.type == "link_open":
                assert urlsplit(str(each.attrs["href"])).netloc == "github.com"


@SHARED
@given(hostile_words=words())
def test_slack_takes_the_window_of_a_task_and_nothing_in_it_is_live(
    hostile_words: Words, team: tuple[SlackEmulator, WebClient]
) -> None:
    slack, client = team
    view = render_task_view(render_agent_task(make_task(hostile_words)))
    shown = client.views_open(trigger_id=slack.make_trigger_id(), view=view)["view"]
    assert (find_mentions(shown), find_links(shown)) == ([], [])
    assert invisible("".join(strings(shown["blocks"]))) == []


def test_the_judge_sees_what_notifies(team: tuple[SlackEmulator, WebClient]) -> None:
    block = {"type": "section", "text": {"type": "mrkdwn", "text": "<!here> <https://evil.example|x>"}}
    assert deliver(team, Post("x", (block,)))[1] == {"<!here>", "https://evil.example"}
