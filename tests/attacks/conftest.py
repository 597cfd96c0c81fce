"""The bots that are attacked: processes with a canary in place of each secret."""

from collections.abc import Iterator

import pytest

from tests.scenarios.conftest import Bots, bots_in


@pytest.fixture(scope="package")
def bots(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Bots]:
    with bots_in(tmp_path_factory.mktemp("attacks"), module="tests.helpers.processes.quick_posts") as running_bots:
        yield running_bots
