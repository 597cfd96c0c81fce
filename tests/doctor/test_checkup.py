"""No check stops those after it, and none shows a secret."""

import threading
from collections.abc import Iterator, Mapping

import pytest

from bot.doctor.checkup import Check, run_groups
from bot.errors import ConfigurationError
from bot.platform.finding import Finding
from tests.doctor.findings import format_findings


def check_well() -> Iterator[Finding]:
    yield Finding.build_success("Next", "fine")


def list_findings(check: Check, seconds: float = 5.0) -> list[str]:
    groups: Mapping[str, Check] = {"Slack": check, "Next": check_well}
    lines = format_findings(run_groups(groups, seconds))
    assert lines[-1] == "+ Next: fine"
    return lines[:-1]


def test_a_world_that_hangs_fails_its_own_checks_and_no_other() -> None:
    end = threading.Event()

    def hang() -> Iterator[Finding]:
        yield Finding.build_success("Slack token", "accepted")
        end.wait(30)

    lines = list_findings(hang, 0.3)
    end.set()
    advice = "Check that it runs, its address and the network, then run doctor again."
    assert lines == ["+ Slack token: accepted", f"! Slack: no answer within 0.3 seconds -> {advice}"]


def test_an_error_that_says_what_to_do_is_told() -> None:
    def fail() -> Iterator[Finding]:
        raise ConfigurationError("Set it.")

    assert list_findings(fail) == ["! Slack: not set up -> Set it."]


@pytest.mark.parametrize("error", [ValueError("xoxb-MARK"), KeyError("xoxb-MARK")])
def test_a_defect_is_told_without_what_the_error_says(error: Exception) -> None:
    def raise_defect() -> Iterator[Finding]:
        raise error

    [line] = list_findings(raise_defect)
    assert line.startswith(f"! Slack: not checked: {type(error).__name__} in raise_defect, line ")
    assert line.endswith(" -> Report it to the developers of prdigest: this check has a bug.")


def test_a_secret_where_a_name_belongs_is_not_shown() -> None:
    token = "xox" + "b-123456789012-abcDEF0123456789abcDEF"
    finding = Finding.build_failure(f"Channel {token} (PRDIGEST_CHANNEL)", f"no #{token}", f"Set {token}.")
    assert list_findings(lambda: [finding]) == [
        "! Channel [redacted] (PRDIGEST_CHANNEL): no #[redacted] -> Set [redacted]."
    ]
