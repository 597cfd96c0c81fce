"""A job that kills or freezes whatever process runs it: after three times it is set aside, and others are done."""

import signal
from datetime import UTC, datetime
from functools import partial

from bot.jobs.queues import list_lost_jobs
from bot.platform.store.tables import Store
from tests.crash.conftest import PATIENCE, Site, site_in
from tests.crash.overlap import overlapping
from tests.helpers.checks import eventually
from tests.helpers.processes.command import Process


def has_held(site: Site, count: int) -> bool:
    return len(site.gate.held) >= count


def kill(worker: Process) -> None:
    worker.kill()
    worker.wait(timeout=10)


def freeze(worker: Process) -> None:
    """Nothing of it runs any more, as where one thread holds the interpreter; nobody has ended it yet."""
    worker.send_signal(signal.SIGSTOP)


@overlapping(site_in)
def test_what_ends_three_processes_is_set_aside_and_the_fourth_does_the_rest(site: Site) -> None:
    web = site.web()
    ada, bob = site.person(web), site.person(web, "U0BOB")
    site.hold_claude()
    poison = ada.send_command("/prsummary", "101")
    for attempt, happens in enumerate((kill, freeze, kill), 1):
        worker = site.worker()
        eventually(partial(has_held, site, attempt), PATIENCE)
        happens(worker)
    site.gate.open()
    last = site.worker()
    other = bob.send_command("/prsummary", "102")
    site.await_answers(poison, other)
    assert ["crashed three times" in answer for answer in site.answers(poison)] == [True]
    assert ["102" in answer for answer in site.answers(other)] == [True]
    [aside] = list_lost_jobs(Store(site.store), datetime.now(UTC))
    assert (aside.name, aside.user) == ("summary", "U0ASKER")
    assert last.poll() is None
