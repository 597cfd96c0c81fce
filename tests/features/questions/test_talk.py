from collections import deque
from dataclasses import dataclass, replace

import pytest

from bot.errors import (
    ModelAnswerInvalid,
    ModelBusy,
    ModelError,
    ModelRefusal,
    ModelRequestRejected,
    PrdigestError,
    SlackUnavailable,
    StoreUnavailable,
)
from bot.features.questions.markdown import MAX_ANSWER_LENGTH, Links
from bot.features.questions.reading import ReadingSession
from bot.features.questions.rules import AnswerEnd
from bot.features.questions.service import ANSWER_LIMITS, ANSWER_VERSION, WrittenAnswer, talk_with_model
from bot.features.questions.tools import build_tools
from bot.features.questions.view import ToolExchange
from bot.platform.models import TextPart, ToolCall, ToolResult, Turn
from bot.platform.models.agent import AgentLimits
from bot.platform.models.prompts import read_instructions
from bot.platform.models.tools import define_tools
from bot.usage import Usage
from tests.features.questions.archives import (
    USAGE,
    Clock,
    RecordingDisplay,
    Says,
    ScriptedTalk,
    Shelf,
    SlowPulls,
    answers,
    breaks,
    call,
    call_tool,
    inside,
    says,
    uses,
)
from tests.helpers.builders import pull

ENOUGH = "No more tools: write the answer now from what you have, and say what is missing."
QUESTION = (Turn("person", (TextPart("the record", stable=True), TextPart("the question"))),)
NO_LINKS = Links(lambda _citation: None, lambda _number: None)
ONE = USAGE


@dataclass
class Stage:
    model: ScriptedTalk
    clock: Clock
    display: RecordingDisplay
    toolbox: ReadingSession
    limits: AgentLimits = ANSWER_LIMITS

    def answer(self, started: float | None = None) -> WrittenAnswer:
        return talk_with_model(
            self.model, QUESTION, self.toolbox, NO_LINKS, self.display, self.clock, started, self.limits
        )

    def fails(self, error: type[ModelError]) -> ModelError:
        with pytest.raises(error) as raised:
            self.answer()
        return raised.value


def stage(
    *script: Says,
    limits: AgentLimits = ANSWER_LIMITS,
    display: RecordingDisplay | None = None,
    tool_seconds: float = 0.0,
) -> Stage:
    clock = Clock()
    there = Shelf(
        SlowPulls((pull(7), pull(8)), clock=clock, seconds=tool_seconds), workers=1, parts={"sleep": clock.sleep}
    )
    model = ScriptedTalk(clock, deque(script))
    return Stage(model, clock, display or RecordingDisplay(), there.toolbox(), limits)


def last_parts(there: Stage) -> tuple[TextPart | ToolResult, ...]:
    return there.model.chats[-1].turns[-1].parts


# one turn


def test_an_answer_is_shown_as_it_comes() -> None:
    there = stage(answers("Yes, ", "it ", "does."))
    written = there.answer()
    assert written == WrittenAnswer("Yes, it does.", "Yes, it does.", AnswerEnd.COMPLETE, ONE, (), 1)
    assert there.display.seen[:2] == ["Yes,", "Yes, it"]


def test_the_model_is_asked_with_everything_it_needs() -> None:
    there = stage(
        answers("Yes."), limits=replace(ANSWER_LIMITS, output_tokens=5_000, silence_seconds=12.0, seconds=90.0)
    )
    there.answer()
    (chat,) = there.model.chats
    assert chat.model == there.toolbox.app.settings.prdigest_answer_model
    assert chat.system == read_instructions(ANSWER_VERSION)
    assert chat.tools == define_tools(build_tools(there.toolbox))
    assert chat.turns == QUESTION
    assert (chat.max_tokens, chat.silence, chat.seconds, chat.may_use_tools) == (5_000, 12.0, 90.0, True)


def test_an_answer_without_marks_is_all_that_was_said_last() -> None:
    there = stage(uses("taken_back", words=("Let me look. ",)), says("Nothing was ", "taken back."))
    written = there.answer()
    assert written.text == "Nothing was taken back."
    assert there.display.seen == [], "until the end nobody knows that this is the answer"


@pytest.mark.parametrize("words", [(), ("  ", "\n"), ("<answer>", "</answer>"), ("<answer> \n</answer>",)])
def test_no_words_are_no_answer(words: tuple[str, ...]) -> None:
    assert stage(says(*words)).fails(ModelAnswerInvalid).usage == ONE


def test_an_answer_longer_than_a_message_is_cut_and_says_so() -> None:
    there = stage(answers(*["word " * 100] * 30))
    written = there.answer()
    assert written.end is AnswerEnd.TOO_LONG
    assert len(written.text) <= MAX_ANSWER_LENGTH


def test_an_answer_cut_at_the_limit_of_tokens_says_so() -> None:
    there = stage(says("<answer>", "Yes, it ", "do", is_cut=True))
    written = there.answer()
    assert (written.text, written.end) == ("Yes, it do", AnswerEnd.TRUNCATED)


# rounds of tools


def test_the_results_of_a_turns_calls_go_back_in_order() -> None:
    calls = (call("pull_request", "a", number=7), call("read_diff", "b", number=8), call("taken_back", "c"))
    first = Says(("I will look.",), calls)
    there = stage(first, answers("Done."))
    written = there.answer()
    told = there.model.chats[1].turns
    assert told[:2] == (*QUESTION, first.turn), "the model's own turn goes back as it came"
    results = [part for part in told[2].parts if isinstance(part, ToolResult)]
    assert len(told) == 3
    assert [result.call for result in results] == ["a", "b", "c"]
    assert [result.text for result in results] == [each.result for each in written.exchanges]
    assert results[0].text.startswith("<data ")
    assert "#7 Change number 7" in results[0].text
    assert not any(result.is_error for result in results)


def test_usage_rounds_and_exchanges_are_complete() -> None:
    there = stage(
        Says((), (call("pull_request", "a", number=7), call("no_such_tool", "b", x=1)), Usage(10, 1, 2, 3, 4)),
        Says((), (call("pull_request", "a", number="many"),), Usage(20, 2, 4)),
        answers("Done.", usage=Usage(30, 3)),
    )
    written = there.answer()
    assert written.usage == Usage(60, 6, 6, 3, 4)
    assert written.rounds == 3
    assert [(each.tool, each.arguments) for each in written.exchanges] == [
        ("pull_request", {"number": 7}),
        ("no_such_tool", {"x": 1}),
        ("pull_request", {"number": "many"}),
    ]
    assert isinstance(written.exchanges[0], ToolExchange)
    parts = [part for turn in there.model.chats[-1].turns for part in turn.parts]
    assert [part.is_error for part in parts if isinstance(part, ToolResult)] == [False, True, True]


def test_what_all_turns_took_is_told_with_a_failure() -> None:
    there = stage(
        uses("taken_back", usage=Usage(1, 1)), breaks(usage=Usage(2, 2)), *[breaks(usage=Usage(3, 3))] * 2
    )
    assert there.fails(ModelBusy).usage == Usage(9, 9)


def test_more_calls_than_allowed_are_told_so_and_not_run() -> None:
    calls = tuple(call("pull_request", f"call-{place}", number=7) for place in range(5))
    there = stage(Says((), calls), answers("Done."), limits=replace(ANSWER_LIMITS, calls=3))
    written = there.answer()
    results = [part for part in last_parts(there) if isinstance(part, ToolResult)]
    assert [result.call for result in results] == [each.id for each in calls], "each call needs its result"
    assert [result.is_error for result in results] == [False, False, False, True, True]
    assert results[3].text == "Use up to 3 tools at a time."
    assert len(written.exchanges) == 3


def test_words_before_a_tool_are_never_shown() -> None:
    there = stage(
        uses("taken_back", words=("First I look ", "for reverts. ")),
        uses("search", words=("Hm.\n",)),
        answers("None."),
    )
    written = there.answer()
    assert (written.text, written.raw_text) == ("None.", "None.")
    assert there.display.seen == ["None."]


def test_an_answer_begun_before_a_tool_goes_on_after_it() -> None:
    first = Says(("<answer>", "One is clear. "), (call("taken_back"),))
    there = stage(first, says("None was taken back.", "</answer>"))
    assert there.answer().text.split() == "One is clear. None was taken back.".split()
    assert there.display.visible.startswith("One is clear.")


def test_the_last_round_has_no_tools_and_is_told_to_answer() -> None:
    there = stage(
        uses("taken_back"),
        uses("taken_back"),
        answers("As far as I saw."),
        limits=replace(ANSWER_LIMITS, rounds=2),
    )
    written = there.answer()
    assert [chat.may_use_tools for chat in there.model.chats] == [True, True, False]
    assert last_parts(there)[-1] == TextPart(ENOUGH)
    assert [isinstance(part, TextPart) for part in there.model.chats[1].turns[-1].parts] == [False]
    assert (written.rounds, written.end) == (3, AnswerEnd.COMPLETE)
    assert all(chat.tools == define_tools(build_tools(there.toolbox)) for chat in there.model.chats), (
        "for the prompt cache"
    )


def test_who_uses_tools_in_the_last_round_has_no_answer() -> None:
    there = stage(uses("taken_back"), uses("taken_back"), limits=replace(ANSWER_LIMITS, rounds=1))
    assert there.fails(ModelAnswerInvalid).usage == ONE + ONE
    assert len(there.model.chats) == 2


@pytest.mark.parametrize(
    ("usage", "may"),
    [
        (Usage(400_000, 9), True),
        (Usage(400_001, 9), False),
        (Usage(1, 900_000), True),
        (Usage(0, 1, 200_000, 100_000, 100_001), False),
    ],
    ids=["at the limit", "over it", "only what is said", "over it with the cache"],
)
def test_long_prompts_end_the_rounds(usage: Usage, may: bool) -> None:
    there = stage(uses("taken_back", usage=usage), answers("Done."))
    there.answer()
    assert there.model.chats[1].may_use_tools is may


@pytest.mark.parametrize(("seconds", "may"), [(69.0, True), (71.0, False)])
def test_the_time_for_reading_is_bounded(seconds: float, may: bool) -> None:
    there = stage(uses("taken_back", words=("Hm.", "Well."), seconds=seconds), answers("Done."))
    written = there.answer()
    assert there.model.chats[1].may_use_tools is may
    assert there.model.chats[1].seconds == 210 - 2 * seconds
    assert (written.text, written.end) == ("Done.", AnswerEnd.COMPLETE)


@pytest.mark.parametrize(("before", "may"), [(0.0, True), (139.0, True), (141.0, False)])
@pytest.mark.slow
def test_the_time_counts_from_when_the_question_came(before: float, may: bool) -> None:
    there = stage(uses("taken_back"), answers("Done."))
    there.answer(there.clock.now - before)
    assert [chat.seconds for chat in there.model.chats] == [210 - before] * 2
    assert there.model.chats[1].may_use_tools is may


def test_a_question_that_waited_too_long_is_not_asked() -> None:
    there = stage(answers("Never said."))
    with pytest.raises(ModelAnswerInvalid):
        there.answer(there.clock.now - 211.0)
    assert there.model.chats == []


# it ends early


def test_at_the_end_of_the_time_there_is_what_there_is() -> None:
    there = stage(answers("One. ", "Two. ", "Three. ", "Four.", seconds=60.0))
    written = there.answer()
    assert (written.text.strip(), written.end, written.usage) == ("One. Two. Three.", AnswerEnd.LATE, ONE)
    assert len(there.model.chats) == 1


def test_tools_that_take_all_the_time_leave_no_answer() -> None:
    reads = Says((), (call("read_diff", number=7),))
    there = stage(reads, answers("Never said."), tool_seconds=211.0)
    assert there.fails(ModelAnswerInvalid).usage == ONE
    assert len(there.model.chats) == 1


def test_tools_that_take_all_the_time_leave_what_was_said_before() -> None:
    reads = Says(("<answer>", "One is clear. "), (call("read_diff", number=7),))
    there = stage(reads, answers("Never said."), tool_seconds=211.0)
    written = there.answer()
    assert (written.text.strip(), written.end) == ("One is clear.", AnswerEnd.LATE)


def test_the_asker_may_stop_it() -> None:
    script = Says(("<answer>", "One. ", "Two. ", "Three. ", "Four."), (call("taken_back"),))
    there = stage(script, answers("Never said."), display=RecordingDisplay(most=2))
    written = there.answer()
    assert written.end is AnswerEnd.STOPPED
    assert written.text.startswith(there.display.visible)
    assert "Four" not in written.text
    assert len(there.model.chats) == 1, "nor is the model asked for more"
    assert written.exchanges == ()


def test_who_stops_it_is_not_told_of_the_time() -> None:
    there = stage(answers("One. ", "Two. ", seconds=110.0), display=RecordingDisplay(most=0))
    assert there.answer().end is AnswerEnd.STOPPED


@pytest.mark.parametrize("error", [SlackUnavailable("no"), StoreUnavailable("no")], ids=lambda e: type(e).__name__)
def test_what_trying_again_may_mend_is_passed_on(error: PrdigestError) -> None:
    there = stage(answers("One. ", "Two."), display=RecordingDisplay(error=error))
    with pytest.raises(type(error)) as raised:
        there.answer()
    assert raised.value is error
    assert there.model.open == 0, "though the error is held, nothing of the model's turn is"


@pytest.mark.parametrize("most", range(4))
def test_wherever_the_asker_stops_it_the_models_turn_is_ended(most: int) -> None:
    there = stage(answers("One. ", "Two. ", "Three. ", "Four. "), display=RecordingDisplay(most=most))
    assert there.answer().end is AnswerEnd.STOPPED
    assert there.model.open == 0


# the model fails


@pytest.mark.parametrize(
    ("asked", "slept"),
    [([None, None], [1.0, 2.0]), ([7.5, None], [7.5, 2.0]), ([0.0, 40.0], [0.0, 40.0])],
    ids=["ever longer", "as it asks", "at once"],
)
def test_a_busy_model_is_asked_again(asked: list[float | None], slept: list[float]) -> None:
    there = stage(*(breaks(error=ModelBusy("it is busy", wait)) for wait in asked), answers("Yes."))
    written = there.answer()
    assert (written.text, written.end, written.rounds) == ("Yes.", AnswerEnd.COMPLETE, 1)
    assert there.clock.slept == slept
    assert written.usage == ONE + ONE + ONE, "what a try took that broke off counts too"
    assert len({str(chat.turns) for chat in there.model.chats}) == 1
    assert there.model.chats[-1].seconds == 210 - sum(slept)


def test_each_turn_may_be_asked_again() -> None:
    there = stage(breaks(), uses("taken_back"), breaks(), breaks(), answers("Yes."))
    written = there.answer()
    assert (written.text, written.rounds, len(written.exchanges)) == ("Yes.", 2, 1)
    assert written.usage == Usage(500, 50)


def test_nobody_waits_longer_than_there_is_time() -> None:
    for asked in (61.0, 3_600.0):
        there = stage(*[breaks(error=ModelBusy("it is busy", asked))] * 3)
        there.fails(ModelBusy)
        assert (there.clock.slept, len(there.model.chats)) == ([], 1)


def test_a_new_try_replaces_what_was_shown() -> None:
    there = stage(breaks("Yes, ", "it does ", "so."), answers("No, ", "it does not."))
    written = there.answer()
    assert (written.text, written.raw_text, written.end) == (
        "No, it does not.",
        "No, it does not.",
        AnswerEnd.COMPLETE,
    )
    assert "Yes, it does" in there.display.seen
    assert "No, it does not.".startswith(there.display.visible)
    assert not any("Yes" in seen and "No" in seen for seen in there.display.seen)


def test_until_the_new_try_has_words_the_old_ones_stay() -> None:
    there = stage(breaks("Yes, ", "it does "), breaks(), answers("Yes, ", "and more."))
    there.answer()
    assert "" not in there.display.seen
    assert "Yes, and more.".startswith(there.display.visible)


def test_a_new_try_after_a_tool_keeps_what_was_shown_before_it() -> None:
    first = Says(("<answer>", "One is clear. "), (call("taken_back"),))
    second = Says(("The other is ", "not "), error=ModelBusy("it is busy"))
    there = stage(first, second, says("The other ", "too.", "</answer>"))
    assert there.answer().text.split() == "One is clear. The other too.".split()
    assert all(seen.startswith("One is clear.") for seen in there.display.seen[1:])


@pytest.mark.parametrize(
    ("tries", "text"),
    [
        (("One. Two. Three. ",) * 3, "One. Two. Three."),
        (("One. ", "", ""), "One."),
        (("One. ", "Two. Three. ", ""), "Two. Three."),
        (("", "", "One. "), "One."),
    ],
    ids=["each", "the first", "the second", "the last"],
)
def test_one_that_is_busy_for_good_leaves_what_it_said(tries: tuple[str, ...], text: str) -> None:
    there = stage(*(breaks(*([words] if words else [])) for words in tries))
    written = there.answer()
    assert written.text.strip() == text
    assert written.raw_text.strip() == text
    assert (written.end, written.failure) == (AnswerEnd.BROKEN, "the model is busy")
    assert written.usage == Usage(300, 30)
    assert written.text.startswith(there.display.visible.rstrip())


def test_an_open_block_of_code_is_closed_where_it_broke_off() -> None:
    there = stage(breaks("Run:\n```\n", "pip install ", "engine "), breaks(), breaks())
    assert there.answer().text.count("```") == 2


def test_what_a_last_try_said_to_itself_is_no_answer() -> None:
    aside = Says(("I will look again. ",), error=ModelBusy("the model is busy"))
    there = stage(breaks("Yes, it does. "), aside, aside)
    assert there.answer().text.strip() == "Yes, it does."


def test_words_after_a_tool_stay_where_later_tries_have_none() -> None:
    first = Says(("<answer>", "One is clear. "), (call("taken_back"),))
    broken = Says(("The other is not. ",), error=ModelBusy("the model is busy"))
    nothing = Says((), error=ModelBusy("the model is busy"))
    there = stage(first, broken, nothing, nothing)
    assert there.answer().text.split() == there.display.visible.split()


def test_one_that_is_busy_for_good_without_words_has_no_answer() -> None:
    there = stage(*[breaks(usage=Usage(5, 0))] * 3)
    assert there.fails(ModelBusy).usage == Usage(15, 0)
    assert there.display.seen == []


def test_usage_of_rounds_before_counts_where_there_is_no_answer() -> None:
    there = stage(uses("taken_back", words=("Let me look.",)), *[breaks(usage=Usage(5, 0))] * 3)
    assert there.fails(ModelBusy).usage == ONE + Usage(15, 0)


REFUSALS = [ModelRequestRejected("the key is refused"), ModelRefusal("the model declined to answer")]


@pytest.mark.parametrize("error", REFUSALS, ids=lambda error: type(error).__name__)
def test_one_that_says_no_is_not_asked_again(error: ModelError) -> None:
    there = stage(breaks(error=error, usage=Usage(7, 3)))
    assert there.fails(type(error)).usage == Usage(7, 3)
    assert there.clock.slept == []


@pytest.mark.parametrize("error", REFUSALS, ids=lambda error: type(error).__name__)
def test_one_that_says_no_in_the_middle_leaves_what_it_said(error: ModelError) -> None:
    there = stage(breaks("One. ", "Two. ", "Thr", error=error))
    written = there.answer()
    assert written.text.split()[:2] == ["One.", "Two."]
    assert (written.end, written.failure) == (AnswerEnd.BROKEN, str(error))
    assert written.usage == ONE


def test_one_that_says_no_after_a_busy_try_leaves_what_that_said() -> None:
    there = stage(breaks("One. ", "Two. "), breaks(error=ModelRefusal("the model declined to answer")))
    written = there.answer()
    assert written.text.split() == ["One.", "Two."]
    assert written.usage == ONE + ONE


def test_a_tool_is_told_what_the_model_asked() -> None:
    there = stage(Says((), (ToolCall("a", "pull_request", {"number": 8}),)), answers("Done."))
    written = there.answer()
    (exchange,) = written.exchanges
    assert "#8 Change number 8" in exchange.result
    assert inside(call_tool(there.toolbox, "pull_request", {"number": 8})) in exchange.result
    assert there.toolbox.provenance.sources == "the summary of #8"
    call_tool(there.toolbox, "pull_request", {"number": 7})
    assert there.toolbox.provenance.sources == "summaries of #8, #7"


def test_the_asker_may_stop_it_where_a_tool_is_used() -> None:
    """Before a tool the last word is shown, that was held back because more of it might have come."""
    first = Says(("<answer>", "One is", " clear."), (call("taken_back"),))
    there = stage(first, answers("Never said."), display=RecordingDisplay(most=2))
    written = there.answer()
    assert written.end is AnswerEnd.STOPPED
    assert len(there.model.chats) == 1
