import re
from collections.abc import Sequence
from copy import copy

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from localslack.rules.messages import find_links, find_mentions
from markdown_it import MarkdownIt

from bot.features.questions.markdown import AnswerMarkdown
from bot.platform.markdown import sanitize_text
from tests.features.questions.test_markdown import (
    ADDRESSES,
    BAD,
    ENDLESS,
    GOOD,
    LINK,
    LINKS,
    SECRET,
    SEVEN,
    feed_pieces,
    make_citation,
    write_answer,
)

pytestmark = pytest.mark.slow

MANY = settings(max_examples=max(60, settings().max_examples))

# what is harmless alone, and alive where its parts meet
TOUCHING = re.compile(r"://|\]\(|\]:|www\.|@(?:channel|here|everyone|group)", re.I)
OWN = (LINK.strip(), SEVEN)

PINGS = "<!here> <!channel> <@U123> <@W0ABC|you> <!subteam^S1> <#C1|x> @channel @HERE <!date^1^x^http://evil|x>".split()
ADDRESSED = (
    *"<https://evil.example|x> <mailto:a@evil.example> https://evil.example www.evil.com WWW.Evil.com".split(),
    *"[label](https://evil.example/?q=1) ![i](http://evil) [x](tel:1) [x][](y)(mailto:a@b.c) [](x)".split(),
    *"https:// http: // :// mailto:a@b.c ]( ]: [x]( [a][1] w. w W : ] [ ( ) ! @".split(),
    "[a][1] and\n\n[1]: http://evil",
)
MARKS = ("<answer>", "</answer>", "<ans", "wer>", "</", "<", ">", "<cite", "<cite ", "</cite>", "</ci", "te>")
NUMBERS = "#7 #99 octo/other#7 a#7 #7a #7_ ##7 !#7 &#7; # #7# 7 /".split()
CODE = ("`", "``", "```", "\n```\n", "`x`", "`#7`", "`a ", "~~~")
ODD = (
    "\0",
    "\x1b[31m",
    "\u202e",
    "\u2066",
    "\u200b",
    "\u200d",
    "\ud800",
    "\u2028",
    "\r\n",
    "\t",
    "\n",
    "\n\n",
    " ",
)
LONG = ("x" * 90, "x" * 3_100, "[" * 40, "(" * 40, "(" + "x" * 490 + ")", "9" * 20, "a " * 40, "`" * 7)
CITES = (
    make_citation(GOOD),
    make_citation(BAD),
    make_citation(""),
    make_citation(f"{SECRET}{make_citation(GOOD)}"),
    make_citation(SECRET, path="b.py"),
    make_citation(f"{SECRET} " * 200),
    f'<cite pr="7" path="a.py">{SECRET}',
    f"<cite>{SECRET}</cite>",
    f"<cite pr='7'>{SECRET}</cite>",
)
HURTFUL = ("https://evil.example", "[x](mailto:a@b.c)", "www.evil.com", "@channel", "[1]: http://evil", "<!here>")
UNSEEN = ("</cite>", make_citation(BAD), "<answer>", "[](x)", "\u200b", "\0", "`", "```")


@st.composite
def draw_broken(draw: st.DrawFn) -> str:
    """Something that would be alive, with something in it that is not shown, or a part of it as a link's label."""
    whole = draw(st.sampled_from(HURTFUL))
    begin = draw(st.integers(1, len(whole) - 1))
    end = draw(st.integers(begin, len(whole)))
    between = draw(st.sampled_from((*UNSEEN, f"[{whole[begin:end]}](x)")))
    return whole[:begin] + between + whole[end if whole[begin:end] in between else begin :]


piece = st.one_of(
    *map(st.sampled_from, (PINGS, ADDRESSED, MARKS, NUMBERS, CODE, ODD, LONG, CITES)),
    draw_broken(),
    st.text(max_size=4),
)
texts = st.lists(piece, max_size=8).map("".join)
answers = st.one_of(texts.map("<answer>{}".format), texts.map("<answer>{}".format), texts)


@st.composite
def streams(draw: st.DrawFn, text: st.SearchStrategy[str] = answers) -> list[str]:
    """A text in pieces, often cut where something begins."""
    whole = draw(text)
    if draw(st.booleans()) and len(whole) < 400:
        return list(whole)
    cuts = sorted(draw(st.lists(st.integers(0, len(whole)), max_size=8)))
    return [whole[begin:end] for begin, end in zip([0, *cuts], [*cuts, len(whole)], strict=True)]


def alive(shown: str) -> list[str]:
    """What of a Markdown text pings, or links to where no code of ours sends a reader."""
    post = {"blocks": [{"type": "markdown", "text": shown}]}
    abroad = [address for address in (*find_links(post), *addresses(shown)) if address not in ADDRESSES]
    return [*find_mentions(post), *abroad, *touching(shown)]


def addresses(shown: str) -> list[str]:
    """Where the links and images of a Markdown text lead, as CommonMark reads it."""
    tokens = [token for part in MarkdownIt().parse(shown) for token in part.children or ()]
    named = [token.attrs.get("href") or token.attrs.get("src") for token in tokens]
    return [str(address) for address in named if address]


def touching(shown: str) -> list[str]:
    """The parts of something live that stand together outside of our own links."""
    for link in OWN:
        shown = shown.replace(link, "\0")
    return TOUCHING.findall(shown)


def test_the_judge_sees_what_is_alive() -> None:
    for text in ("<!here>", "<@U1>", "https://evil.example", "[x](https://evil.example)", "[x](mailto:a@b.c)"):
        assert alive(text)
    for text in ("www.evil.com", "@channel", "[x]: y", "[x](y)", "[x][1]\n\n[1]: //evil.example"):
        assert alive(text)
    for text in ("", "plain", f"see {LINK} and {SEVEN}", "&lt;!here&gt;", "`code` ```"):
        assert not alive(text)


@MANY
@given(streams())
@example([f"<answer>{make_citation(BAD)}", " then"])
@example(["<answer>https://[](x)", "evil.example:", "a@b.c "])
@example([f"<answer>{make_citation('')} then ", "</cite>"])
@example([f"<answer>[a](({'x' * 490})({'x' * 490})({'x' * 490})({'x' * 490})", f"({'x' * 490}))"])
def test_it_makes_no_difference_where_a_stream_is_cut(pieces: list[str]) -> None:
    whole, piecemeal = write_answer("".join(pieces), ENDLESS), AnswerMarkdown(LINKS, ENDLESS)
    assert feed_pieces(piecemeal, *pieces) == whole.shown_text
    assert (piecemeal.shown_text, piecemeal.raw_text) == (whole.shown_text, whole.raw_text)
    assert not whole.is_cut
    assert not piecemeal.is_cut


@MANY
@given(streams())
@example(["<answer>https:</cite>//evil.example"])
@example(["<answer>[x][](y)(mailto:a@b.c)"])
@example(["<answer>[ww](x)w.evil.com"])
def test_nothing_is_alive_at_any_time(pieces: list[str]) -> None:
    markdown, shown = AnswerMarkdown(LINKS), ""
    for each in pieces:
        more = markdown.feed(each)
        shown += more
        assert not more or not alive(shown)
    assert not alive(shown + markdown.end_answer())


@MANY
@given(streams(), st.integers(0, 200))
@example(["<answer>https:    //evil.example"], 9)
def test_nothing_is_alive_where_an_answer_is_cut(pieces: list[str], limit: int) -> None:
    markdown = AnswerMarkdown(LINKS, limit)
    shown = feed_pieces(markdown, *pieces)
    assert shown == markdown.shown_text
    assert len(shown) <= limit + len("\n```")
    assert not alive(shown)


@MANY
@given(streams(), st.integers(0, 400))
@example(["<answer>```\nof code"], 8)
def test_a_fence_is_closed(pieces: list[str], limit: int) -> None:
    markdown = AnswerMarkdown(LINKS, limit)
    assert feed_pieces(markdown, *pieces).count("```") % 2 == 0


@MANY
@given(streams())
@example([f"<answer>`{make_citation(SECRET)}`"])
def test_the_quote_of_no_citation_is_shown(pieces: list[str]) -> None:
    markdown = AnswerMarkdown(LINKS)
    assert SECRET not in feed_pieces(markdown, *pieces)
    assert SECRET not in markdown.raw_text


@MANY
@given(st.lists(texts, max_size=3), texts, streams())
def test_a_copy_knows_nothing_of_what_comes_later(rounds: list[str], lost: str, pieces: list[str]) -> None:
    markdown, other = AnswerMarkdown(LINKS), AnswerMarkdown(LINKS)
    for each in rounds:
        markdown.feed(each)
        other.feed(each)
        markdown.end_turn()
        other.end_turn()
    kept = copy(markdown)
    markdown.feed(lost)
    markdown.end_turn()
    assert feed_pieces(kept, *pieces) == feed_pieces(other, *pieces)
    assert (kept.shown_text, kept.raw_text, kept.is_cut) == (other.shown_text, other.raw_text, other.is_cut)


@MANY
@given(st.lists(streams(), min_size=1, max_size=4))
@example([["<answer>https:</answer>//"], ["x"]])
@example([["<answer>w</cite>"], ["ww.evil.com"]])
def test_nothing_is_alive_after_any_round_of_tools(rounds: Sequence[list[str]]) -> None:
    markdown, shown = AnswerMarkdown(LINKS), ""
    for pieces in rounds:
        for each in pieces:
            shown += markdown.feed(each)
        assert not alive(shown)
        shown += markdown.end_turn()
    shown += markdown.end_answer()
    assert not alive(shown)
    assert shown == markdown.shown_text


@MANY
@given(st.lists(piece, max_size=14).map("".join))
def test_a_literal_text_is_alive_nowhere(text: str) -> None:
    assert not alive(sanitize_text(text))


@MANY
@given(st.text(st.characters(exclude_categories=["C", "Z"], exclude_characters="<>`[]@#:wW"), max_size=200))
def test_plain_words_are_shown_as_they_are(text: str) -> None:
    assert write_answer(f"<answer>{text}</answer>").shown_text == text
