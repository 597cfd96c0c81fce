import signal
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import cast

from bot.platform.store.connection import connect_server
from bot.platform.store.embedded.keeper import LINGER_SECONDS
from bot.platform.store.embedded.server import start_embedded_url
from tests.crash.conftest import Site, Web, site_in, site_on_own_server
from tests.crash.overlap import overlapping
from tests.helpers.checks import closed_port, eventually
from tests.helpers.processes.command import Process
from tests.platform.store.embedded.test_server import keeper_of, lives, server_of

STOPPED = 20  # seconds: a worker has 12 for its last work


@overlapping(site_in)
def test_a_worker_that_stops_finishes_what_it_runs_and_hands_back_the_rest(site: Site) -> None:
    web, worker = site.pair(PRDIGEST_WORKER_THREADS="2")
    site.hold_claude()
    ada = site.person(web)
    asked = [ada.send_command("/prsummary", str(number)) for number in range(101, 109)]
    eventually(lambda: len(site.gate.held) == 2)
    worker.send_signal(signal.SIGTERM)
    # what it runs ends after the signal has come
    eventually(lambda: _is_told(worker))
    site.gate.open()
    assert worker.wait(timeout=STOPPED) == 0
    done = sum(len(site.answers(delivery)) for delivery in asked)
    assert 2 <= done < len(asked)
    assert not site.store.keys("dramatiq:__acks__*"), "a second worker need not wait until this one counts as dead"
    assert site.store.llen("dramatiq:prdigest") == len(asked) - done
    site.worker()
    site.await_answers(*asked)
    assert [len(site.answers(delivery)) for delivery in asked] == [1] * len(asked)
    assert site.times_asked() == [1] * len(asked)


def _is_told(process: Process) -> bool:
    """Whether the signal that ends a process has reached its handler: nothing is pending."""
    status = Path(f"/proc/{process.pid}/status").read_text()
    pending = [line.split()[1] for line in status.splitlines() if line.startswith(("SigPnd", "ShdPnd"))]
    return all(int(mask, 16) == 0 for mask in pending)


@overlapping(site_on_own_server)
def test_a_web_process_that_stops_acknowledges_what_it_has_taken(site: Site) -> None:
    web = site.web()
    site.store.client_pause(timeout=60_000, all=False)
    with ThreadPoolExecutor(8) as pool:
        people = [site.person(web, f"U0ASKER{number}") for number in range(8)]
        requests = [pool.submit(ada.send_command, "/prsummary", str(101 + at)) for at, ada in enumerate(people)]
        eventually(lambda: cast("dict[str, int]", site.store.info("clients"))["blocked_clients"] == len(people))
        web.process.send_signal(signal.SIGTERM)
        site.store.client_unpause()
        asked = [request.result() for request in requests]
    assert {delivery.ack.status for delivery in asked} == {200}
    assert {delivery.ack.text for delivery in asked} == {""}
    assert web.process.wait(timeout=STOPPED) == 0
    site.worker()
    site.await_answers(*asked)
    assert [len(site.answers(delivery)) for delivery in asked] == [1] * len(asked)


def _all_in_one(site: Site, state: Path) -> Web:
    port = closed_port()
    settings = {"REDIS_URL": "", "PRDIGEST_STATE_DIR": str(state), "PORT": str(port)}
    return Web(site.start("run", **settings), port)


@overlapping(site_in)
def test_all_in_one_ends_cleanly_and_leaves_nothing_running(site: Site) -> None:
    ends = (signal.SIGTERM, signal.SIGINT)
    runs = [_all_in_one(site, site.folder / how.name) for how in ends]
    eventually(lambda: all(run.is_ready() for run in runs))
    asked = [site.person(run).send_command("/prsummary", "101") for run in runs]
    eventually(lambda: all(map(site.answers, asked)))
    stores = [_store_of(site.folder / how.name) for how in ends]
    for run, how in zip(runs, ends, strict=True):
        run.process.send_signal(how)
    assert [run.process.wait(timeout=STOPPED) for run in runs] == [0, 0]
    assert [len(site.answers(delivery)) for delivery in asked] == [1, 1]
    eventually(lambda: not any(lives(pid) for pids in stores for pid in pids), LINGER_SECONDS + 10)


def _store_of(state: Path) -> tuple[int, int]:
    with connect_server(start_embedded_url(state)) as client:
        server = server_of(client)
    return server, keeper_of(server)
