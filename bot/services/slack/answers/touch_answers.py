"""Answers about what merges change for others, and about what touches a team's code."""

from __future__ import annotations

from dataclasses import replace

from bot.domain.conversations.commands import (
    MAX_DIGEST_DAYS,
    AllowedRepositories,
    DigestRequest,
    SummaryRequest,
)
from bot.domain.conversations.requests.broke_request import BrokeRequest
from bot.domain.conversations.requests.touch_requests import ContractRequest, TouchesRequest, TouchScoreRequest
from bot.domain.conversations.thread_subject import SubjectKind
from bot.domain.pull_requests.models import Repository
from bot.domain.pull_requests.reference import Reference
from bot.domain.time.date_range import Span
from bot.render.blocks import buttons
from bot.render.contract.contract_list import render_contract_list
from bot.render.touches.suspects import render_suspects
from bot.render.touches.touch_list import render_touch_list, render_touch_score
from bot.services.contract.lister import ContractLister
from bot.services.slack.answers.answer import Answer
from bot.services.slack.answers.answer_builder import Share, build_answer
from bot.services.touches.decisions import TouchDecisions
from bot.services.touches.lister import TouchLister
from bot.services.touches.suspects import SuspectFinder
from bot.services.touches.vote_marks import mark_blocks, select_decisions


class TouchAnswerBuilder:
    """Builder of answers; ``asker`` is a name, or empty."""

    def __init__(
        self, contracts: ContractLister, touches: TouchLister, decisions: TouchDecisions, finder: SuspectFinder
    ) -> None:
        self._contracts = contracts
        self._touches = touches
        self._decisions = decisions
        self._finder = finder

    def build_contract(self, request: ContractRequest, asker: str) -> Answer:
        """Build the answer with what the merges of some days change for others."""
        contract_list = self._contracts.build_list(request)
        changed = {contract.number for contract in contract_list.contracts if contract.changes}
        menu = buttons.make_details_menu(pull for pull in contract_list.pulls if pull.number in changed)
        share = Share(buttons.SHARE_DIGEST, request)
        about = _format_subject(request.repository, request.span)
        return build_answer(asker, render_contract_list(contract_list), share, menu, about)

    def build_touches(self, request: TouchesRequest, asker: str, repositories: AllowedRepositories) -> Answer:
        """Build the answer with what touches a team's code. Raises UsageError without such a profile."""
        entry = self._touches.find_entry(request.profile, repositories)
        touch_list = self._touches.build_list(request, entry)
        touching = {merge.number for merge in touch_list.report.touching}
        menu = buttons.make_details_menu(pull for pull in touch_list.pulls if pull.number in touching)
        share = Share(buttons.SHARE_DIGEST, request)
        about = _format_subject(entry.upstream, request.span)
        decisions = select_decisions(self._decisions, entry.name, entry.upstream)
        post = render_touch_list(touch_list)
        marked = replace(post, blocks=tuple(mark_blocks(post.blocks, decisions)))
        return build_answer(asker, marked, share, menu, about)

    def build_suspects(self, request: BrokeRequest, asker: str) -> Answer:
        """Build the answer with the merges that explain an error. Raises UsageError for an unknown commit."""
        report = self._finder.find_suspects(request)
        name = self._contracts.get_name(request.repository)
        numbers = [each.number for each in report.suspects if each.number > 0]
        subject = SummaryRequest(tuple(Reference(request.repository, number) for number in numbers))
        about = SubjectKind.SUMMARY.format_subject(subject) if numbers else ""
        share = Share(buttons.SHARE_DIGEST, request)
        return build_answer(asker, render_suspects(name, request.repository, report), share, None, about)

    def build_score(self, request: TouchScoreRequest, asker: str, repositories: AllowedRepositories) -> Answer:
        """Build the answer with what became of the hits of a profile. Raises UsageError without one."""
        entry = self._touches.find_entry(request.profile, repositories)
        post = render_touch_score(entry.name, self._decisions.score(entry.name))
        return build_answer(asker, post, Share(buttons.SHARE_DIGEST, request), None, "")


def _format_subject(repository: Repository, span: Span) -> str:
    """Return the subject of the thread; of a longer list no thread reads all days."""
    if len(span) > MAX_DIGEST_DAYS:
        return ""
    return SubjectKind.DIGEST.format_subject(DigestRequest(repository, span))
