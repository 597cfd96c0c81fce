"""What messages carry is written as the versions before wrote it, and read whatever a message has."""

from typing import Any

import pytest

from bot.platform.slack.messenger import PostMetadata, read_metadata, write_metadata

DIGEST = "digest:T0TEAM:C0DIGEST:octo/engine:2026-02-28"
# as they stand in channels
KNOWN = [
    ({"key": DIGEST}, PostMetadata(DIGEST)),
    (
        {"key": DIGEST, "about": "digest 2026-02-28 repo:octo/engine"},
        PostMetadata(DIGEST, "digest 2026-02-28 repo:octo/engine"),
    ),
    (
        {"key": "answer:mention:C0DIGEST:1772300000.000500:octo/engine#1", "about": "summary octo/engine#1"},
        PostMetadata("answer:mention:C0DIGEST:1772300000.000500:octo/engine#1", "summary octo/engine#1"),
    ),
]


@pytest.mark.parametrize(("payload", "carried"), KNOWN)
def test_what_stands_in_channels_is_read_and_written_as_it_is(
    payload: dict[str, str], carried: PostMetadata
) -> None:
    metadata = {"event_type": "prdigest", "event_payload": payload}
    assert read_metadata({"ts": "100.1", "metadata": metadata}) == carried
    assert write_metadata(carried) == metadata


@pytest.mark.parametrize(
    "message",
    [
        {},
        {"metadata": None},
        {"metadata": {}},
        {"metadata": {"event_type": "prdigest"}},
        {"metadata": {"event_type": "prdigest", "event_payload": None}},
        {"metadata": {"event_type": "other", "event_payload": {"key": "digest:1"}}},
    ],
)
def test_what_carries_nothing_of_ours_is_nobodys(message: dict[str, Any]) -> None:
    assert read_metadata(message) == PostMetadata()
