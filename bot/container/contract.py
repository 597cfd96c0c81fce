"""The services that read what merges change for others."""

from __future__ import annotations

from functools import partial

from bot.adapters.redis import RedisDeprecationStore
from bot.container.digests import DigestServices
from bot.container.foundation import Foundation
from bot.container.from_settings import get_display_name
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


def build_deprecation_ledgers(base: Foundation) -> DeprecationLedgers:
    """Build the ledgers of what repositories will remove. Raises StoreUnavailable."""
    return DeprecationLedgers(RedisDeprecationStore(base.store, base.keyspace), base.now)


def build_contract_lister(base: Foundation, digests: DigestServices, contracts: ContractReader) -> ContractLister:
    """Build what lists the contracts of some days."""
    return ContractLister(
        digests.day_lists,
        digests.reader.load_files,
        contracts,
        base.settings.prdigest_concurrency,
        partial(get_display_name, base.settings),
    )
