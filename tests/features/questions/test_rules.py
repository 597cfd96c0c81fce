from dataclasses import replace
from itertools import accumulate, pairwise
from typing import Literal

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from bot.features.questions.rules import (
    MAX_MEMORY_LENGTH,
    Question,
    RememberedMessage,
    ThreadMemory,
    is_for_others,
    is_remark,
)
from bot.platform.slack.requests import SlackRequest
from tests.helpers.tables import check_rows

BOT = "UBOT"
REMARKS = """
    thanks | Thanks! | THANKS!!! | thank you | Thank you so much! | thanks a lot. | thanks again
    many thanks | thx | ty | cheers | thanks bot | thank you team | danke | merci | gracias
    great, thanks! | ok | OK. | okay | k | great | nice | nice! | cool | cool :) | perfect ;-)
    awesome | excellent | amazing | wow | super | good bot | good catch! | good to know | got it
    Got it. | makes sense | noted | understood | will do | on it | done | Done! | lgtm | +1 | same
    agree | agreed | yes | yep | yeah | no | nope | sure | lol | haha | hm | hmmm... | interesting
    i see | I see. | helpful | very helpful! | that helps | ok, thanks | no, thanks | nice - thanks
    cool (thanks) | thanks … great | will do, thanks! | *thanks* | ~thanks~ | `ok` | ok, ok
"""
SIGNS = [
    *":+1: :thumbsup: :tada::tada: :+1::skin-tone-3: :flag-us: :e-mail: :man-woman-girl-boy: :日本: :100:".split(),
    *"👍 👍🏽 🎉🎉🎉 ❤️ 👨\u200d👩\u200d👧 🇩🇪 ✅ ! !!! … ... :) ;-) ^^ \u200b \n -- --- →".split(" "),
    "",
    " ",
    "👍 :tada:",
    "thanks 🎉",
    "thanks! :pray::skin-tone-5:",
    ":eyes: got it",
    "<@UBOB>",
    "<@UBOB> 👍",
    "<@UBOB> thanks!",
    "thanks <@UBOB|bob>",
    "<@UBOB> <@UEVE>",
]
QUESTIONS = """
    why? | Why | how so? | what about #7? | and the second one? | ok, and the second one? | ok and #7?
    35617 | #35617 | thanks! does it change a default? | thanks, but which file? | 7 | +2 | 1
    no, I mean the other one | no, #7 | all | yes, the first one | yes please do both | sure, go on
    more | next | go on | please | continue | again, shorter | in German | auf Deutsch bitte
    risks 7d | quiet | wake | help | hello | k8s | cool down? | same for #7 | why not
    same question for #8 | nice work on what? | done with #7? | the other one | only the removed ones
    not that one | thanks. Who wrote it? | ok; list them | 👍 and #7? | :+1: which?
    :eyes: what is this | 10:30:45 | what | who | <@UBOB> wrote #7 | ok…and then | lgtm if #7 is in
    no.7 | interesting: why | hm, explain | wow, how | none of them | 谢谢, 为什么
    https://github.com/octo/engine/pull/7 | octo/engine#7 | torch.compile | std::vector::push | a:b:c
    ½
"""


def parts(text: str) -> list[str]:
    return [part.strip() for line in text.strip().splitlines() for part in line.split("|")]


@check_rows([*parts(REMARKS), *SIGNS])
def test_thanks_nods_and_emoji_ask_nothing(text: str) -> None:
    assert is_remark(text)


@check_rows([*parts(QUESTIONS), "great\nwhich ones?"])
def test_whatever_asks_is_no_remark(text: str) -> None:
    assert not is_remark(text)


@pytest.mark.parametrize("text", parts("no, all | yes, all | same, all | yes, everyone"))
def test_a_correction_is_no_remark(text: str) -> None:
    assert not is_remark(text)


@pytest.mark.parametrize(
    "text",
    ["?", "??", "？", "?!", "same?", "done?", "sure?", "no?", "makes sense?", "agreed?", "thanks, done?"],  # noqa: RUF001
)
def test_a_question_mark_asks(text: str) -> None:
    assert not is_remark(text)


@pytest.mark.parametrize(
    "text",
    [
        "ok cool!",
        "ok thanks",
        "great thanks!",
        "yes thank you",
        "haha nice",
        "thanks, all",
        "Thanks, bot!",
        "thanks bot, thanks",
        "hahaha",
    ],
)
def test_more_nods_are_a_nod(text: str) -> None:
    assert is_remark(text)


@pytest.mark.parametrize("text", ["thanks &lt;3", "&lt;3", ":D", "1\ufe0f\u20e3", "\u2139\ufe0f"], ids=ascii)
def test_other_smileys_ask_nothing_either(text: str) -> None:
    assert is_remark(text)


nods = st.sampled_from(parts(REMARKS))
joints = st.sampled_from([" ", ", ", "! ", ". ", "\n", "… ", " - ", " (", " :tada: ", " 🎉 "])
asked = st.sampled_from(parts("and #7? | which ones | who wrote it? | 35617 | the second one | why | list them"))


@given(nods, joints, asked)
def test_a_nod_hides_no_question(nod: str, joint: str, question: str) -> None:
    assert not is_remark(f"{nod}{joint}{question}")
    assert not is_remark(f"{question}{joint}{nod}")


@given(nods, st.sampled_from([", ", "! ", ". ", "\n", "… "]), nods)
def test_two_nods_ask_nothing(nod: str, joint: str, other: str) -> None:
    assert is_remark(f"{nod}{joint}{other}")


@given(st.text(max_size=30), st.integers(0, 99_999), st.text(max_size=30))
def test_a_number_asks(before: str, number: int, after: str) -> None:
    assert not is_remark(f"{before} #{number} {after}".replace(":", ";").replace("<@", ""))


@given(st.text(max_size=30), st.text(max_size=30))
@example("", "")
def test_whatever_holds_a_question_mark_asks(before: str, after: str) -> None:
    assert not is_remark(f"{before.replace(':', ';')}?{after.replace(':', ';')}")


@check_rows(
    {
        "a-colleague": ("<@UBOB> can you look?", True),
        "blanks-before": ("  <@UBOB> can you look?", True),
        "with-a-label": ("<@UBOB|bob> can you look?", True),
        "of-a-grid": ("<@WBOB> can you look?", True),
        "two": ("<@UBOB> <@UEVE> can you look?", True),
        "a-name-alone": ("<@UBOB>", True),
        "the-bot-is-asked-about-a-colleague": ("<@UBOB> wrote #7, right <@UBOT>?", False),
        "the-bot": ("<@UBOT> can you look?", False),
        "the-bot-first": ("<@UBOT|prdigest> <@UBOB> asked why", False),
        "a-colleague-in-a-question": ("did <@UBOB> write #7?", False),
        "a-colleague-at-the-end": ("#7 is by <@UBOB>", False),
        "nobody": ("what does #7 do?", False),
        "nothing": ("", False),
        "no-name": ("<@ubob> hi", False),
        "a-channel": ("<#C1|general> hi", False),
    }
)
def test_a_reply_that_begins_with_colleagues_is_for_them(text: str, expected: object) -> None:
    assert is_for_others(text, BOT) is expected


@pytest.mark.parametrize("text", ["<!subteam^S1|@team> can you look?", "<!subteam^S1> look", "<!here> who can?"])
def test_a_group_is_colleagues_too(text: str) -> None:
    assert is_for_others(text, BOT)


@given(st.text(max_size=40), st.text(max_size=40))
def test_a_message_that_names_the_bot_is_for_it(before: str, after: str) -> None:
    assert not is_for_others(f"<@UBOB> {before}<@{BOT}>{after}", BOT)


def question(key: str, text: str = "Why?") -> Question:
    return Question(SlackRequest(key, "T1", "C1", "U1"), text, "1.0")


def size(memory: ThreadMemory) -> int:
    return sum(len(message.text) for message in memory.messages)


def talk(count: int, answer: int, asked: int = 100) -> list[ThreadMemory]:
    """A thread after each of so many questions, with answers of that length."""
    questions = [question(f"k{n}", f"{n} {'q' * asked}"[:asked]) for n in range(count)]
    return list(
        accumulate(
            questions,
            lambda memory, one: memory.add_answer(one, f"{one.text[:6]} {'a' * answer}"[:answer]),
            initial=ThreadMemory("x"),
        )
    )


def test_a_question_is_remembered_with_its_answer() -> None:
    memory = ThreadMemory("digest").add_answer(question("k"), "Because.")
    assert memory == ThreadMemory(
        "digest", (RememberedMessage("person", "Why?"), RememberedMessage("bot", "Because.")), "k"
    )


def test_an_answer_that_is_finished_twice_is_remembered_once() -> None:
    once = ThreadMemory("").add_answer(question("a"), "One.").add_answer(question("b"), "Two.")
    assert once.add_answer(question("b"), "Two, again.") is once
    assert len(once.add_answer(question("c"), "Three.").messages) == 6


def test_what_else_is_said_does_not_count_as_an_answer() -> None:
    memory = ThreadMemory("", (), "k").add_messages(
        RememberedMessage("bot", "posted"), RememberedMessage("person", "hm, #7")
    )
    assert (len(memory.messages), memory.answered) == (2, "k")
    assert memory.add_messages() == memory


said_ones = st.builds(
    lambda by, length, word: RememberedMessage(by, (word * length)[:length]),
    st.sampled_from(["person", "bot"]),
    st.one_of(st.integers(0, 600), st.integers(1_000, 9_000), st.sampled_from([MAX_MEMORY_LENGTH, 60_000])),
    st.sampled_from(["a ", "b", "c\n"]),
)


@given(st.lists(st.lists(said_ones, min_size=1, max_size=2), max_size=30))
@pytest.mark.slow
def test_never_much_more_is_remembered_than_may_be(rounds: list[list[RememberedMessage]]) -> None:
    memory, everything = ThreadMemory("x"), []
    for more in rounds:
        everything += more
        memory = memory.add_messages(*more)
        assert size(memory) <= MAX_MEMORY_LENGTH or len(memory.messages) <= 2
        assert memory.messages[-1:] == tuple(more[-1:])
    later = everything[len(everything) - len(memory.messages) :]
    assert [one.by for one in memory.messages] == [one.by for one in later]
    for kept, whole in zip(memory.messages, later, strict=True):
        assert kept == whole or (kept.is_short and len(kept.text) <= 500 < len(whole.text) + 200)


@given(st.lists(st.text(max_size=200), max_size=30))
def test_nothing_is_lost_while_there_is_room(answers: list[str]) -> None:
    memory = ThreadMemory("")
    for place, answer in enumerate(answers):
        memory = memory.add_answer(question(f"k{place}", f"q{place}"), answer)
    assert [one.text for one in memory.messages[1::2]] == answers
    assert [one.text for one in memory.messages[::2]] == [f"q{place}" for place in range(len(answers))]
    assert not any(one.is_short for one in memory.messages)


@pytest.mark.parametrize(("by", "limit"), [("person", 300), ("bot", 500)])
def test_of_what_is_old_the_beginning_is_kept(by: Literal["person", "bot"], limit: int) -> None:
    long = RememberedMessage(by, "one two\nthree " * 1_000)
    shortened = ThreadMemory("").add_messages(*(replace(long, text=long.text[:13_900]) for _ in range(3)))
    assert [one.is_short for one in shortened.messages] == [True, False, False]
    assert shortened.messages[0].text.startswith("one two three one")
    assert limit / 2 < len(shortened.messages[0].text) <= limit


def test_half_is_shortened_at_once() -> None:
    before, after = next(
        pair for pair in pairwise(talk(60, 1_500)) if any(one.is_short for one in pair[1].messages)
    )
    assert size(before) <= MAX_MEMORY_LENGTH
    assert not any(one.is_short for one in before.messages)
    short = [one.is_short for one in after.messages if one.by == "bot"]
    assert short == sorted(short, reverse=True)
    assert abs(sum(short) - len(short) / 2) <= 1


@pytest.mark.slow
@pytest.mark.parametrize("answer", [1_500, 3_000])
def test_a_first_shortening_leaves_room_for_more_questions(answer: int) -> None:
    changed = changes(talk(120, answer))
    first = changed.index(True)
    assert not any(changed[first + 1 : first + 4])


@pytest.mark.slow
@pytest.mark.parametrize("answer", [500, 1_500, 3_000])
def test_what_stands_at_the_beginning_rarely_changes(answer: int) -> None:
    changed = changes(talk(200, answer))[-50:]
    assert sum(changed) <= 25


def changes(memories: list[ThreadMemory]) -> list[bool]:
    """After which questions what was said before stands otherwise than it stood."""
    return [after.messages[: len(before.messages)] != before.messages for before, after in pairwise(memories)]


def test_a_credential_typed_by_mistake_is_not_remembered() -> None:
    """What a thread remembers is kept for good."""
    token = "ghp_" + "A1b2" * 9
    kept = ThreadMemory("").add_messages(RememberedMessage("person", f"why does {token} fail?"))
    assert token not in kept.messages[0].text
    assert kept.messages[0].text.startswith("why does ")
