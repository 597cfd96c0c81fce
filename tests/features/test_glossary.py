"""Who asks what a term of messages means is told so from the glossary; who asks about code is not."""

import time

import pytest

from bot.features.glossary import explain_asked, explain_term, find_term, load_terms

ASKED = {
    "what does second reading mean?": "AI bug review",
    'What does "AI bug review: 3 of 3" mean?': "AI bug review",
    "what is an AI bug review?": "AI bug review",
    "hey, what do you mean by “touches”?": "touches",
    "what’s a stopping point": "step",  # noqa: RUF001
    "and what does 'may need action' mean in this digest?": "may need action",
    "what does (no history yet) mean?": "fix history",
    "what does 🔴 highest risk mean here?": "risk band",
    "what does the label Riskiest mean?": "riskiest",
    "what does 🔴 mean?": "risk band",
    "what does a hit mean": "warning",
    "what are hits?": "warning",
    "What is the meaning of uses as inherited?": "inherits",
    "define pin": "pin",
    "was heißt second reading?": "AI bug review",
    "Was bedeutet taken back?": "reverted",
    "was ist ein Digest?": "digest",
    "Was meinst du mit Breaking?": "breaking change",
    "second reading 是什么意思？": "AI bug review",  # noqa: RUF001
    "什么是 profile?": "profile",
    "digest是什么?": "digest",
}
# about code, about the pull requests of the thread, or about something else
NOT_ASKED = """
    what does swap_space mean? | what does `hit` mean? | what does use() mean? | what does Path.read mean?
    what does TouchLimits mean? | what does --step mean? | what does profile mean in vllm/config.py?
    what is the risk? | what is riskiest? | what is most risky? | what does #35441 mean for users?
    what does it mean? | what is a worker? | what does lease mean? | what is breaking?
    what is a breaking change in #35441? | what does this digest say? | what does LoRA mean?
    what is not read? | what was reverted? | what does the profile use? | hit | help | help me
    was ist riskant? | was heißt das? | 风险最大的是哪些? | 这是什么? | what does mean? | what does  mean mean?
    ???
"""
NOT_ASKED_QUESTIONS = [text for each in NOT_ASKED.replace("\n", "|").split("|") if (text := each.strip())]


@pytest.mark.parametrize(("question", "name"), ASKED.items())
def test_a_term_of_messages_is_explained(question: str, name: str) -> None:
    assert f"**{name}**: " in (explain_asked(question) or "")


@pytest.mark.parametrize("question", NOT_ASKED_QUESTIONS)
def test_any_other_question_goes_to_the_model(question: str) -> None:
    assert explain_asked(question) is None


def test_each_word_of_messages_may_be_asked_for_and_leads_to_one_entry() -> None:
    for word, term in load_terms().items():
        explained = explain_asked(f"what does {word} mean?")
        assert explained == (term.render() if term.is_in_messages else None)
        assert explain_term(word) == term.render(bold="*")


def test_terms_of_operators_are_explained_where_help_is_asked_for() -> None:
    assert explain_term("lease").startswith("*lease*: a right, held by one process")
    assert explain_term("swap_space") == ""


@pytest.mark.parametrize("sign", ["what does ", "und ", "a ", "'", "是什么", "什么是 ", "(((", "\u202e", "1"])
def test_a_long_question_is_read_at_once(sign: str) -> None:
    began = time.process_time()
    assert explain_asked(sign * (100_000 // len(sign))) is None
    assert explain_asked(sign * (190 // len(sign)) + "?") is None
    assert find_term(sign * 1_000) is None
    assert time.process_time() - began < 0.5
