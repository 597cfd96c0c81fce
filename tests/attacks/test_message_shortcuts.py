"""Whatever a message says, its shortcut explains pull requests of watched repositories and leaks nothing else."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from localslack.rules.messages import find_links, find_mentions

from bot.features.merges.requests import MAX_PULL_REQUESTS
from bot.platform.slack.notices import render_notice
from handlers.payloads import check_payload
from handlers.summaries import SHORTCUTS
from tests.attacks.tables.repository_names import NAMES
from tests.features.digest.hostile_days import texts
from tests.handlers.intakes import ENGINE, Office

# what Slack sends has any of these names, in any place
_KEYS = st.sampled_from(
    (
        "text",
        "url",
        "title",
        "title_link",
        "fallback",
        "value",
        "fields",
        "elements",
        "type",
        "blocks",
        "attachments",
    )
)
_WORDS = st.sampled_from(
    (
        "#5",
        "other/secret#5",
        "https://github.com/other/secret/pull/5",
        "<https://github.com/octo/engine/pull/7|#8>",
    )
)
_hostile = st.recursive(
    st.one_of(texts(200), _WORDS, st.none(), st.integers(), st.booleans()),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(_KEYS, inner, max_size=4),
    max_leaves=30,
)


def use(message: Any) -> list[tuple[str, Any]]:
    office = Office()
    body = {
        "type": "message_action",
        "callback_id": SHORTCUTS[0].callback_id,
        "trigger_id": "1.2.3",
        "team": {"id": "T0TEAM"},
        "user": {"id": "U0ASKER", "name": "ada"},
        "channel": {"id": "C0DIGEST", "name": "digest"},
        "message_ts": "1772300000.000500",
        "message": message,
        "response_url": "https://hooks.slack.test/1",
    }
    check_payload(body)
    SHORTCUTS[0].accept(office.app, body)
    return office.sent


@given(st.dictionaries(_KEYS, _hostile, max_size=5))
def test_any_message_leads_to_numbers_of_watched_repositories_or_to_one_plain_sentence(message: Any) -> None:
    for name, payload in use(message):
        if name == "summary":
            assert 1 <= len(payload["request"].references) <= MAX_PULL_REQUESTS
            assert {reference.repository for reference in payload["request"].references} == {ENGINE}
        else:
            assert name == "tell"
            shown = render_notice(payload["sentence"]).build_payload()
            assert (find_mentions(shown), find_links(shown)) == ([], [])
            assert "secret" not in payload["sentence"]


@pytest.mark.parametrize("name", NAMES.values(), ids=list(NAMES))
def test_no_spelling_of_a_name_reaches_another_repository(name: str) -> None:
    for text in (f"{name}#5", f"https://github.com/{name}/pull/5", f"<https://github.com/{name}/pull/5|octo>"):
        for kind, payload in use({"text": text}):
            if kind == "summary":
                assert {reference.repository for reference in payload["request"].references} == {ENGINE}
