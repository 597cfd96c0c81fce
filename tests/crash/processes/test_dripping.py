"""Peers drip, or want long pauses: each process ends in time all the same, and the next one does the work once."""

import signal
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

from tests.crash.conftest import Site, site_in
from tests.crash.overlap import StoreSlot, overlapping
from tests.emulators.drip import Drip
from tests.helpers.checks import closed_port, eventually

# seconds that a process may take to end, and between two bytes
ENDED, INTERVAL = 20.0, 2.0
# what starts while Slack drips; each has a Slack of its own to wait for
NEW = ("clock", "web")


@contextmanager
def site_with_peers(slot: StoreSlot) -> Iterator[tuple[Site, dict[str, Drip]]]:
    """What stands before GitHub, Claude and Slack, and before Slack for each new process; healthy at first."""
    names = {"GITHUB_API_URL": "github", "ANTHROPIC_BASE_URL": "claude", "SLACK_API_URL": "slack"}
    with ExitStack() as stack:
        site = stack.enter_context(site_in(slot))
        drips = {
            name: stack.enter_context(Drip(site.world.settings[variable])) for variable, name in names.items()
        }
        for name in NEW:
            drips[name] = stack.enter_context(Drip(site.world.settings["SLACK_API_URL"]))
        site.world.settings.update({variable: drips[name].url for variable, name in names.items()})
        yield site, drips


@overlapping(site_with_peers)
def test_processes_end_in_time_whatever_peers_do_and_the_next_one_does_the_work_once(
    place: tuple[Site, dict[str, Drip]],
) -> None:
    site, peers = place
    web, worker = site.pair()
    ada = site.person(web)
    by_claude = ada.send_command("/prsummary", "150")
    eventually(lambda: len(site.answers(by_claude)) == 1)
    # one waits for GitHub, one for the model, one for a pause that is short enough to be waited for
    peers["claude"].interval = INTERVAL
    asked = [ada.send_command("/prsummary", "101")]
    eventually(lambda: bool(site.world.claude.requests[1:]))
    site.world.slack.fail_next("chat.postMessage", retry_after=28)
    asked.append(ada.send_command("/prrisks", "2026-02-28 path:none"))
    eventually(lambda: len(site.world.slack.list_calls_to("chat.postMessage")) > 1)
    peers["github"].interval = INTERVAL
    before = len(peers["github"].paths)
    asked += [ada.send_command("/prsummary", "102"), ada.send_command("/prdigest", "2026-03-01 private")]
    eventually(lambda: len(peers["github"].paths) >= before + 2)
    for name in ("slack", *NEW):
        peers[name].interval = INTERVAL
    clock, late = (site.start(name, SLACK_API_URL=peers[name].url, PORT=str(closed_port())) for name in NEW)
    # a process that asks Slack listens for signals; before, while it still imports, the first one would end it
    eventually(lambda: all(peers[name].paths for name in NEW))

    began = time.monotonic()
    processes = [worker, clock, late]
    for process in processes:
        process.send_signal(signal.SIGTERM)
    codes = [process.wait(timeout=3 * ENDED) for process in processes]
    assert time.monotonic() - began < ENDED
    assert codes == [0, 0, 0]
    assert not site.store.keys("dramatiq:__acks__*prdigest*"), "nobody waits until this one counts as dead"
    assert [len(site.answers(delivery)) for delivery in asked] == [0] * len(asked)

    for peer in peers.values():
        peer.heal()
    site.worker()
    site.await_answers(*asked)
    assert [len(site.answers(delivery)) for delivery in asked] == [1] * len(asked)
