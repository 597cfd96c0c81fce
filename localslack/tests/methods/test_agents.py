"""Apps that are declared as agents: sessions, the button that stops them, and prompts in direct messages."""

import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from slack_sdk import WebClient

from localslack.errors import InvalidAction
from localslack.manifest import AgentView, read_manifest
from localslack.methods.registry import ALL_SCOPES
from localslack.testing.emulator import SlackEmulator
from localslack.users.person import Person
from localslack.users.transport import Ack
from tests.client import HOME, Json, client_of, refusal

READER: Json = {"recipient_user_id": "U0ASKER", "recipient_team_id": "T0TEAM"}
DIRECT = "D0ASKER"
PROMPTS = [{"title": "Why?", "message": "Why is it risky?"}]


class Wire:
    """A transport that keeps what it was given."""

    def __init__(self) -> None:
        self.payloads: list[Json] = []

    def send(self, kind: str, payload: Json, *, retry: int = 0) -> Ack:
        self.payloads.append(payload)
        return Ack(200, "", 0.0)


@pytest.fixture
def hands() -> list[float]:
    """A clock that a test moves."""
    return [1_000.0]


@pytest.fixture
def agent(hands: list[float]) -> Iterator[SlackEmulator]:
    with SlackEmulator(clock=lambda: hands[0]) as slack:
        slack.declare_agent()
        slack.get_channel(DIRECT)
        yield slack


@pytest.fixture
def app(agent: SlackEmulator) -> WebClient:
    return client_of(agent)


@pytest.fixture
def lead(agent: SlackEmulator) -> str:
    return agent.add_message(HOME, "why?", user="U0ASKER")


def set_status(app: WebClient, lead: str, status: str = "processing", **more: Any) -> Any:
    return app.agents_sessions_setStatus(**{"channel_id": HOME, "thread_ts": lead, "status": status, **more})


def status_of(slack: SlackEmulator, lead: str) -> str:
    session = slack.get_session(HOME, lead)
    return session.status if session else ""


def test_a_session_begins_with_its_first_status(agent: SlackEmulator, app: WebClient, lead: str) -> None:
    told = set_status(app, lead, title="Why", initiator_user_id="U0ASKER")
    assert (told["status"], told["agent_status"], told.get("warning")) == ("processing", "processing", None)
    assert agent.get_status(HOME, lead) == "is working…"
    set_status(app, lead, "active", title="Another")
    session = agent.get_session(HOME, lead)
    assert session
    assert (session.status, session.title, session.initiator) == ("active", "Why", "U0ASKER")
    assert agent.get_status(HOME, lead) == ""


def test_a_session_processes_for_an_hour_at_most(
    agent: SlackEmulator, app: WebClient, lead: str, hands: list[float]
) -> None:
    set_status(app, lead)
    hands[0] += 3_599
    assert status_of(agent, lead) == "processing"
    hands[0] += 1
    assert (status_of(agent, lead), agent.get_status(HOME, lead)) == ("active", "")


@pytest.mark.parametrize(("end", "status"), [({}, "active"), ({"session_status": "suspended"}, "suspended")])
def test_the_end_of_a_stream_sets_the_status(
    agent: SlackEmulator, app: WebClient, lead: str, end: Json, status: str
) -> None:
    set_status(app, lead)
    ts = app.chat_startStream(channel=HOME, thread_ts=lead, markdown_text="x", **READER)["ts"]
    assert status_of(agent, lead) == "processing"
    app.chat_stopStream(channel=HOME, ts=ts, **end)
    assert status_of(agent, lead) == status


def test_without_the_event_there_is_no_button_and_a_warning(agent: SlackEmulator, lead: str) -> None:
    agent.declare_agent(hears_stop=False)
    told = set_status(client_of(agent), lead)
    warning = "missing_agent_session_stopped_event_subscription"
    assert (told["warning"], told["response_metadata"]["warnings"]) == (warning, [warning])
    with pytest.raises(InvalidAction):
        agent.stop_session(HOME, lead)


def test_the_button_stops_the_streams_of_its_thread_and_tells_the_app(
    agent: SlackEmulator, app: WebClient, lead: str
) -> None:
    other = agent.add_message(HOME, "and?")
    set_status(app, lead)
    threads = (lead, other)
    first, second = (
        app.chat_startStream(channel=HOME, thread_ts=each, markdown_text="x", **READER)["ts"] for each in threads
    )
    wire = Wire()
    Person(agent, wire).stop_session(HOME, lead)
    event = wire.payloads[0]["event"]
    assert event.pop("event_ts") > second
    assert event == {
        "type": "agent_session_stopped",
        "user": "U0ASKER",
        "channel": HOME,
        "thread_ts": lead,
        "streaming_message_ts": [first],
    }
    assert (agent.is_streaming(HOME, first), agent.is_streaming(HOME, second)) == (False, True)
    answer = refusal(lambda: app.chat_appendStream(channel=HOME, ts=first, markdown_text="y"))
    assert answer["error"] == "stopped_by_user"
    assert status_of(agent, lead) == "processing", "only the app changes it"
    set_status(app, lead, "active")
    with pytest.raises(InvalidAction):
        Person(agent, wire).stop_session(HOME, lead)


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        ({"status": "thinking"}, "invalid_arguments"),
        ({"status": None}, "invalid_arguments"),
        ({"title": "x" * 201}, "invalid_arguments"),
        ({"initiator_user_id": "U0STRANGER"}, "invalid_arguments"),
        ({"thread_ts": ""}, "invalid_arguments"),
        ({"thread_ts": "1.1"}, "invalid_thread_ts"),
        ({"channel_id": "C0NOWHERE"}, "channel_not_found"),
        ({"text": "x"}, "invalid_arguments"),
    ],
    ids=str,
)
def test_refused_statuses(agent: SlackEmulator, app: WebClient, lead: str, arguments: Json, error: str) -> None:
    agent.set_person("U0STRANGER", team="T0OTHER")
    whole = {"channel_id": HOME, "thread_ts": lead, "status": "active", **arguments}
    assert refusal(lambda: app.api_call("agents.sessions.setStatus", json=whole))["error"] == error
    assert agent.get_session(HOME, lead) is None


def test_a_session_is_renamed_once_there_is_one(agent: SlackEmulator, app: WebClient, lead: str) -> None:
    where: Json = {"channel_id": HOME, "thread_ts": lead}
    assert refusal(lambda: app.agents_sessions_rename(**where, title="Why"))["error"] == "not_authorized"
    set_status(app, lead)
    app.agents_sessions_rename(**where, title="Why")
    session = agent.get_session(HOME, lead)
    assert session
    assert session.title == "Why"
    assert refusal(lambda: app.agents_sessions_rename(**where, title=""))["error"] == "invalid_arguments"


def test_prompts_stand_in_direct_messages(agent: SlackEmulator, app: WebClient, lead: str) -> None:
    agent.declare_agent(prompts=PROMPTS)
    assert agent.get_prompts(DIRECT) == {"title": "", "prompts": PROMPTS}
    own = [{"title": "What?", "message": "What changed?"}]
    app.assistant_threads_setSuggestedPrompts(channel_id=DIRECT, title="Today", prompts=own)
    assert agent.get_prompts(DIRECT) == {"title": "Today", "prompts": own}
    app.assistant_threads_setSuggestedPrompts(channel_id=DIRECT, thread_ts=lead, prompts=PROMPTS)
    assert agent.get_prompts(DIRECT)["prompts"] == own, "a thread's prompts are for apps before agents"


@pytest.mark.parametrize(
    "prompts",
    [[], PROMPTS * 5, [{"title": "x"}], [{"title": "", "message": "x"}], ["x"], "[", [{**PROMPTS[0], "a": 1}]],
)
def test_refused_prompts(agent: SlackEmulator, app: WebClient, prompts: Any) -> None:
    arguments = {"channel_id": DIRECT, "prompts": prompts}
    answer = refusal(lambda: app.api_call("assistant.threads.setSuggestedPrompts", json=arguments))
    assert answer["error"] == "invalid_arguments"
    assert agent.get_prompts(DIRECT)["prompts"] == []


CALLS: dict[str, Callable[[WebClient, str], Any]] = {
    "status": set_status,
    "name": lambda app, lead: app.agents_sessions_rename(channel_id=HOME, thread_ts=lead, title="x"),
    "prompts": lambda app, _: app.assistant_threads_setSuggestedPrompts(channel_id=DIRECT, prompts=PROMPTS),
}


@pytest.mark.parametrize("name", CALLS)
def test_other_apps_have_none_of_it(name: str) -> None:
    with SlackEmulator(scopes=ALL_SCOPES | {"assistant:write"}) as slack:
        lead = slack.add_message(HOME, "why?")
        assert refusal(lambda: CALLS[name](client_of(slack), lead))["error"] == "not_agent_app"


def test_a_stream_of_another_app_sets_no_status(slack: SlackEmulator, web: WebClient) -> None:
    lead = slack.add_message(HOME, "why?")
    ts = web.chat_startStream(channel=HOME, thread_ts=lead, markdown_text="x", **READER)["ts"]
    answer = refusal(lambda: web.chat_stopStream(channel=HOME, ts=ts, session_status="active"))
    assert answer["error"] == "invalid_arguments"


def test_prompts_need_the_scope(slack: SlackEmulator, web: WebClient) -> None:
    answer = refusal(lambda: CALLS["prompts"](web, ""))
    assert (answer["error"], answer["needed"]) == ("missing_scope", "assistant:write")


def manifest(view: Any, *events: str, **features: Any) -> str:
    settings = {"event_subscriptions": {"bot_events": list(events)}}
    return json.dumps({"features": {"agent_view": view, **features}, "settings": settings})


def test_a_manifest_declares_an_agent_which_adds_its_scope() -> None:
    view = {"agent_description": "Knows what merged", "suggested_prompts": PROMPTS}
    told = read_manifest(manifest(view, "agent_session_stopped"))
    assert (told.agent, "assistant:write" in told.scopes) == (AgentView(tuple(PROMPTS), hears_stop=True), True)
    assert read_manifest(manifest({"agent_description": "x"})).agent == AgentView()
    assert read_manifest("{}").agent is None


@pytest.mark.parametrize(
    "text",
    [
        manifest({}),
        manifest({"agent_description": "x" * 301}),
        manifest({"agent_description": "x", "suggested_prompts": PROMPTS * 5}),
        manifest({"agent_description": "x"}, assistant_view={}),
        manifest(7),
    ],
)
def test_an_agent_that_slack_would_refuse_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="not a Slack app manifest"):
        read_manifest(text)
