from collections.abc import Generator, Iterable, Sequence
from datetime import UTC, datetime
from typing import TypeVar

from bot.doctor.checkup import run_checks
from bot.platform.finding import CheckStatus, Finding
from bot.platform.models import ModelProvider
from bot.platform.models.registry import PROVIDERS
from bot.settings import UsableSettings
from tests.helpers.checks import is_one_sentence

NOW = datetime(2026, 3, 1, 17, 20, tzinfo=UTC)  # 09:20 in Los Angeles
_MARKS = {CheckStatus.OK: "+", CheckStatus.FAILED: "!", CheckStatus.NOTE: "-"}


def now() -> datetime:
    return NOW


def format_findings(findings: Iterable[Finding]) -> list[str]:
    """Each as ``+ name: found`` or ``! name: found -> advice``; what failed must say in one what to do."""
    return [_line(each) for each in findings]


def _line(finding: Finding) -> str:
    assert bool(finding.advice) >= (finding.status is CheckStatus.FAILED), finding
    assert not finding.advice or is_one_sentence(finding.advice), finding.advice
    advice = f" -> {finding.advice}" if finding.advice else ""
    return f"{_MARKS[finding.status]} {finding.name}: {finding.result}{advice}"


def examine(usable: UsableSettings, providers: Sequence[ModelProvider] = PROVIDERS) -> list[str]:
    return format_findings(run_checks(usable, lambda: datetime.now(UTC), lambda _: None, providers))


Result = TypeVar("Result")


def outcome(check: Generator[Finding, None, Result]) -> tuple[list[str], Result]:
    """What a check tells, and what it hands on to those after it."""
    findings: list[Finding] = []
    while True:
        try:
            findings.append(next(check))
        except StopIteration as end:
            return format_findings(findings), end.value
