import html
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.platform.slack.requests import restore_bot_text, restore_user_text
from tests.helpers.tables import check_rows


@check_rows(
    {
        "nothing": ("", ""),
        "the-name-alone": ("<@U1>", ""),
        "a-number": ("<@U1> 35617", "35617"),
        "a-name-with-a-label": ("<@U1|prdigest> 35617", "35617"),
        "a-name-of-a-grid": ("<@W1> 35617", "35617"),
        "without-a-blank": ("<@U1>35617", "35617"),
        "other-blanks": ("<@U1>\u00a035617\n", "35617"),
        "the-name-behind": ("35617 <@U1>", "35617"),
        "the-name-twice": ("<@U1> risks <@U1> 7d", "risks   7d"),
        "a-command": ("<@U1> risks 7d path:vllm/v1", "risks 7d path:vllm/v1"),
        "quotes": ('<@U1> risks label:"good first"', 'risks label:"good first"'),
        "curly-quotes": ("<@U1> risks label:“good first”", "risks label:“good first”"),
        "two-lines": ("<@U1> risks\n7d", "risks\n7d"),
        "address": ("<@U1> <https://github.com/octo/engine/pull/7>", "https://github.com/octo/engine/pull/7"),
        "address-under-a-label": (
            "<@U1> <https://github.com/octo/engine/pull/7|octo/engine#7>",
            "https://github.com/octo/engine/pull/7",
        ),
        "address-under-itself": (
            "<@U1> <https://github.com/octo/engine/pull/7|https://github.com/octo/engine/pull/7>",
            "https://github.com/octo/engine/pull/7",
        ),
        "address-with-an-ampersand": (
            "<@U1> <https://github.com/octo/engine/pull/7?a=1&amp;b=2>",
            "https://github.com/octo/engine/pull/7?a=1&b=2",
        ),
        "two-addresses": ("<@U1> <https://a.b/1> <http://a.b/2>", "https://a.b/1 http://a.b/2"),
        "signs": ("<@U1> a &lt;b&gt; &amp; c", "a <b> & c"),
        "signs-are-decoded-once": ("<@U1> &amp;lt;b&amp;gt;", "&lt;b&gt;"),
        "a-name-that-was-typed-as-text": ("<@U1> &lt;@U2&gt;", "<@U2>"),
        "a-link-that-was-typed-as-text": ("<@U1> &lt;https://a.b|c&gt;", "<https://a.b|c>"),
        "a-broadcast-stays": ("<@U1> <!channel>", "<!channel>"),
        "a-file": ("<@U1> risks path:<http://setup.py|setup.py>", "risks path:setup.py"),
        "a-file-in-a-folder": ("<@U1> risks path:docs/<http://README.md|README.md>", "risks path:docs/README.md"),
        "mail": ("<@U1> risks author:<mailto:a@b.c|a@b.c>", "risks author:a@b.c"),
    }
)
def test_what_was_typed_is_read_out_of_a_message(text: str, expected: str) -> None:
    assert restore_user_text(text) == expected


def escape_text(text: str) -> str:
    """As Slack escapes what a person types; it escapes no quotes."""
    return html.escape(text, quote=False)


@given(st.text(st.characters(), max_size=60))
def test_plain_text_comes_back_as_it_was_typed(text: str) -> None:
    assert restore_user_text(f"<@U1> {escape_text(text)}") == text.strip()


pieces = st.sampled_from(
    [
        *"&lt; &gt; &amp; & < > <@U1> <@ <!here> <https:// |x> &#64; &commat; &#x3c; ; https://a.b".split(),
        " ",
        "\n",
    ]
)


@given(st.lists(pieces | st.text(max_size=4), max_size=10).map("".join))
def test_markup_that_a_person_types_is_text(text: str) -> None:
    assert restore_user_text(f"<@U1> {escape_text(text)}") == text.strip()


@given(st.lists(pieces | st.text(st.characters(), max_size=4), max_size=10).map("".join))
def test_any_message_has_a_text_without_blanks_around_it(text: str) -> None:
    restored_text = restore_user_text(text)
    assert restored_text == restored_text.strip()
    assert len(restored_text) <= len(text)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("", "", id="nothing"),
        pytest.param(" plain ", "plain", id="words"),
        pytest.param("see <https://a.b/1|#7>.", "see #7.", id="a-link"),
        pytest.param("<https://a.b/1|#7> and <https://a.b/2|#8>", "#7 and #8", id="two-links"),
        pytest.param("see <https://a.b/1>", "see", id="an-address-without-a-label"),
        pytest.param("see <https://a.b/1|>", "see", id="an-empty-label"),
        pytest.param("mail <mailto:a@b.c|Ada>", "mail Ada", id="mail"),
        pytest.param("<https://a.b/?x=1&amp;y=2|a &lt;b&gt; &amp; c>", "a <b> & c", id="signs-in-a-label"),
        pytest.param("a &lt;b&gt; &amp;lt;", "a <b> &lt;", id="signs-are-decoded-once"),
        pytest.param("&lt;https://a.b|c&gt;", "<https://a.b|c>", id="what-only-looks-like-a-link"),
        pytest.param("<@U1> asked in <#C1|general>", "<@U1> asked in <#C1|general>", id="names-stay"),
        pytest.param("a\n\n• <https://a.b|c>\n", "a\n\n• c", id="lines"),
    ],
)
def test_of_what_the_bot_wrote_the_labels_are_read(text: str, expected: str) -> None:
    assert restore_bot_text(text) == expected


@given(st.text(st.characters(), max_size=60))
def test_plain_text_of_the_bot_comes_back_as_it_was(text: str) -> None:
    assert restore_bot_text(escape_text(text)) == text.strip()


@given(st.text(st.characters(), max_size=30), st.text(st.characters(), max_size=30))
def test_of_a_link_only_the_label_comes_back(before: str, label: str) -> None:
    assert (
        restore_bot_text(f"{escape_text(before)}<https://a.b/c|{escape_text(label)}>")
        == f"{before}{label}".strip()
    )


@pytest.mark.parametrize("piece", ["<@", "<@A", "<", "<https://", "<https://a|", "<@U1>", "&", "&amp;", "|", " "])
def test_a_message_of_one_piece_over_and_over_is_read_soon(piece: str) -> None:
    began = time.process_time()
    restore_user_text(piece * (40_000 // len(piece)))
    restore_bot_text(piece * (40_000 // len(piece)))
    assert time.process_time() - began < 1.0
