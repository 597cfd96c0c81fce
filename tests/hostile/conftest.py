from collections.abc import Iterator

import pytest

from tests.scenarios import Bot
from tests.scenarios.conftest import APART, Bots, bots_in, guard_bot


@pytest.fixture(scope="package")
def bots(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Bots]:
    with bots_in(tmp_path_factory.mktemp("hostile")) as bot_pool:
        yield bot_pool


@pytest.fixture(params=["http", APART], ids=["run", "web, worker, clock"])
def layout(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def bot(bots: Bots, layout: str) -> Iterator[Bot]:
    yield from guard_bot(bots.bot(layout))


@pytest.fixture
def http_bot(bots: Bots) -> Iterator[Bot]:
    yield from guard_bot(bots.bot("http"))


@pytest.fixture
def socket_bot(bots: Bots) -> Iterator[Bot]:
    yield from guard_bot(bots.bot("socket"))


@pytest.fixture
def partner_bot(bots: Bots, layout: str) -> Iterator[Bot]:
    """A bot that also answers people of a partner's workspace."""
    yield from guard_bot(bots.bot(layout, "partner", PRDIGEST_ALLOWED_WORKSPACES="T0PARTNER"))
