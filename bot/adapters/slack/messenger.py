"""Messages in Slack that can be found again by a key, with errors of the domain."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from typing import Any

from slack_sdk import WebClient
from slack_sdk.web import SlackResponse

from bot.adapters.slack.errors import translate_slack_errors
from bot.adapters.slack.metadata import PostMetadata, read_metadata, write_metadata
from bot.adapters.slack.post_throttle import PostThrottle
from bot.adapters.slack.transport import BoundedWebClient, RateLimitRetryHandler
from bot.ports import Attachment, CallWatch, watch_nothing

_PAGE_SIZE = 200
# pages that are searched for a digest; no channel fills them in a day
_MAX_PAGES = 10
# seconds for one request; also the SDK's own timeout for a peer that sends nothing
_TIMEOUT = 30


def make_slack_client(
    token: str,
    base_url: str,
    seconds: float = _TIMEOUT,
    throttle: PostThrottle | None = None,
    watch: CallWatch = watch_nothing,
) -> WebClient:
    """Create a client that waits out short rate limits and repeats no call that may have had its effect.

    Neither server errors (the first call may have posted) nor lost connections lead to a retry. ``seconds`` is the
    time limit of one request. ``throttle`` delays posts, if there is one. ``watch`` watches each call.
    """
    wait_for_turn = throttle.wait_for_turn if throttle else None
    return BoundedWebClient(
        token,
        wait_for_turn,
        watch,
        base_url=base_url,
        timeout=seconds,
        retry_handlers=[RateLimitRetryHandler()],
    )


def open_direct_messages(client: WebClient, user: str) -> str:
    """Return the channel of the direct messages between the bot and a user. Open it if there is none.

    Raises:
        SlackCallRefused, SlackUnavailable: the call failed.
    """
    with translate_slack_errors():
        return str(client.conversations_open(users=user)["channel"]["id"])


@dataclass(frozen=True, slots=True)
class _BotIdentity:
    """The ids of the bot's workspace, its user and its bot."""

    team: str
    user: str
    bot: str


class SlackMessenger:
    """``Messenger`` over the Slack Web API."""

    def __init__(self, client: WebClient) -> None:
        self._client = client

    def fetch_team(self) -> str:
        """Return the id of the workspace."""
        return self._identity.team

    def post_message(
        self, channel: str, post: Mapping[str, Any], key: str, thread: str | None = None, about: str = ""
    ) -> str:
        """Post a message whose metadata holds ``key`` and the subject ``about``, and return its timestamp."""
        with translate_slack_errors(channel):
            answer = self._client.chat_postMessage(
                channel=channel,
                text=post["text"],
                blocks=list(post["blocks"]),
                thread_ts=thread,
                metadata=write_metadata(PostMetadata(key, about)),
                unfurl_links=False,
                unfurl_media=False,
            )
            return str(answer["ts"])

    def open_direct_messages(self, user: str) -> str:
        """Return the channel of the direct messages with a user. Open it if there is none."""
        return open_direct_messages(self._client, user)

    def edit_message(self, channel: str, message: str, post: Mapping[str, Any], key: str, about: str = "") -> None:
        """Edit a message of the bot."""
        with translate_slack_errors(channel):
            self._client.chat_update(
                channel=channel,
                ts=message,
                text=post["text"],
                blocks=list(post["blocks"]),
                metadata=write_metadata(PostMetadata(key, about)),
                parse="none",
            )

    def find_posts(self, channel: str, since: datetime, thread: str | None = None) -> dict[str, str]:
        """Find the bot's own messages that have a key, and return their timestamps by that key."""
        with translate_slack_errors(channel):
            messages = (
                self._iterate_history(channel, since) if thread is None else self._iterate_replies(channel, thread)
            )
            own = [(read_metadata(message).key, message["ts"]) for message in messages if self.is_own(message)]
            return {key: ts for key, ts in own if key}

    def list_own_replies(self, channel: str, thread: str, since: str) -> list[tuple[str, str]]:
        """List timestamps and keys (empty without one) of the bot's messages in a thread after ``since``."""
        written = (
            each for each in self.list_replies(channel, thread) if self.is_own(each) and not each.get("files")
        )
        return [(each["ts"], read_metadata(each).key) for each in written if float(each["ts"]) > float(since)]

    def list_replies(self, channel: str, thread: str) -> list[Mapping[str, Any]]:
        """List all messages of a thread, with their metadata."""
        with translate_slack_errors(channel):
            return list(self._iterate_replies(channel, thread))

    def attach_file(self, channel: str, thread: str, file: Attachment) -> None:
        """Upload a file into a thread."""
        with translate_slack_errors(channel):
            self._client.files_upload_v2(
                channel=channel, thread_ts=thread, filename=file.name, title=file.title, content=file.text
            )

    def has_attachment(self, channel: str, thread: str, name: str) -> bool:
        """Return whether the bot has put a file of that name into the thread."""
        with translate_slack_errors(channel):
            own = [reply for reply in self._iterate_replies(channel, thread) if self.is_own(reply)]
            return any(file.get("name") == name for reply in own for file in reply.get("files") or ())

    def fetch_message(self, channel: str, message: str, thread: str = "") -> Mapping[str, Any] | None:
        """Return a message as Slack has it now, None if it is gone. ``thread`` is that of a reply."""
        only: dict[str, Any] = {"oldest": message, "latest": message, "inclusive": True, "limit": 2}
        with translate_slack_errors(channel):
            if thread:
                answer = self._client.conversations_replies(channel=channel, ts=thread, **only)
            else:
                answer = self._client.conversations_history(channel=channel, **only)
        return next((each for each in answer["messages"] if each.get("ts") == message), None)

    def unfurl_links(self, channel: str, message: str, cards: Mapping[str, Sequence[Mapping[str, Any]]]) -> None:
        """Show the blocks of a card below a message, for each address in it; those that it has are replaced."""
        unfurls = {url: {"blocks": list(blocks)} for url, blocks in cards.items()}
        with translate_slack_errors(channel):
            self._client.chat_unfurl(channel=channel, ts=message, unfurls=unfurls)

    def fetch_permalink(self, channel: str, message: str) -> str:
        """Fetch the address of a message."""
        with translate_slack_errors(channel):
            return str(self._client.chat_getPermalink(channel=channel, message_ts=message)["permalink"])

    @cached_property
    def _identity(self) -> _BotIdentity:
        """The bot's ids, asked for once."""
        with translate_slack_errors():
            response = self._client.auth_test()
        return _BotIdentity(parse_workspace(response), str(response["user_id"]), str(response.get("bot_id") or ""))

    def is_own(self, message: Mapping[str, Any]) -> bool:
        """Return whether a message is this bot's.

        Another bot, such as a test installation, may use the same metadata.
        """
        return message.get("bot_id") == self._identity.bot or message.get("user") == self._identity.user

    def _iterate_history(self, channel: str, since: datetime) -> Iterator[Mapping[str, Any]]:
        """Yield the messages of a channel since an instant."""
        oldest = f"{since.timestamp():.6f}"
        return _iterate_pages(self._client.conversations_history, channel=channel, oldest=oldest, limit=_PAGE_SIZE)

    def _iterate_replies(self, channel: str, thread: str) -> Iterator[Mapping[str, Any]]:
        """Yield the messages of a thread."""
        return _iterate_pages(self._client.conversations_replies, channel=channel, ts=thread, limit=_PAGE_SIZE)


def parse_workspace(answer: SlackResponse) -> str:
    """Return the id of a token's workspace, or of the organisation if the app is installed there."""
    return str(answer.get("team_id") or answer["enterprise_id"])


def _iterate_pages(method: Callable[..., Any], **arguments: Any) -> Iterator[Mapping[str, Any]]:
    """Yield the messages of at most ten pages."""
    cursor = None
    for _ in range(_MAX_PAGES):
        answer = method(**arguments, cursor=cursor, include_all_metadata=True)
        yield from answer["messages"]
        cursor = (answer.get("response_metadata") or {}).get("next_cursor")
        if not cursor:
            return
