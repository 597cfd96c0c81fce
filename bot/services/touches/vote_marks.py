"""What a team says about the hits of an answer, shown in the answer itself."""

from __future__ import annotations

import json
import logging
from collections.abc import Mapping, Sequence
from typing import Any

from bot.domain.conversations.slack_request import SlackRequest
from bot.domain.errors import SlackCallRefused
from bot.domain.keyspace.digest_keys import parse_digest_key
from bot.domain.pull_requests.models import Repository
from bot.domain.touches.decisions import TouchDecision
from bot.features.digest.marks import add_decisions
from bot.ports import Messenger, ThreadReader
from bot.ports.slack.messages import ThreadMessage
from bot.render.blocks.button_values import HitVote
from bot.services.touches.decisions import TouchDecisions

log = logging.getLogger(__name__)


class VoteMarks:
    """Editor of answers with buttons for hits. Digests are edited from their records instead."""

    def __init__(self, messenger: Messenger, threads: ThreadReader, decisions: TouchDecisions) -> None:
        self._messenger = messenger
        self._threads = threads
        self._decisions = decisions

    def show_vote(self, asker: SlackRequest, vote: HitVote, blocks_json: str) -> None:
        """Show what was said in the message whose button was pressed; ``blocks_json`` are its blocks.

        What only the asker sees can't be edited.

        Raises:
            SlackUnavailable, StoreUnavailable: it is not known whether the message was edited.
        """
        if not blocks_json:
            return
        try:
            message = self._find_message(asker)
            if message is None or parse_digest_key(message.key.partition("#")[0]):
                return
            decisions = select_decisions(self._decisions, vote.profile, vote.reference.repository)
            post = {"text": message.text, "blocks": json.loads(blocks_json)}
            self._messenger.edit_message(
                asker.channel, asker.message, add_decisions(post, decisions), message.key, message.about
            )
        except SlackCallRefused as error:
            log.info("an answer in %s does not show what was said: %s", asker.channel, error)

    def _find_message(self, asker: SlackRequest) -> ThreadMessage | None:
        """Return the message of the button; None if the bot can't edit it."""
        messages: Sequence[ThreadMessage] = self._threads.list_messages(
            asker.channel, asker.existing_thread or asker.message
        )
        return next((each for each in messages if each.ts == asker.message and each.is_own and each.key), None)


def select_decisions(
    decisions: TouchDecisions, profile: str, repository: Repository
) -> Mapping[int, TouchDecision]:
    """Return the last decision about each merge of a repository, by its number. Raises StoreUnavailable."""
    made = decisions.list_decisions(profile).values()
    own = (each for each in made if each.key.reference.repository == repository)
    return {each.key.reference.number: each for each in sorted(own, key=lambda each: each.at)}


def mark_blocks(
    blocks: Sequence[Mapping[str, Any]], decisions: Mapping[int, TouchDecision]
) -> list[Mapping[str, Any]]:
    """Return blocks with what was said about their hits."""
    return list(add_decisions({"blocks": blocks}, decisions)["blocks"])
