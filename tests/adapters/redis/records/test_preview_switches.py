"""Where previews are on, in a store that may hold anything."""

from __future__ import annotations

from redis import Redis

from bot.adapters.redis import RedisPreviewSwitches
from bot.domain.conversations.requests.preview_request import PreviewSwitch
from tests.helpers.builders import NOON


def test_what_is_decided_is_kept_by_conversation(store: Redis) -> None:
    switches = RedisPreviewSwitches(store)
    assert switches.get("C1") is None
    for channel, is_on in (("C1", True), ("C2", False), ("C0", True)):
        switches.put(channel, PreviewSwitch(is_on, "U1", NOON))
    assert switches.get("C1") == PreviewSwitch(is_on=True, user="U1", at=NOON)
    assert switches.list_on() == ["C0", "C1"]
    switches.put("C1", PreviewSwitch(is_on=False, user="U2", at=NOON))
    assert switches.list_on() == ["C0"]


def test_what_cannot_be_read_counts_as_off(store: Redis) -> None:
    for place, value in enumerate((b"{", b"[]", b'{"version": 9}', b'{"version": 1, "is_on": "maybe"}', b"\xff")):
        store.hset("previews", f"C{place}", value)
    switches = RedisPreviewSwitches(store)
    assert [switches.get(f"C{place}") for place in range(5)] == [None] * 5
    assert switches.list_on() == []
