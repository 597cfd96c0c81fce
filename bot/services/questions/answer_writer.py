"""Writes the answer to a question: with the model where it is there and paid for, else by plain search."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from bot.domain.conversations.commands import AllowedRepositories
from bot.domain.conversations.thread import Question, ThreadMemory
from bot.domain.conversations.thread_subject import ThreadSubject, parse_subject
from bot.domain.errors import ModelError
from bot.domain.pull_requests.models import PullRequest
from bot.domain.summaries.citations import Citation
from bot.domain.summaries.models import Evidence
from bot.domain.text.redaction import redact_text
from bot.domain.time.day import TodayProvider
from bot.ports import AnswerDisplay
from bot.render.conversations.answers import format_search_answer, label_citation, render_footer
from bot.render.conversations.sentences import format_answer_end
from bot.render.conversations.streaming import Links
from bot.services.operations.budget import Budget
from bot.services.questions.agent import AnswerAgent
from bot.services.questions.answer_progress import WrittenAnswer
from bot.services.questions.archive import PullRequestArchive
from bot.services.questions.initial_context import InitialContext, build_initial_context, build_turns
from bot.services.questions.plain_search import search_by_words
from bot.services.questions.tools.toolbox import Toolbox
from bot.services.summaries.prompts import ANSWER_VERSION

log = logging.getLogger(__name__)

_NO_MODEL_REASON = "No model is set up."


@dataclass(frozen=True, slots=True)
class AnswerDraft:
    """An answer: as Markdown, as the thread remembers it, what stands below, and what it was made of."""

    text: str
    raw_text: str
    footer: Sequence[Mapping[str, Any]]
    inputs: Mapping[str, Any]


class AnswerWriter:
    """Writes answers. ``answerer`` is None where no model is set up; ``model`` is its name.

    ``stands_in`` says, as a sentence for readers, who writes where that is no model.
    ``clock`` is the answerer's: what is read before the model is asked takes of the same minutes.
    """

    def __init__(
        self,
        archive: PullRequestArchive,
        repositories: AllowedRepositories,
        today: TodayProvider,
        answerer: AnswerAgent | None,
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

    def write_answer(self, question: Question, memory: ThreadMemory, display: AnswerDisplay) -> AnswerDraft:
        """The answer, shown while it is written.

        Raises:
            PrdigestError: what it is about can't be read; the model's failures are no errors here.
        """
        today, started = self._today(), self._clock()
        subject = parse_subject(memory.about, self._repositories, today, self._today)
        work = _AnswerWork(question, memory, subject, Toolbox(self._archive, self._repositories, today, subject))
        display.show_status("is reading the pull requests…")
        begun = build_initial_context(work.toolbox, subject)
        refusal = self._budget.explain_refusal(question.visit) if self._answerer else _NO_MODEL_REASON
        if refusal or self._answerer is None:
            return work.build_search_answer(begun, refusal, {"refused": refusal})

        try:
            talk = build_turns(begun, memory, question.text, today)
            written = self._answerer.answer_question(talk, work.toolbox, work.links, display, started)
        except ModelError as error:
            log.info("no answer by the model [%s]: %s", question.visit.reference, error)
            return work.build_search_answer(begun, f"It gave no answer: {error}.", {"failed": str(error)})
        return work.build_model_answer(written, self._model, self._stands_in)


class _AnswerWork:
    """One question on its way to an answer."""

    def __init__(self, question: Question, memory: ThreadMemory, subject: ThreadSubject, toolbox: Toolbox) -> None:
        self._question = question
        self._memory = memory
        self._subject = subject
        self.toolbox = toolbox
        self._held: dict[Citation, tuple[PullRequest, Evidence]] = {}
        self._failed: dict[Citation, None] = {}

    @property
    def links(self) -> Links:
        return Links(self._link_citation, self.toolbox.find_address)

    def _link_citation(self, citation: Citation) -> tuple[str, str] | None:
        found = self.toolbox.find_evidence(citation)
        if found is None:
            self._failed[citation] = None
            return None
        self._held[citation] = found
        return label_citation(*found)

    def build_model_answer(self, written: WrittenAnswer, model: str, stands_in: str) -> AnswerDraft:
        provenance, note = self.toolbox.provenance, format_answer_end(written.end, written.failure)
        # those of a try that broke off may be gone
        held = {each: found for each, found in self._held.items() if label_citation(*found)[1] in written.text}
        is_unproven = "`" in written.text and not held
        blocks = render_footer(
            note,
            provenance.sources,
            provenance.gaps,
            len(self._failed),
            is_unproven=is_unproven,
            stands_in=stands_in,
        )
        made = {
            "model": stands_in or model,
            "prompt": ANSWER_VERSION,
            "rounds": written.rounds,
            "usage": asdict(written.usage),
            "exchanges": [asdict(each) for each in written.exchanges],
            "citations": [{**asdict(each), "number": found[0].number} for each, found in held.items()],
            "failed_citations": [asdict(each) for each in self._failed],
            "note": note,
        }
        return AnswerDraft(written.text, written.raw_text, blocks, self._collect_inputs(written.text, made))

    def build_search_answer(self, begun: InitialContext, reason: str, made: Mapping[str, Any]) -> AnswerDraft:
        found = search_by_words(self._question.text, begun.entries)
        text = format_search_answer(reason, self.toolbox.span.title, found)
        return AnswerDraft(text, text, (), self._collect_inputs(text, made))

    def _collect_inputs(self, text: str, made: Mapping[str, Any]) -> Mapping[str, Any]:
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
