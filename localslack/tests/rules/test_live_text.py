import json

import pytest

from localslack.rules.messages import find_links, find_mentions
from tests.parts import (
    IMAGE,
    Json,
    actions,
    bullets,
    button,
    context,
    header,
    inline,
    link,
    markdown,
    mrkdwn,
    plain,
    section,
    table,
    word,
)


@pytest.mark.parametrize(
    ("arguments", "mentions"),
    [
        ({"text": "<!channel> <!here|here> <!everyone>"}, ["<!channel>", "<!here|here>", "<!everyone>"]),
        ({"text": "<@U1> <!subteam^S1> <#C1|general>"}, ["<@U1>", "<!subteam^S1>", "<#C1|general>"]),
        ({"text": "@channel, @here and @everyone"}, ["@channel", "@here", "@everyone"]),
        ({"text": "&lt;!channel&gt; me@here.org @heretic a/@here <!date^1^{date}|x>"}, []),
        ({"markdown_text": "<!here> and @here"}, ["<!here>"]),
        ({"blocks": [markdown("<@U1>")]}, ["<@U1>"]),
        ({"blocks": [section("<!here> @here")]}, ["<!here>", "@here"]),
        ({"blocks": [section(mrkdwn("<!here> @here", verbatim=True))]}, ["<!here>"]),
        ({"blocks": [context(mrkdwn("<@U1>"))]}, ["<@U1>"]),
        ({"blocks": [{"type": "section", "fields": [mrkdwn("<@U1>")]}]}, ["<@U1>"]),
        ({"blocks": json.dumps([section("<@U1>")])}, ["<@U1>"]),
        ({"blocks": [header("<!here> @here"), section(plain("<!here>")), table(text="<!here>")]}, []),
        ({"blocks": [inline(word("<!here> @here"), link(text="<@U1>"))]}, []),
        ({"blocks": [inline({"type": "user", "user_id": "U1"})]}, ["<@U1>"]),
        ({"blocks": [inline({"type": "usergroup", "usergroup_id": "S1"})]}, ["<!subteam^S1>"]),
        ({"blocks": [bullets(), inline({"type": "broadcast", "range": "channel"})]}, ["<!channel>"]),
        ({"blocks": [inline({"type": "channel", "channel_id": "C1"})]}, ["<#C1>"]),
        ({"attachments": [{"fields": [{"value": "<!here>"}]}]}, ["<!here>"]),
    ],
    ids=lambda value: str(value)[:60],
)
def test_mentions(arguments: Json, mentions: list[str]) -> None:
    assert find_mentions(arguments) == mentions


@pytest.mark.parametrize(
    ("arguments", "links"),
    [
        (
            {"text": "<https://a.example/1|one> <https://a.example/2>"},
            ["https://a.example/1", "https://a.example/2"],
        ),
        ({"text": "see https://a.example/x?a=1&amp;b=2."}, ["https://a.example/x?a=1&b=2"]),
        ({"text": "https://a.example", "parse": "none"}, []),
        ({"text": "&lt;https://a.example|x&gt;"}, ["https://a.example"]),
        (
            {"blocks": [section("https://a.example <mailto:a@example.com|mail>")]},
            ["mailto:a@example.com", "https://a.example"],
        ),
        (
            {"blocks": [section(mrkdwn("https://a.example <https://b.example|b>", verbatim=True))]},
            ["https://b.example"],
        ),
        ({"blocks": [header("https://a.example"), inline(word("https://a.example"))]}, []),
        ({"blocks": [inline(link("https://a.example"))]}, ["https://a.example"]),
        ({"blocks": [actions(button(url="https://a.example"))]}, ["https://a.example"]),
        ({"blocks": [section(accessory=button(url="https://a.example"))]}, ["https://a.example"]),
        (
            {"blocks": [markdown("[a](https://a.example/?x=1&y=2) **https://b.example**")]},
            ["https://a.example/?x=1&y=2", "https://b.example"],
        ),
        ({"markdown_text": "<https://a.example>"}, ["https://a.example"]),
        ({"blocks": [IMAGE]}, []),
    ],
    ids=lambda value: str(value)[:60],
)
def test_links(arguments: Json, links: list[str]) -> None:
    assert find_links(arguments) == links
