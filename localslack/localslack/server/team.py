"""Control over the team: setting it up and looking at it."""

from __future__ import annotations

import copy
import threading
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from localslack.errors import InvalidAction, SlackError, require
from localslack.loopback import Loopback
from localslack.methods.response_urls import ResponseUrls
from localslack.methods.unfurls import attach_foreign_card
from localslack.rules.live_text import find_links, find_mentions
from localslack.server.changes import ChangeCounter
from localslack.server.channels import TeamChannels
from localslack.server.rich_text import compose_rich_text
from localslack.server.views import TeamViews
from localslack.state.agents import AGENT_SCOPE, Agents, Session
from localslack.state.statuses import Statuses
from localslack.state.steps import StepExecution
from localslack.state.streams import ENDED, STOPPED_BY_USER, STREAM_SECONDS, Streams
from localslack.state.triggers import TRIGGER_SECONDS, Triggers
from localslack.state.unfurls import COMPOSER, COMPOSER_CHANNEL, HISTORY, SharedLinks
from localslack.state.workspace import START, Json, Workspace


def refuse_socket() -> str:
    """Refuse a WebSocket: events come over HTTP here. Raises SlackError."""
    raise SlackError("unknown_method")


@dataclass(frozen=True)
class Times:
    """Clocks and time limits, in seconds.

    ``now`` returns the Unix time of a message's ts, ``clock`` the time for rate limits, triggers, streams and
    statuses.
    """

    now: Callable[[], float] = lambda: START
    clock: Callable[[], float] = time.monotonic
    trigger_seconds: float = TRIGGER_SECONDS
    stream_seconds: float = STREAM_SECONDS


DEFAULT_TIMES = Times()


class SlackTeam(TeamChannels, TeamViews, Loopback):
    """Channels, messages and views, and the payloads of commands and buttons. Safe to use from any thread."""

    def __init__(
        self,
        team_id: str,
        scopes: frozenset[str],
        *,
        bot_name: str = "bot",
        link: Callable[[], str] = refuse_socket,
        times: Times = DEFAULT_TIMES,
        port: int = 0,
    ) -> None:
        super().__init__(port)
        self.triggers = Triggers(times.clock, times.trigger_seconds)
        self.workspace = Workspace(
            team_id,
            scopes,
            self.url,
            bot_name,
            times.now,
            self.triggers,
            link,
            Streams(times.clock, times.stream_seconds),
            Statuses(times.clock),
            Agents(times.clock),
        )
        self.changes = ChangeCounter()
        self._responses = ResponseUrls(self.workspace)
        self._lock = threading.Lock()

    # messages

    def add_message(
        self, channel: str, text: str, user: str = "U0HUMAN", thread_ts: str | None = None, **more: Any
    ) -> str:
        """Add a message of someone other than the bot; return its ts."""
        with self._lock:
            typed = {} if "bot_id" in more else {"blocks": compose_rich_text(text) or None}
            message = self.workspace.add_message(
                self.workspace.get_channel(channel), user, text, thread_ts, **{**typed, **more}
            )
        self.changes.notify()
        return str(message["ts"])

    def edit_message(self, channel: str, ts: str, text: str) -> Json:
        """Replace the text of a person's message; return the message as readers then get it."""
        with self._settle_streams():
            place = self.workspace.channels[channel]
            message = place.find_message(ts)
            message |= {
                "text": text,
                "blocks": compose_rich_text(text),
                "edited": {"user": message["user"], "ts": self.workspace.make_ts()},
            }
            return place.format_message(message)

    def make_ts(self) -> str:
        """Return the ts of an event that happens now."""
        with self._lock:
            return self.workspace.make_ts()

    def list_messages(self, channel: str) -> list[Json]:
        """Return the messages at the top level, oldest first."""
        with self._settle_streams():
            return self.workspace.channels[channel].list_top_level()

    def list_replies(self, channel: str, ts: str) -> list[Json]:
        """Return the replies under a message, oldest first and without the message itself."""
        with self._settle_streams():
            return self.workspace.channels[channel].list_thread(ts)[1:]

    def get_message(self, channel: str, ts: str) -> Json:
        """Return a message, reply or not, as readers get it."""
        with self._settle_streams():
            place = self.workspace.channels[channel]
            return place.format_message(place.find_message(ts))

    def find_channel_of(self, ts: str) -> str:
        """Return the id of the channel with this message. Raises InvalidAction if there is none."""
        with self._lock:
            for channel in self.workspace.channels.values():
                if any(message["ts"] == ts for message in channel.messages):
                    return channel.id
        raise InvalidAction(f"no channel has a message {ts}")

    def show_ephemeral(self, channel: str, user: str, text: str, **more: Any) -> str:
        """Show a person an ephemeral message, such as the answer to a command; return its ts."""
        with self._lock:
            ts = self.workspace.make_ts()
            self.workspace.ephemerals.append({"channel": channel, "user": user, "ts": ts, "text": text, **more})
        self.changes.notify()
        return ts

    def dismiss_ephemeral(self, user: str, ts: str) -> None:
        """Remove a person's ephemeral message."""
        with self._lock:
            seen = self.workspace.ephemerals
            seen[:] = [shown for shown in seen if (shown["user"], shown["ts"]) != (user, ts)]
        self.changes.notify()

    # links

    def watch_domains(self, domains: Collection[str]) -> None:
        """Set the domains whose links the app is told of, if it has the scope ``links:read``."""
        with self._lock:
            self.workspace.unfurls.domains = frozenset(domains)

    def grant_scopes(self, *scopes: str) -> None:
        """Add scopes to the bot's token, as when the app is installed again with another manifest."""
        with self._lock:
            self.workspace.scopes |= frozenset(scopes)

    def share_links(self, channel: str, ts: str) -> SharedLinks | None:
        """Return the links of a message that the app is told of, with a new id; None if there are none."""
        with self._lock:
            message = self.workspace.get_channel(channel).find_message(ts)
            return self._remember_links(channel, ts, find_links(message), HISTORY)

    def type_links(self, text: str) -> SharedLinks | None:
        """Return the links of a text in the message box that the app is told of; None if there are none."""
        with self._lock:
            name = self.workspace.make_id("Ucomposer-")
            return self._remember_links(COMPOSER_CHANNEL, name, find_links({"text": text}), COMPOSER)

    def acknowledge_links(self, shared: SharedLinks) -> None:
        """Note that the app has acknowledged the event of these links: it may unfurl them from now on."""
        with self._lock:
            self.workspace.unfurls.acknowledge(shared)

    def find_domain(self, link: str) -> str:
        """Return the domain of a link that the app is told of, empty if it is not."""
        with self._lock:
            return self.workspace.unfurls.find_domain(link)

    def unfurl_as_another_app(self, channel: str, ts: str, url: str, text: str = "Another app's card") -> None:
        """Show the card of another app below a message."""
        with self._lock:
            message = self.workspace.get_channel(channel).find_message(ts)
            attach_foreign_card(message, url, app_id="A0OTHER", bot_id="B0OTHER", text=text)
        self.changes.notify()

    def _remember_links(self, channel: str, ts: str, links: Collection[str], source: str) -> SharedLinks | None:
        unfurls = self.workspace.unfurls
        urls = unfurls.select_links(links) if "links:read" in self.workspace.scopes else ()
        if not urls:
            return None
        shared = SharedLinks(channel, ts, self.workspace.make_id(f"{channel}.{ts}."), source, urls)
        unfurls.add(shared)
        return shared

    # steps of workflows

    def declare_steps(self, steps: Mapping[str, Json]) -> None:
        """Set the steps of workflows that the app runs, as in its manifest."""
        with self._lock:
            self.workspace.steps.declared = dict(steps)

    def begin_step(self, callback_id: str) -> StepExecution:
        """Begin a step as a workflow does. Raises InvalidAction if the app does not declare it."""
        with self._lock:
            require(callback_id in self.workspace.steps.declared, f"the app has no step {callback_id}")
            token = f"xwfp-{self.workspace.secret()}"
            return self.workspace.steps.begin(self.workspace.make_id("Fx"), callback_id, token)

    def get_step(self, execution_id: str) -> StepExecution:
        """Return a copy of a step."""
        with self._lock:
            return copy.deepcopy(self.workspace.steps.executions[execution_id])

    # streams and statuses

    def stop_stream(self, channel: str, ts: str) -> None:
        """Stop a stream as a person does with the stop button."""
        self._end_stream(channel, ts, STOPPED_BY_USER)

    def end_stream(self, channel: str, ts: str) -> None:
        """End a stream now, as Slack does by itself after ``stream_seconds``."""
        self._end_stream(channel, ts, ENDED)

    def is_streaming(self, channel: str, ts: str) -> bool:
        """Return whether a message can still grow; readers see this in its ``streaming_state``."""
        with self._settle_streams():
            place = self.workspace.channels[channel]
            return self.workspace.streams.is_running(channel, place.find_message(ts))

    def collect_live_parts(self, channel: str, ts: str) -> set[str]:
        """Return every mention and link target that was live in any state of a message, however briefly."""
        with self._settle_streams():
            message = self.workspace.channels[channel].find_message(ts)
            stream = self.workspace.streams.find_stream(channel, message)
            return {*find_mentions(message), *find_links(message), *(stream.live_parts if stream else ())}

    @property
    def statuses(self) -> list[Json]:
        """All statuses that the bot set, oldest first: channel, thread_ts, status (empty when it was cleared)."""
        with self._lock:
            return copy.deepcopy(self.workspace.statuses.history)

    def get_status(self, channel: str, thread_ts: str) -> str:
        """Return the thread's current status, or an empty string."""
        with self._lock:
            status = self.workspace.statuses.get_current(channel, thread_ts)
            return status or self.workspace.agents.describe_work(channel, thread_ts)

    # agents

    def declare_agent(self, *, hears_stop: bool = True, prompts: Sequence[Json] = ()) -> None:
        """Declare the app as an agent, as with ``agent_view`` in its manifest: its token gets a scope.

        ``hears_stop``: it asks for the event of the button to stop. ``prompts`` are those of the manifest.
        """
        with self._lock:
            self.workspace.scopes |= {AGENT_SCOPE}
            agents = self.workspace.agents
            agents.is_declared, agents.hears_stop, agents.defaults = True, hears_stop, tuple(prompts)

    def get_session(self, channel: str, thread_ts: str) -> Session | None:
        """Return a copy of a thread's session with its current status."""
        with self._lock:
            agents = self.workspace.agents
            session = copy.copy(agents.sessions.get((channel, thread_ts)))
            if session:
                session.status = agents.get_status(channel, thread_ts)
            return session

    def get_prompts(self, channel: str) -> Json:
        """Return the title and the prompts of direct messages: those of the manifest until the app sets others."""
        with self._lock:
            agents = self.workspace.agents
            default = {"title": "", "prompts": list(agents.defaults) if agents.is_declared else []}
            return copy.deepcopy(agents.prompts.get(channel, default))

    def can_stop_session(self, channel: str, thread_ts: str) -> bool:
        """Return whether people see the button to stop a thread's session."""
        with self._lock:
            return self.workspace.agents.can_stop(channel, thread_ts)

    def stop_session(self, channel: str, thread_ts: str) -> list[str]:
        """Stop the streams of a session as its button does; return their timestamps. Its status stays."""
        with self._settle_streams():
            require(self.workspace.agents.can_stop(channel, thread_ts), f"{thread_ts} has no button to stop it")
            place, streams = self.workspace.channels[channel], self.workspace.streams
            replies = [each for each in place.messages if each.get("thread_ts") == thread_ts]
            running = [each for each in replies if streams.is_running(channel, each)]
            for message in running:
                if stream := streams.find_stream(channel, message):
                    stream.end(STOPPED_BY_USER)
            return [str(message["ts"]) for message in running]

    # what people have seen

    @property
    def files(self) -> list[Json]:
        """Shared files: id, name, title, content, channels, thread_ts."""
        with self._lock:
            return self.workspace.list_files()

    @property
    def ephemerals(self) -> list[Json]:
        """Ephemeral messages; those that came by a ``response_url`` have that field."""
        with self._lock:
            return copy.deepcopy(self.workspace.ephemerals)

    @property
    def unshown(self) -> list[Json]:
        """Ephemeral messages that Slack accepted and showed nobody, since their thread had no replies."""
        with self._lock:
            return copy.deepcopy(self.workspace.unshown)

    # payloads of commands and buttons

    def make_response_url(
        self, channel: str, user: str, thread_ts: str | None = None, *, origin: str | None = None
    ) -> str:
        """Return a URL for five answers in half an hour. ``origin`` is the ts of a pressed button's message.

        With ``thread_ts`` the answers go into that thread, unlike those to Slack's own URLs.
        """
        with self._lock:
            return self._responses.make_url(channel, user, thread_ts, origin)

    def answer_command(self, channel: str, user: str, body: Json) -> None:
        """Show the app's immediate answer to a command. Raises SlackError if Slack would not accept it."""
        with self._lock:
            self._responses.answer_at_once(channel, user, body)
        self.changes.notify()

    @property
    def bot_name(self) -> str:
        """The bot's name."""
        return self.workspace.bot_name

    def make_id(self, prefix: str) -> str:
        """Return a new id with this prefix."""
        with self._lock:
            return self.workspace.make_id(prefix)

    @contextmanager
    def _settle_streams(self) -> Iterator[None]:
        """Hold the lock, after ending the streams whose time is over."""
        with self._lock:
            self.workspace.streams.end_expired()
            yield

    def _end_stream(self, channel: str, ts: str, fault: str) -> None:
        with self._settle_streams():
            stream = self.workspace.streams.find_stream(channel, self.workspace.channels[channel].find_message(ts))
            if stream is None or stream.fault:
                raise InvalidAction(f"{ts} is {'no stream' if stream is None else 'not streaming any more'}")
            stream.end(fault)
