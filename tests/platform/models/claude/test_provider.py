import gc
from collections.abc import Iterator

import pytest

from bot.platform.models import ModelAccess
from bot.platform.models.claude import CLAUDE


@pytest.fixture(autouse=True)
def _collector() -> Iterator[None]:
    was_enabled = gc.isenabled()
    yield
    (gc.enable if was_enabled else gc.disable)()


@pytest.mark.slow
@pytest.mark.parametrize("is_enabled", [True, False], ids=["on", "off"])
def test_opening_keeps_the_objects_of_the_sdk_and_leaves_the_collector_as_it_was(*, is_enabled: bool) -> None:
    (gc.enable if is_enabled else gc.disable)()
    made = [[number] for number in range(10_000)]
    before = gc.get_freeze_count()
    CLAUDE.connect(ModelAccess("sk-ant-test", "http://127.0.0.1:1")).close()
    assert gc.isenabled() is is_enabled
    assert gc.get_freeze_count() - before >= len(made)
