"""What a newcomer asks in the demo: each answer names the right pull requests, or says that rules can't tell."""

from __future__ import annotations

import pytest

from tests.demo.threads import ACTING, ALL, ONE, answer, find_numbers

pytestmark = pytest.mark.slow

# what an answer says where it names none: why rules can't tell, or that there is none
_BUILD = "None of the 18 pull requests of 28 February 2026 changes the image build: no Dockerfile"
_ONLY = "The sample holds 28 February 2026 only; today is 1 March 2026."
_WEAK = "together."
_NO_WORD = "is in no title, summary or path of the 18 pull requests"
_UNCLEAR = "I don't understand what to look for"
_NO_LIST = "I don't know which list you mean"
_CODE = "There are no diffs in the sample, so rules can't show code."
_DAY = "18 pull requests of 28 February 2026**, by area: "
_FLAGS = "Rules can't tell a new flag or environment variable from an old one."
RISKIEST = {32195, 33762, 35271}
FLAGS = {35600, 35617, 34214, 35571, 32195}
OF_DAY = RISKIEST | ACTING
ROCM, ASKS_ROCM = {34931, 33762, 35571}, "Which of these touch ROCm?"

ASKED: dict[str, tuple[set[int], str]] = {
    # images, packages, code that is compiled, documentation
    "do I need to rebuild my docker image?": (set(), _BUILD),
    "does the Dockerfile change?": (set(), _BUILD),
    "any changes to the container image": (set(), _BUILD),
    "is a new image needed?": (set(), _BUILD),
    "do we have to recompile anything?": ({33762}, "if you build from source"),
    "any new dependencies?": ({34214}, "bge_m3_sparse_plugin/setup.py"),
    "did the torch version change?": ({34214}, "a file that names dependencies"),
    "any documentation changes?": ({34214, 35600}, "`docs/benchmarking/sweeps.md`"),
    "any database migrations?": (set(), "changes a database migration"),
    # flags and variables
    "any new env vars or flags?": (FLAGS, _FLAGS),
    "new environment variables?": (FLAGS, _FLAGS),
    "did any CLI options change?": (FLAGS, "`-e/--experiment-name`, `--output-dir`, `--resume`"),
    "any config changes?": (FLAGS, _FLAGS),
    "which touch the --dtype flag?": ({35617}, "“dtype”"),
    "which flags does 35600 change?": ({35600}, "1 pull request names some"),
    # days
    "what merged today?": (set(), _ONLY),
    "anything new today?": (set(), _ONLY),
    "anything risky today?": (set(), _ONLY),
    "what was merged on 2026-02-27?": (set(), _ONLY),
    "what landed on Feb 27?": (set(), _ONLY),
    "what landed on Friday?": (set(), _ONLY),
    "what was reverted today?": (set(), _ONLY),
    "which of these touched ROCm on 2026-02-20..2026-02-22?": (set(), _ONLY),
    "what merged last week?": (OF_DAY, _ONLY),
    "and over the last week?": (OF_DAY, "18 pull requests that the sample has of 23 February"),
    "what was reverted last week?": (set(), _ONLY),
    "what merged in the last 3 days?": (OF_DAY, _ONLY),
    "what merged this month?": (set(), "30 days are too many at once: ask for up to 14."),
    "what comes tomorrow?": (set(), "2026-03-02 is in the future: choose a day up to 2026-03-01."),
    "what merged yesterday?": (OF_DAY, _DAY),
    "what was merged on 28 February?": (OF_DAY, _DAY),
    "what should I do today?": (ACTING, "may require changes on your side"),
    # what there is to do
    "what do I need to change in my deployment?": (ACTING, "may require changes on your side"),
    "what do we have to do before upgrading?": (ACTING, "**To do:**"),
    "will my code still work?": (ACTING, "**To do:**"),
    "should I upgrade?": (ACTING, "**To do:**"),
    "do I have to do anything?": (ACTING, "**To do:**"),
    "is it backwards compatible?": (ACTING, "**To do:**"),
    "any breaking changes?": (ACTING, "**To do:**"),
    "what needs action for kubernetes?": (ACTING, f"“kubernetes” {_NO_WORD}"),
    "do I need to do anything for 35600?": ({35600}, "**To do:**"),
    "do I need to do anything for 35617?": ({35617}, "names nothing that you have to do"),
    # the gist
    "tldr": (OF_DAY, _DAY),
    "tl;dr?": (OF_DAY, _DAY),
    "give me the highlights": (OF_DAY, _DAY),
    "what's new?": (OF_DAY, _DAY),
    "how many PRs were merged?": (OF_DAY, _DAY),
    "which are the most important?": (OF_DAY, _DAY),
    "which of these can I ignore": ({35646, 35620}, "are trivial"),
    "what can I skip?": ({35646, 35620}, "are trivial"),
    "can I ignore 35646?": ({35646}, "low risk"),
    "should I be worried?": (RISKIEST, "Most likely to cause trouble"),
    "what could go wrong?": (RISKIEST, "Most likely to cause trouble"),
    # of one
    "when was 35600 merged?": ({35600}, "was merged on 28 February 2026 at 08:36 UTC by vllm-bot."),
    "when did #35441 land?": ({35441}, "at 17:32 UTC"),
    "show me the diff of 35617": ({35617}, _CODE),
    "show me the code of #35617": ({35617}, _CODE),
    "show me the code": (set(), _CODE),
    "how big is 35617?": ({35617}, "changes 2 files"),
    "was 35617 reverted?": (set(), "has been reverted, as far as the tools can see"),
    "compare 35557 and 33671": ({35557, 33671}, "Messages API"),
    "what does #99999 do?": ({99999}, "The sample day has no pull request #99999"),
    # words that match, and words that don't
    "which touch quantization?": (
        {35620, 35581, 33762, 32195},
        "BitsAndBytes sharding helper",
    ),
    "does anything affect multi-GPU tensor parallelism?": (set(), _WEAK),
    "does it slow down inference?": (set(), _WEAK),
    "any performance regressions?": (set(), _WEAK),
    "what about memory usage?": (set(), _WEAK),
    "what changed in kubernetes support?": (set(), _NO_WORD),
    "does this affect H100?": (set(), f"“H100” {_NO_WORD}"),
    "we run AMD MI300, anything for us?": (ROCM | {34214}, f"“MI300” {_NO_WORD}"),
    "pipeline parallelism?": ({35405}, "matches “parallelism” and “pipeline”"),
    "anything about speculative decoding?": ({35581}, "matches"),
    "anything about prefix caching?": ({35571}, "only mentioned in the summary"),
    "what about image handling?": ({35557}, "matches"),
    "which are bug fixes?": ({35646, 35617, 35557, 35405, 35581, 35571}, "match “bug” or “fix”"),
    "what's vllm?": (set(), "ask for another word"),
    # what nobody here can answer
    "summarize in German": (set(), "Rules can't translate"),
    "auf Deutsch bitte": (set(), "Rules can't translate"),
    "translate #35617 to French": (set(), "Rules can't translate"),
    "explain it in simple words": (set(), "Rules can't reword"),
    "who reviewed 35617?": (set(), "Reviews and comments are not in the sample."),
    "which PRs are still open?": (set(), "merged pull requests only"),
    "did CI pass?": (set(), "Results of tests are not in the sample."),
    "when is the next release?": (set(), "Releases and plans are not in the sample"),
    "which release contains 35617?": (set(), "Releases and plans are not in the sample"),
    "which issue does 35617 close?": (set(), "Issues are not in the sample."),
    "can you revert 35441?": (set(), "I only answer questions here"),
    "what do you recommend?": (set(), "Rules have no opinion"),
    "can we skip this release?": (set(), "Rules have no opinion"),
    "should we roll back?": (set(), "Rules have no opinion"),
    "what can you do?": (set(), "with rules, without a model"),
    "what does the band mean?": (set(), "about 20% needed a fix within two weeks; of all changes, 7%."),
    "what does high risk mean?": (set(), "about 20% needed a fix"),
    "how is the risk computed?": (set(), "about 20% needed a fix"),
    "are you an AI?": (set(), "with rules, without a model"),
    "what?": (set(), _UNCLEAR),
    "really?": (set(), _UNCLEAR),
    "why?": ({35617}, "I don't know what you mean"),
    "the second one?": ({35617}, _NO_LIST),
}
FOLLOWED: dict[tuple[str, ...], tuple[set[int], str]] = {
    (ASKS_ROCM, "And the second one?"): ({33762}, "small-batch matrix kernels"),
    (ASKS_ROCM, "tell me about the second one"): ({33762}, "small-batch matrix kernels"),
    (ASKS_ROCM, "the first one, is it risky?"): ({34931}, "rated low risk"),
    (ASKS_ROCM, "is the second risky?"): ({33762}, "rated high risk"),
    (ASKS_ROCM, "what about the last one?"): ({35571}, "vision scoring tests"),
    (ASKS_ROCM, "who wrote the third one?"): ({35571}, "AndreasKaratzas"),
    (ASKS_ROCM, "the first two"): ({34931, 33762}, "small-batch matrix kernels"),
    (ASKS_ROCM, "the fifth one?"): (ROCM, "The last list has 3: "),
    (ASKS_ROCM, "which one is risky?"): ({33762}, "Most likely to cause trouble"),
    (ASKS_ROCM, "why?"): ({34931}, "Which one?"),
    (ASKS_ROCM, "tell me more"): ({34931}, "Which one?"),
    (ASKS_ROCM, "is it risky?"): ({34931}, "Which one?"),
    (ASKS_ROCM, "what about it?"): ({34931}, "Which one?"),
    (ASKS_ROCM, "summarize the second in short"): ({33762}, "small-batch matrix kernels"),
    (ASKS_ROCM, "when was the third merged?"): ({35571}, "UTC"),
    (ASKS_ROCM, "why the second?"): ({33762}, "rated high risk"),
    (ASKS_ROCM, "#2?"): ({33762}, "small-batch matrix kernels"),
    (ASKS_ROCM, "number 3, who wrote it?"): ({35571}, "AndreasKaratzas"),
    (ASKS_ROCM, "compare the first and the third"): ({34931, 35571}, "vision scoring tests"),
    (ASKS_ROCM, "is it safe to upgrade?"): (ACTING, "**To do:**"),
    (ASKS_ROCM, "And the second one?", "and the next one?"): ({35571}, "vision scoring tests"),
    (ASKS_ROCM, "And the third one?", "and the next one?"): (ROCM, "The last list has 3: "),
    (ASKS_ROCM, "And the second one?", "why?"): ({33762}, "rated high risk"),
    (ASKS_ROCM, "And the second one?", "and the third?"): ({35571}, "vision scoring tests"),
    (ASKS_ROCM, "And the second one?", "is it risky?"): ({33762}, "rated high risk"),
    (ASKS_ROCM, "And the second one?", "when was it merged?"): ({33762}, "09:02 UTC"),
    (ASKS_ROCM, "And the second one?", "show me the diff"): (set(), _CODE),
    (ASKS_ROCM, "And the second one?", "what merged today?"): (set(), _ONLY),
    ("what about Anthropic?", "is the second one safe?"): ({33671}, "rated middle risk"),
    ("what about Qwen?", "both?"): ({35617, 35581}, "Qwen3.5"),
    ("what is most risky?", "why?"): (RISKIEST, "rated highest risk"),
    ("what is most risky?", "and the second one?"): ({33762}, "rated high risk"),
    ("why is #35441 risky?", "why?"): ({35441}, "rated middle risk"),
    ("which have no tests?", "the third one, who wrote it?"): ({35621}, "WoosukKwon"),
}
OF_ONE: dict[str, tuple[set[int], str]] = {
    "why?": ({35617}, "rated low risk"),
    "tldr": ({35617}, "in the precision the operator asked for"),
    "when was it merged?": ({35617}, "1 March 2026 at 03:27 UTC"),
    "show me the diff": ({35617}, _CODE),
    "any new flags?": ({35617}, "`--dtype`"),
    "can I ignore it?": ({35617}, "rated low risk"),
    "what do I need to change?": ({35617}, "names nothing that you have to do"),
    "and the second one?": ({35617}, "The last list has 1: #35617."),
    "what merged today?": (set(), _ONLY),
}


@pytest.mark.parametrize(("question", "expected"), ASKED.items(), ids=ASKED)
def test_a_newcomer_is_answered_right_or_not_at_all(question: str, expected: tuple[set[int], str]) -> None:
    reply = answer(question)
    assert (find_numbers(reply), expected[1] in reply) == (expected[0], True), reply


@pytest.mark.parametrize(("asks", "expected"), FOLLOWED.items(), ids=map(" / ".join, FOLLOWED))
def test_words_that_point_back_mean_what_was_listed(asks: tuple[str, ...], expected: tuple[set[int], str]) -> None:
    reply = answer(*asks)
    assert (find_numbers(reply), expected[1] in reply) == (expected[0], True), reply


@pytest.mark.parametrize(("question", "expected"), OF_ONE.items(), ids=OF_ONE)
def test_the_same_below_a_single_pull_request(question: str, expected: tuple[set[int], str]) -> None:
    reply = answer(question, about=ONE)
    assert (find_numbers(reply), expected[1] in reply) == (expected[0], True), reply


def test_no_answer_to_them_names_what_is_not_of_the_day() -> None:
    assert len(ASKED) + len(FOLLOWED) + len(OF_ONE) > 120
    expected = (numbers for table in (ASKED, FOLLOWED, OF_ONE) for numbers, _ in table.values())
    assert set().union(*expected) - {99999} <= set(ALL)
