"""What people write to the bot: a command, a greeting or a question, and never a parse error for a sentence."""

from collections.abc import Callable

from hypothesis import assume, given
from hypothesis import strategies as st

from bot.errors import UsageError
from bot.features.questions.rules import is_remark
from bot.platform.slack.requests import SlackRequest
from handlers import COMMANDS as DECLARED
from handlers import messages
from handlers.summaries import is_only_references
from tests.handlers.intakes import Office, make_request
from tests.helpers.tables import check_rows

THREAD = "1772300000.000100"


def in_thread() -> SlackRequest:
    return make_request(thread=THREAD)


def in_direct_thread() -> SlackRequest:
    return make_request(thread=THREAD, channel="D0ASKER")


def at_top() -> SlackRequest:
    return make_request()


def in_direct() -> SlackRequest:
    return make_request(channel="D0ASKER")


THREADS = [in_thread, in_direct_thread]
PLACES = [in_thread, in_direct_thread, at_top, in_direct]


def hear_text(text: str, slack_request: SlackRequest) -> tuple[str, ...]:
    """What came of a text: the queues that got something, or the refusal's first words."""
    office = Office()
    try:
        messages.accept_message(office.app, DECLARED, slack_request, text, slack_request.message, is_named=True)
    except UsageError as error:
        return ("refused", str(error))
    return tuple(office.queues)


# sentences that begin like a command
SENTENCES = """
    risks of 35441 | summary of what 35441 does | List benchmarks. | list changes | list everything
    risks for ROCm | subscribe me to this please | digest in German | summary please | test it | risks in our fork
    Summary: what changed? | summary of yesterday? | digest this for me | digest subscribe me to this please
    list the breaking ones | pause here | resume what you said | test coverage of 35441 | unsubscribe everyone now
    risks foo:bar baz | prdigest in one sentence | pause facade | test added | digest test it | list of changes
    subscribe at least once | risks at scale | risks 35441 | digest 35441 | summary "quoted | subscribe to 35441
    risks, please | digest the last week
    schedule a call | schedule it | risk 7 | Test. | summary of the one by label: bug and of others
""".replace("\n", "|").split("|")
SENTENCES = [text for each in SENTENCES if (text := each.strip())]

# commands, and the queue that their work is put on
COMMANDS = {
    "35617": "summary",
    "#35617, #35618": "summary",
    "octo/engine#35617 private": "summary",
    "https://github.com/octo/engine/pull/35617": "summary",
    "summary 35617": "summary",
    "Summary #35617": "summary",
    "summary of 35617, please": "summary",
    "risks 7 days": "long_risks",
    "risks last week path:docs": "long_risks",
    "digest 28 Feb path:vllm/v1 only:risky": "digest",
    "risks": "risks",
    "risks today": "risks",
    "risks 7d path:vllm/v1 author:ada top:7 private": "long_risks",
    "risks 2026-02-24..2026-02-28": "long_risks",
    "risks score 90d": "score",
    "digest 2026-02-28": "digest",
    "digest 7d": "overview",
    "prdigest 7d": "overview",
    "subscribe": "regular",
    "subscribe at 09:00": "regular",
    "Subscribe octo/engine at 9am tz Europe/Berlin weekdays path:vllm/v1 only:risky": "regular",
    "digest subscribe me at 09:00": "regular",
    "unsubscribe all": "regular",
    "pause 1a2b3c4d": "regular",
    "resume": "regular",
    "list": "regular",
    "test": "preview",
    "test octo/engine path:docs": "preview",
}

# unmistakable commands with a mistake, in every kind of conversation: they name an option
MISTAKEN = {
    "risks 7d path:": "path: needs a value",
    "risks 7d top:99": "top:",
    "risks foo path:docs": "I don't recognize the date",
    "subscribe at 25:00 path:docs": "is not a time",
    "subscribe repo:other/secret": "I'm not set up for other/secret",
    "digest 7d tz:Mars/Base": "Mars/Base",
    "test only:everything": "only:",
    'risks path:"docs': "A quotation mark is not closed",
    "https://github.com/other/secret/pull/1": "I'm not set up for other/secret",
    "1 2 3 4 5 6": "6 are too many",
    "summary 35617 35618 35619 35620 35621 35622": "6 are too many",
}

# the same where nothing was said before, so that nothing else can be meant
MISTAKEN_AT_TOP = {
    "subscribe at 25:00": "is not a time",
    "subscribe at": "is not a time",
    "subscribe at noon": "is not a time",
    "subscribe at 09:00 tz Berlin": "Berlin",
    "digest 2026-13-01": "2026-13-01",
    "risks 90d": "ask for up to 31",
    "digest 2026-02-01..2026-02-28": "ask for up to 14",
    "risks since:2026-02-01": "I don't understand since",
    "summary": "Which pull request?",
    "prsummary private": "Which pull request?",
    "subscribe other/secret": "I'm not set up for other/secret",
    "digest subscribe at 25:00": "is not a time",
    "schedule": "/prdigest schedule",
    "digest schedule": "/prdigest schedule",
}


@check_rows(SENTENCES, PLACES)
def test_a_sentence_that_begins_like_a_command_is_a_question(text: str, place: Callable[[], SlackRequest]) -> None:
    assert hear_text(text, place()) == ("questions",)


@check_rows(list(COMMANDS), PLACES)
def test_a_command_is_one_wherever_it_is_written(text: str, place: Callable[[], SlackRequest]) -> None:
    assert hear_text(text, place()) == (COMMANDS[text],)


@check_rows(list(MISTAKEN), PLACES)
def test_an_option_makes_it_a_command_and_a_mistake_in_it_is_told(
    text: str, place: Callable[[], SlackRequest]
) -> None:
    how, refusal = hear_text(text, place())
    assert (how, MISTAKEN[text] in refusal) == ("refused", True), refusal


@check_rows(list(MISTAKEN_AT_TOP))
def test_at_top_level_the_words_of_a_command_alone_are_one(text: str) -> None:
    for place in (at_top, in_direct):
        how, refusal = hear_text(text, place())
        assert (how, MISTAKEN_AT_TOP[text] in refusal) == ("refused", True), refusal
    assert [hear_text(text, place()) for place in THREADS] == [("questions",)] * 2


VERBS = (
    "summary prsummary risks prrisks digest prdigest subscribe unsubscribe pause resume list test schedule".split()
)
WORDS = st.one_of(
    st.sampled_from(
        "of for in me all the it at tz 35441 7d today please ROCm German. added private octo/engine -".split()
    ),
    st.text(st.characters(blacklist_categories=("Cs", "Cc", "Zs", "Zl", "Zp")), min_size=1, max_size=12),
)


@given(st.sampled_from(VERBS), st.lists(WORDS, max_size=8), st.sampled_from(THREADS))
def test_no_sentence_without_an_option_is_refused_in_a_thread(
    verb: str, rest: list[str], place: Callable[[], SlackRequest]
) -> None:
    text = " ".join([verb, *rest])
    assume(not any(f"{name}:" in text for name in messages.OPTION_NAMES) and not is_remark(text))
    assume(not is_only_references(text))
    assert hear_text(text, place())[0] != "refused"


@check_rows(["hi", "Hello!", "hey there", "Hello there!", "", "good morning", "help", "Help?"], PLACES)
def test_greetings_are_returned(text: str, place: Callable[[], SlackRequest]) -> None:
    assert hear_text(text, place()) == ("greet",)


@check_rows(["help contract", "Contract help?", "help risks", "digest help", "digest touches help"], PLACES)
def test_the_help_of_one_command_is_given(text: str, place: Callable[[], SlackRequest]) -> None:
    assert hear_text(text, place()) == ("help",)


@check_rows(["help me with #35617", "help our callers", "please help", "does contract checking help"], PLACES)
def test_a_call_for_help_with_something_else_is_a_question(text: str, place: Callable[[], SlackRequest]) -> None:
    assert hear_text(text, place()) == ("questions",)


def test_colleagues_who_greet_each_other_in_a_thread_are_left_alone() -> None:
    office = Office()
    messages.accept_message(office.app, DECLARED, in_thread(), "Hello!", THREAD, is_named=False)
    assert office.queues == []
    messages.accept_message(office.app, DECLARED, in_thread(), "help", THREAD, is_named=False)
    assert office.queues == ["greet"]
