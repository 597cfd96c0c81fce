"""Archived days out of a real store: what is kept of merges, what became of them, and nothing of a team."""

from __future__ import annotations

import datetime as dt
from datetime import timedelta

import pytest
from redis import Redis

from bot.adapters.redis import RedisCache, RedisDeprecationStore, RedisHistoryStore
from bot.domain.archive.models import ArchivedDay
from bot.domain.contract.deprecations import DeprecationLedger, update_ledger
from bot.domain.contract.models import (
    ChangeKind,
    ContractChange,
    ContractClass,
    Deadline,
    MergeContract,
    UnreadFile,
)
from bot.domain.contract.releases import build_releases
from bot.domain.pull_requests.areas import determine_area
from bot.domain.pull_requests.models import PullRequest
from bot.domain.pull_requests.path_classes import get_default_classes
from bot.domain.pull_requests.reference import Reference
from bot.domain.summaries.fallback import Fallback, FallbackReason
from bot.domain.summaries.models import SummarisedPullRequest, Summary
from bot.domain.time.date_range import Span
from bot.services.archive.day_reader import ArchiveReader, KeptMerges
from bot.services.archive.deadlines import list_deadlines
from bot.services.contract.deprecations import DeprecationLedgers
from bot.services.contract.extractor import EXTRACTION_VERSION, extract_merge
from bot.services.contract.reader import ContractReader
from bot.services.summaries.summary_cache import SummaryCache
from tests.helpers.builders import DAY, NOON, REPOSITORY, changed_file, pull, summary

SPAN = Span(DAY.date - timedelta(days=2), DAY.date, DAY.zone)
# a credential of a form that the bot knows
TOKEN = "ghp_" + "a1B2" * 9


class Kept:
    """What a bot has in its store."""

    def __init__(self, store: Redis) -> None:
        cache = RedisCache(store)
        self.history = RedisHistoryStore(store)
        self.summaries = SummaryCache(cache, "made with something")
        self.contracts = ContractReader(None, cache, lambda pull: pull, extract_merge, EXTRACTION_VERSION)
        self.reader = ArchiveReader(
            KeptMerges(lambda: self.history, self.summaries.get, self.contracts.get_cached, get_default_classes)
        )

    def add(self, merged: PullRequest, made: Summary | None = None, *changes: ContractChange) -> None:
        """Record a merge, with its summary and its contract if they are given."""
        self.history.record_merges([merged])
        if made:
            read = SummarisedPullRequest(merged.remove_patches(), made, determine_area(merged))
            self.summaries.put(Reference(REPOSITORY, merged.number), read)
        if changes:
            contract = MergeContract(merged.number, merged.commit, merged.merge_time, changes=changes)
            self.contracts.keep(merged, contract)

    def read(self) -> tuple[ArchivedDay, ...]:
        return self.reader.read_days(REPOSITORY, SPAN)


@pytest.fixture
def kept_days(store: Redis) -> Kept:
    return Kept(store)


def make_removal(name: str = "engine.count", **fields: str) -> ContractChange:
    values = {"before": f"def {name}()", "after": "", "path": "engine/core.py", **fields}
    return ContractChange(ContractClass.FUNCTION, ChangeKind.REMOVED, name, line=3, **values)  # type: ignore[arg-type]


def test_a_day_has_what_is_kept_of_its_merges(kept_days: Kept) -> None:
    kept_days.add(pull(1), summary(action="Call `recount`."), make_removal())
    kept_days.add(pull(2, files=[changed_file("docs/a.md")]))
    (day,) = kept_days.read()
    assert (day.date, day.end) == (DAY.date, DAY.end)
    first, second = day.merges
    assert (first.number, first.headline, first.type) == (1, "Requests are counted once", "SUBSTANTIAL")
    assert first.sections[-1] == ("What to do", "Call `recount`.")
    assert first.changes is not None
    assert [each.name for each in first.changes] == ["engine.count"]
    assert (second.sections, second.changes, second.area) == ((), None, "Documentation")
    assert second.files == ("docs/a.md",)


def test_days_without_a_merge_are_left_out_and_others_are_local(kept_days: Kept) -> None:
    late = DAY.start - timedelta(minutes=1)
    kept_days.add(pull(1))
    kept_days.add(pull(2, merged_at=late))
    assert [(day.date, [each.number for each in day.merges]) for day in kept_days.read()] == [
        (DAY.date - timedelta(days=1), [2]),
        (DAY.date, [1]),
    ]


def test_a_revert_after_the_day_is_shown_until_it_is_reverted_itself(kept_days: Kept) -> None:
    kept_days.add(pull(1))
    kept_days.add(pull(9, title='Revert "Change number 1" (#1)', body="Reverts octo/engine#1", merged_at=DAY.end))
    (outcome,) = kept_days.read()[0].merges[0].outcomes
    assert (outcome.kind, outcome.by, outcome.at) == ("reverted", 9, DAY.end)
    again = DAY.end + timedelta(hours=2)
    kept_days.add(pull(10, title="Revert the revert (#9)", body="Reverts octo/engine#9", merged_at=again))
    assert kept_days.read()[0].merges[0].outcomes == ()


def test_a_summary_of_facts_is_none(kept_days: Kept) -> None:
    kept_days.add(pull(1), summary(fallback=Fallback(FallbackReason.NO_MODEL)))
    assert not kept_days.read()[0].merges[0].is_summarised


def test_texts_are_cut_and_lose_credentials_and_what_is_invisible(kept_days: Kept) -> None:
    made = summary(what_changed_and_why=f"{TOKEN} \u202e{'x' * 10_000}")
    kept_days.add(
        pull(1, title=f"a\u202eb {TOKEN} " + "t" * 500), made, make_removal(before=f"key = '{TOKEN}'\n\x00")
    )
    (merge,) = kept_days.read()[0].merges
    assert TOKEN not in repr(merge)
    assert "\u202e" not in repr(merge)
    assert len(merge.title) <= 300
    assert len(merge.sections[0][1]) <= 4_000


def test_many_changes_and_files_are_counted_and_cut(kept_days: Kept) -> None:
    files = [changed_file(f"engine/{n}.py") for n in range(150)]
    kept_days.add(pull(1, files=files), None, *(make_removal(f"engine.count_{n}") for n in range(230)))
    (merge,) = kept_days.read()[0].merges
    assert (len(merge.files), merge.file_count) == (100, 150)
    assert (len(merge.changes or ()), merge.hidden_changes) == (200, 30)


def test_files_that_could_not_be_read_are_counted(kept_days: Kept) -> None:
    merged = pull(1)
    kept_days.add(merged)
    unread = (UnreadFile("engine/core.py", "it is too large"),)
    kept_days.contracts.keep(merged, MergeContract(1, merged.commit, merged.merge_time, unread=unread))
    (merge,) = kept_days.read()[0].merges
    assert (merge.changes, merge.unread_files) == ((), 1)


def make_ledger(*rows: tuple[str, str]) -> DeprecationLedger:
    """A ledger in which names were announced to go at some version or date."""
    changes = [
        ContractChange(
            ContractClass.FLAG, ChangeKind.DEPRECATED, name, "", "", "a.py", 1, deadline=Deadline(when, "--new")
        )
        for name, when in rows
    ]
    return update_ledger(DeprecationLedger(), [MergeContract(5, "c" * 40, NOON, changes=tuple(changes))])


@pytest.mark.parametrize(
    ("when", "date", "release"),
    [
        ("2026-06-01", dt.date(2026, 6, 1), ""),
        ("v0.15", dt.date(2026, 4, 2), "v0.15.0"),
        ("v0.16", None, ""),
        ("", None, ""),
        ("the next release", None, ""),
    ],
)
def test_a_deadline_has_a_day_only_if_facts_say_it(
    when: str, date: dt.date | None, release: str, store: Redis
) -> None:
    deprecations = RedisDeprecationStore(store)
    deprecations.save(REPOSITORY, make_ledger(("--old", when)))
    releases = build_releases([("v0.14.0", NOON), ("v0.15.0", NOON + timedelta(days=33))])
    ledgers = DeprecationLedgers(deprecations, lambda: NOON + timedelta(days=60), lambda *_: releases)
    deadlines = list_deadlines(ledgers, REPOSITORY)
    assert [(each.date, each.release, each.removal) for each in deadlines] == (
        [(date, release, when)] if date else []
    )


def test_what_was_removed_before_its_deadline_has_none(store: Redis) -> None:
    ledger = make_ledger(("--old", "2026-06-01"))
    gone = ContractChange(ContractClass.FLAG, ChangeKind.REMOVED, "--old", "", "", "a.py", 1)
    later = MergeContract(6, "d" * 40, NOON + timedelta(days=1), changes=(gone,))
    deprecations = RedisDeprecationStore(store)
    deprecations.save(REPOSITORY, update_ledger(ledger, [later]))
    assert list_deadlines(DeprecationLedgers(deprecations, lambda: NOON), REPOSITORY) == ()
