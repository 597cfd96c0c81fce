"""A process that asks a model once: ``python -m …asking_process URL STORE PROMPT``; says the headline."""

import json
import sys

from bot.features.summaries.reading import SummaryAnswer
from bot.platform.models import Prompt
from bot.platform.models.claude.connection import ClaudeConnection, make_claude_client
from bot.platform.models.completion import request_answer
from bot.platform.store.connection import connect_server
from tests.helpers.apps import make_app


def main(url: str, store: str, prompt: str) -> None:
    with make_claude_client("sk-ant-test", url) as client, connect_server(store) as redis:
        asked = Prompt(**json.loads(prompt))
        answer = request_answer(make_app(redis), ClaudeConnection(client), asked, SummaryAnswer)
    sys.stdout.write(f"{answer.value.headline}\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
