from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.dates import LocalDay, parse_zone
from bot.features.digest.overview import OverviewAnswer, build_overview_prompt
from bot.features.digest.view import render_digest, render_report
from bot.features.merges.summary import Summary, build_fallback_summary
from bot.features.merges.view import Entry
from bot.features.questions.markdown import AnswerMarkdown, Links
from bot.features.questions.rules import RememberedMessage, ThreadMemory
from bot.features.summaries.reading import SummaryAnswer, build_summary_prompt
from bot.features.summaries.view import format_summary as in_terminal
from bot.features.summaries.view import render_details, render_summary
from bot.platform.cleaning import clean_line, clean_path, clean_text, clean_title, parse_file
from bot.platform.models.packing import Coverage, pack_diff
from bot.redaction import REDACTED, measure_settled_prefix, redact_patch, redact_text
from tests.helpers.builders import DAY, REPOSITORY, changed_file, digest, entry, failed, pull, summary
from tests.helpers.tables import check_rows
from tests.hostile.tables.credentials import CREDENTIALS, PLAUSIBLE

NOWHERE = Links(lambda _: None, lambda _: None)


def diff(text: str) -> str:
    added = "\n".join(f"+{line}" for line in text.split("\n"))
    return f"@@ -1,2 +1,3 @@\n import os\n{added}\n-gone\n end"


@check_rows(CREDENTIALS)
def test_what_enters_from_github_is_cleaned(text: str, hidden: str) -> None:
    item = {"filename": f"conf/{text}.env", "previous_filename": f"{text}.old", "patch": diff(text)}
    for shown in (
        clean_title(f"Fix {text}"),
        clean_text(f"a\n{text}\nb"),
        clean_line(text),
        clean_path(text),
        repr(parse_file(item)),
    ):
        assert hidden not in shown
        assert REDACTED in shown


@check_rows(CREDENTIALS)
def test_a_credential_that_is_cut_is_none_either(text: str, hidden: str) -> None:
    for room in (8, 20, 40):
        assert hidden[:32] not in clean_text(f"{'a ' * 500}{text}", 1_000 + room)


@check_rows(CREDENTIALS)
def test_a_diff_keeps_its_lines(text: str, hidden: str) -> None:
    cleaned = redact_patch(diff(text))
    assert hidden not in cleaned
    assert [line[:1] for line in cleaned.split("\n")] == [line[:1] for line in diff(text).split("\n")]


@check_rows(CREDENTIALS)
def test_no_prompt_holds_one(text: str, hidden: str) -> None:
    made = pull(title=text, body=text, files=[changed_file(f"{text}.py", patch=diff(text))])
    prompt = build_summary_prompt("m", made, pack_diff(made.files or (), 9_000, 1))
    assert hidden not in prompt.user
    listed = build_overview_prompt(
        "m",
        REPOSITORY,
        LocalDay(DAY.date, parse_zone("UTC")),
        [entry(1, title=text, entry_summary=make_summary(text))],
    )
    assert hidden not in listed.user


def make_summary(text: str) -> Summary:
    return summary(headline=text, what_changed_and_why=text, technical_impact=text, risk_reason=text, action=text)


@check_rows(CREDENTIALS)
def test_no_word_of_a_model_holds_one(text: str, hidden: str) -> None:
    fields = {"type": "TRIVIAL", "headline": text[:110], "risk_reason": text, "action": text}
    fields |= dict.fromkeys(("what_changed_and_why", "technical_impact", "potential_risks", "key_insights"), text)
    answer = SummaryAnswer.model_validate(fields | {"evidence": [{"path": text, "quote": text}]})
    assert hidden not in repr(answer)
    overview = {"overview": text[:500], "themes": [{"title": text[:70], "pull_requests": [1]}]}
    assert hidden not in repr(OverviewAnswer.model_validate(overview))


@check_rows(CREDENTIALS, [1, 7, 10_000])
def test_no_answer_holds_one_wherever_it_is_cut_into_pieces(text: str, hidden: str, step: int) -> None:
    answer = AnswerMarkdown(NOWHERE)
    raw_answer = f"<answer>It is {text} as you see.</answer>"
    shown = [answer.feed(raw_answer[at : at + step]) for at in range(0, len(raw_answer), step)]
    shown.append(answer.end_answer())
    assert hidden.replace("\n", "") not in "".join(shown).replace("\n", "")
    assert "as you see." in "".join(shown)
    assert hidden not in answer.raw_text


@check_rows(CREDENTIALS)
def test_nothing_that_is_shown_holds_one(text: str, hidden: str) -> None:
    """Also of what was kept before it was cleaned on its way in."""
    plain = pull(3, title=text, body=text, files=[changed_file(f"{text}.py")])
    stood_in = replace(entry(3), pull=plain, summary=build_fallback_summary(plain, failed("away"), Coverage.FULL))
    day_digest = digest(entry(4, title=text, entry_summary=make_summary(text)), stood_in, outcomes=())
    for shown in (
        *shown_of(day_digest.entries[0]),
        *shown_of(stood_in),
        render_report(day_digest),
        repr(render_digest(day_digest).to_payload()),
    ):
        assert hidden not in shown
        assert hidden not in shown.replace("\\\\", "\\")


def shown_of(one: Entry) -> tuple[str, ...]:
    return in_terminal(one), repr(render_summary(one)), repr(render_details(one))


@check_rows(CREDENTIALS)
def test_no_thread_is_remembered_with_one(text: str, hidden: str) -> None:
    assert hidden not in repr(
        ThreadMemory("days").add_messages(RememberedMessage("person", text), RememberedMessage("bot", text))
    )


@check_rows(PLAUSIBLE)
def test_what_looks_like_one_stays(text: str) -> None:
    assert redact_text(text) == text
    assert redact_patch(diff(text)) == diff(text)


@check_rows(PLAUSIBLE)
def test_what_is_shown_of_what_looks_like_one_stays(text: str) -> None:
    line = text.partition("\n")[0]
    assert line in clean_text(text)
    assert clean_path(line) == line


words = st.sampled_from([text for text, _ in CREDENTIALS.values()] + list(PLAUSIBLE.values())) | st.text(
    max_size=9
)


@given(st.lists(words, max_size=4).map(" ".join), st.lists(st.integers(1, 40), min_size=1))
def test_where_a_text_is_cut_makes_no_difference(text: str, steps: list[int]) -> None:
    waiting, shown, at = "", "", 0
    while at < len(text):
        step = steps[at % len(steps)]
        waiting += text[at : at + step]
        at += step
        certain = measure_settled_prefix(waiting)
        shown, waiting = shown + redact_text(waiting[:certain]), waiting[certain:]
    assert shown + redact_text(waiting) == redact_text(text)


@pytest.mark.parametrize("user", ["ada", "[](x)ada", "a(b", "a`b", "[x]"])
def test_an_address_is_held_back_whatever_signs_its_user_has(user: str) -> None:
    text = f"See postgres://{user}:pa(ss)wo@db.example and (https://db.example)."
    shown = waiting = ""
    for sign in text:
        waiting += sign
        certain = measure_settled_prefix(waiting)
        shown, waiting = shown + redact_text(waiting[:certain]), waiting[certain:]
    assert shown + redact_text(waiting) == redact_text(text)
    assert "pa(ss)wo" not in redact_text(text)


@given(st.lists(words, max_size=4).map(" ".join))
def test_doing_it_twice_changes_nothing_more(text: str) -> None:
    assert redact_text(redact_text(text)) == redact_text(text)
