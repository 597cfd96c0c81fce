"""The services that show previews of links."""

from __future__ import annotations

from dataclasses import dataclass

from bot.adapters.slack import SlackLinkCards
from bot.container.digests.services import DigestServices
from bot.container.foundation import Foundation
from bot.container.records import (
    build_link_previews,
    build_preview_switcher,
    build_preview_switches,
    build_subscription_repository,
)
from bot.container.touches.contracts import build_contract_lister
from bot.container.touches.services import TouchServices, build_pages, build_pins
from bot.domain.conversations.commands import AllowedRepositories
from bot.services.previews.cards import PreviewCardBuilder, ProfileSources, PullSources, RangeSources
from bot.services.previews.previewer import LinkPreviewer, PreviewStores
from bot.services.previews.switcher import PreviewSwitcher


@dataclass(frozen=True, slots=True)
class PreviewServices:
    """What jobs use around previews of links."""

    previewer: LinkPreviewer
    switcher: PreviewSwitcher


def build_preview_services(
    base: Foundation, repositories: AllowedRepositories, digests: DigestServices, touches: TouchServices
) -> PreviewServices:
    """Build them. Raises ConfigurationError without a token of Slack, and StoreUnavailable."""
    previewer = LinkPreviewer(
        SlackLinkCards(base.slack, base.messenger),
        _build_card_builder(base, digests, touches),
        PreviewStores(build_preview_switches(base), build_link_previews(base), base.cache),
        repositories,
        base.now,
        base.sleep,
    )
    return PreviewServices(previewer, build_preview_switcher(base))


def _build_card_builder(base: Foundation, digests: DigestServices, touches: TouchServices) -> PreviewCardBuilder:
    lister = build_contract_lister(base, digests, touches.contracts)
    return PreviewCardBuilder(
        PullSources(digests.entries, digests.pulls, digests.history.timeline, touches.contracts),
        RangeSources(
            build_pins(base),
            build_pages(base, digests, lister, touches.contracts),
            lister.list_merges,
            base.get_today,
        ),
        ProfileSources(build_subscription_repository(base).list_for_channel, touches.profiles.get_profile),
    )
