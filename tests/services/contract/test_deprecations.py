"""The ledger is written as merges are read, and says how far each deprecation is."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from datetime import datetime, timedelta

from bot.domain.errors import GitHubUnavailable, StoreUnavailable
from bot.domain.pull_requests.models import Repository
from bot.services.contract.deprecations import DeprecationLedgers
from impact.contract.deprecations import DeprecationLedger, DeprecationState
from impact.contract.models import ChangeKind, ContractChange, ContractClass, Deadline, MergeContract
from impact.contract.releases import Release, build_releases
from impact.profile.models import Profile, Use, UseKind
from tests.helpers.builders import NOON, REPOSITORY

USE = Use(UseKind.FLAG, "--old", "run.sh", 4)
PROFILE = Profile("ours", ("engine",), "", "", NOON, (USE,))


class Ledgers:
    """A store in memory that counts what was saved."""

    def __init__(self) -> None:
        self.ledger = DeprecationLedger()
        self.saves = 0
        self.is_away = False

    def load(self, _: Repository) -> DeprecationLedger:
        if self.is_away:
            raise StoreUnavailable("The store is away.")
        return self.ledger

    def save(self, _: Repository, ledger: DeprecationLedger) -> None:
        self.ledger, self.saves = ledger, self.saves + 1

    def hold_lock(self, _: Repository) -> AbstractContextManager[None]:
        return nullcontext()


def merge(number: int, kind: ChangeKind, name: str = "--old") -> MergeContract:
    """A merge a day after the one before."""
    row = ContractChange(ContractClass.FLAG, kind, name, "", "", "a.py", 1, deadline=Deadline("v1.2"))
    return MergeContract(number, f"{number:040x}", NOON + timedelta(days=number), changes=(row,))


def test_announcements_and_removals_are_noted_once() -> None:
    store = Ledgers()
    ledgers = DeprecationLedgers(store, lambda: NOON + timedelta(days=30))
    for contract in (merge(1, ChangeKind.DEPRECATED), merge(1, ChangeKind.DEPRECATED), merge(2, ChangeKind.ADDED)):
        ledgers.note_contract(REPOSITORY, contract)
    ledgers.note_contract(REPOSITORY, merge(3, ChangeKind.REMOVED, "--other"))
    assert store.saves == 1
    ((state, used),) = ledgers.list_entries(REPOSITORY, PROFILE)
    assert (state, used.entry.when, used.uses) == (DeprecationState.ANNOUNCED, "v1.2", (USE,))
    ledgers.note_contract(REPOSITORY, merge(4, ChangeKind.REMOVED))
    assert [state for state, _ in ledgers.list_entries(REPOSITORY)] == [DeprecationState.REMOVED]


def test_releases_make_it_due_and_are_news() -> None:
    releases = build_releases([("v1.1.0", NOON + timedelta(days=5))])
    ledgers = DeprecationLedgers(Ledgers(), lambda: NOON + timedelta(days=9), lambda repository, until: releases)
    ledgers.note_contract(REPOSITORY, merge(1, ChangeKind.DEPRECATED))
    assert [state for state, _ in ledgers.list_entries(REPOSITORY)] == [DeprecationState.DUE]
    ((news, used),) = ledgers.list_news(REPOSITORY, NOON + timedelta(days=5), NOON + timedelta(days=6), PROFILE)
    (step,) = ledgers.list_used_steps(REPOSITORY, NOON + timedelta(days=5), NOON + timedelta(days=6), PROFILE)
    assert (step.news, step.used) == (news, used)
    other = replace(PROFILE, uses=())
    assert ledgers.list_used_steps(REPOSITORY, NOON + timedelta(days=5), NOON + timedelta(days=6), other) == ()
    assert (news.state, news.release, used.uses) == (DeprecationState.DUE, releases[0], (USE,))


def test_releases_that_are_unavailable_are_none() -> None:
    def fail(repository: Repository, until: datetime) -> Sequence[Release]:
        raise GitHubUnavailable(f"{repository} can't be read until {until}.")

    ledgers = DeprecationLedgers(Ledgers(), lambda: NOON + timedelta(days=9), fail)
    ledgers.note_contract(REPOSITORY, merge(1, ChangeKind.DEPRECATED))
    assert [state for state, _ in ledgers.list_entries(REPOSITORY)] == [DeprecationState.ANNOUNCED]
    ((news, _),) = ledgers.list_news(REPOSITORY, NOON, NOON + timedelta(days=9))
    assert news.state is DeprecationState.ANNOUNCED


def test_a_store_that_is_away_stops_nobody() -> None:
    store = Ledgers()
    store.is_away = True
    DeprecationLedgers(store, lambda: NOON).note_contract(REPOSITORY, merge(1, ChangeKind.DEPRECATED))
    assert store.saves == 0
