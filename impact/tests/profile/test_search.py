import pytest
from hypothesis import given
from hypothesis import strategies as st

from impact.profile.models import Profile, Use, UseKind
from impact.profile.search import find_uses
from tests.merges import NOON

SCHEDULE = Use(
    UseKind.OVERRIDE, "vllm.Scheduler.schedule", "ours/core/a.py", 9, definitions=("vllm.v1.S.schedule",)
)
CONFIG = Use(UseKind.IMPORT, "vllm.config.SchedulerConfig", "ours/core/a.py", 2)
FLAG = Use(UseKind.FLAG, "--max-model-len", "deploy/run.sh", 4, owner="")
HELPER = Use(UseKind.CALL, "vllm.utils.schedule_all", "ours/b.py", 1, owner="ours.b.Runner.run")
OURS = Profile("ours", ("vllm",), "octo/ours", "", NOON, (SCHEDULE, CONFIG, FLAG, HELPER))


@pytest.mark.parametrize(
    ("text", "uses"),
    [
        ("vllm.Scheduler.schedule", [SCHEDULE]),
        ("Scheduler.schedule", [SCHEDULE]),
        ("schedule", [SCHEDULE]),
        (" `schedule()` ", [SCHEDULE]),
        ("S.schedule", [SCHEDULE]),
        ("--max-model-len", [FLAG]),
        ("ours/core/a.py", [CONFIG, SCHEDULE]),
        ("ours/core/", [CONFIG, SCHEDULE]),
        ("a.py", [CONFIG, SCHEDULE]),
        ("sched", [HELPER, CONFIG, SCHEDULE]),
        ("runner", [HELPER]),
        ("nothing", []),
        ("", []),
        ("  ", []),
    ],
)
def test_the_closest_meaning_is_found(text: str, uses: list[Use]) -> None:
    assert list(find_uses(OURS, text).ignore_coverage()) == uses


@given(st.text(max_size=400))
def test_any_text_is_taken(text: str) -> None:
    assert set(find_uses(OURS, text).ignore_coverage()) <= set(OURS.uses)
