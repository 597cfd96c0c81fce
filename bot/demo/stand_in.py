"""Stand-in for a model that answers questions: it plays answers that were written for the sample day.

It takes part as a model does: first it calls the bot's tools, then it streams Markdown with quotes, which the bot
checks. If no answer is like the question, a line says so, with three questions that have one.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from bot.demo.answer_book import MIN_LIKENESS, Asked, load_answers, split_words
from bot.demo.sample.day import SampleDay, SamplePull
from bot.platform.models import Chat, ChatEvent, TextDelta, TextPart, ToolCall, ToolResult, Turn, TurnEnd
from bot.platform.models.tools import ToolName
from bot.text import format_count

# seconds: a reader should see that something is looked up, and that the text grows
_THINKING_SECONDS, _MAX_SPEAKING_SECONDS, _MAX_PAUSE = 0.5, 2.0, 0.12
_PIECE = re.compile(r"(?:\s*\S+){1,3}\s*")
# as many as one turn may have
_MAX_CALLS = 6
_MAX_DIFFS = 3
_MAX_FILES = 8

_POINTING = frozenset("it its this that one es das dessen seine 它".split())
_PLACES = {
    word: place
    for place, words in (
        (0, "first 1st erste ersten 第一"),
        (1, "second 2nd zweite zweiten 第二"),
        (2, "third 3rd dritte dritten 第三"),
        (3, "fourth 4th vierte vierten 第四"),
        (4, "fifth 5th fünfte fünften 第五"),
        (-1, "last letzte letzten 最后"),
    )
    for word in words.split()
}
_QUESTION_START = '<question id="'
_QUOTED_NUMBER = re.compile(r'<cite pr="(\d+)"')
_NAMED_NUMBER = re.compile(r"(?<![\w/])#(\d{5,9})\b", re.A)
_ITEM_NUMBER = re.compile(r"^- (?:\*\*.{1,40}\*\*: )?#(\d{1,9})\b", re.M | re.A)
_HEAD_NUMBER = re.compile(r"\W*#(\d{1,9})\b", re.A)
_RECORD_NUMBER = re.compile(r"^#(\d{1,9}) ", re.M | re.A)
# of a line about a pull request (bot/features/questions/texts.py)
_RATING = re.compile(r"\| risk (?P<band>[a-z]+)[^(|\n]*(?:\((?P<reasons>[^|\n]*)\))?")


class PreparedChatModel:
    """``ChatModel`` that plays written answers. ``sleep`` takes seconds. May be shared by threads."""

    def __init__(self, day: SampleDay, sleep: Callable[[float], None]) -> None:
        self._pulls = {pull.number: pull for pull in day.pulls}
        self._sleep = sleep

    def stream_turn(self, chat: Chat) -> Generator[ChatEvent, None, None]:
        """Call tools first, then give the answer. See :class:`bot.platform.models.ChatModel`."""
        talk = _Talk.from_turns(chat.turns)
        has_profile = any(tool["name"] == ToolName.FIND_PROFILE_USES for tool in chat.tools)
        text, queries = self._write_answer(talk, has_profile=has_profile)
        self._sleep(_THINKING_SECONDS)
        if queries and chat.may_use_tools and not talk.results:
            calls = [ToolCall(f"call_{place}", *query) for place, query in enumerate(queries[:_MAX_CALLS])]
            yield from calls
            blocks = (
                {"type": "tool_use", "id": each.id, "name": each.name, "input": each.arguments} for each in calls
            )
            yield TurnEnd(Turn("model", model_blocks=tuple(blocks)))
            return
        pieces = _PIECE.findall(f"<answer>{text}</answer>")
        for piece in pieces:
            yield TextDelta(piece)
            self._sleep(min(_MAX_PAUSE, _MAX_SPEAKING_SECONDS / len(pieces)))
        yield TurnEnd(Turn("model", (TextPart("".join(pieces)),)))

    def _write_answer(self, talk: _Talk, *, has_profile: bool) -> tuple[str, list[tuple[str, Mapping[str, Any]]]]:
        # read at the first question: a start should not wait for it
        book = load_answers()
        language, asked = book.guess_language(talk.question), book.read(talk.question)
        if refusal := book.refuse_orders(talk.question, language):
            return refusal, []
        matches = {
            reading: list(book.find_matches(reading, has_profile=has_profile))
            for reading in talk.list_readings(asked)
        }
        best = max((match for each in matches.values() for match in each), key=lambda match: match.rank(language))
        if best.likeness < MIN_LIKENESS:
            return book.write_refusal(language, matches[asked]), []
        pull = self._pulls.get(best.number or 0)
        if best.number and not pull:
            problem = next((result.text for result in talk.results if result.is_error), "")
            return problem.partition("\n")[0], [(ToolName.PULL_REQUEST, {"number": best.number})]
        facts = self._collect_facts(pull, best.answer.language, talk.results) if pull else {}
        text = best.answer.text.format_map({**book.quotes, **facts})
        quoted = list(dict.fromkeys(map(int, _QUOTED_NUMBER.findall(text))))
        named = dict.fromkeys(map(int, _NAMED_NUMBER.findall(text)))
        told = [number for number in named if number not in quoted or number == best.number]
        return text, [
            *((call["name"], call.get("arguments", {})) for call in best.answer.calls),
            *((ToolName.READ_DIFF, {"number": number}) for number in quoted[:_MAX_DIFFS]),
            *((ToolName.PULL_REQUEST, {"number": number}) for number in told),
        ]

    def _collect_facts(self, pull: SamplePull, language: str, results: Sequence[ToolResult]) -> Mapping[str, Any]:
        """Return what a text about any pull request may name. Its rating is that of the tool, by its history."""
        summary, paths = pull.summary, [file.path for file in pull.files]
        rating = next((match for result in results if (match := _RATING.search(result.text))), None)
        tests = [f"`{path}`" for path in paths if path.startswith("tests/")]
        more = [f"… (+{len(paths) - _MAX_FILES})"] if len(paths) > _MAX_FILES else []
        return {
            "number": pull.number,
            "headline": summary.headline.rstrip("."),
            "changes": summary.what_changed_and_why,
            "impact": summary.technical_impact,
            "risks": summary.potential_risks,
            "action": f"**May need action:** {summary.action}" if summary.action else "It asks for no action.",
            "band": load_answers().bands[language][rating["band"] if rating else "unknown"],
            "reasons": (rating and rating["reasons"]) or "no risk rule matched",
            "author": pull.author,
            "merger": pull.merged_by,
            "merged": f"{pull.merged_at:%Y-%m-%d, %H:%M} UTC",
            "size": format_count(len(paths), "file"),
            "count": len(paths),
            "lines": f"+{pull.additions} \N{MINUS SIGN}{pull.deletions}",
            "files": ", ".join([*(f"`{path}`" for path in paths[:_MAX_FILES]), *more]),
            "tests": f"changes tests: {', '.join(tests)}" if tests else "changes no test",
            "proof": "".join(quote for quote in load_answers().quotes.values() if f'pr="{pull.number}"' in quote),
        }


@dataclass(frozen=True, slots=True)
class _Talk:
    """A conversation: its question, the answers before, the pull requests of its thread, and the results since."""

    question: str
    answers: tuple[str, ...]
    subject: tuple[int, ...]
    results: tuple[ToolResult, ...]

    @classmethod
    def from_turns(cls, turns: Sequence[Turn]) -> _Talk:
        start = max(place for place, turn in enumerate(turns) if turn.by == "person" and not _list_results(turn))
        texts = [
            (turn.by, part) for turn in turns[: start + 1] for part in turn.parts if isinstance(part, TextPart)
        ]
        # the marks around a question carry a digest of it, so it can't imitate them
        asked = [part.text for by, part in texts if by == "person" and part.text.startswith(_QUESTION_START)]
        record = "".join(part.text for _, part in texts if part.stable).partition("\n")[2]
        return cls(
            asked[-1].partition("\n")[2].rpartition("\n")[0],
            tuple(part.text for by, part in texts if by == "model"),
            # the record of a thread about single ones begins with them, not with the days
            tuple(map(int, _RECORD_NUMBER.findall(record))) if record.startswith("#") else (),
            tuple(result for turn in turns[start + 1 :] for result in _list_results(turn)),
        )

    def list_readings(self, asked: Asked) -> Iterator[Asked]:
        """Yield the ways to read the question: as it is, and with what its words may point back to."""
        words = () if asked.numbers else split_words(self.question)
        focus = self._find_focus()
        # of the last list, or those of the thread
        lists = (tuple(map(int, _ITEM_NUMBER.findall(text))) for text in reversed(self.answers))
        items = next((listed for listed in lists if len(listed) > 1), self.subject)
        for word in words:
            if word in _PLACES and items and _PLACES[word] < len(items):
                yield asked.point_at(items[_PLACES[word]], word)
        if focus and _POINTING.intersection(words):
            yield asked.point_at(focus)
        yield asked
        if focus and words:
            yield asked.point_at(focus)

    def _find_focus(self) -> int | None:
        """Return the pull request that the last answer is about, or the only one of the thread."""
        last = self.answers[-1] if self.answers else ""
        head, named = _HEAD_NUMBER.match(last), set(_NAMED_NUMBER.findall(last))
        only = self.subject[0] if len(self.subject) == 1 else None
        return int(head[1]) if head else int(named.pop()) if len(named) == 1 else only


def _list_results(turn: Turn) -> tuple[ToolResult, ...]:
    return tuple(part for part in turn.parts if isinstance(part, ToolResult))
