"""The services that read what merges change for others."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from functools import partial

from bot.adapters.caching import ReleaseCache, list_kept_releases
from bot.adapters.redis import RedisDeprecationStore
from bot.container.connections.from_settings import get_display_name
from bot.container.digests.services import DigestServices
from bot.container.foundation import Foundation
from bot.domain.contract.releases import Release
from bot.domain.pull_requests.models import Repository
from bot.services.contract.deprecations import DeprecationLedgers
from bot.services.contract.extractor import EXTRACTION_VERSION, extract_merge
from bot.services.contract.lister import ContractLister
from bot.services.contract.reader import MAX_FILES, MAX_MIRROR_FILES, ContractReader


def build_contract_reader(base: Foundation, digests: DigestServices) -> ContractReader:
    """Build what reads the contract of a merge. Raises ConfigurationError if a setting of GitHub is missing."""
    most = MAX_MIRROR_FILES if base.settings.prdigest_mirror else MAX_FILES
    return ContractReader(
        base.sources.source_versions,
        base.cache,
        digests.pulls.load_files,
        extract_merge,
        EXTRACTION_VERSION,
        most,
        build_deprecation_ledgers(base).note_contract,
    )


def build_kept_reader(base: Foundation) -> ContractReader:
    """Build what gives the contracts that are kept; it reads no merge."""
    return ContractReader(None, base.cache, lambda pull: pull, extract_merge, EXTRACTION_VERSION)


def build_deprecation_ledgers(base: Foundation) -> DeprecationLedgers:
    """Build the ledgers of what repositories will remove. Raises StoreUnavailable."""
    store = RedisDeprecationStore(base.store, base.keyspace)
    return DeprecationLedgers(store, base.now, partial(_list_releases, base))


def build_kept_ledgers(base: Foundation) -> DeprecationLedgers:
    """Build ledgers that take the releases that were read before, and ask for none. Raises StoreUnavailable."""
    store = RedisDeprecationStore(base.store, base.keyspace)
    return DeprecationLedgers(
        store, base.now, lambda repository, until: list_kept_releases(base.cache, repository)
    )


def _list_releases(base: Foundation, repository: Repository, until: datetime) -> Sequence[Release]:
    """List releases. Raises PrdigestError, also if a setting of GitHub is missing."""
    source = base.sources.releases
    return ReleaseCache(source, base.cache, base.now).list_releases(repository, until) if source else ()


def find_tag_commit(base: Foundation, repository: Repository, tag: str) -> str:
    """Return the last merge that a tag holds, empty without one. Raises PrdigestError."""
    source = base.sources.releases
    return ReleaseCache(source, base.cache, base.now).find_commit(repository, tag) if source else ""


def build_contract_lister(base: Foundation, digests: DigestServices, contracts: ContractReader) -> ContractLister:
    """Build what lists the contracts of some days."""
    return ContractLister(
        digests.day_lists,
        digests.reader.load_files,
        contracts,
        base.settings.prdigest_concurrency,
        partial(get_display_name, base.settings),
    )
