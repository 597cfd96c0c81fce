"""A link has one card in a conversation, also if an attempt to show it ended early."""

from __future__ import annotations

import pytest
from redis import Redis

from bot.adapters.redis import RedisRecordStore
from bot.domain.errors import PostingInProgress
from bot.services.previews.link_preview import LINK_PREVIEW_CODEC, LinkPreview
from tests.helpers.builders import NOON


def test_an_attempt_goes_on_for_its_own_message_alone(store: Redis) -> None:
    records = RedisRecordStore(store, LINK_PREVIEW_CODEC)
    fresh = records.load("preview:C1:a")
    assert fresh.may_show("1.1")
    planned = records.claim("preview:C1:a", fresh, fresh.plan("1.1"))
    # the process ends here, and the job comes back; meanwhile somebody posts the link again
    assert records.load("preview:C1:a").may_show("1.1")
    assert not records.load("preview:C1:a").may_show("2.2")
    records.save("preview:C1:a", planned, planned.end(NOON))
    assert not records.load("preview:C1:a").may_show("1.1")


def test_of_two_messages_at_the_same_moment_one_has_the_card(store: Redis) -> None:
    records = RedisRecordStore(store, LINK_PREVIEW_CODEC)
    both = LinkPreview()
    records.claim("preview:C1:a", both, both.plan("1.1"))
    with pytest.raises(PostingInProgress):
        records.claim("preview:C1:a", both, both.plan("2.2"))
