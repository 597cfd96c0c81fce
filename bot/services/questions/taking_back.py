"""Tells what was taken back, by what, and what that says of why."""

from __future__ import annotations

from bot.domain.pulls import PullRequest
from bot.domain.repairs import repairs_among
from bot.domain.reverts import is_revert, reverts_among, standing
from bot.domain.texts import one_line, shorten, without_comments

_WHY = 800


def taken_back(watched: tuple[PullRequest, ...], numbers: set[int]) -> list[str]:
    """What was taken back of the pull requests of these numbers, or by them."""
    by_number = {pull.number: pull for pull in watched}
    pairs = reverts_among(watched)
    held = standing(pairs, watched)
    lines = [
        _pair(by_number[each.number], by_number[each.by], "reverted") for each in held if each.number in numbers
    ]
    lines += [
        _pair(by_number[each.number], by_number[each.by], "repaired")
        for each in repairs_among(watched)
        if each.number in numbers
    ]
    undone = [each for each in pairs if each not in held and each.number in numbers]
    lines += [f"#{each.number} was reverted by #{each.by}, which was itself reverted" for each in undone]
    paired = {each.by for each in pairs}
    older = [pull for pull in watched if pull.number in numbers - paired and is_revert(pull)]
    lines += [f"#{pull.number} takes back what was merged before these days. {_why(pull)}" for pull in older]
    return lines or ["Nothing of these days was taken back."]


def _pair(pull: PullRequest, by: PullRequest, how: str) -> str:
    title = one_line(pull.title)
    return f"#{pull.number} ({title}) was {how} by #{by.number} on {by.merge_time:%Y-%m-%d %H:%M}Z. {_why(by)}"


def _why(pull: PullRequest) -> str:
    body = one_line(without_comments(pull.body))
    return f"#{pull.number} ({one_line(pull.title)}) says: {shorten(body, _WHY) or 'nothing'}"
