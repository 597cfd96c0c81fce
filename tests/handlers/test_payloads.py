import pytest
from localslack.state.workspace import Json
from localslack.users.person import Person
from localslack.users.transport import Ack

from handlers.payloads import PayloadError, check_payload
from tests.emulators.slack.server import SlackEmulator
from tests.hostile.tables.payloads import CHANGES, make_changed_payload


class Nowhere:
    """A transport to no app: what is sent is only looked at."""

    def send(self, kind: str, payload: Json, *, retry: int = 0) -> Ack:
        return Ack(200, "", 0.0)


@pytest.fixture
def person(slack: SlackEmulator) -> Person:
    return Person(slack, Nowhere())


def refuse(payload: Json) -> str:
    """Return why a payload is refused, nothing if it is taken."""
    try:
        check_payload(payload)
    except PayloadError as error:
        return str(error)
    return ""


def test_a_payload_that_lacks_something_is_refused_in_a_line(person: Person) -> None:
    refusals = {name: refuse(make_changed_payload(name, person)[1]) for name in CHANGES}
    assert {name: text for name, text in refusals.items() if len(text.splitlines()) != 1} == {}


def test_what_slack_sends_is_taken(person: Person) -> None:
    for make in dict.fromkeys(make for make, _ in CHANGES.values()):
        check_payload(make(person)[1])
