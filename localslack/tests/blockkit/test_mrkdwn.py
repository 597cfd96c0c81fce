"""Slack's own markup: where formatting begins and ends, what is live, and that no text takes long."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from localslack.blockkit import render_mrkdwn
from localslack.testing.html import parse_html
from tests.blockkit.shown import NAMES
from tests.hostile import TOKENS

EPOCH = "Thursday, January 1st, 1970 at 00:00:00"
OUT = 'target="_blank" rel="noopener noreferrer"'


def link(url: str, label: str) -> str:
    return f'<a class="bk-link" href="{url}" {OUT}>{label}</a>'


def mention(name: str, kind: str = "") -> str:
    return f'<span class="bk-mention{kind}">{name}</span>'


FORMATTING = [
    ("plain", "plain"),
    ("", ""),
    ("*bold*", "<strong>bold</strong>"),
    ("_italic_", "<em>italic</em>"),
    ("~gone~", "<s>gone</s>"),
    ("`code`", '<code class="bk-code">code</code>'),
    ("a *b* c *d* e", "a <strong>b</strong> c <strong>d</strong> e"),
    ("*two words*", "<strong>two words</strong>"),
    ("(*b*), *c*.", "(<strong>b</strong>), <strong>c</strong>."),
    ("*_~all~_*", "<strong><em><s>all</s></em></strong>"),
    ("_a *b* c_", "<em>a <strong>b</strong> c</em>"),
    ("*a _b* c_", "<strong>a _b</strong> c_"),
    ("2*3*4", "2*3*4"),
    ("snake_case_name", "snake_case_name"),
    ("a*b*", "a*b*"),
    ("*a*b", "*a*b"),
    ("* a *", "* a *"),
    ("*a *", "*a *"),
    ("* a*", "* a*"),
    ("**", "**"),
    ("****", "****"),
    ("*", "*"),
    ("*a\nb*", "*a<br>b*"),
    ("*a*b*", "<strong>a*b</strong>"),
    ("`*a*`", '<code class="bk-code">*a*</code>'),
    ("*`a`*", '<strong><code class="bk-code">a</code></strong>'),
    ("*a `b* c`", '*a <code class="bk-code">b* c</code>'),
    ("a`b`c", "a`b`c"),
    ("`a", "`a"),
    ("``", "``"),
    ("`a\nb`", "`a<br>b`"),
    ("one\ntwo\r\nthree", "one<br>two<br>three"),
    ("- a\n• b\n1. c", "- a<br>• b<br>1. c"),
    ("\\*a\\*", "\\<strong>a\\</strong>"),
    ("[a](https://b.example)", f"[a]({link('https://b.example', 'https://b.example')})"),
]
BLOCKS = [
    ("```a```", '<pre class="bk-pre">a</pre>'),
    ("```\na\n  b\n```", '<pre class="bk-pre">a\n  b</pre>'),
    ("x\n```*a*\n> b```\ny", 'x<pre class="bk-pre">*a*\n&gt; b</pre>y'),
    ("``````", "``````"),
    ("```a", "```a"),
    ("> a", '<blockquote class="bk-quote">a</blockquote>'),
    ("&gt; a\n&gt;b\nc", '<blockquote class="bk-quote">a<br>b</blockquote>c'),
    ("a\n> *b*", 'a<blockquote class="bk-quote"><strong>b</strong></blockquote>'),
    ("a > b", "a &gt; b"),
    ("a\n>>> b\nc", 'a<blockquote class="bk-quote">b<br>c</blockquote>'),
    ("&gt;&gt;&gt;a\n```b```", '<blockquote class="bk-quote">a<pre class="bk-pre">b</pre></blockquote>'),
    ("```>>> a```\nb", '<pre class="bk-pre">&gt;&gt;&gt; a</pre>b'),
]
LIVE = [
    ("<https://a.example>", link("https://a.example", "https://a.example")),
    ("<https://a.example|the *label*>", link("https://a.example", "the *label*")),
    ("<https://a.example/?a=1&amp;b=2|x>", link("https://a.example/?a=1&amp;b=2", "x")),
    ("<mailto:a@b.example|Mail>", link("mailto:a@b.example", "Mail")),
    ("<mailto:a@b.example>", link("mailto:a@b.example", "a@b.example")),
    ("*<https://a.example|x>*", f"<strong>{link('https://a.example', 'x')}</strong>"),
    ("`<https://a.example|x>`", f'<code class="bk-code">{link("https://a.example", "x")}</code>'),
    ("<javascript:alert(1)|x>", "&lt;javascript:alert(1)|x&gt;"),
    ("<data:text/html,x>", "&lt;data:text/html,x&gt;"),
    ("<https://a b|x>", f"&lt;{link('https://a', 'https://a')} b|x&gt;"),
    ("<>", "&lt;&gt;"),
    ("<b>a</b>", "&lt;b&gt;a&lt;/b&gt;"),
    ("https://a.example/b_c_d.", f"{link('https://a.example/b_c_d', 'https://a.example/b_c_d')}."),
    ("(https://a.example)", f"({link('https://a.example', 'https://a.example')})"),
    ("*https://a.example*", f"<strong>{link('https://a.example', 'https://a.example')}</strong>"),
    ("https://a.example?a&amp;b", link("https://a.example?a&amp;b", "https://a.example?a&amp;b")),
    ("&lt;https://a.example&gt;", f"&lt;{link('https://a.example', 'https://a.example')}&gt;"),
    ("https://", "https://"),
    ("https://***", "https://***"),
    ("xhttps://a.example", "xhttps://a.example"),
    ("<@U0BOB>", mention("@bob")),
    ("<@U0BOB|robert>", mention("@bob")),
    ("<@U0ADA>", mention("@ada", " bk-mention-me")),
    ("<@U0NEW|new &lt;b&gt;>", mention("@new &lt;b&gt;")),
    ("<@W0NEW>", mention("@W0NEW")),
    ("<@x>", "&lt;@x&gt;"),
    ("<#C0GENERAL>", mention("#general", " bk-channel")),
    ("<#C0NEW|new>", mention("#new", " bk-channel")),
    ("<!here>", mention("@here", " bk-broadcast")),
    ("<!channel|anything>", mention("@channel", " bk-broadcast")),
    ("<!everyone>", mention("@everyone", " bk-broadcast")),
    ("@here, @Channel", f"{mention('@here', ' bk-broadcast')}, {mention('@channel', ' bk-broadcast')}"),
    ("a@here.example @hereby", "a@here.example @hereby"),
    ("@\u200dhere", "@\u200dhere"),
    ("<!subteam^S0TEAM|@team>", mention("@team", " bk-broadcast")),
    ("<!subteam^S0TEAM>", mention("@S0TEAM", " bk-broadcast")),
    ("<!unknown|label>", "label"),
    ("<!unknown>", "&lt;!unknown&gt;"),
    ("<!date^0^{date_num}|then>", f'<time datetime="1970-01-01T00:00:00+00:00" title="{EPOCH}">1970-01-01</time>'),
    ("&lt;&gt;&amp;", "&lt;&gt;&amp;"),
    ("&amp;lt;", "&amp;lt;"),
    ("&quot; &copy;", "&amp;quot; &amp;copy;"),
    (":tada: :+1: :nothing:", "🎉 👍 :nothing:"),
    ("a:b:c", "a:b:c"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "html"), [*FORMATTING, *BLOCKS, *LIVE], ids=ascii)
def test_it_reads_as_in_slack(text: str, html: str) -> None:
    assert render_mrkdwn(text, NAMES) == html
    parse_html(html)


@pytest.mark.parametrize(
    ("text", "html"),
    [
        ("https://a.example @here", "https://a.example @here"),
        ("<https://a.example|x> *b*", f"{link('https://a.example', 'x')} <strong>b</strong>"),
    ],
)
def test_what_is_verbatim_has_no_links_but_those_that_were_made(text: str, html: str) -> None:
    assert render_mrkdwn(text, NAMES, verbatim=True) == html


MARKS = [
    *"*_~`<>|&:!@# \n\\a1",
    "```",
    ">>>",
    "&gt;",
    "https://a.example",
    ":tada:",
    "<@U0ADA>",
    "<!here|",
    *TOKENS,
]


@given(st.lists(st.sampled_from(MARKS) | st.text(max_size=4), max_size=30).map("".join))
def test_no_text_makes_html_that_was_not_meant(text: str) -> None:
    parse_html(render_mrkdwn(text, NAMES))


@given(st.text(st.characters(codec="utf-8", exclude_characters="*_~`<>&:@\r\n"), max_size=60))
def test_text_without_marks_is_shown_as_it_is(text: str) -> None:
    assert parse_html(render_mrkdwn(text, NAMES, verbatim=True)).text == text


@pytest.mark.parametrize("piece", ["*_~<", "*a* ", "`a", "```", ">>>\n", "<@U1", "https://", ":a"])
def test_long_texts_take_no_longer_than_they_are_long(piece: str) -> None:
    text = (piece * 40_000)[:40_000]
    start = time.process_time()
    render_mrkdwn(text, NAMES)
    # a quarter of a second at most where it was measured; what grows with the square takes minutes
    assert time.process_time() - start < 2
