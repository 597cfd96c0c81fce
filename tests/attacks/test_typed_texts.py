"""Whatever people type, what they are told at once notifies nobody and links nowhere."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from localslack.rules.messages import find_links, find_mentions

from bot.errors import UsageError
from bot.platform.commands import AllowedRepositories, ParseContext
from bot.platform.slack.blocks import escape_mrkdwn
from bot.platform.slack.notices import render_notice
from handlers import COMMANDS
from impact.repository import Repository
from impact.text.strings import truncate_text
from tests.features.digest.hostile_days import texts
from tests.helpers.builders import DAY

CONTEXT = ParseContext(AllowedRepositories(Repository("octo", "engine")), lambda zone=None: DAY)
# what leads to a parser of its own
WORDS = ("", "contract", "touches", "touches score", "broke", "since", "deprecations", "upgrade", "score", "top:")
OPTIONS = ("", "repo:", "path:", "author:", "label:", "profile:", "from:", "only:", "since ", "zone:")
typed = st.tuples(st.sampled_from(WORDS), st.sampled_from(OPTIONS), texts(400)).map(
    lambda parts: f"{parts[0]} {parts[1]}{parts[2]}"
)


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command.name)
@given(text=typed)
def test_a_mistake_is_told_in_words_alone(command: object, text: str) -> None:
    try:
        command.parse(text, CONTEXT)  # type: ignore[attr-defined]
    except UsageError as error:
        message = str(error)
        at_once = {"text": escape_mrkdwn(truncate_text(message, 600))}
        assert (find_mentions(at_once), find_links(at_once)) == ([], [])
        later = render_notice(message).build_payload()
        assert (find_mentions(later), find_links(later)) == ([], [])
