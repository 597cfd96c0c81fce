"""The store is there and refuses what is written: nobody is told that all is well, and all is well afterwards."""

import threading
from collections.abc import Callable

import pytest
from redis import Redis

from tests.crash.conftest import AGAIN, Site, site_on_own_server
from tests.crash.overlap import overlapping
from tests.helpers.checks import eventually
from tests.hostile.tables.store_faults import configure, follow

# longer than a consumer of jobs needs to begin again
_LONG = 5.0

Act = Callable[[Redis], object]
FAULTS: dict[str, tuple[Act, Act]] = {
    "no memory": (configure(maxmemory="1"), configure(maxmemory="0")),
    "replica": (follow, lambda client: client.replicaof("NO", "ONE")),
}


@pytest.mark.parametrize(("break_it", "mend_it"), FAULTS.values(), ids=FAULTS)
@overlapping(site_on_own_server)
def test_a_store_that_takes_no_writes_is_no_store_and_jobs_outlive_it(
    own: Site, break_it: Act, mend_it: Act
) -> None:
    web, worker = own.pair(PRDIGEST_WORKER_THREADS="1")
    own.hold_claude()
    # one is worked on, others are held by the worker and wait
    asked = [own.person(web).send_command("/prsummary", str(number)) for number in (101, 102, 103)]
    eventually(lambda: own.gate.held)
    break_it(own.store)
    eventually(lambda: not web.is_ready())
    refused = own.person(web).send_command("/prsummary", "104")
    assert "try again in a minute" in refused.ack.text
    own.gate.open()
    threading.Event().wait(_LONG)
    mend_it(own.store)
    eventually(web.is_ready)
    own.await_answers(*asked, seconds=AGAIN)
    assert [len(own.answers(each)) for each in asked] == [1, 1, 1]
    own.assert_works(web, worker)
