"""A web process is killed with SIGKILL, before and after Slack has its acknowledgement."""

from concurrent.futures import ThreadPoolExecutor
from typing import cast

from tests.crash.conftest import Site, Web, site_in, site_on_own_server
from tests.crash.overlap import overlapping
from tests.helpers.checks import eventually


def kill(web: Web) -> None:
    web.process.kill()
    web.process.wait(timeout=10)


def waiting(site: Site) -> int:
    return int(cast("dict[str, int]", site.store.info("clients"))["blocked_clients"])


@overlapping(site_in)
def test_what_was_acknowledged_before_the_kill_is_answered_by_a_worker_that_starts_later(site: Site) -> None:
    web = site.web()
    ada = site.person(web)
    asked = [
        ada.send_command("/prsummary", "101"),
        ada.send_command("/prsummary", "102 private"),
        ada.mention("103"),
    ]
    kill(web)
    assert [delivery.ack.status for delivery in asked] == [200] * 3
    site.worker()
    site.await_answers(*asked)
    assert [len(site.answers(delivery)) for delivery in asked] == [1] * 3


@overlapping(site_on_own_server)
def test_what_was_not_acknowledged_before_the_kill_is_answered_once_when_it_is_delivered_again(site: Site) -> None:
    web = site.web()
    ada = site.person(web)
    site.store.client_pause(timeout=60_000, all=False)
    with ThreadPoolExecutor(2) as pool:
        requests = [pool.submit(ada.mention, "101"), pool.submit(ada.send_command, "/prsummary", "102")]
        eventually(lambda: waiting(site) == len(requests))
        kill(web)
    site.store.client_unpause()
    lost = [request.result() for request in requests]
    assert [delivery.ack.status for delivery in lost] == [0] * 2
    later, _ = site.pair()
    again = site.person(later)
    assert [again.redeliver(delivery).ack.status for delivery in lost] == [200] * 2
    site.await_answers(*lost)
    assert [len(site.answers(delivery)) for delivery in lost] == [1] * 2


@overlapping(site_in)
def test_what_was_taken_but_not_acknowledged_is_answered_once_when_it_is_delivered_again(site: Site) -> None:
    web = site.web()
    asked = site.person(web).send_command("/prsummary", "101")
    kill(web)
    # as if the kill had come right after the job was on its queue
    assert site.store.delete(*site.store.keys("asked:*")) == 1
    later, _ = site.pair()
    assert site.person(later).redeliver(asked).ack.text == asked.ack.text
    site.await_answers(asked)
    assert len(site.answers(asked)) == 1
    assert site.times_asked() == [1]
