"""The AI bug review: what it found stands in the digest, in lists, in Details and in the score."""

import difflib
from typing import Any

from tests.emulators.claude.request import schema_of
from tests.emulators.claude.server import Json, Step, default_answer, review_answer, suspicion
from tests.emulators.github.store import changed_file, sha
from tests.emulators.github.trees import Entry, FixedTree, TreeCommit
from tests.helpers.world import as_read
from tests.scenarios import RISKY, Bot, claude_that
from tests.scenarios.conversations.asking import prompt_of

QUOTE = "size = len(batch) // workers"
PATCH = f"@@ -4,3 +4,3 @@ def split_batch(batch, workers):\n-    size = ceil(len(batch) / workers)\n+    {QUOTE}"
CHANGE: dict[str, Any] = {
    **RISKY,
    "files": (changed_file("csrc/attention.cu", PATCH, additions=450, deletions=350),),
}
CONFIRMED = suspicion(
    consequence="Splitting raises a ValueError <!channel>",
    trigger="a batch is smaller than the number of workers",
    affected="those who serve few requests",
    path="csrc/attention.cu",
    quote=QUOTE,
    line=4,
    status="confirmed",
    certainty="high",
    advice="adapt",
)


def find_bug(body: dict[str, Any]) -> Step:
    if "suspicions" in (schema_of(body) or {}).get("properties", {}):
        return Json(review_answer(CONFIRMED, suspicion(status="refuted")))
    return default_answer(body)


RUNNER = """class Runner:
    def __init__(self, size):
        self.size = size{more}

    def step(self):
        return self.{name}


class DraftRunner(Runner):
    def __init__(self, drafts_of_runner):
        self.drafts = drafts_of_runner
"""


def test_a_prepared_question_leads_to_a_bug_in_the_lead(bot: Bot) -> None:
    """A subclass skips the constructor that sets more now: code asks, and the answer quotes the line it showed."""
    repository, channel = bot.repository(), bot.channel()
    old = RUNNER.format(more="", name="size")
    new = RUNNER.format(more="\n        self.limit = size + 1", name="limit")
    patch = "\n".join([*difflib.unified_diff(old.splitlines(), new.splitlines(), lineterm="")][2:])
    file = changed_file("engine/runner.py", patch, additions=2, deletions=1)
    number = bot.pull(repository, merged_at=bot.noon(3), files=(file,))
    tree = TreeCommit(sha(f"merge {number}"), FixedTree({"engine/runner.py": Entry(new.encode())}))
    bot.world.github.add_commit(repository, tree)
    line = "def __init__(self, drafts_of_runner):"
    skipped = suspicion(
        consequence="Drafts stop with an AttributeError",
        trigger="a draft runner takes a step",
        reached_by="`DraftRunner` inherits `step`",
        path="engine/runner.py",
        quote=line,
        status="confirmed",
        certainty="high",
    )
    questions: list[str] = []

    def note(body: dict[str, Any]) -> Step:
        if "suspicions" not in (schema_of(body) or {}).get("properties", {}):
            return default_answer(body)
        questions.append(prompt_of(body).partition("Questions that code has prepared")[2])
        return Json(review_answer(skipped))

    with claude_that(bot, note):
        bot.person().send_command("/prdigest", f"{bot.noon(3).date()} repo:{repository}", channel)
        (lead,) = bot.list_posts(channel)
    (asked,) = questions
    assert "The constructor of `Runner` sets `limit` now." in asked
    assert f"engine/runner.py:11: {line}" in asked
    assert "Confirmed in the code: Drafts stop with an AttributeError." in as_read(lead)
    assert "/engine/runner.py#L11" in str(lead["blocks"])


def test_a_confirmed_bug_is_shown_wherever_its_pull_request_is(bot: Bot) -> None:
    repository, channel, ada = bot.repository(), bot.channel(), bot.person()
    number, day = bot.pull(repository, merged_at=bot.noon(3), **CHANGE), bot.noon(3).date()
    with claude_that(bot, find_bug):
        ada.send_command("/prdigest", f"{day} repo:{repository}", channel)
        (lead,) = bot.list_posts(channel)
    finding_text = (
        "Confirmed in the code: Splitting raises a ValueError <!channel>. Fails when a batch is smaller than the "
        "number of workers."
    )
    assert f"{finding_text} Affected: those who serve few requests. 🔴 highest risk" in as_read(lead)
    assert "AI bug review: 1 of 1" in as_read(lead)
    assert "/csrc/attention.cu#L4" in str(lead["blocks"])
    assert "AI bug review: confirmed bug" in str(bot.list_thread_posts(channel, lead["ts"]))
    _, asked = bot.calls()
    ada.send_command("/prrisks", f"{day} repo:{repository}", channel)
    *_, risks = bot.list_posts(channel)
    assert finding_text in as_read(risks)
    ada.press(risks, "details_of", value=f"2|{repository}#{number}")
    (window,) = bot.windows(f"#{number}")
    assert "Affected: " in str(window["blocks"])
    assert "those who serve few requests" in str(window["blocks"])
    assert "1 suspicion was refuted. An AI read the code: this is no proof." in str(window["blocks"])
    assert bot.calls()[1] == asked, "what was reviewed once is not read again"
    ada.send_command("/prrisks", f"score 10d repo:{repository}", channel)
    *_, score = bot.list_posts(channel)
    assert "1 with a confirmed bug: 0 of them reverted or repaired (0" in as_read(score)
