"""How much of a person ``prdigest init`` needs on a machine that has the package and nothing else, and how long.

A scripted person sits at a pseudo terminal, with services on the loopback. What only hands can do is not waited
for but added, by the seconds below: an answer, a paste, one of the three places in Slack, what is beside them.
"""

from __future__ import annotations

import tempfile
import time
from pathlib import Path

from benchmarks.day import GITHUB_LATENCY
from benchmarks.table import Table
from tests.helpers.processes.terminal import open_terminal
from tests.helpers.setting_up import TOKENS, open_new_accounts
from tests.helpers.world import CHANNEL

MAX_ANSWERS, MAX_SECONDS, MAX_OWN_SECONDS = 4, 300.0, 60.0
# of a person who reads before they click; a place of Slack has two or three clicks
ANSWER_SECONDS, PASTE_SECONDS, PLACE_SECONDS, OTHER_SECONDS = 8, 10, 30, 15
PLACES = 3
_DAYS = 100
_ANSWERS = (("owner/name: ", "octo/engine"), ("its id\\): ", CHANNEL), (r"UTC\]: ", ""), (r"\[claude\]: ", ""))
_PASTES = (
    ("key for Claude", "ANTHROPIC_API_KEY"),
    ("GitHub token", "GITHUB_TOKEN"),
    ("bot token", "SLACK_BOT_TOKEN"),
    ("app token", "SLACK_APP_TOKEN"),
)


def time_init(table: Table) -> None:
    """Measure a set-up from its command to a doctor without problems, then to the test in Slack."""
    with tempfile.TemporaryDirectory(prefix="bench") as folder, open_new_accounts(Path(folder)) as there:
        there.github.latency = GITHUB_LATENCY
        there.settings["TZ"] = "UTC"
        began = time.perf_counter()
        with open_terminal("init", settings=there.settings, folder=there.folder) as terminal:
            for question, text in _ANSWERS:
                terminal.answer(question, text)
            for label, name in _PASTES:
                terminal.answer(f"Paste the {label}, which is not shown .*: ", TOKENS[name])
            # the third place has the second token, so that the invitation is what is left
            there.person.invite(CHANNEL)
            terminal.wait_for("No problems found")
            green = time.perf_counter() - began
            there.send_code(terminal)
            terminal.wait_for("It is in your direct messages")
            tested = time.perf_counter() - began
            assert terminal.wait_for_end() == 0
    assert f"{_DAYS} days: {_DAYS} filled" in terminal.shown
    answers, pastes, others = len(_ANSWERS), len(_PASTES), 2
    by_hand = answers * ANSWER_SECONDS + pastes * PASTE_SECONDS + PLACES * PLACE_SECONDS + OTHER_SECONDS
    print(f"init: {answers} answers, {pastes} pastes, {PLACES} places in Slack, {others} others")
    table.print_row("init: answers", answers, MAX_ANSWERS, "answers")
    table.print_row("init: steps of a person", answers + pastes + PLACES + others, 13, "steps")
    table.print_row("init: own seconds to a green doctor", green, MAX_OWN_SECONDS, "s")
    table.print_row("init: to a green doctor, with a person's hands", green + by_hand, MAX_SECONDS, "s")
    table.print_row(
        "init: to the test in Slack, with 100 days loaded", tested + by_hand + OTHER_SECONDS, MAX_SECONDS, "s"
    )
