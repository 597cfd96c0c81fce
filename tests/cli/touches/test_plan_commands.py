from collections.abc import Iterator

import pytest
from redis import Redis

from bot.features.profiles.service import ProfileEntry
from bot.features.touches.contracts import LEDGERS
from impact.contract.deprecations import DeprecationLedger, update_ledger
from impact.contract.models import ChangeKind, ContractChange, ContractClass, Deadline, MergeContract
from impact.profile.models import Profile, Use, UseKind
from tests.cli.conftest import Call
from tests.helpers.apps import make_app
from tests.helpers.builders import NOON, REPOSITORY
from tests.helpers.world import SMALL_DAY, World, add_small_day, world

pytestmark = pytest.mark.slow

REPO = ("--repo", "octo/engine")


@pytest.fixture
def there(store: Redis, store_url: str) -> Iterator[World]:
    with world(store_url) as made:
        yield made


def test_a_page_is_made_of_what_was_read_before(there: World, call_command: Call) -> None:
    add_small_day(there.github)
    command = ("since", "2026-02-28..2026-02-28", *REPO, "--timezone", "America/Los_Angeles")
    first = call_command(*command, settings=there.settings)
    assert (first.returncode, there.claude.requests) == (0, [])
    assert "I couldn't read 3 of 3 summaries (nobody has asked for them yet)" in first.stdout
    assert call_command("report", *SMALL_DAY, settings=there.settings).returncode == 0
    asked = len(there.claude.requests)
    second = call_command(*command, settings=there.settings)
    assert "couldn't read" not in second.stdout
    assert "3 merges" in second.stdout
    assert "from stored summaries" in second.stdout
    assert len(there.claude.requests) == asked


def test_deprecations_are_lines_with_our_places(there: World, store: Redis, call_command: Call) -> None:
    row = ContractChange(
        ContractClass.FLAG, ChangeKind.DEPRECATED, "--old", "", "", "a.py", 1, deadline=Deadline("v1.2", "--new")
    )
    ledger = update_ledger(DeprecationLedger(), [MergeContract(5, "c" * 40, NOON, changes=(row,))])
    make_app(store).tables.put(LEDGERS, ledger, str(REPOSITORY))
    use = Use(UseKind.FLAG, "--old", "run.sh", 4)
    entry = ProfileEntry("ours", REPOSITORY, ("engine",))
    make_app(store).profiles.put(entry, Profile("ours", ("engine",), "", "", NOON, (use,)))
    done = call_command("deprecations", *REPO, "--profile", "ours", settings=there.settings)
    unread, line = done.stdout.splitlines()
    assert unread.startswith("I couldn't read the merges of the last 31 days")
    assert line == "announced --old to go in v1.2, use --new #5 run.sh:4"
    other = call_command("deprecations", "--repo", "octo/other", settings=there.settings)
    assert other.stdout.endswith("so I can't tell.\n")
