"""What is known of merged pull requests, kept for good; and which days were filled."""

import json
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import cast

import pytest
from redis import Redis

from bot.errors import StoreUnavailable
from bot.features.merges.outcomes import RevertIndex
from bot.platform.pulls.models import Account, LinkedIssue, PullRequest
from bot.platform.store.connection import RedisTimeouts, connect_server, pack_value, unpack_value
from bot.platform.store.merge_records import HistoryStore
from impact.history.outcomes import Repair, find_repairs
from impact.history.reverts import Revert
from impact.repository import Repository
from tests.helpers.builders import DAY, NOON, REPOSITORY, changed_file, pull
from tests.helpers.checks import closed_port

SECOND = timedelta(seconds=1)
BEGIN, END = NOON - timedelta(days=400), NOON + timedelta(days=2)
OTHER = Repository("octo", "other")
FILES = (
    changed_file("engine/new.py", 3, 2, status="renamed", previous_path="engine/old.py"),
    changed_file("Größe 日本.md", 1),
    changed_file("logo.png", 0, patch=None, status="removed"),
)
RICH = pull(
    7,
    title='Größe "日本" <!channel> \u2028 🎉',
    body="Why: it was slow.\r\n\r\nHow: a cache.",
    author=Account("renovate", is_bot=True),
    merged_at=datetime(2026, 2, 28, 20, 0, 0, 123_456, UTC),
    merge_commit=None,
    labels=("bug", "größe"),
    linked_issues=(LinkedIssue(3, "Größe <!here> \u2028"), LinkedIssue(4, "x" * 1_024)),
    base="release/1",
    files=FILES,
)
BARE = pull(8, files=None)


@pytest.fixture
def history(store: Redis) -> HistoryStore:
    return HistoryStore(store)


def numbers(history: HistoryStore, since: datetime = BEGIN, until: datetime = END) -> list[int]:
    return [pull_request.number for pull_request in history.read_merges(REPOSITORY, since, until)]


def body_kept(history: HistoryStore, body: str) -> str:
    history.record_merges([replace(RICH, body=body)])
    (pull_request,) = history.read_merges(REPOSITORY, BEGIN, END)
    return pull_request.body


def test_what_is_recorded_comes_back_without_patches(history: HistoryStore) -> None:
    history.record_merges([RICH, BARE])
    assert set(history.read_merges(REPOSITORY, BEGIN, END)) == {RICH.remove_patches(), BARE}
    files = history.read_merges(REPOSITORY, BEGIN, END)[0].files or ()
    assert [(file.path, file.status, file.previous_path, file.patch) for file in files] == [
        ("engine/new.py", "renamed", "engine/old.py", None),
        ("Größe 日本.md", "modified", None, None),
        ("logo.png", "removed", None, None),
    ]


def test_what_was_recorded_before_issues_were_read_has_none(history: HistoryStore, store: Redis) -> None:
    history.record_merges([RICH])
    (key,) = store.keys("*")
    record = json.loads(unpack_value(cast("bytes", store.hget(key, "7"))))
    assert len(record.pop("linked_issues")) == 2
    store.hset(key, "7", pack_value(json.dumps(record)))
    assert history.read_merges(REPOSITORY, BEGIN, END) == (replace(RICH.remove_patches(), linked_issues=()),)


def test_a_credential_in_the_title_of_an_issue_is_not_stored(history: HistoryStore) -> None:
    history.record_merges([replace(RICH, linked_issues=(LinkedIssue(3, "ghp_" + "a1B2" * 9),))])
    (pull_request,) = history.read_merges(REPOSITORY, BEGIN, END)
    assert "a1B2" not in pull_request.linked_issues[0].title


def test_it_is_read_newest_first_across_days(history: HistoryStore) -> None:
    ages = {1: 300, 2: 0, 3: 1, 4: 90}
    history.record_merges(pull(number, merged_at=NOON - timedelta(days=days)) for number, days in ages.items())
    assert numbers(history) == [2, 3, 4, 1]


SPANS: dict[str, tuple[datetime, datetime, list[int]]] = {
    "all": (BEGIN, END, [3, 2, 1]),
    "the beginning is in it": (NOON, NOON + SECOND, [2]),
    "the end is not": (NOON - SECOND, NOON, [1]),
    "nothing": (NOON, NOON, []),
    "the wrong way round": (END, BEGIN, []),
    "over midnight UTC": (NOON, NOON + timedelta(hours=12), [3, 2]),
    "up to midnight UTC": (BEGIN, datetime(2026, 3, 1, tzinfo=UTC), [2, 1]),
    "from midnight UTC": (datetime(2026, 3, 1, tzinfo=UTC), END, [3]),
    "in another zone": (DAY.to_local_time(NOON), DAY.to_local_time(NOON + timedelta(hours=5)), [3, 2]),
}


@pytest.mark.parametrize(("since", "until", "expected"), SPANS.values(), ids=SPANS)
def test_it_is_read_from_an_instant_up_to_another(
    history: HistoryStore, since: datetime, until: datetime, expected: list[int]
) -> None:
    times = {1: NOON - SECOND, 2: NOON, 3: datetime(2026, 3, 1, tzinfo=UTC)}
    history.record_merges(pull(number, merged_at=at) for number, at in times.items())
    assert numbers(history, since, until) == expected


def test_recording_again_replaces(history: HistoryStore, store: Redis) -> None:
    history.record_merges([RICH])
    history.record_merges([replace(RICH, title="Retitled", files=FILES[:1])])
    (pull_request,) = history.read_merges(REPOSITORY, BEGIN, END)
    assert (pull_request.title, len(pull_request.files or ()), store.dbsize()) == ("Retitled", 1, 1)


def test_what_has_no_files_replaces_nothing_and_is_replaced(history: HistoryStore) -> None:
    bare = replace(RICH, files=None)
    for given_, expected in ((bare, None), (RICH, FILES), (bare, FILES)):
        history.record_merges([given_])
        (pull_request,) = history.read_merges(REPOSITORY, BEGIN, END)
        assert pull_request.files == (None if expected is None else RICH.remove_patches().files)


def test_no_files_at_all_are_files_too(history: HistoryStore) -> None:
    history.record_merges([replace(RICH, files=())])
    history.record_merges([replace(RICH, files=None)])
    assert history.read_merges(REPOSITORY, BEGIN, END)[0].files == ()


def test_repositories_are_apart(history: HistoryStore) -> None:
    history.record_merges([RICH, replace(BARE, repository=OTHER)])
    assert numbers(history) == [7]


def test_a_repository_is_the_same_however_it_is_typed(history: HistoryStore) -> None:
    typed = Repository("Octo", "ENGINE")
    history.record_merges([replace(RICH, repository=typed)])
    assert history.read_merges(REPOSITORY, BEGIN, END) == (RICH.remove_patches(),)
    assert history.read_merges(typed, BEGIN, END)[0].repository == typed


def test_nothing_of_it_expires(history: HistoryStore, store: Redis) -> None:
    history.record_merges([RICH, BARE])
    assert [store.ttl(key) for key in store.scan_iter()] == [-1]


def test_what_is_not_merged_is_refused_and_nothing_kept(history: HistoryStore, store: Redis) -> None:
    with pytest.raises(ValueError, match="#9 is not merged"):
        history.record_merges([RICH, pull(9, merged_at=None)])
    assert store.dbsize() == 0


def test_recording_nothing_is_fine(history: HistoryStore) -> None:
    history.record_merges([])
    assert numbers(history) == []


def test_several_at_once_harm_nothing(history: HistoryStore, store_url: str) -> None:
    pulls = [pull(number, merged_at=NOON - number * timedelta(hours=1)) for number in range(1, 41)]

    def record_all(bare: bool) -> None:
        with connect_server(store_url) as client:
            for each in pulls:
                HistoryStore(client).record_merges([replace(each, files=None) if bare else each])

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(record_all, [True, False, True, False]))
    assert list(history.read_merges(REPOSITORY, BEGIN, END)) == [each.remove_patches() for each in pulls]


@pytest.mark.parametrize("value", [b"", b"p{}", b"zzz", b"p\xff", b'p{"number": 7}'])
def test_a_record_that_can_not_be_read_leaves_the_others(
    history: HistoryStore, store: Redis, value: bytes, caplog: pytest.LogCaptureFixture
) -> None:
    history.record_merges([RICH, replace(BARE, merged_at=RICH.merged_at)])
    store.hset("history:octo/engine:2026-02-28", "7", value)
    assert numbers(history) == [8]
    assert "can't be read" in caplog.text


def test_a_store_that_is_away_is_told(history: HistoryStore) -> None:
    with connect_server(f"redis://127.0.0.1:{closed_port()}", timeouts=RedisTimeouts(0.1, 0.1, 0)) as away:
        for act in (
            lambda: HistoryStore(away).record_merges([RICH]),
            lambda: HistoryStore(away).read_merges(REPOSITORY, BEGIN, END),
        ):
            with pytest.raises(StoreUnavailable):
                act()


class TestDescriptions:
    def test_a_short_one_is_kept_whole(self, history: HistoryStore) -> None:
        assert body_kept(history, "  Reverts octo/engine#5.\n") == "Reverts octo/engine#5."

    def test_hints_of_a_template_are_left_out(self, history: HistoryStore) -> None:
        hint = "<!-- " + "Describe what you did. " * 100 + "-->"
        assert body_kept(history, f"{hint}\nReverts #5\n{hint}") == "Reverts #5"

    def test_a_credential_is_not_kept(self, history: HistoryStore) -> None:
        token = "ghp_" + "A1b2" * 9
        history.record_merges([replace(RICH, title=f"Use {token}", body=f"With {token} it works.")])
        (pull_request,) = history.read_merges(REPOSITORY, BEGIN, END)
        assert (pull_request.title, pull_request.body) == ("Use [redacted]", "With [redacted] it works.")

    def test_a_long_one_ends_at_a_blank(self, history: HistoryStore) -> None:
        kept = body_kept(history, "many words " * 300)
        assert (kept, len(kept)) == ("many words " * 90 + "many words", 1_000)

    @pytest.mark.slow
    def test_no_number_is_cut_in_two(self, history: HistoryStore) -> None:
        earlier = [pull(n, merged_at=NOON - SECOND) for n in (3, 35, 356, 3_561, 35_617)]
        reverted_numbers: list[int] = []
        for before in range(980, 1_000):
            kept = body_kept(history, f"{'x' * before}\nReverts #35617 and goes on")
            reverted_numbers += [each.number for each in RevertIndex([replace(RICH, body=kept), *earlier]).reverts]
        # "Reverts #35617" takes fifteen characters with its line break
        assert reverted_numbers == [35_617] * 6

    def test_one_word_without_end_is_no_description(self, history: HistoryStore) -> None:
        assert body_kept(history, "x" * 1_000) == "x" * 1_000
        assert body_kept(history, "x" * 1_001) == ""

    def test_reverts_and_repairs_are_found_in_what_is_kept(self, history: HistoryStore) -> None:
        rest = "\n\n## Test plan\n\n" + "All tests pass, as they should. " * 200
        history.record_merges(
            [
                self._later(20, 'Revert "Count once"', "Reverts octo/engine#7" + rest),
                self._later(21, "Undo the cache", "This reverts commit " + f"{8:040x}." + rest),
                self._later(22, "Fix the crash", "A regression introduced by #9." + rest),
                *(pull(number, merged_at=NOON - SECOND) for number in (7, 8, 9)),
            ]
        )
        known = history.read_merges(REPOSITORY, BEGIN, END)
        assert set(RevertIndex(known).reverts) == {Revert(7, by=20), Revert(8, by=21)}
        assert find_repairs(RevertIndex(known)) == (Repair(9, by=22),)

    def _later(self, number: int, title: str, body: str) -> PullRequest:
        return pull(number, title=title, body=body, merged_at=NOON)


def message_kept(history: HistoryStore, message: str, body: str = "") -> str:
    history.record_merges([replace(RICH, body=body, commit_message=message)])
    (pull_request,) = history.read_merges(REPOSITORY, BEGIN, END)
    return pull_request.commit_message


class TestMessages:
    REVERT = "This reverts commit 0123456789abcdef0123456789abcdef01234567."

    @pytest.mark.parametrize(
        ("message", "kept"),
        [
            pytest.param("", "", id="none"),
            pytest.param("Count once (#7)", "", id="only the title"),
            pytest.param("Count once (#7)\n\n* tests\n\n* typo\n\nSigned-off-by: Ada", "", id="nobody is named"),
            pytest.param(f'Revert "A" (#7)\n\n{REVERT}', f"\n\n{REVERT}", id="a commit"),
            pytest.param(f"Undo\r\n\r\n{REVERT}\r\n\r\n* tests", f"\n\n{REVERT}", id="lines of Windows"),
            pytest.param("Fix (#7)\n\n* tests\n\nBroken by #5", "\n\nBroken by #5", id="a number"),
            pytest.param(
                f'x\n\n* Revert "a"\n\n{REVERT}\n\n* tests\n\n* Reapply "a"',
                f'\n\n* Revert "a"\n\n{REVERT}\n\n* Reapply "a"',
                id="what happened in the branch",
            ),
            pytest.param(f"x\n\n<!-- {REVERT} -->", "", id="a hint of a template"),
            pytest.param(
                "Merge pull request #7 from octo/revert-5-count\n\nUndo",
                "Merge pull request #7 from octo/revert-5-\n\n",
                id="the branch of a revert",
            ),
            pytest.param("Merge pull request #7 from octo/count\n\nCount", "", id="another branch"),
        ],
    )
    def test_of_a_message_is_kept_what_names_another(self, history: HistoryStore, message: str, kept: str) -> None:
        assert message_kept(history, message) == kept

    def test_what_the_description_says_is_kept_once(self, history: HistoryStore) -> None:
        message = f"Undo (#7)\n\nReverts octo/engine#5, for it\nbroke main.\n\n{self.REVERT}"
        assert message_kept(history, message, "Reverts octo/engine#5, for it broke main.") == f"\n\n{self.REVERT}"

    def test_a_credential_is_not_kept(self, history: HistoryStore) -> None:
        assert message_kept(history, f"x\n\nSee #5: ghp_{'A1b2' * 9}") == "\n\nSee #5: [redacted]"

    def test_a_long_one_ends_at_a_blank(self, history: HistoryStore) -> None:
        assert message_kept(history, "x\n\n" + "see #12345 " * 300) == "\n\n" + "see #12345 " * 90 + "see #12345"

    def test_a_revert_is_found_in_what_is_kept(self, history: HistoryStore) -> None:
        message = f"Undo the cache (#21)\n\n* Undo\n\nThis reverts commit {8:040x}.\n\n" + "* tests\n\n" * 400
        later = pull(21, title="Undo the cache", commit_message=message, merged_at=NOON)
        history.record_merges([later, pull(8, merged_at=NOON - SECOND)])
        assert RevertIndex(history.read_merges(REPOSITORY, BEGIN, END)).reverts == (Revert(8, by=21),)
