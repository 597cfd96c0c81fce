"""A provider of models that is none: a client and a server of a tiny protocol, and what registers it.

Over HTTP, with the key in ``X-Toy-Key`` and an option in ``X-Toy-Room``: ``GET /models/NAME``; ``POST /complete``
answers ``{"text": …, "used": [in, out]}``; ``POST /talk`` answers a JSON value a line: ``{"say": …}``,
``{"call": …, "tool": …, "with": {…}}``, ``{"used": [in, out]}``, ``{"end": true}``.
"""

import json
from collections.abc import Generator, Iterator, Mapping, Sequence
from typing import Any, ClassVar

import httpx2
from localslack.loopback import Loopback, Request, Response
from pydantic import SecretStr

from bot.errors import ModelBusy, ModelRequestRejected
from bot.platform.http.bounded_calls import DeadlineExceeded, bound_requests, run_in_own_context
from bot.platform.http.httpx_clients import track_connections
from bot.platform.models import (
    Chat,
    ChatEvent,
    Completion,
    ModelAccess,
    ModelProvider,
    Prompt,
    TextDelta,
    ToolCall,
    ToolResult,
    Turn,
    TurnEnd,
    TurnUsage,
)
from bot.settings import Settings
from bot.settings.description import Process, SettingsGroup, setting
from bot.usage import ModelPrice, PriceList, Usage
from tests.emulators.claude.script import overview_answer, summary_answer

_ASKS_TOY = (Process.WORKER, Process.COMMANDS)
KEY = "toy-key"
# tokens in and out of each call
COMPLETED, TALKED = (1_000, 100), (2_000, 50)
TEXT = "Retries were counted twice before. "


class ToyConnection:
    """``ModelConnection``. ``seconds`` is how long one call may take."""

    def __init__(self, access: ModelAccess, seconds: float = 30.0) -> None:
        kept = httpx2.Limits(max_keepalive_connections=0)
        headers = {"X-Toy-Key": access.key, "X-Toy-Room": access.options["TOY_ROOM"] or ""}
        self._client = httpx2.Client(base_url=access.address, headers=headers, limits=kept, timeout=seconds)
        track_connections(self._client)
        self._seconds = seconds

    def has_model(self, model: str) -> bool:
        return self._ask("GET", f"/models/{model}")["known"] is True

    def complete(self, prompt: Prompt) -> Completion:
        answer = self._ask("POST", "/complete", asked=prompt.user, schema=dict(prompt.schema))
        return Completion(answer["text"], Usage(*answer["used"]))

    @run_in_own_context
    def stream_turn(self, chat: Chat) -> Generator[ChatEvent, None, None]:
        body = {"turns": [_list_parts(turn) for turn in chat.turns]}
        try:
            with bound_requests(chat.seconds), self._client.stream("POST", "/talk", json=body) as answer:
                yield from _events(answer)
        except (DeadlineExceeded, httpx2.HTTPError) as error:
            raise ModelBusy("the toy broke off") from error

    def close(self) -> None:
        self._client.close()

    def _ask(self, method: str, path: str, **body: Any) -> dict[str, Any]:
        try:
            with bound_requests(self._seconds):
                answer = self._client.request(method, path, json=body)
        except (DeadlineExceeded, httpx2.HTTPError) as error:
            raise ModelBusy("the toy can't be reached") from error
        if answer.status_code == 401:
            raise ModelRequestRejected("the model's API key was rejected")
        content: dict[str, Any] = answer.json()
        return content


def _list_parts(turn: Turn) -> list[str]:
    return [f"{type(part).__name__}: {part.text}" for part in turn.parts]


def _events(answer: httpx2.Response) -> Iterator[ChatEvent]:
    blocks: list[Mapping[str, Any]] = []
    for line in answer.iter_lines():
        match json.loads(line):
            case {"say": str(words)}:
                blocks.append({"say": words})
                yield TextDelta(words)
            case {"call": str(name), "tool": str(tool), "with": dict(arguments)}:
                yield ToolCall(name, tool, arguments)
            case {"used": [int(read), int(written)]}:
                yield TurnUsage(Usage(read, written))
            case {"end": True}:
                yield TurnEnd(Turn("model", model_blocks=tuple(blocks)))


def find_models(access: ModelAccess, models: Sequence[str], seconds: float) -> dict[str, bool | None]:
    connection = ToyConnection(access, seconds)
    return {model: connection.has_model(model) for model in models}


TOY = ModelProvider(
    choice="toy",
    name="Toy",
    place="a toy",
    key_variable="TOY_API_KEY",
    address_variable="TOY_URL",
    prices=PriceList({"toy-1": ModelPrice(10.0, 100.0)}),
    connect=ToyConnection,
    find_models=find_models,
    option_variables=("TOY_ROOM",),
)


class ToyGroup(SettingsGroup):
    """What the module of its settings has: a key, an address, and an option that no other provider has."""

    heading: ClassVar = "Toy"

    toy_api_key: SecretStr | None = setting(
        "The key of the toy.", _ASKS_TOY, address_field="toy_url", is_token=True
    )
    toy_url: str = setting("Where the toy is.", _ASKS_TOY, default="https://toy.invalid")
    toy_room: str = setting("The room of the toy.", _ASKS_TOY, default="attic")


class ToySettings(ToyGroup, Settings):
    """All settings, as ``bot/settings/groups.py`` has them, with those of the toy."""


class ToyServer(Loopback):
    """The other side. ``requests`` are the paths that were asked for, ``heard`` what a talk told it last.

    ``rooms`` are those that were named.
    """

    def __init__(self) -> None:
        super().__init__()
        self.requests: list[str] = []
        self.heard: list[str] = []
        self.rooms: set[str] = set()

    def handle(self, request: Request) -> Response:
        self.requests.append(request.path)
        self.rooms.add(request.headers.get("x-toy-room", ""))
        if request.headers.get("x-toy-key") != KEY:
            return Response(401)
        if request.path.startswith("/models/"):
            return Response.of_json({"known": request.path == "/models/toy-1"})
        body = request.json()
        if request.path == "/complete":
            is_summary = "headline" in body["schema"]["properties"]
            value = (
                summary_answer(headline="Counts once") if is_summary else overview_answer(overview="A toy day.")
            )
            return Response.of_json({"text": json.dumps(value), "used": COMPLETED})
        self.heard = body["turns"][-1]
        return Response(200, chunks=self._talk())

    def _talk(self) -> Iterator[bytes]:
        """Look something up first, and then say it word by word."""
        yield _line(used=[TALKED[0], 0])
        if any(part.startswith(ToolResult.__name__) for part in self.heard):
            for word in ("<answer>", *(TEXT * 20).split(" "), "</answer>"):
                yield _line(say=f"{word} ")
        else:
            yield _line(call="1", tool="read_diff", **{"with": {"number": 101}})
        yield _line(used=TALKED)
        yield _line(end=True)


def _line(**value: Any) -> bytes:
    return json.dumps(value).encode() + b"\n"
