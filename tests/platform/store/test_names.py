"""The stored names within keys and hashes, which no change of the code may change."""

import pytest

from bot.platform.store import keys as names
from bot.platform.store.keys import DIGEST_ATTEMPT, build_attempt_key


@pytest.mark.parametrize(
    ("name", "stored"),
    [
        (names.build_thread_name("C1", "100.5"), "C1:100.5"),
        (names.build_request_name("mention", "C1", "100.5"), "mention:C1:100.5"),
        (names.build_request_name("command", "1.2.3"), "command:1.2.3"),
        (names.build_person_name("T1", "U1"), "T1:U1"),
        (names.build_links_rate("T1", "U1"), "links:T1:U1"),
        (names.build_calls_rate("T1:U1"), "calls:T1:U1"),
        (names.build_agent_rate("ada"), "mcp:ada"),
        (names.build_queue_key("prod:dramatiq", "quick"), "prod:dramatiq:quick"),
        (names.build_acknowledgements_key("dramatiq", "7f", "quick"), "dramatiq:__acks__.7f.quick"),
        (names.SUSPECTS_LEASE, "suspects"),
        (names.SUBSCRIPTIONS_KEY, "subscriptions"),
    ],
)
def test_a_name_is_what_it_always_was(name: str, stored: str) -> None:
    assert name == stored


def test_what_is_built_is_parsed() -> None:
    attempts = (DIGEST_ATTEMPT.build_key("1a2b", "1772300000"), build_attempt_key("1a2b", "1772300000", "2"))
    assert {names.parse_attempt_subscription(each) for each in attempts} == {"1a2b"}
    assert names.parse_attempt_subscription("thread:1a2b:100.5") == ""
