"""Writes the answer to a question: with the model where it is there and paid for, else by plain search."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from bot.domain.conversations.commands import Repositories
from bot.domain.conversations.thread import Memory, Question
from bot.domain.conversations.thread_subject import Subject, subject_of
from bot.domain.errors import ModelError
from bot.domain.pull_requests.models import PullRequest
from bot.domain.summaries.citations import Citation
from bot.domain.summaries.models import Evidence
from bot.domain.text.redaction import redact_text
from bot.domain.time.day import TodayProvider
from bot.ports import AnswerDisplay
from bot.render.conversations.answers import describe_end, format_search_answer, label_citation, render_footer
from bot.render.conversations.streaming import Links
from bot.services.operations.budget import Budget
from bot.services.questions.agent import Answerer
from bot.services.questions.answer_progress import Written
from bot.services.questions.archive import Archive
from bot.services.questions.initial_context import Opening, opening, turns
from bot.services.questions.plain_search import found_by_words
from bot.services.questions.tools.toolbox import Toolbox
from bot.services.summaries.prompts import ANSWER

log = logging.getLogger(__name__)

_NO_MODEL = "No model is set up."


@dataclass(frozen=True, slots=True)
class Draft:
    """An answer: as Markdown, as the thread remembers it, what stands below, and what it was made of."""

    text: str
    said: str
    below: Sequence[Mapping[str, Any]]
    inputs: Mapping[str, Any]


class Writer:
    """Writes answers. ``answerer`` is None where no model is set up; ``model`` is its name.

    ``stands_in`` says, as a sentence for readers, who writes where that is no model.
    ``clock`` is the answerer's: what is read before the model is asked takes of the same minutes.
    """

    def __init__(
        self,
        archive: Archive,
        repositories: Repositories,
        today: TodayProvider,
        answerer: Answerer | None,
        model: str,
        budget: Budget,
        clock: Callable[[], float],
        stands_in: str = "",
    ) -> None:
        self._archive = archive
        self._repositories = repositories
        self._today = today
        self._answerer = answerer
        self._model = model
        self._budget = budget
        self._clock = clock
        self._stands_in = stands_in

    def write(self, question: Question, memory: Memory, display: AnswerDisplay) -> Draft:
        """The answer, shown while it is written.

        Raises:
            PrdigestError: what it is about can't be read; the model's failures are no errors here.
        """
        today, started = self._today(), self._clock()
        subject = subject_of(memory.about, self._repositories, today, self._today)
        work = _Work(question, memory, subject, Toolbox(self._archive, self._repositories, today, subject))
        display.show_status("is reading the pull requests…")
        begun = opening(work.toolbox, subject)
        refusal = self._budget.explain_refusal(question.visit) if self._answerer else _NO_MODEL
        if refusal or self._answerer is None:
            return work.searched(begun, refusal, {"refused": refusal})

        try:
            talk = turns(begun, memory, question.text, today)
            written = self._answerer.answer(talk, work.toolbox, work.links, display, started)
        except ModelError as error:
            log.info("no answer by the model [%s]: %s", question.visit.reference, error)
            return work.searched(begun, f"It gave no answer: {error}.", {"failed": str(error)})
        return work.answered(written, self._model, self._stands_in)


class _Work:
    """One question on its way to an answer."""

    def __init__(self, question: Question, memory: Memory, subject: Subject, toolbox: Toolbox) -> None:
        self._question = question
        self._memory = memory
        self._subject = subject
        self.toolbox = toolbox
        self._held: dict[Citation, tuple[PullRequest, Evidence]] = {}
        self._failed: dict[Citation, None] = {}

    @property
    def links(self) -> Links:
        return Links(self._cited, self.toolbox.address)

    def _cited(self, citation: Citation) -> tuple[str, str] | None:
        found = self.toolbox.evidence(citation)
        if found is None:
            self._failed[citation] = None
            return None
        self._held[citation] = found
        return label_citation(*found)

    def answered(self, written: Written, model: str, stands_in: str) -> Draft:
        ledger, note = self.toolbox.ledger, describe_end(written.end, written.failure)
        # those of a try that broke off may be gone
        held = {each: found for each, found in self._held.items() if label_citation(*found)[1] in written.text}
        is_unproven = "`" in written.text and not held
        blocks = render_footer(
            note,
            ledger.read,
            ledger.not_seen,
            len(self._failed),
            is_unproven=is_unproven,
            stands_in=stands_in,
        )
        made = {
            "model": stands_in or model,
            "prompt": ANSWER,
            "rounds": written.rounds,
            "usage": asdict(written.usage),
            "exchanges": [asdict(each) for each in written.exchanges],
            "citations": [{**asdict(each), "number": found[0].number} for each, found in held.items()],
            "failed_citations": [asdict(each) for each in self._failed],
            "note": note,
        }
        return Draft(written.text, written.said, blocks, self._inputs(written.text, made))

    def searched(self, begun: Opening, reason: str, made: Mapping[str, Any]) -> Draft:
        found = found_by_words(self._question.text, begun.entries)
        text = format_search_answer(reason, self.toolbox.span.title, found)
        return Draft(text, text, (), self._inputs(text, made))

    def _inputs(self, text: str, made: Mapping[str, Any]) -> Mapping[str, Any]:
        """Enough to ask the same again, and to judge the answer."""
        return {
            "question": redact_text(self._question.text),
            "repository": str(self._subject.repository),
            "days": str(self._subject.span),
            "numbers": list(self._subject.numbers),
            "thread": [asdict(each) for each in self._memory.said],
            "answer": text,
            **made,
        }
