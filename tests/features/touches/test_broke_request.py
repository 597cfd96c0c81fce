"""What people type after ``/prdigest broke``: an error in any form, and a start."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.features.touches.requests import MAX_BROKE_DAYS, BrokeRequest
from bot.platform.commands import AllowedRepositories
from impact.repository import Repository
from impact.touches.breakage.traceback_names import parse_trace
from tests.helpers.builders import DAY, REPOSITORY
from tests.helpers.checks import is_one_sentence
from tests.helpers.refusals import refusal

OTHER = Repository("Acme", "web.app")
KNOWN = AllowedRepositories(REPOSITORY, (OTHER,))
ERROR = "KeyError: 'x_y'"
TRACE = "Traceback (most recent call last):\n" + "".join(
    f'  File "/opt/pkg/m{number}.py", line {number}, in run\n    call_{number}()\n' for number in range(1, 60)
)


def parse(text: str) -> BrokeRequest:
    return BrokeRequest.parse(text, KNOWN, DAY)


@pytest.mark.parametrize(
    ("text", "error", "since"),
    [
        (f"{ERROR} since 2026-02-24", ERROR, "2026-02-24"),
        (f"since 4F5C1A9 {ERROR}", ERROR, "4f5c1a9"),
        (f"```{ERROR}``` since: 2d", ERROR, "2026-02-27"),
        (
            "It fails since monday: KeyError: 'x' since yesterday",
            "It fails since monday: KeyError: 'x'",
            "2026-02-27",
        ),
        ("KeyError: &#39;a&lt;b&#39; since 2026-02-24", "KeyError: 'a<b'", "2026-02-24"),
        ("No module named \u201ca.b\u201d since 2026-02-24", 'No module named "a.b"', "2026-02-24"),
        ("see <http://setup.py|setup.py> since 2026-02-24", "see setup.py", "2026-02-24"),
    ],
)
def test_error_and_start_are_read(text: str, error: str, since: str) -> None:
    request = parse(text)
    assert (request.error, request.since) == (error, since)
    assert (request.repository, request.is_private) == (REPOSITORY, False)


def test_repository_and_privacy_may_stand_behind() -> None:
    request = parse(f"{ERROR} since 2026-02-24 repo:acme/web.app private")
    assert (request.error, request.repository, request.is_private) == (ERROR, OTHER, True)


@pytest.mark.parametrize(
    "text",
    [
        "",
        ERROR,
        "since 2026-02-24",
        f"{ERROR} since monday",
        f"{ERROR} since 2027-01-01",
        f"{ERROR} since {MAX_BROKE_DAYS + 1}d",
        f"{ERROR} since 2024-01-01",
        f"{ERROR} since 2026-02-24 repo:no/body",
    ],
)
def test_what_cannot_be_answered_is_refused_in_one_sentence(text: str) -> None:
    assert is_one_sentence(refusal(parse, text))


def test_of_a_long_traceback_the_error_and_the_nearest_frames_stay() -> None:
    request = parse(f"{TRACE}{ERROR}\n since 2026-02-24")
    trace = parse_trace(request.error)
    assert len(request.error) <= 1_000
    assert trace.errors[0].names == ("x_y",)
    assert trace.frames[0].path == "/opt/pkg/m59.py"


@given(st.one_of(st.text(max_size=80), st.sampled_from([ERROR, TRACE + ERROR, "since 3d", "'"])))
def test_a_request_reads_its_own_text(text: str) -> None:
    request = parse(f"{ERROR} {text} since 2026-02-24")
    assert parse(str(request)) == request
