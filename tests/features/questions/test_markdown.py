"""A model's words as Slack may show them: what becomes of each kind, whole, broken and cut."""

from copy import copy

import pytest

from bot.features.questions.markdown import MAX_ANSWER_LENGTH, AnswerMarkdown, Links
from bot.features.questions.rules import Citation
from bot.platform.markdown import sanitize_text

pytestmark = pytest.mark.slow

GOOD, BAD, SECRET = "total = sum(self.queue)", "nobody wrote this", "unproven"
PLACE = "https://github.com/octo/engine/blob/abc/a.py#L13"
PULL = "https://github.com/octo/engine/pull/7"
ADDRESSES = (PLACE, PULL)
LINK, SEVEN = f" [a.py:13]({PLACE})", f"[#7]({PULL})"
JOINER = "\u200d"
ENDLESS = 10**9


def _find_place(citation: Citation) -> tuple[str, str] | None:
    return ("a.py:13", PLACE) if citation == Citation("7", "a.py", GOOD) else None


LINKS = Links(_find_place, lambda number: PULL if number == 7 else None)


def make_citation(quote: str, pr: str = "7", path: str = "a.py") -> str:
    return f'<cite pr="{pr}" path="{path}">{quote}</cite>'


@pytest.mark.parametrize(
    ("more", "citation"),
    [
        ("", Citation("7", "a.py", GOOD)),
        (' line="12"', Citation("7", "a.py", GOOD, 12)),
        (' side="removed"', Citation("7", "a.py", GOOD, is_removed=True)),
        (' line="12" side="removed"', Citation("7", "a.py", GOOD, 12, is_removed=True)),
        ('\n line="12"\n side="added" ', Citation("7", "a.py", GOOD, 12)),
        (' line="-1"', None),
        (' line="\u0661"', None),
        (' line="1234567890"', None),
        (' side="left"', None),
        (' line="12" to="14"', None),
    ],
)
def test_a_citation_may_say_which_line_is_meant(more: str, citation: Citation | None) -> None:
    seen: list[Citation] = []

    def keep(kept_citation: Citation) -> None:
        seen.append(kept_citation)

    text = f'<answer>So.<cite pr="7" path="a.py"{more}>{GOOD}</cite></answer>'
    assert feed_pieces(AnswerMarkdown(Links(keep, lambda _: None)), text) == "So."
    assert seen == ([citation] if citation else [])


def feed_pieces(markdown: AnswerMarkdown, *pieces: str) -> str:
    """All that is shown for the pieces, and for the end after them."""
    return "".join([*map(markdown.feed, pieces), markdown.end_answer()])


def write_answer(text: str, limit: int = MAX_ANSWER_LENGTH) -> AnswerMarkdown:
    """An answer that came in one piece."""
    markdown = AnswerMarkdown(LINKS, limit)
    feed_pieces(markdown, text)
    return markdown


def show_answer(text: str, limit: int = MAX_ANSWER_LENGTH) -> str:
    """What is shown of the text of an answer."""
    return write_answer(f"<answer>{text}</answer>", limit).shown_text


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("", "", id="nothing"),
        pytest.param(" \n ", "", id="blanks"),
        pytest.param("\n\n a\n", "a\n", id="blanks-before"),
        pytest.param("Two **words**.\n\n- a\n- b", "Two **words**.\n\n- a\n- b", id="markdown-stays"),
        pytest.param("a & b &amp; c", "a & b &amp; c", id="ampersands-stay"),
        pytest.param("a < b > c", "a &lt; b &gt; c", id="angle-brackets"),
        pytest.param("&lt;!here&gt;", "&lt;!here&gt;", id="entities-are-not-read-again"),
        pytest.param("<!here> <@U1>", "&lt;!here&gt; &lt;@U1&gt;", id="tokens"),
        pytest.param(
            "<https://e.example|x>", f"&lt;https:{JOINER}//e.example|x&gt;", id="an-address-of-slack's-kind"
        ),
        pytest.param("@channel, @Here", f"@{JOINER}channel, @{JOINER}Here", id="broadcasts"),
        pytest.param("@ada and a@b.c", "@ada and a@b.c", id="other-names-stay"),
        pytest.param("https://e.example/a", f"https:{JOINER}//e.example/a", id="an-address"),
        pytest.param("ftp://e, a://b", f"ftp:{JOINER}//e, a:{JOINER}//b", id="any-scheme"),
        pytest.param("www.e.x WWW.e", f"www{JOINER}.e.x WWW{JOINER}.e", id="an-address-without-scheme"),
        pytest.param("a: b, c:/d, wow, ww.", "a: b, c:/d, wow, ww.", id="what-only-looks-like-one"),
        pytest.param("a\0b\u202ec\x1b[1md\r\ne", "abc[1md\ne", id="what-steers-is-gone"),
        pytest.param("a\tb", "a    b", id="a-tab-is-a-blank"),
    ],
)
def test_words_are_shown_with_nothing_alive_in_them(text: str, expected: str) -> None:
    assert show_answer(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("[label](https://e.example/?q=1)", "label", id="a-link"),
        pytest.param("![alt](https://e.example)", "!alt", id="an-image"),
        pytest.param("[a](b) and [c](d)", "a and c", id="two"),
        pytest.param("[a](b(c)d)e", "ae", id="brackets-in-the-address"),
        pytest.param("[](b)", "", id="no-label"),
        pytest.param('[a](b "title")', "a", id="a-title"),
        pytest.param("[<!here>](b)", "&lt;!here&gt;", id="a-label-that-pings"),
        pytest.param("[https://e](b)", f"https:{JOINER}//e", id="a-label-that-is-an-address"),
        pytest.param("[#7](https://e.example)", SEVEN, id="a-number-leads-where-it-should"),
        pytest.param("[#99](https://e.example)", "#99", id="an-unknown-number"),
        pytest.param("[see #7](https://e.example)", "see #7", id="a-number-among-words"),
        pytest.param("[a] (b)", "[a] (b)", id="no-link"),
        pytest.param("[a] and [b", "[a] and [b", id="brackets-stay"),
        pytest.param("[a](b", f"[a]{JOINER}(b", id="an-open-address"),
        pytest.param("[a](b\nc)", f"[a]{JOINER}(b\nc)", id="an-address-over-two-lines"),
        pytest.param("[[a](b)](c)", f"[a]{JOINER}(c)", id="a-link-in-a-link"),
        pytest.param("[a][1]\n\n[1]: //e", f"[a][1]\n\n[1]{JOINER}: //e", id="a-reference"),
        pytest.param("[x](y)[#7](z)", f"x{SEVEN}", id="two-without-a-blank"),
        pytest.param(f"[a]({'x' * 3_000}) b", f"[a]{JOINER}({'x' * 3_000}) b", id="an-endless-address"),
        pytest.param(f"[{'a' * 301}](b)", f"[{'a' * 301}]{JOINER}(b)", id="an-endless-label"),
        pytest.param("[x][](y)(mailto:a@b.c)", f"[x]{JOINER}(mailto:a@b.c)", id="an-empty-label-between"),
        pytest.param("[x]</cite>(tel:1)", f"[x]{JOINER}(tel:1)", id="a-mark-between"),
        pytest.param("[x]</cite>: //e", f"[x]{JOINER}: //e", id="a-mark-in-a-reference"),
        pytest.param("https:</cite>//e", f"https:{JOINER}//e", id="a-mark-in-an-address"),
        pytest.param(f"https:{make_citation(BAD)}//e", f"https:{JOINER}//e", id="a-failed-citation-in-an-address"),
        pytest.param("[https:](x)//e", f"https:{JOINER}//e", id="an-address-half-of-which-is-a-label"),
        pytest.param("[ww](x)w.e", f"www{JOINER}.e", id="a-name-half-of-which-is-a-label"),
        pytest.param("@<answer>channel", f"@{JOINER}channel", id="a-mark-in-a-broadcast"),
    ],
)
def test_of_a_link_of_the_model_s_own_the_label_is_left(text: str, expected: str) -> None:
    assert show_answer(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param(f"a{make_citation(GOOD)}.", f"a{LINK}.", id="one-that-holds"),
        pytest.param(f"a{make_citation(BAD)}.", "a.", id="one-that-fails"),
        pytest.param(f"a{make_citation(GOOD)}{make_citation(GOOD)}", f"a{LINK}{LINK}", id="two"),
        pytest.param(f"a{make_citation(GOOD, pr='8')}.", "a.", id="of-another-pull-request"),
        pytest.param(f"a{make_citation(GOOD, path='b.py')}.", "a.", id="of-another-file"),
        pytest.param(f"a{make_citation('')}.", "a.", id="without-a-quote"),
        pytest.param(f"a<cite>{GOOD}</cite>.", "a.", id="of-nothing"),
        pytest.param(f"a<cite pr='7' path='a.py'>{GOOD}</cite>.", "a.", id="in-other-quotation-marks"),
        pytest.param(f'a<cite path="a.py" pr="7">{GOOD}</cite>.', "a.", id="in-another-order"),
        pytest.param(f"a{make_citation(GOOD).replace('<cite ', '<cite  ')}.", f"a{LINK}.", id="two-blanks"),
        pytest.param(f'a<cite pr="7" path="a.py">{GOOD}', "a", id="one-that-is-open"),
        pytest.param("a<cite", "a", id="one-that-has-just-begun"),
        pytest.param("a</cite>b", "ab", id="only-its-end"),
        pytest.param(f"a{make_citation(f'{SECRET}{make_citation(GOOD)}')}b", "ab", id="one-in-another"),
        pytest.param(f"a{make_citation(f'{SECRET} ' * 200)}b", "ab", id="too-long"),
        pytest.param(f"a{make_citation('`[x](y) #7 <!here>')}b", "ab", id="markup-in-it"),
        pytest.param("<civil> <c", "&lt;civil&gt; &lt;c", id="what-begins-alike"),
        pytest.param(f"a{make_citation(f'{SECRET} ' * 400)}b", "ab", id="far-too-long"),
        pytest.param(f"`{make_citation(SECRET)}`", "``", id="in-code"),
        pytest.param(f"[{make_citation(SECRET)}](x)", f"[]{JOINER}(x)", id="in-a-label"),
        pytest.param(f"a{make_citation('')}b{make_citation(GOOD)}", f"ab{LINK}", id="after-an-empty-one"),
    ],
)
def test_a_citation_is_a_link_or_nothing(text: str, expected: str) -> None:
    assert show_answer(text) == expected
    assert SECRET not in write_answer(text).raw_text


def test_the_label_of_a_citation_holds_nothing_alive() -> None:
    label = "[x](mailto:a@b.c) <!here> `*__* \\ https://e.example.py:3"
    expected = f"\\[x\\]{JOINER}(mailto:a@b.c) &lt;!here&gt; \\`\\*\\__\\* \\\\ https:{JOINER}//e.example.py:3"
    markdown = AnswerMarkdown(Links(lambda _: (label, PLACE), lambda _: None))
    assert feed_pieces(markdown, f"<answer>a{make_citation(GOOD)}") == f"a [{expected}]({PLACE})"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("#7", SEVEN, id="alone"),
        pytest.param("see #7.", f"see {SEVEN}.", id="in-a-sentence"),
        pytest.param("(#7, #7)", f"({SEVEN}, {SEVEN})", id="a-list"),
        pytest.param("**#7**", f"**{SEVEN}**", id="bold"),
        pytest.param("#7-#7", f"{SEVEN}-#7", id="a-range"),
        pytest.param("#7's", f"{SEVEN}'s", id="a-genitive"),
        pytest.param("#99", "#99", id="unknown"),
        pytest.param("#70", "#70", id="longer"),
        pytest.param("#" + "7" * 40, "#" + "7" * 40, id="no-number-at-all"),
        pytest.param("#" + "7" * 5_000 + " a", "#" + "7" * 5_000 + " a", id="endless"),
        pytest.param("octo/other#7", "octo/other#7", id="of-another-repository"),
        pytest.param("a#7 é#7 1#7", "a#7 é#7 1#7", id="behind-a-word"),
        pytest.param("#7a #7é", "#7a #7é", id="before-a-word"),
        pytest.param("a.#7 a-#7 a/#7", "a.#7 a-#7 a/#7", id="behind-a-path"),
        pytest.param("&#7;", "&#7;", id="an-entity"),
        pytest.param("# 7 #", "# 7 #", id="a-heading"),
        pytest.param("`#7`", "`#7`", id="code"),
        pytest.param("```\n#7 [a](b)\n```\n#7", f"```\n#7 [a]{JOINER}(b)\n```\n{SEVEN}", id="a-fence"),
        pytest.param("#7_a", "#7_a", id="before-an-underscore"),
        pytest.param("!#7", f"!{JOINER}{SEVEN}", id="no-image"),
    ],
)
def test_numbers_of_pull_requests_that_exist_are_links(text: str, expected: str) -> None:
    assert show_answer(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("`a` `b", "`a` `b", id="an-open-one"),
        pytest.param("`a\nb`", "`a\nb`", id="not-over-two-lines"),
        pytest.param("`[a](b)`", f"`[a]{JOINER}(b)`", id="a-link-in-it"),
        pytest.param("`<!here>`", f"`<{JOINER}!here>`", id="a-ping-in-it"),
        pytest.param("`--resume <time>`", f"`--resume <{JOINER}time>`", id="brackets-in-it"),
        pytest.param("```\na<b>\n```", f"```\na<{JOINER}b>\n```", id="brackets-in-a-fence-are-no-entities"),
        pytest.param("``#7``", "``#7``", id="doubled"),
        pytest.param(f"`{'a ' * 151}` #7", f"`{'a ' * 151}` {SEVEN}", id="an-endless-one"),
        pytest.param("```\na", "```\na\n```", id="an-open-fence-is-closed"),
        pytest.param("```\na\n```", "```\na\n```", id="a-closed-fence-stays"),
        pytest.param("```py\nx = [`a`]\n```", "```py\nx = [`a`]\n```", id="brackets-in-a-fence"),
        pytest.param("a```", "a```\n```", id="a-fence-at-the-end"),
        pytest.param("a``", "a``", id="two-at-the-end"),
    ],
)
def test_code_is_literal(text: str, expected: str) -> None:
    assert show_answer(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("", "", id="nothing"),
        pytest.param("Let me see. <answer>Yes.</answer> Done.", "Yes.", id="words-around-it"),
        pytest.param("<answer>Yes.", "Yes.", id="open"),
        pytest.param("Yes.", "Yes.", id="no-marks"),
        pytest.param("Yes.</answer> Done.", "Yes.", id="only-its-end"),
        pytest.param("<answer>a<answer>b</answer>", "ab", id="begun-twice"),
        pytest.param("<answer>a</answer>b<answer>c</answer>d", "a\n\nc", id="two-answers"),
        pytest.param("<answer>a</ans", "a&lt;/ans", id="half-a-mark-at-the-end"),
        pytest.param("a <ans", "a &lt;ans", id="half-a-mark-without-an-answer"),
        pytest.param("<Answer>a", "&lt;Answer&gt;a", id="in-capitals-it-is-none"),
        pytest.param("<an\u200bswer>a", "a", id="hidden-signs-in-a-mark"),
        pytest.param("<answer>\n\n  a  \n</answer>", "a  \n", id="blanks-around"),
    ],
)
def test_only_the_answer_is_shown(text: str, expected: str) -> None:
    assert write_answer(text).shown_text == expected
    assert feed_pieces(AnswerMarkdown(LINKS), *text) == expected


def test_nothing_is_shown_before_the_answer_begins() -> None:
    markdown = AnswerMarkdown(LINKS)
    assert [markdown.feed(piece) for piece in ("I look. ", "<ans", "wer>", "Yes, ", "it does.")][:3] == [
        "",
        "",
        "",
    ]
    assert markdown.shown_text.startswith("Yes,")


@pytest.mark.parametrize(
    ("pieces", "at_once"),
    [
        pytest.param(["Yes, ", "so "], ["Yes,", " so"], id="words-come-when-they-are-whole"),
        pytest.param(["a <", "!here> b"], ["a ", "&lt;!here&gt;"], id="half-a-token-waits"),
        pytest.param(["a https:", "//e "], ["a", f" https:{JOINER}//e"], id="half-an-address-waits"),
        pytest.param(["a [b", "](c", ") d "], ["a ", "", "b d"], id="half-a-link-waits"),
        pytest.param(
            ["a ", make_citation(GOOD)[:40], make_citation(GOOD)[40:]],
            ["a", " ", LINK],
            id="half-a-citation-waits",
        ),
        pytest.param(["#", "7", "0 "], ["", "", "#70"], id="half-a-number-waits"),
        pytest.param(["a `b", " c` "], ["a ", "`b c`"], id="half-of-code-waits"),
        pytest.param(["``", "`\nb "], ["", "```\nb"], id="half-a-fence-waits"),
        pytest.param(["a@", "here "], ["", f"a@{JOINER}here"], id="half-a-broadcast-waits"),
        pytest.param(["a</answ", "er>b "], ["a", ""], id="half-an-end-waits"),
    ],
)
def test_half_of_anything_waits_for_the_rest(pieces: list[str], at_once: list[str]) -> None:
    markdown = AnswerMarkdown(LINKS)
    markdown.feed("<answer>")
    assert [markdown.feed(piece) for piece in pieces] == at_once


def test_nothing_stops_a_stream_for_long() -> None:
    markdown = AnswerMarkdown(LINKS)
    assert markdown.feed(f"<answer>#{'9' * 3_500} and so on ").endswith("on")


def test_what_is_said_before_a_tool_is_forgotten() -> None:
    markdown = AnswerMarkdown(LINKS)
    markdown.feed("I look at #7 first. <ans")
    markdown.end_turn()
    assert feed_pieces(markdown, "Yes.") == "Yes."


def test_an_answer_goes_on_after_a_tool() -> None:
    markdown = AnswerMarkdown(LINKS)
    before = markdown.feed("<answer>First.") + markdown.end_turn()
    assert before + feed_pieces(markdown, "Then.</answer>") == "First.\n\nThen."
    assert markdown.raw_text == "First.\n\nThen."


@pytest.mark.parametrize("more", ["", "I write now. "])
def test_what_is_said_after_an_answer_is_not_shown_after_a_tool_either(more: str) -> None:
    markdown = AnswerMarkdown(LINKS)
    markdown.feed("<answer>First.</answer> I look again. ")
    markdown.end_turn()
    markdown.feed(f"{more}<answer>Then.</answer>")
    markdown.end_answer()
    assert markdown.shown_text.split() == ["First.", "Then."]


def test_half_a_citation_before_a_tool_hides_nothing_after_it() -> None:
    markdown = AnswerMarkdown(LINKS)
    markdown.feed(f'<answer>First.<cite pr="7" path="a.py">{SECRET}')
    markdown.end_turn()
    markdown.feed(f"Then.{make_citation(GOOD)}</answer>")
    markdown.end_answer()
    assert markdown.shown_text == f"First.\n\nThen.{LINK}"


def test_a_copy_is_another_answer() -> None:
    markdown = AnswerMarkdown(LINKS)
    markdown.feed("<answer>One [b")
    kept = copy(markdown)
    markdown.feed("](c) ```\n two")
    markdown.end_answer()
    assert kept.shown_text == "One "
    assert feed_pieces(kept, "] three #7") == f"[b] three {SEVEN}"


@pytest.mark.parametrize(
    ("text", "limit", "expected", "is_cut"),
    [
        pytest.param("one ten", 7, "one ten", False, id="all"),
        pytest.param("one ten", 6, "one ", True, id="between-words"),
        pytest.param("one ten", 2, "", True, id="not-even-a-word"),
        pytest.param("one  ", 3, "one", False, id="only-blanks-are-beyond"),
        pytest.param("one ten a", 6, "one ", True, id="nothing-after-what-did-not-fit"),
        pytest.param("see #7.", 10, "see ", True, id="no-half-link"),
        pytest.param(f"see{make_citation(GOOD)}.", 10, "see", True, id="no-half-citation"),
        pytest.param(f"see{make_citation(BAD)}.", 4, "see.", False, id="a-failed-citation-takes-no-room"),
        pytest.param("<<", 7, "&lt;", True, id="no-half-entity"),
        pytest.param("```\na b\n```", 12, "```\na b\n```", False, id="a-whole-fence"),
        pytest.param("```\na b", 7, "```\na b\n```", False, id="beyond-the-limit"),
        pytest.param("```\na b\n```", 7, "```\na b\n```", True, id="a-fence-whose-end-does-not-fit"),
        pytest.param("```\na b c d\n``` e", 8, "```\na b \n```", True, id="a-cut-fence"),
        pytest.param("one    - x", 6, "one", True, id="nothing-after-blanks-that-did-not-fit"),
    ],
)
def test_an_answer_is_cut_between_pieces(text: str, limit: int, expected: str, *, is_cut: bool) -> None:
    answer = write_answer(f"<answer>{text}</answer>", limit)
    assert (answer.shown_text, answer.is_cut) == (expected, is_cut)


def test_what_was_said_is_kept_as_the_model_wrote_it() -> None:
    answer = write_answer(
        f"I look. <answer>See #7{make_citation(GOOD)} and{make_citation(BAD)} [a](b) <c>.</answer> Done."
    )
    assert answer.raw_text == f"See #7{make_citation(GOOD)} and [a](b) <c>."


def test_what_was_cut_was_not_said() -> None:
    assert write_answer("<answer>one ten three</answer>", 8).raw_text == "one ten "


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", ""),
        ("plain #7", "plain #7"),
        ("<!here> @here", f"&lt;!here&gt; @{JOINER}here"),
        ("[a](https://e) www.e", f"[a]{JOINER}(https:{JOINER}//e) www{JOINER}.e"),
        ("`a` *b*", "`a` *b*"),
    ],
)
def test_a_literal_text_is_shown_as_it_is_with_nothing_alive(text: str, expected: str) -> None:
    assert sanitize_text(text) == expected
