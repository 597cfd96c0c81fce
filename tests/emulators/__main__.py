"""Start the emulators for a person: ``python -m tests.emulators --replay ../shared/replay/2026-02-28``."""

import argparse
import importlib
import importlib.util
import sys
import threading
from contextlib import ExitStack
from pathlib import Path

from tests.emulators.claude.server import ClaudeEmulator
from tests.emulators.github.server import GitHubEmulator
from tests.emulators.openai_compatible.server import OpenAIEmulator

SLACK_MODULE = "tests.emulators.slack.server"


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.emulators", description=__doc__)
    parser.add_argument("--replay", type=Path, action="append", default=[], help="a recorded day; may be repeated")
    parser.add_argument("--seconds", type=float, default=600.0, help="stop after this time (default: 600)")
    parser.add_argument("--own-model", action="store_true", help="an OpenAI-compatible server in place of Claude")
    return parser.parse_args()


def _github(stack: ExitStack, days: list[Path]) -> dict[str, str]:
    emulator = stack.enter_context(GitHubEmulator())
    for day in days:
        emulator.load_replay(day)
    return {"GITHUB_API_URL": emulator.url, "GITHUB_TOKEN": emulator.token}


def _claude(stack: ExitStack) -> dict[str, str]:
    emulator = stack.enter_context(ClaudeEmulator())
    return {"ANTHROPIC_BASE_URL": emulator.url, "ANTHROPIC_API_KEY": emulator.api_key}


def _own_model(stack: ExitStack) -> dict[str, str]:
    emulator = stack.enter_context(OpenAIEmulator())
    # what it asks for has no price
    return {**emulator.settings, "PRDIGEST_MODEL_PRICES": "0/0"}


def _slack(stack: ExitStack) -> dict[str, str]:
    """Slack's variables; nothing where its emulator is not there."""
    if importlib.util.find_spec(SLACK_MODULE) is None:
        return {}
    emulator = stack.enter_context(importlib.import_module(SLACK_MODULE).SlackEmulator())
    tokens = {"SLACK_BOT_TOKEN": emulator.token, "SLACK_APP_TOKEN": emulator.app_token}
    return {"SLACK_API_URL": emulator.url, **tokens}


def main() -> None:
    arguments = _arguments()
    with ExitStack() as stack:
        model = _own_model if arguments.own_model else _claude
        variables = _github(stack, arguments.replay) | model(stack) | _slack(stack)
        for name, value in variables.items():
            sys.stdout.write(f"export {name}={value}\n")
        sys.stdout.flush()
        try:
            threading.Event().wait(arguments.seconds)
        except KeyboardInterrupt:
            sys.stdout.write("\n")


if __name__ == "__main__":
    main()
