"""Messages in Slack, for everybody and for one person, and views. Calls raise SlackCallRefused, SlackUnavailable.

Messages have metadata, which readers don't see: the key by which they are found again, and a thread's subject.
Slack stores an event type with it, which serves as its version: another shape takes another type.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime
from functools import cached_property
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from slack_sdk import WebClient
from slack_sdk.web import SlackResponse

from bot.errors import SlackCallRefused, SlackUnavailable
from bot.platform.http.headers import parse_retry_after
from bot.platform.slack.app_manifest import AGENT_SCOPES
from bot.platform.slack.blocks import Attachment, Post, ThreadMessage, has_table, replace_tables
from bot.platform.slack.client import send_to_hook, translate_slack_errors
from bot.platform.slack.requests import SlackRequest

log = logging.getLogger(__name__)

EVENT_TYPE = "prdigest"
_PAGE_SIZE = 200
_MAX_PAGES = 10  # that are searched for a digest; no channel fills them in a day
_HOOK_TIMEOUT = 10  # seconds
_NO_TITLE = "Forgotten"
_REFUSED_BLOCKS = ("invalid_blocks", "invalid_blocks_format")
# an address that all parsers read alike: no user, no backslash, no escapes in the name of the host
_PLAIN_URL = re.compile(r"(?P<scheme>https?)://(?P<host>[a-z0-9.-]{1,253})(?::\d{1,5})?/")


class PostMetadata(NamedTuple):
    """The ``key`` of a message's post, and the subject that it is ``about``; both may be empty."""

    key: str = ""
    about: str = ""


def write_metadata(metadata: PostMetadata) -> dict[str, Any]:
    about = {"about": metadata.about} if metadata.about else {}
    return {"event_type": EVENT_TYPE, "event_payload": {"key": metadata.key, **about}}


def read_metadata(message: Mapping[str, Any]) -> PostMetadata:
    """Return the metadata of a message, empty if it has none of this type."""
    metadata = message.get("metadata") or {}
    payload = metadata.get("event_payload") or {}
    if metadata.get("event_type") != EVENT_TYPE:
        return PostMetadata()
    return PostMetadata(str(payload.get("key", "")), str(payload.get("about", "")))


class Prompt(NamedTuple):
    """A button above direct messages: what people read on it, and what they send by it."""

    label: str
    message: str


class _Identity(NamedTuple):
    team: str
    user: str
    bot: str
    is_agent: bool


class SlackMessenger:
    def __init__(self, client: WebClient) -> None:
        self._client = client

    def fetch_team(self) -> str:
        return self._identity.team

    @property
    def is_agent(self) -> bool:
        """Whether the app is declared as an agent of Slack."""
        return self._identity.is_agent

    def suggest_prompts(self, channel: str, title: str, prompts: Sequence[Prompt]) -> None:
        """Show up to four prompts in direct messages, in place of earlier ones. Only an agent may."""
        with translate_slack_errors(channel):
            shown = [{"title": each.label, "message": each.message} for each in prompts]
            self._client.assistant_threads_setSuggestedPrompts(channel_id=channel, title=title, prompts=shown)

    def end_session(self, channel: str, thread: str) -> None:
        """Close the session of a thread, and take its title away: Slack deletes none. Only an agent may."""
        place = {"channel_id": channel, "thread_ts": thread}
        with translate_slack_errors(channel):
            self._client.agents_sessions_setStatus(**place, status="closed")
            self._client.agents_sessions_rename(**place, title=_NO_TITLE)

    @cached_property
    def _identity(self) -> _Identity:
        with translate_slack_errors():
            answer = self._client.auth_test()
        is_agent = not AGENT_SCOPES.keys().isdisjoint(list_scopes(answer) or ())
        user, bot = str(answer["user_id"]), str(answer.get("bot_id") or "")
        return _Identity(parse_workspace(answer), user, bot, is_agent)

    def is_own(self, message: Mapping[str, Any]) -> bool:
        """Return whether a message is this bot's: another one, such as a test's, may use the same metadata."""
        return message.get("bot_id") == self._identity.bot or message.get("user") == self._identity.user

    def post_message(
        self, channel: str, post: Mapping[str, Any], key: str, thread: str | None = None, about: str = ""
    ) -> str:
        """Post a message whose metadata holds ``key`` and the subject ``about``, and return its timestamp."""
        more = {"thread_ts": thread, "unfurl_links": False, "unfurl_media": False}
        return str(self._send(self._client.chat_postMessage, channel, post, PostMetadata(key, about), more)["ts"])

    def edit_message(self, channel: str, message: str, post: Mapping[str, Any], key: str, about: str = "") -> None:
        more = {"ts": message, "parse": "none"}
        self._send(self._client.chat_update, channel, post, PostMetadata(key, about), more)

    def _send(
        self,
        method: Callable[..., SlackResponse],
        channel: str,
        post: Mapping[str, Any],
        metadata: PostMetadata,
        more: Mapping[str, Any],
    ) -> SlackResponse:
        shown = {"channel": channel, "text": post["text"], "metadata": write_metadata(metadata), **more}
        try:
            with translate_slack_errors(channel):
                return method(blocks=list(post["blocks"]), **shown)
        except SlackCallRefused as error:
            if not (error.code in _REFUSED_BLOCKS and has_table(post["blocks"])):
                raise
        # a workspace whose Slack shows no tables
        with translate_slack_errors(channel):
            return method(blocks=replace_tables(post["blocks"]), **shown)

    def delete_message(self, channel: str, message: str) -> None:
        """Delete a message of the bot."""
        with translate_slack_errors(channel):
            self._client.chat_delete(channel=channel, ts=message)

    def open_direct_messages(self, user: str) -> str:
        with translate_slack_errors():
            return str(self._client.conversations_open(users=user)["channel"]["id"])

    def find_posts(self, channel: str, since: datetime, thread: str | None = None) -> dict[str, str]:
        """Return the timestamps of the bot's own messages by key, since an instant (aware) or in a thread."""
        with translate_slack_errors(channel):
            messages = (
                _iterate_pages(
                    self._client.conversations_history, channel=channel, oldest=f"{since.timestamp():.6f}"
                )
                if thread is None
                else _iterate_pages(self._client.conversations_replies, channel=channel, ts=thread)
            )
            own = [(read_metadata(message).key, message["ts"]) for message in messages if self.is_own(message)]
        return {key: ts for key, ts in own if key}

    def list_replies(self, channel: str, thread: str) -> list[Mapping[str, Any]]:
        with translate_slack_errors(channel):
            return list(_iterate_pages(self._client.conversations_replies, channel=channel, ts=thread))

    def find_begun_answer(self, channel: str, thread: str, key: str, since: str) -> str:
        """Find the message in a thread that an earlier attempt began after ``since`` and did not report.

        Return its timestamp, or an empty text. A message of the bot that has no key yet can belong to no other
        answer.
        """
        own = (each for each in self.list_replies(channel, thread) if self.is_own(each) and not each.get("files"))
        later = (each for each in own if float(each["ts"]) > float(since))
        return next((each["ts"] for each in later if read_metadata(each).key in ("", key)), "")

    def list_messages(self, channel: str, thread: str) -> Sequence[ThreadMessage]:
        """List a thread's messages of people and this bot, oldest first: those of other bots are no questions."""
        messages = []
        for each in self.list_replies(channel, thread):
            is_own = self.is_own(each)
            if is_own or not each.get("bot_id"):
                # the metadata of others does not count
                key, about = read_metadata(each) if is_own else PostMetadata()
                text, user = str(each.get("text") or ""), str(each.get("user") or "")
                messages.append(ThreadMessage(str(each["ts"]), text, is_own, key, about, user))
        return messages

    def fetch_message(self, channel: str, message: str, thread: str = "") -> Mapping[str, Any] | None:
        """Return a message as Slack has it now, None if it is gone. ``thread`` is that of a reply."""
        only: dict[str, Any] = {"oldest": message, "latest": message, "inclusive": True, "limit": 2}
        with translate_slack_errors(channel):
            if thread:
                answer = self._client.conversations_replies(channel=channel, ts=thread, **only)
            else:
                answer = self._client.conversations_history(channel=channel, **only)
        return next((each for each in answer["messages"] if each.get("ts") == message), None)

    def attach_file(self, channel: str, thread: str, file: Attachment) -> None:
        with translate_slack_errors(channel):
            self._client.files_upload_v2(
                channel=channel, thread_ts=thread, filename=file.name, title=file.title, content=file.text
            )

    def has_attachment(self, channel: str, thread: str, name: str) -> bool:
        files = (each.get("files") or () for each in self.list_replies(channel, thread) if self.is_own(each))
        return any(file.get("name") == name for attached in files for file in attached)

    def unfurl_links(self, channel: str, message: str, cards: Mapping[str, Sequence[Mapping[str, Any]]]) -> None:
        """Show the blocks of a card below a message, for each address in it; those that it has are replaced."""
        unfurls = {url: {"blocks": list(blocks)} for url, blocks in cards.items()}
        with translate_slack_errors(channel):
            self._client.chat_unfurl(channel=channel, ts=message, unfurls=unfurls)

    def fetch_permalink(self, channel: str, message: str) -> str:
        with translate_slack_errors(channel):
            return str(self._client.chat_getPermalink(channel=channel, message_ts=message)["permalink"])


def parse_workspace(answer: SlackResponse) -> str:
    """Return the id of a token's workspace, or of the organization if the app is installed there."""
    return str(answer.get("team_id") or answer["enterprise_id"])


def list_scopes(answer: SlackResponse) -> frozenset[str] | None:
    """Return the scopes of a token by the headers of an answer, None if Slack sends none."""
    header = {name.lower(): value for name, value in answer.headers.items()}.get("x-oauth-scopes")
    return None if header is None else frozenset(scope.strip() for scope in header.split(","))


def _iterate_pages(method: Callable[..., Any], **arguments: Any) -> Iterator[Mapping[str, Any]]:
    """Yield the messages of at most ten pages."""
    cursor = None
    for _ in range(_MAX_PAGES):
        answer = method(**arguments, limit=_PAGE_SIZE, cursor=cursor, include_all_metadata=True)
        yield from answer["messages"]
        cursor = (answer.get("response_metadata") or {}).get("next_cursor")
        if not cursor:
            return


class SlackEphemeralMessenger:
    """Messages that only one person sees: to the ``response_url``, or ephemeral once that has expired.

    Slack accepts an ephemeral message for any thread, but shows it only in one that somebody has replied to. In
    direct messages, where nobody else is, it is an ordinary message.
    """

    def __init__(self, client: WebClient) -> None:
        self._client = client

    def send(self, slack_request: SlackRequest, post: Post) -> None:
        """Send a message to an asker who can be reached; a direct one from App Home. Raises SlackUnavailable."""
        try:
            if not slack_request.channel:
                self._post_message(slack_request.user, post)
            elif self.is_slack_url(slack_request.response_url):
                self._send_response(slack_request, post)
            elif slack_request.is_direct:
                self._post_message(slack_request.channel, post, slack_request.existing_thread)
            else:
                self._post_ephemeral(slack_request, post)
        except SlackCallRefused as error:
            if error.code in _REFUSED_BLOCKS and has_table(post.blocks):
                self.send(slack_request, Post(post.text, tuple(replace_tables(post.blocks))))
                return
            log.warning("the asker can't be reached [%s]: %s", slack_request.reference, error)

    def is_slack_url(self, address: str) -> bool:
        """Return whether a ``response_url`` leads to Slack, as to ``hooks.slack.com``: answers go nowhere else."""
        api, match = urlsplit(self._client.base_url), _PLAIN_URL.match(address)
        if not match or match["scheme"] != api.scheme:
            return False
        return match["host"] == api.hostname or match["host"].endswith(f".{api.hostname}")

    def _send_response(self, slack_request: SlackRequest, post: Post) -> None:
        """Answer a click in its thread, unlike a ``response_url``; else there. Raises SlackUnavailable."""
        if slack_request.existing_thread:
            try:
                self._post_ephemeral(slack_request, post)
            except (SlackCallRefused, SlackUnavailable) as error:
                # a message that may appear twice is better than one that is lost
                log.info("not told in the thread [%s]: %s", slack_request.reference, error)
            else:
                return
        with translate_slack_errors():
            answer = send_to_hook(
                slack_request.response_url,
                _HOOK_TIMEOUT,
                **post.build_payload(),
                response_type="ephemeral",
                replace_original=False,
            )
        if answer.status_code >= 500 or answer.status_code == 429:
            is_limited = answer.status_code == 429
            pause = parse_retry_after(str(answer.headers.get("Retry-After", ""))) if is_limited else None
            raise SlackUnavailable("Slack did not accept the answer: try again in a few minutes.", pause)
        if answer.status_code != 200:
            # Slack accepts a handful of messages within half an hour
            log.info("the response_url is used up [%s]: status %s", slack_request.reference, answer.status_code)
            self._post_ephemeral(slack_request, post)

    def _post_message(self, channel: str, post: Post, thread: str = "") -> None:
        with translate_slack_errors():
            self._client.chat_postMessage(channel=channel, thread_ts=thread or None, **post.build_payload())

    def _post_ephemeral(self, slack_request: SlackRequest, post: Post) -> None:
        with translate_slack_errors(slack_request.channel):
            self._client.chat_postEphemeral(
                channel=slack_request.channel,
                user=slack_request.user,
                thread_ts=slack_request.existing_thread or None,
                **post.build_payload(),
            )


class SlackViews:
    """App Home, and modals, each identified by its ``external_id``."""

    def __init__(self, client: WebClient) -> None:
        self._client = client

    def open_view(self, trigger: str, key: str, view: Mapping[str, Any]) -> None:
        """Open a modal within three seconds of the click that gave ``trigger``."""
        with translate_slack_errors():
            self._client.views_open(trigger_id=trigger, view={**view, "external_id": key})

    def update_view(self, key: str, view: Mapping[str, Any]) -> bool:
        """Replace the content of a modal. Return False if it was closed or never opened."""
        try:
            with translate_slack_errors():
                self._client.views_update(external_id=key, view={**view, "external_id": key})
        except SlackCallRefused as error:
            if error.code != "not_found":
                raise
            return False
        return True

    def publish_home(self, user: str, blocks: Sequence[Mapping[str, Any]]) -> None:
        with translate_slack_errors():
            self._client.views_publish(user_id=user, view={"type": "home", "blocks": list(blocks)})
