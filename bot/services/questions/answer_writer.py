"""Answers to questions: by the model if there is one with budget left, else by a search for words."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

from bot.domain.conversations.commands import AllowedRepositories
from bot.domain.conversations.thread import Question, ThreadMemory
from bot.domain.conversations.thread_subject import ThreadSubject, parse_subject
from bot.domain.errors import ModelError
from bot.domain.pull_requests.discussion import Discussion, Remark
from bot.domain.pull_requests.models import PullRequest
from bot.domain.summaries.citations import Citation
from bot.domain.summaries.models import Evidence
from bot.domain.text.redaction import redact_text
from bot.domain.time.day import TodayProvider
from bot.platform.costs import Budget, WorkKind, tally_costs
from bot.ports import AnswerDisplay
from bot.ports.codecs.versioned_json import VersionedJson
from bot.render.conversations.answers import format_search_answer, label_citation, label_remark, render_footer
from bot.render.conversations.sentences import MODEL_NOTE, format_answer_end
from bot.render.conversations.streaming import Links
from bot.services.questions.agent import AnswerAgent
from bot.services.questions.answer_inputs import (
    AnswerInputs,
    AnswerOutcome,
    NumberedCitation,
)
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
    """An answer: as Markdown, as the thread remembers it, its footer, and the inputs that it was made from."""

    text: str
    raw_text: str
    footer: Sequence[Mapping[str, Any]]
    inputs: AnswerInputs


ANSWER_DRAFT_JSON = VersionedJson(AnswerDraft, 1)


class AnswerWriter:
    """Writer of answers. ``agent`` is None if there is no model; ``model`` is its name.

    ``stands_in`` is a sentence for readers on the author if that is no model. ``clock`` is that of the agent:
    the time for reading before the model is asked counts too.
    """

    def __init__(
        self,
        archive: PullRequestArchive,
        repositories: AllowedRepositories,
        today: TodayProvider,
        agent: AnswerAgent | None,
        model: str,
        budget: Budget,
        clock: Callable[[], float],
        stands_in: str = "",
    ) -> None:
        self._archive = archive
        self._repositories = repositories
        self._today = today
        self._agent = agent
        self._model = model
        self._budget = budget
        self._clock = clock
        self._stands_in = stands_in

    def write_answer(self, question: Question, memory: ThreadMemory, display: AnswerDisplay) -> AnswerDraft:
        """Write the answer and show it meanwhile. What it cost is logged.

        Raises:
            PrdigestError: its subject cannot be read. Failures of the model do not raise.
        """
        with tally_costs() as account:
            draft = self._write_draft(question, memory, display)
        self._budget.add_work(WorkKind.ANSWER, account.expense)
        return draft

    def _write_draft(self, question: Question, memory: ThreadMemory, display: AnswerDisplay) -> AnswerDraft:
        today, started = self._today(), self._clock()
        subject = parse_subject(memory.about, self._repositories, today, self._today)
        work = _AnswerWork(question, memory, subject, Toolbox(self._archive, self._repositories, today, subject))
        display.show_status("is reading the pull requests…")
        context = build_initial_context(work.toolbox, subject)
        refusal = self._budget.explain_refusal(question.visit) if self._agent else _NO_MODEL_REASON
        if refusal or self._agent is None:
            return work.build_search_answer(context, refusal, AnswerOutcome.REFUSED, refusal)

        try:
            turns = build_turns(context, memory, question.text, today)
            written = self._agent.answer_question(turns, work.toolbox, work.links, display, started)
        except ModelError as error:
            log.info("no answer by the model [%s]: %s", question.visit.reference, error)
            return work.build_search_answer(
                context, f"It gave no answer: {error}.", AnswerOutcome.FAILED, str(error)
            )
        return work.build_model_answer(written, self._model, self._stands_in)


class _AnswerWork:
    """The state of one question until its answer."""

    def __init__(self, question: Question, memory: ThreadMemory, subject: ThreadSubject, toolbox: Toolbox) -> None:
        self._question = question
        self._memory = memory
        self._subject = subject
        self.toolbox = toolbox
        self._cited: dict[Citation, tuple[PullRequest, Evidence]] = {}
        self._quoted: dict[Citation, tuple[Discussion, Remark]] = {}
        self._failed: dict[Citation, None] = {}

    @property
    def links(self) -> Links:
        """The links for citations and numbers in the answer."""
        return Links(self._link_citation, self.toolbox.find_address)

    def _link_citation(self, citation: Citation) -> tuple[str, str] | None:
        remark = self.toolbox.find_remark(citation)
        if remark:
            self._quoted[citation] = remark
            return label_remark(*remark)
        evidence = self.toolbox.find_evidence(citation)
        if evidence is None:
            self._failed[citation] = None
            return None
        self._cited[citation] = evidence
        return label_citation(*evidence)

    def build_model_answer(self, written: WrittenAnswer, model: str, stands_in: str) -> AnswerDraft:
        """Build the draft of an answer that the model wrote."""
        provenance, note = self.toolbox.provenance, format_answer_end(written.end, written.failure)
        # the answer may lack citations of an interrupted attempt
        cited = {
            each: evidence
            for each, evidence in self._cited.items()
            if label_citation(*evidence)[1] in written.text
        }
        quoted = {
            each: remark for each, remark in self._quoted.items() if label_remark(*remark)[1] in written.text
        }
        # what people say proves nothing about code
        is_unproven = "`" in written.text and not cited
        blocks = render_footer(
            note,
            provenance.sources,
            provenance.gaps,
            len(self._failed),
            is_unproven=is_unproven,
            # readers of a thread know it from its first answer
            author="" if self._memory.answered else stands_in or MODEL_NOTE,
        )
        inputs = replace(
            self._collect_inputs(written.text),
            model=stands_in or model,
            prompt=ANSWER_VERSION,
            rounds=written.rounds,
            usage=written.usage,
            exchanges=written.exchanges,
            citations=tuple(_add_number(each, evidence[0].number) for each, evidence in cited.items()),
            quoted=tuple(_add_number(each, remark[0].number) for each, remark in quoted.items()),
            failed_citations=tuple(self._failed),
            note=note,
        )
        return AnswerDraft(written.text, written.raw_text, blocks, inputs)

    def build_search_answer(
        self, context: InitialContext, sentence: str, outcome: AnswerOutcome, reason: str
    ) -> AnswerDraft:
        """Build the draft of an answer by a search for words, which begins with a ``sentence`` on why."""
        matches = search_by_words(self._question.text, context.entries)
        text = format_search_answer(sentence, self.toolbox.span.title, matches)
        return AnswerDraft(text, text, (), replace(self._collect_inputs(text), outcome=outcome, reason=reason))

    def _collect_inputs(self, text: str) -> AnswerInputs:
        """Return enough to ask the same question again."""
        return AnswerInputs(
            question=redact_text(self._question.text),
            repository=str(self._subject.repository),
            days=str(self._subject.span),
            numbers=self._subject.numbers,
            thread=self._memory.messages,
            answer=text,
        )


def _add_number(citation: Citation, number: int) -> NumberedCitation:
    """Return a citation with the number of its pull request."""
    return NumberedCitation(
        **{each.name: getattr(citation, each.name) for each in fields(citation)}, number=number
    )
