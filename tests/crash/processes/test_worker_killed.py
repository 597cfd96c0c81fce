from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import Any

from localslack.loopback import HangUp
from localslack.users.person import Delivery, Person

from tests.crash.conftest import DAY, Site, site_on
from tests.crash.overlap import StoreSlot, overlapping
from tests.helpers.checks import eventually
from tests.helpers.processes.command import Process

RISKY_DAY = "2026-03-01"


@contextmanager
def both(slot: StoreSlot) -> Iterator[tuple[Site, Site]]:
    """Two sites that know nothing of each other, for what takes long and can go on at the same time."""
    with ExitStack() as stack:
        first, second = (stack.enter_context(site_on(*database, slot.folder)) for database in slot.databases)
        yield first, second


def replace_worker(site: Site, victim: Process, *, is_there: bool) -> None:
    """Kill the worker; another one is there before or comes after."""
    if is_there:
        site.worker()
    victim.kill()
    victim.wait(timeout=10)
    site.gate.open()
    if not is_there:
        site.worker()


def in_both(sites: tuple[Site, Site], check: Callable[..., None]) -> None:
    """The same at the same time: where another worker is there, and where one comes later."""
    with ThreadPoolExecutor(2) as pool:
        first, second = sites
        runs = [pool.submit(check, first, is_there=True), pool.submit(check, second, is_there=False)]
    for run in runs:
        run.result()


def killed_while_the_model_answers(site: Site, *, is_there: bool) -> None:
    web, victim = site.pair()
    ada = site.person(web)
    site.hold_claude()
    asked = [
        ada.send_command("/prsummary", "101"),
        ada.send_command("/prsummary", "102 private"),
        ada.send_command("/prrisks", RISKY_DAY),
        ada.send_command("/prrisks", f"{RISKY_DAY} private top:3"),
        site.press_details(ada, 103),
        ada.mention("104"),
    ]
    # both risk lists ask the same question: one of them waits for the other
    eventually(lambda: len(site.gate.held) == len(asked) - 1)
    replace_worker(site, victim, is_there=is_there)
    site.await_answers(*asked)
    assert [len(site.answers(delivery)) for delivery in asked] == [1] * len(asked)
    assert site.answers(asked[4]) == ["#103"]
    assert site.times_asked() == [2] * (len(asked) - 1)


@overlapping(both)
def test_a_worker_killed_while_the_model_answers_leaves_nobody_without_an_answer(sites: tuple[Site, Site]) -> None:
    in_both(sites, killed_while_the_model_answers)


@dataclass(frozen=True)
class Moment:
    """A call to Slack in which the worker is killed: on its way there, or on the way back."""

    method: str
    is_done: bool
    ask: Callable[[Site, Person], Delivery]
    answers: tuple[int, ...] = (1,)


def _summary(text: str) -> Callable[[Site, Person], Delivery]:
    return lambda site, ada: ada.send_command("/prsummary", text)


MOMENTS = {
    "101": Moment("chat.postMessage", False, _summary("101")),
    "102": Moment("chat.postMessage", True, _summary("102")),
    "103": Moment("response_url", False, _summary("103 private")),
    # what only one person saw can't be looked for: better twice than never
    "104": Moment("response_url", True, _summary("104 private"), (1, 2)),
    "105": Moment("views.open", True, lambda site, ada: site.press_details(ada, 105)),
    "106": Moment("views.update", False, lambda site, ada: site.press_details(ada, 106)),
    "108": Moment("views.open", False, lambda site, ada: site.press_details(ada, 108)),
    "risks": Moment("chat.postMessage", True, lambda site, ada: ada.send_command("/prrisks", f"{DAY} path:none")),
}


def hold_at(site: Site, *, is_done: bool) -> Callable[[str, dict[str, Any]], None]:
    """A hook that holds each of the calls above once; one that has not had its effect never has it."""

    def hook(method: str, arguments: dict[str, Any]) -> None:
        name = _subject(arguments)
        moment = MOMENTS.get(name)
        if not moment or (moment.method, moment.is_done) != (method, is_done) or name in site.gate.held:
            return
        site.gate.hold(name)
        if not is_done:
            raise HangUp

    return hook


def _subject(arguments: dict[str, Any]) -> str:
    """What a message or window is about: the number of a pull request, or a list."""
    content = str(arguments.get("text") or arguments.get("view") or "")
    return "risks" if "Risky" in content else next((name for name in MOMENTS if f"#{name}" in content), "")


def killed_in_calls_to_slack(site: Site, *, is_there: bool) -> None:
    web, victim = site.pair()
    ada = site.person(web)
    site.world.slack.before, site.world.slack.after = hold_at(site, is_done=False), hold_at(site, is_done=True)
    asked = {name: moment.ask(site, ada) for name, moment in MOMENTS.items()}
    eventually(lambda: len(site.gate.held) == len(MOMENTS))
    replace_worker(site, victim, is_there=is_there)
    site.await_answers(*asked.values())
    for name, delivery in asked.items():
        texts = site.answers(delivery)
        assert len(texts) in MOMENTS[name].answers, (name, texts)
        assert not any("is being read" in shown for shown in texts)
    assert "did not open in time" in site.answers(asked["108"])[0], "it is too late to open this window"
    assert len(site.times_asked()) == sum(site.times_asked()), "what was read before the kill is not read again"


@overlapping(both)
def test_a_worker_killed_in_a_call_to_slack_leaves_each_answer_once(sites: tuple[Site, Site]) -> None:
    in_both(sites, killed_in_calls_to_slack)
