import random
from collections.abc import Iterator
from http.client import HTTPConnection, HTTPException

import pytest
from localslack.loopback import Loopback, Request, Response

from tests.faults.proxy import FaultProxy, PlannedFault, ServiceFault, ServiceName

WHOLE = {"ok": True, "more": "x" * 1_000}


class Service(Loopback):
    asked = 0

    def handle(self, request: Request) -> Response:
        self.asked += 1
        return Response.of_json(WHOLE)


@pytest.fixture
def service() -> Iterator[Service]:
    with Service() as served:
        yield served


@pytest.fixture(params=ServiceName)
def proxy(request: pytest.FixtureRequest, service: Service) -> Iterator[FaultProxy]:
    with FaultProxy(request.param) as made:
        made.target = service.url
        yield made


def ask(proxy: FaultProxy, timeout: float = 5.0) -> tuple[int, bytes] | str:
    connection = HTTPConnection("127.0.0.1", proxy.port, timeout=timeout)
    try:
        connection.request("POST", "/", b"{}")
        answer = connection.getresponse()
        return answer.status, answer.read()
    except (OSError, HTTPException) as error:
        return type(error).__name__
    finally:
        connection.close()


def fail(proxy: FaultProxy, fault: ServiceFault, seconds: float = 0.0) -> None:
    proxy.inject(PlannedFault(fault, seconds, random.Random(1)))  # noqa: S311 (no secret)


def test_a_healthy_service_is_reached_before_and_after_each_fault(proxy: FaultProxy) -> None:
    healthy = ask(proxy)
    assert healthy[0] == 200
    for fault in ServiceFault:
        fail(proxy, fault)
        ask(proxy)
        proxy.heal()
        assert ask(proxy) == healthy


def test_nobody_listens_where_a_service_is_down(proxy: FaultProxy) -> None:
    fail(proxy, ServiceFault.DOWN)
    assert ask(proxy) == "ConnectionRefusedError"


def test_a_slow_service_has_its_effect_and_answers_too_late(proxy: FaultProxy, service: Service) -> None:
    fail(proxy, ServiceFault.SLOW, seconds=60.0)
    assert ask(proxy, timeout=0.2) == "TimeoutError"
    assert service.asked == 1


def test_what_is_cut_had_its_effect(proxy: FaultProxy, service: Service) -> None:
    fail(proxy, ServiceFault.CUT)
    assert ask(proxy) == "IncompleteRead"
    assert service.asked == 1


@pytest.mark.parametrize("fault", [ServiceFault.REFUSING, ServiceFault.FAILING, ServiceFault.LIMITED])
def test_a_refusal_has_no_effect(proxy: FaultProxy, service: Service, fault: ServiceFault) -> None:
    fail(proxy, fault)
    answer = ask(proxy)
    is_slack = proxy.service is ServiceName.SLACK
    assert (answer[0] == 200) == (is_slack and fault is ServiceFault.REFUSING)
    assert service.asked == 0


def test_garbage_is_nothing_that_the_service_says(proxy: FaultProxy, service: Service) -> None:
    fail(proxy, ServiceFault.GARBAGE)
    answers = {ask(proxy) for _ in range(40)}
    assert len(answers) > 3
    assert not any(isinstance(each, tuple) and b'"more"' in each[1] for each in answers)
    assert 0 < service.asked < 40
