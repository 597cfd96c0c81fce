"""Calls of tools: admitted, bounded, validated, and answered by a page of fenced data or by one sentence."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pydantic import ValidationError

from bot.domain.conversations.thread_subject import get_default_subject
from bot.domain.errors import PrdigestError, UsageError
from bot.domain.keyspace.names import build_agent_rate
from bot.domain.text.strings import collapse_lines, quote_input, truncate_text
from bot.features.questions.reading import ReadingSession
from bot.mcp.arguments import PAGE_FIELDS, ListPageArguments, PageArguments, TextPageArguments, add_pages
from bot.mcp.declaration import ItemList, ToolContext, ToolDeclaration, ToolResult
from bot.mcp.paging import NOTICE, KeptResults, PageEnd, cut_items, cut_text
from bot.mcp.registry import TOOLS
from bot.platform import deadlines
from bot.platform.correlation import identify_request
from bot.platform.deadlines import ProcessShutdown, ShutdownSignal
from bot.platform.models.prompts import TextBounds, fence_text
from bot.platform.models.tools import explain_failure, format_unknown_tool
from bot.render.conversations import sentences
from bot.render.conversations.notices import describe_error, is_user_mistake
from bot.services.agents.sources import AgentSources

log = logging.getLogger(__name__)

# seconds: the usual clients wait for a minute
CALL_SECONDS = 50.0
# seconds of it that services may wait when GitHub asks for a pause
_MAX_WAITS = 20.0
_MAX_SENTENCE = 600
_MAX_PROBLEMS = 3
# characters of a whole result, of which pages are cut
BOUNDS = TextBounds(result=200_000, diff=400_000)
_STOPS = "The server stops: connect again in a minute."


@dataclass(frozen=True, slots=True)
class CallResult:
    """What a client gets: a text, and of a list the same as JSON. ``end`` is where the page lies in the result."""

    text: str
    is_error: bool = False
    structured: Mapping[str, Any] | None = None
    end: PageEnd | None = None


class AgentTools:
    """The tools over ``sources`` for the clients of one way to connect, by which their calls are counted.

    ``clock`` returns seconds that never go back, ``new_id`` a text that names a call in the log. Threads may share
    it.
    """

    def __init__(
        self,
        sources: AgentSources,
        client: str,
        clock: Callable[[], float],
        new_id: Callable[[], str],
        tools: Sequence[ToolDeclaration] = TOOLS,
    ) -> None:
        self._sources = sources
        self._client = client
        self._new_id = new_id
        self._kept = KeptResults(clock)
        shown = (tool for tool in tools if sources.has_profiles or not tool.needs_profiles)
        self._tools = {tool.name: tool for tool in shown}

    @property
    def declarations(self) -> Sequence[ToolDeclaration]:
        """The tools that clients may call."""
        return tuple(self._tools.values())

    def call_tool(self, name: str, arguments: Mapping[str, Any], ending: ShutdownSignal) -> CallResult:
        """Call a tool; ``ending`` interrupts it. Each failure is a result with one sentence."""
        return self.run_call(name, lambda: self._run_tool(name, arguments), ending)

    def run_call(self, name: str, work: Callable[[], CallResult], ending: ShutdownSignal) -> CallResult:
        """Run something that a client asks for, within the limits of a call."""
        reference = self._new_id()
        with identify_request(reference), deadlines.bound_work(CALL_SECONDS, ending, _MAX_WAITS):
            try:
                if not self._sources.limiter.try_acquire(build_agent_rate(self._client)):
                    return CallResult(sentences.TOO_FAST, is_error=True)
                result = work()
            except ProcessShutdown:
                return CallResult(_STOPS, is_error=True)
            except PrdigestError as error:
                log.info("%s could not be answered: %s", truncate_text(collapse_lines(name), 60), error)
                return CallResult(_format_sentence(error, reference), is_error=True)
            except Exception as error:
                log.exception("a defect in the tool %s", truncate_text(collapse_lines(name), 60))
                return CallResult(describe_error(error, reference), is_error=True)
        return result

    def _run_tool(self, name: str, arguments: Mapping[str, Any]) -> CallResult:
        """Return a page of what a tool returns. Raises PrdigestError."""
        tool = self._tools.get(name)
        if tool is None:
            raise UsageError(format_unknown_tool(name, self._tools))
        parsed = parse_arguments(tool, arguments)
        key = _build_key(tool, parsed)
        result = self._kept.get(key) if parsed.offset else None
        if result is None:
            result = tool.run(self._open_context(), parsed)
        answer = _show_page(result, parsed)
        if answer.end and answer.end.following is not None:
            self._kept.put(key, result)
        return answer

    def _open_context(self) -> ToolContext:
        sources = self._sources
        today = sources.get_today()
        subject = get_default_subject(sources.repositories, today)
        session = ReadingSession(sources.app, today, subject, BOUNDS)
        return ToolContext(sources, session)


def get_page_shape(tool: ToolDeclaration) -> type[PageArguments]:
    """Return the arguments of a tool with those of its pages."""
    return add_pages(tool.arguments, ListPageArguments if tool.item else TextPageArguments)


def parse_arguments(tool: ToolDeclaration, arguments: Mapping[str, Any]) -> PageArguments:
    """Return the arguments of a call. Raises UsageError, with what to write instead."""
    size = len(json.dumps(arguments, ensure_ascii=False))
    if size > tool.most_input:
        raise UsageError(f"{size:,} characters of arguments are too many: send at most {tool.most_input:,}.")
    try:
        return get_page_shape(tool).model_validate(arguments)
    except ValidationError as error:
        problems = [_describe_problem(item["loc"], item["msg"]) for item in error.errors()[:_MAX_PROBLEMS]]
        raise UsageError(f"Call {tool.name} with other arguments: {'; '.join(problems)}.") from error


def _describe_problem(place: Sequence[object], message: str) -> str:
    """Return what is wrong with an argument, without what it says."""
    return f"{quote_input('.'.join(map(str, place)))} – {message[:1].lower()}{message[1:]}"  # noqa: RUF001 (a dash)


def _build_key(tool: ToolDeclaration, arguments: PageArguments) -> str:
    """Return what names a result whatever its page."""
    return f"{tool.name} {arguments.model_dump_json(exclude=PAGE_FIELDS)}"


def _show_page(result: ToolResult, page: PageArguments) -> CallResult:
    """Return a page of a result. Raises UsageError for an offset behind the end."""
    if isinstance(result, ItemList):
        structured, end = cut_items(result, page.offset, page.size)
        text = json.dumps(structured, ensure_ascii=False)
        return CallResult(f"{fence_text('data', text)}\n{end}", structured=structured, end=end)
    text, end = cut_text(result, page.offset, page.size)
    return CallResult(f"{NOTICE}\n{fence_text('data', text)}\n{end}", end=end)


def _format_sentence(error: PrdigestError, reference: str) -> str:
    """Return an error as a sentence, with the reference of the log unless the client can correct it."""
    sentence = truncate_text(collapse_lines(explain_failure(error)), _MAX_SENTENCE)
    return sentence if is_user_mistake(error) else f"{sentence} [{reference}]"
