"""``prdigest usage`` after real commands, with the model on the loopback."""

import json
from collections.abc import Iterator

import pytest
from redis import Redis

from tests.cli.conftest import Call
from tests.helpers.world import SMALL_DAY, World, add_small_day, world

pytestmark = pytest.mark.slow


@pytest.fixture
def there(store: Redis, store_url: str) -> Iterator[World]:
    store.ping()
    with world(store_url) as made:
        yield made


def test_every_token_that_the_model_reported_is_in_the_usage(there: World, call_command: Call) -> None:
    add_small_day(there.github)
    assert call_command("report", *SMALL_DAY, settings=there.settings).returncode == 0
    usage = json.loads(call_command("usage", "--json", settings=there.settings).stdout)
    total, used = usage["month_total"], there.claude.usages
    assert total["calls"] == len(used) > 0
    assert total["input_tokens"] == sum(each["input_tokens"] for each in used)
    assert total["output_tokens"] == sum(each["output_tokens"] for each in used)
    assert list(total["dollars_by_origin"]) == ["terminal"]
    assert usage["day_budget"] == {"dollars": 0.0, "limit": 10.0, "left": 10.0}, (
        "the terminal counts toward no cap"
    )
    shown = call_command("usage", settings=there.settings).stdout
    assert "Commands in a terminal: under $0.01, which counts toward no limit" in " ".join(shown.split())


@pytest.mark.parametrize(("month", "sentence"), [("2026-13", "is not a month"), ("2999-01", "is still to come")])
def test_a_month_that_makes_no_sense_is_refused(
    there: World, call_command: Call, month: str, sentence: str
) -> None:
    refused = call_command("usage", "--month", month, settings=there.settings)
    assert refused.returncode != 0
    assert sentence in refused.stderr
