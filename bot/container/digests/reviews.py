"""The services that review pull requests for bugs."""

from __future__ import annotations

import time

from bot.container.costs import CostServices
from bot.container.digests.code import build_code_sources
from bot.container.foundation import Foundation
from bot.domain.pull_requests.path_classes import PathSettings
from bot.services.review.conversation import REVIEW_VERSION
from bot.services.review.kept_reviews import BugReviews
from bot.services.review.reviewer import MAX_DIFF_TOKENS, BugReviewer, ReviewModel
from bot.services.summaries.source_reader import SourceReader


def build_bug_reviews(base: Foundation, costs: CostServices, paths: PathSettings) -> BugReviews | None:
    """Build the reviews that are kept and asked for; None without a model, or with a budget of 0."""
    reviewer = build_bug_reviewer(base, costs, paths)
    if reviewer is None or not base.settings.prdigest_review_budget:
        return None
    version = f"{reviewer.model.name} {REVIEW_VERSION} {reviewer.model.diff_tokens}"
    return BugReviews(reviewer, base.cache, version, paths.get_path_classes)


def build_bug_reviewer(base: Foundation, costs: CostServices, paths: PathSettings) -> BugReviewer | None:
    """Build the reviewer of single pull requests; None without a model. What stands in for one reviews nothing."""
    chat, settings = base.sources.chat, base.settings
    if chat is None or base.sources.stands_in:
        return None
    diff_tokens = min(settings.prdigest_diff_tokens, MAX_DIFF_TOKENS)
    model = ReviewModel(
        costs.add_chat_meter(chat), settings.prdigest_answer_model, base.provider.prices, diff_tokens
    )
    code = build_code_sources(base)
    return BugReviewer(
        model,
        code,
        time.monotonic,
        base.sleep,
        classes_of=paths.get_path_classes,
        read_sources=SourceReader(code.files).read_sources,
    )
