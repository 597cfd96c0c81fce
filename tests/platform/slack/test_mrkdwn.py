import pytest
from hypothesis import given
from hypothesis import strategies as st
from localslack.rules.messages import find_links, find_mentions

from bot.platform.slack.blocks import escape_mrkdwn
from tests.features.digest.hostile_days import PIPED, TOKENS, texts
from tests.helpers.tables import check_rows

JOINER = "\u200d"


@pytest.mark.parametrize(
    ("text", "escaped"),
    [
        ("plain words", "plain words"),
        ("a & b < c > d", "a &amp; b &lt; c &gt; d"),
        ("&lt;", "&amp;lt;"),
        ("<!channel>", "&lt;!channel&gt;"),
        ("<https://evil.example|click>", f"&lt;https:{JOINER}//evil.example|click&gt;"),
        ("@here and @Channel", f"@{JOINER}here and @{JOINER}Channel"),
        ("@hereabouts @channels", "@hereabouts @channels"),
        ("two\nlines\t and blanks ", "two lines and blanks"),
        ("@\u200bhere", f"@{JOINER}here"),
        ("evil\u202e", "evil"),
        ("*bold* _it_ ~no~ `code`", "*bold* _it_ ~no~ `code`"),
        ("", ""),
    ],
    ids=ascii,
)
def test_what_could_be_live_is_put_out(text: str, escaped: str) -> None:
    assert escape_mrkdwn(text) == escaped


def live(text: str) -> list[str]:
    """What Slack would make of a text, also where it reads entities before it looks for markup in vain."""
    payload = {"text": text, "blocks": [{"type": "section", "text": {"type": "mrkdwn", "text": text}}]}
    return [*find_mentions(payload), *find_links(payload)]


@check_rows([*TOKENS, *PIPED])
def test_no_token_of_slack_survives(token: str) -> None:
    assert live(escape_mrkdwn(token)) == []
    assert live(escape_mrkdwn(f"before {token} after")) == []


@given(texts(400))
def test_nothing_is_live_whatever_the_text(text: str) -> None:
    assert live(escape_mrkdwn(text)) == []


@given(st.lists(texts(60), max_size=4))
def test_texts_that_are_joined_after_escaping_make_nothing_live(parts: list[str]) -> None:
    assert live(", ".join(map(escape_mrkdwn, parts))) == []


@given(texts(400))
def test_an_escaped_text_is_one_line_without_angles(text: str) -> None:
    escaped = escape_mrkdwn(text)
    assert not set("<>\n\r\u2028\u2029") & set(escaped)
    assert escaped.count("&") == sum(escaped.count(entity) for entity in ("&amp;", "&lt;", "&gt;"))
