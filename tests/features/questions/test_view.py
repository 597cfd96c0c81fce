from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from localslack.rules.messages import check_message, find_links, find_mentions

from bot.features.merges.summary import Evidence
from bot.features.merges.view import Entry
from bot.features.questions.rules import AnswerEnd
from bot.features.questions.view import (
    ENDS,
    VOTE,
    format_search_answer,
    label_citation,
    make_feedback_buttons,
    name_call,
    render_footer,
)
from bot.platform.models import ToolCall
from bot.platform.models.tools import ToolName
from bot.platform.slack.blocks import Post
from impact.source.models import DiffSide
from impact.text.strings import collapse_lines
from tests.features.digest.hostile_days import TOKENS, texts
from tests.features.questions.test_markdown_properties import addresses, touching
from tests.helpers.builders import entry, failed, pull, summary
from tests.helpers.tables import check_rows

TITLE = "Friday 27 February 2026"
LONG = "😀 <" * 5_000
PLAIN = "Written by a model. Linked lines are checked against the code; the rest may be wrong."


def message(*blocks: dict[str, object], text: str = "answer") -> dict[str, object]:
    return Post(text, blocks).build_payload()


def small_print(*footer_arguments: object) -> str:
    block, _ = render_footer(*footer_arguments, author=PLAIN)  # type: ignore[arg-type]
    return str(block["elements"][0]["text"])


def evidence(path: str = "src/a.py", side: DiffSide = DiffSide.NEW, line: int = 13) -> Evidence:
    return Evidence(path, "total = 1", side, line)


@pytest.mark.parametrize(
    ("citation", "label", "address"),
    [
        pytest.param(evidence(), "a.py:13", "/blob/{commit}/src/a.py#L13", id="a-line"),
        pytest.param(evidence("a.py"), "a.py:13", "/blob/{commit}/a.py#L13", id="in-no-folder"),
        pytest.param(
            evidence("a (b)/[c] d.py"),
            "[c] d.py:13",
            "/blob/{commit}/a%20%28b%29/%5Bc%5D%20d.py#L13",
            id="brackets-and-blanks",
        ),
        pytest.param(evidence("é/漢.py"), "漢.py:13", "/blob/{commit}/%C3%A9/%E6%BC%A2.py#L13", id="letters"),
        pytest.param(
            evidence("a\nb\u202ec.py"), "a bc.py:13", "/blob/{commit}/a%0Ab%E2%80%AEc.py#L13", id="hidden"
        ),
        pytest.param(evidence("x" * 90), f"{'x' * 59}…:13", f"/blob/{{commit}}/{'x' * 90}#L13", id="a-long-name"),
        pytest.param(evidence(f"{'d/' * 400}a.py"), "a.py:13", "/pull/7/files", id="a-long-path"),
    ],
)
def test_a_citation_names_its_line_and_leads_to_it(citation: Evidence, label: str, address: str) -> None:
    change = pull(7)
    expected = f"https://github.com/{change.repository}" + address.format(commit=change.commit)
    assert label_citation(change, citation) == (label, expected)


def test_a_citation_of_a_line_that_is_gone_leads_to_the_diff() -> None:
    label, address = label_citation(pull(7), evidence(side=DiffSide.OLD))
    assert label == "a.py:13 (removed)"
    assert address.startswith(f"{pull(7).url}/files")


@given(texts(200), st.sampled_from(DiffSide), st.integers(1, 99_999))
def test_the_address_of_a_citation_can_not_leave_its_link(path: str, side: DiffSide, line: int) -> None:
    label, address = label_citation(pull(7), evidence(f"x{path.encode('utf-8', 'replace').decode()}", side, line))
    assert address.startswith(f"https://github.com/{pull(7).repository}/")
    assert not set(address) & set("()[]<>|` \n\t")
    assert len(address) <= 500
    assert "\n" not in label


def test_what_an_answer_rests_on_stands_below_it() -> None:
    assert small_print("", "", "", 0) == PLAIN
    footer_text = (
        "I stopped. Sources: 2 days. Not read: a.bin of #7. 2 quotes were not found in the code and not linked."
    )
    assert small_print("I stopped.", "2 days", "a.bin of #7", 2) == f"{footer_text} {PLAIN}"
    assert "1 quote was not" in small_print("", "", "", 1)


@pytest.mark.parametrize(
    ("end", "sentence"),
    {
        AnswerEnd.COMPLETE: "",
        AnswerEnd.TRUNCATED: "The answer was truncated at the model's length limit: ask for a part of it.",
        AnswerEnd.TOO_LONG: "The answer was too long for a message: ask for a part of it.",
        AnswerEnd.LATE: "I stopped after four minutes. This is what I have so far.",
        AnswerEnd.STOPPED: "Stopped, as you asked.",
        AnswerEnd.BROKEN: "The answer is incomplete (the model is busy). This is what I have so far.",
    }.items(),
)
def test_why_an_answer_ends_is_one_sentence(end: AnswerEnd, sentence: str) -> None:
    assert ENDS[end].format(failure="the model is busy") == sentence


def test_every_end_has_its_words() -> None:
    assert len({*ENDS.values()}) == len(AnswerEnd)


def test_the_thumbs_say_which_is_which() -> None:
    [buttons] = make_feedback_buttons()["elements"]
    assert buttons["action_id"] == VOTE
    assert (buttons["positive_button"]["value"], buttons["negative_button"]["value"]) == ("2|good", "2|bad")


@given(texts(400), texts(4_000), texts(4_000), st.integers(0, 10**9))
def test_slack_takes_what_stands_below(note: str, read: str, not_seen: str, failed: int) -> None:
    payload = message({"type": "markdown", "text": "x" * 9_000}, *render_footer(note, read, not_seen, failed))
    assert check_message(payload) is None
    assert (find_mentions(payload), find_links(payload)) == ([], [])


def test_what_no_model_wrote_does_not_say_that_one_did() -> None:
    block, _ = render_footer("", "a", "", 0, author="Put together by rules.")
    assert block["elements"][0]["text"] == "Sources: a. Put together by rules."


@pytest.mark.parametrize("note", ["", " ", "\u200b"])
def test_where_nothing_is_to_be_said_there_are_the_thumbs_alone(note: str) -> None:
    assert [block["type"] for block in render_footer(note, "", "", 0)] == ["context_actions"]


def test_slack_takes_the_longest_that_can_stand_below() -> None:
    payload = message({"type": "markdown", "text": "x" * 9_000}, *render_footer(LONG, LONG, LONG, 10**9))
    assert check_message(payload) is None


def test_a_plain_search_says_that_it_is_one() -> None:
    made = entry(7, title="Change a <default>", entry_summary=summary(headline="A default changed"))
    fallback = entry(8, title="Another", entry_summary=summary(fallback=failed("no model")))
    assert format_search_answer("No model.", TITLE, [made, fallback]).splitlines() == [
        f"**Without the model.** No model. Text search for your words in the pull requests of {TITLE}:",
        f"- [#7]({made.pull.url}) Change a &lt;default&gt;: A default changed",
        f"- [#8]({fallback.pull.url}) Another",
    ]


def test_a_plain_search_that_finds_nothing_says_so() -> None:
    unread = format_search_answer("No model.", TITLE, [], "#7 (its files could not be loaded)")
    assert unread.endswith("I couldn't read #7 (its files could not be loaded), so I can't tell.")
    assert "none" not in unread
    answer = format_search_answer("It gave no\nanswer: x.", TITLE, [])
    assert answer.endswith(
        f"It gave no answer: x. A text search found none of your words in the pull requests of {TITLE}."
    )


def alive(text: str, listed: list[Entry]) -> list[str]:
    """What in it pings, or leads elsewhere than to the pull requests that it lists."""
    payload = message({"type": "markdown", "text": text})
    own = [each.pull.url for each in listed]
    rest = text
    for each in listed:
        rest = rest.replace(f"[#{each.number}]({each.pull.url})", "\0")
    abroad = [address for address in (*find_links(payload), *addresses(text)) if address not in own]
    return [*find_mentions(payload), *abroad, *touching(rest)]


listed = st.builds(
    lambda number, title, headline: entry(
        number, title=title, entry_summary=summary(headline=collapse_lines(headline))
    ),
    st.integers(1, 9),
    texts(256),
    texts(120),
)


@given(st.lists(listed, max_size=8), texts(300))
def test_nothing_of_a_plain_search_is_alive_but_its_links(matching_entries: list[Entry], reason: str) -> None:
    text = format_search_answer(reason, TITLE, matching_entries)
    assert not alive(text, matching_entries)
    assert len(text.split("\n")) == 1 + len(matching_entries)
    assert check_message(message({"type": "markdown", "text": text})) is None


@check_rows([*TOKENS, "[x][1]", "[1]: http://evil", "[x](tel:1)", "- ", "# ", "> "])
def test_a_hostile_title_is_a_line_like_others(token: str) -> None:
    made = entry(7, title=f"{token} a {token}", entry_summary=summary(headline=collapse_lines(f"{token}x")))
    text = format_search_answer(f"{token}.", TITLE, [made])
    assert not alive(text, [made])
    assert len(text.splitlines()) == 2


@pytest.mark.parametrize("filler", ["<", "w" * 9, "@here ", "x", "😀"])
def test_the_longest_plain_search_fits_a_message(filler: str) -> None:
    long_summary = summary(headline=filler * 500)
    matching_entries = [
        replace(entry(number, title=filler * 500), summary=long_summary) for number in range(100_001, 100_009)
    ]
    text = format_search_answer(filler * 500, TITLE, matching_entries)
    assert len(text) <= 12_000
    assert check_message(message({"type": "markdown", "text": text})) is None


def call(tool: str, /, **arguments: object) -> ToolCall:
    return ToolCall("1", tool, arguments)


@pytest.mark.parametrize(
    ("asked", "title"),
    [
        (call(ToolName.READ_DIFF, number=35617), "Diff of #35617"),
        (call(ToolName.SEARCH, any_of=["timeout", "retries"]), "Search for timeout, retries"),
        (call(ToolName.READ_FILE, path="vllm/config.py"), "File vllm/config.py"),
        (call(ToolName.FIND_PROFILE_USES, name="Scheduler.schedule"), "Your code's uses of Scheduler.schedule"),
        (call(ToolName.LIST_PULL_REQUESTS), "List of pull requests"),
        (call(ToolName.LIST_PULL_REQUESTS, days="7d"), "List of pull requests 7d"),
        (call("no such tool"), "An unknown tool"),
        (call(ToolName.SEARCH, any_of=7), "Search for 7"),
        (call(ToolName.READ_FILE, path=f"a\nb {'x' * 99}"), f"File a b {'x' * 55}…"),
        (call(ToolName.READ_FILE, path="ghp_" + "x1" * 18), "File [redacted]"),
    ],
)
def test_a_card_says_what_a_tool_reads(asked: ToolCall, title: str) -> None:
    assert name_call(asked) == title


def test_every_tool_has_a_card_of_its_own() -> None:
    titles = {name_call(call(name)) for name in ToolName}
    assert len(titles) == len(ToolName)
    assert "An unknown tool" not in titles


@given(st.sampled_from([*ToolName, "x"]), texts(300), st.sampled_from(["number", "path", "days", "any_of"]))
def test_nothing_in_a_card_is_alive(name: str, text: str, argument: str) -> None:
    title = name_call(call(name, **{argument: text}, name=text, package=text))
    card = {"type": "task_card", "task_id": "1", "title": title, "status": "complete"}
    assert not find_mentions({"blocks": [card]})
    assert not find_links({"blocks": [card]})
    assert "\n" not in title
    assert len(title) <= 240
