"""The reviewer of merges whose files are read from a local clone."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

from bot.adapters.git import CloneChanges, CloneReader, GitMirrorFiles, GitMirrorSearch
from bot.app import App
from bot.connections.from_settings import load_path_settings
from bot.domain.errors import ConfigurationError
from bot.domain.operations.usage import PriceList
from bot.ports import ChatModel
from bot.services.review.conversation import REVIEW_VERSION
from bot.services.review.kept_reviews import BugReviews
from bot.services.review.reviewer import MAX_DIFF_TOKENS, BugReviewer, ReviewModel
from bot.services.risk.paired_reading import PairReader
from bot.services.source.code_sources import CodeSources
from bot.services.summaries.source_reader import SourceReader
from bot.settings import Settings


def build_clone_reviewer(
    clone: Path, chat: ChatModel, prices: PriceList, settings: Settings, sleep: Callable[[float], None]
) -> BugReviewer:
    """Build the reviewer that the bot has, with the files of a clone in place of a mirror's."""
    reader = CloneReader(clone)
    files = GitMirrorFiles(reader)
    return BugReviewer(
        ReviewModel(
            chat, settings.prdigest_answer_model, prices, min(settings.prdigest_diff_tokens, MAX_DIFF_TOKENS)
        ),
        CodeSources(files, GitMirrorSearch(reader)),
        time.monotonic,
        sleep,
        classes_of=load_path_settings(settings).get_path_classes,
        read_sources=SourceReader(files).read_sources,
    )


def build_pair_reader(app: App, clone: Path) -> PairReader:
    """Build the reader of pairs, whose reviews are kept, apart from those of digests.

    Raises:
        ConfigurationError: there is no model.
        StoreUnavailable: the store can't be opened.
    """
    chat, settings = app.sources.chat, app.settings
    if chat is None or app.sources.stands_in:
        raise ConfigurationError(f"Set {app.provider.key_variable}: --reading asks the model.")
    metered = app.add_meter(chat)
    reviewer = build_clone_reviewer(clone, metered, app.provider.prices, settings, app.sleep)
    version = f"clone {reviewer.model.name} {REVIEW_VERSION} {reviewer.model.diff_tokens}"
    kept = BugReviews(reviewer, app.cache, version, load_path_settings(settings).get_path_classes)
    return PairReader(
        CloneChanges(CloneReader(clone)).load_files,
        kept.review_pull_request,
        reviewer.model.start_cost,
        settings.prdigest_concurrency,
    )
