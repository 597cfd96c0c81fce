"""The Web API's method that shows what the bot is doing in a thread."""

from __future__ import annotations

from localslack.errors import SlackError, raise_error
from localslack.rules.blocks import parse_blocks
from localslack.state.channel import Channel
from localslack.state.statuses import LOADING_MESSAGES, STATUS
from localslack.state.workspace import Json, Workspace

ARGUMENTS = frozenset("channel_id thread_ts status loading_messages icon_emoji icon_url username token".split())


def set_status(team: Workspace, arguments: Json) -> Json:
    """Set a thread's status (``assistant.threads.setStatus``).

    ``thread_ts`` may be a message without replies: the parent of a thread to come.
    """
    status = arguments.get("status")
    raise_error(None if arguments.keys() <= ARGUMENTS and STATUS(status) else "invalid_arguments")
    raise_error(None if LOADING_MESSAGES(_read_loading_messages(arguments)) else "invalid_arguments")
    channel = team.find_writable(arguments.get("channel_id"))
    team.statuses.set(channel.id, _find_thread(channel, arguments), str(status))
    return {}


def _find_thread(channel: Channel, arguments: Json) -> str:
    try:
        return str(channel.find_parent(arguments.get("thread_ts"))["ts"])
    except SlackError:
        raise SlackError("invalid_thread_ts") from None


def _read_loading_messages(arguments: Json) -> list[object]:
    try:
        return parse_blocks(arguments.get("loading_messages"))
    except ValueError:
        raise SlackError("invalid_arguments") from None
