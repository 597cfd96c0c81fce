from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from itertools import product

from localslack.state.workspace import Json
from localslack.users.person import Delivery, Person
from localslack.users.transport import Ack, Transport

from tests.crash.conftest import DAY, Site, site_in
from tests.crash.overlap import overlapping

Kind = Callable[[Site, Person, int], Delivery]
KINDS: tuple[Kind, ...] = (
    lambda _, person, number: person.send_command("/prsummary", str(number)),
    lambda _, person, number: person.send_command("/prsummary", f"{number} private"),
    lambda _, person, number: person.send_command("/prrisks", f"{DAY} author:person-{number}"),
    lambda _, person, number: person.mention(str(number)),
    lambda site, person, number: site.press_details(person, number),
)


@dataclass(frozen=True)
class Twice:
    """Delivers everything twice at the same time, over two wires; the second acknowledgement counts."""

    wires: tuple[Transport, Transport]

    def send(self, kind: str, payload: Json, *, retry: int = 0) -> Ack:
        with ThreadPoolExecutor(2) as pool:
            acks = [pool.submit(wire.send, kind, payload, retry=retry) for wire in self.wires]
            return [ack.result() for ack in acks][-1]


@overlapping(site_in)
def test_what_is_delivered_twice_to_many_processes_is_answered_once(site: Site) -> None:
    """Each kind over each pair of wires."""
    webs, _ = site.staff(webs=2, workers=3)
    wires = list(product([web.wire for web in webs], repeat=2))
    cases = list(product(KINDS, wires))

    def ask(number: int, case: tuple[Kind, tuple[Transport, Transport]]) -> Delivery:
        kind, pair = case
        person = replace(site.person(webs[0], f"U0ASKER{number}"), transport=Twice(pair))
        return kind(site, person, 101 + number)

    with ThreadPoolExecutor(len(cases)) as pool:
        asked = list(pool.map(ask, range(len(cases)), cases))
    assert {delivery.ack.status for delivery in asked} == {200}
    site.await_answers(*asked)
    assert [len(site.answers(delivery)) for delivery in asked] == [1] * len(cases)
    assert set(site.times_asked()) == {1}
    assert not any("is being read" in shown for delivery in asked for shown in site.answers(delivery))
