"""How soon a link gets its preview: from the message until the card is below it."""

from __future__ import annotations

import time
from datetime import timedelta
from itertools import count

from localslack.users.person import Person

from benchmarks.commands import SECRET, run_processes
from benchmarks.day import open_empty_world
from benchmarks.table import Table
from bot.platform.slack.app_manifest import PREVIEW_SCOPES
from bot.platform.store.connection import connect_server
from bot.platform.store.merge_records import HistoryStore
from impact.repository import Repository
from tests.emulators.github.store import changed_file, pull
from tests.helpers import builders
from tests.helpers.builders import NOON
from tests.helpers.checks import closed_port, eventually
from tests.helpers.world import World

BOUND = 1.0  # seconds
# the first preview of a process also reads half a year of merges, as each process does every ten minutes
FIRST_BOUND = 3.0
LINKS = 20
REPOSITORY = "octo/engine"
# half a year of a busy repository, which the rating looks back at: 33 merges a day
HISTORY, MERGES_A_DAY = 6_000, 33


def time_previews(table: Table) -> None:
    """Time links to summarised pull requests, one after the other, in channels of their own."""
    with open_empty_world() as there:
        for number in range(1, LINKS + 2):
            files = [changed_file(f"src/part_{number}.py", "@@ -1,1 +1,2 @@\n start\n+total = 1")]
            there.github.add(REPOSITORY, pull(number, merged_at=NOON - timedelta(minutes=number), files=files))
        _record_history(there)
        there.settings.update(
            PRDIGEST_REPO=REPOSITORY,
            PRDIGEST_USER_LIMIT="1000",
            SLACK_SIGNING_SECRET=SECRET,
            PORT=str(closed_port()),
        )
        there.slack.grant_scopes(*PREVIEW_SCOPES)
        there.slack.watch_domains({"github.com"})
        with run_processes(there, "web", "worker") as wire:
            ada = Person(there.slack, wire, user="U0ADA")
            for number in range(1, LINKS + 2):
                ada.send_command("/prsummary", f"{number} private")
            eventually(lambda: len(there.slack.ephemerals) == LINKS + 1, 120)
        with run_processes(there, "web", "worker") as wire:
            ada = Person(there.slack, wire, user="U0ADA")
            channels = (f"C0LINK{number}" for number in count())
            # the first one also reads what the rating looks back at
            first = _wait_for_card(there, ada, next(channels), LINKS + 1)
            asked, called = len(there.claude.requests), len(there.github.calls)
            seconds = sorted(_wait_for_card(there, ada, next(channels), n) for n in range(1, LINKS + 1))
            asked, called = len(there.claude.requests) - asked, len(there.github.calls) - called
    table.print_row("a preview in a worker that has just begun", first, FIRST_BOUND, "s")
    table.print_row(f"{LINKS} previews of what is known: the middle one", seconds[LINKS // 2], BOUND, "s")
    table.print_row(f"{LINKS} previews of what is known: the slowest", seconds[-1], BOUND, "s")
    table.print_row(f"{LINKS} previews of what is known: model calls", asked, 0, "calls")
    table.print_row(f"{LINKS} previews of what is known: calls to GitHub", called, 0, "calls")


def _record_history(there: World) -> None:
    """Record the merges of half a year before."""
    merges = (
        builders.pull(
            100 + number,
            repository=Repository.parse(REPOSITORY),
            merged_at=NOON - timedelta(days=1, minutes=number * (24 * 60 // MERGES_A_DAY)),
            files=(builders.changed_file(path=f"src/part_{number % 400}.py"),),
        )
        for number in range(HISTORY)
    )
    with connect_server(there.settings["REDIS_URL"]) as store:
        HistoryStore(store).record_merges(merges)


def _wait_for_card(there: World, person: Person, channel: str, number: int) -> float:
    """Post a link in a channel of its own, and return the seconds until its card is there."""
    there.slack.add_channel(channel, channel.lower())
    person.send_command("/prdigest", "previews on", channel)
    eventually(lambda: there.slack.list_messages(channel), 30)
    began = time.perf_counter()
    ts = str(person.send_message(f"https://github.com/{REPOSITORY}/pull/{number}", channel).payload["event"]["ts"])
    while not there.slack.get_message(channel, ts).get("attachments"):
        if time.perf_counter() - began > 30:
            raise SystemExit("no preview within 30 seconds")
        time.sleep(0.005)
    return time.perf_counter() - began
