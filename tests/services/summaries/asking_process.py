"""A process that asks a model once: ``python -m …asking_process URL STORE PROMPT``; says the headline."""

from __future__ import annotations

import json
import sys
import time

from bot.platform.models.claude.connection import ClaudeConnection, make_claude_client
from bot.platform.store.connection import RedisCache, connect_server
from bot.ports import Prompt
from bot.services.summaries.schemas import SummaryAnswer
from bot.services.summaries.structured_completion import StructuredCompletion


def main(url: str, store: str, prompt: str) -> None:
    with make_claude_client("sk-ant-test", url) as client, connect_server(store) as redis:
        asker = StructuredCompletion(ClaudeConnection(client), RedisCache(redis), time.sleep)
        headline = asker.request_answer(Prompt(**json.loads(prompt)), SummaryAnswer).value.headline
    sys.stdout.write(f"{headline}\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
