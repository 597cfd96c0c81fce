"""Names of profiles: what people type, and what can be part of a key; profiles as texts; and the search in one."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from impact.errors import UsageError
from impact.profile.models import (
    DerivedClass,
    Profile,
    Use,
    UseKind,
    dump_profile,
    find_uses,
    parse_profile,
    parse_profile_name,
)
from impact.testing.touches import NOON, make_profile

SCHEDULE = Use(
    UseKind.OVERRIDE, "vllm.Scheduler.schedule", "ours/core/a.py", 9, definitions=("vllm.v1.S.schedule",)
)
CONFIG = Use(UseKind.IMPORT, "vllm.config.SchedulerConfig", "ours/core/a.py", 2)
FLAG = Use(UseKind.FLAG, "--max-model-len", "deploy/run.sh", 4, owner="")
HELPER = Use(UseKind.CALL, "vllm.utils.schedule_all", "ours/b.py", 1, owner="ours.b.Runner.run")
OURS = Profile("ours", ("vllm",), "octo/ours", "", NOON, (SCHEDULE, CONFIG, FLAG, HELPER))


@pytest.mark.parametrize(("text", "name"), [("ascend", "ascend"), (" Ascend-2 ", "ascend-2"), ("a.b_c", "a.b_c")])
def test_names_are_in_lower_case(text: str, name: str) -> None:
    assert parse_profile_name(text) == name


@pytest.mark.parametrize("text", ["", "a b", "a:b", "-a", "a/b", "é", "a" * 41, "a\nb", "*"])
def test_what_is_no_name_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match="not a name of a profile"):
        parse_profile_name(text)


def test_equal_profiles_have_the_same_text() -> None:
    members = frozenset(f"member_{number}" for number in range(40))
    text = dump_profile(make_profile(classes=[DerivedClass("ours.C", "ours/a.py", 3, members=members)]))
    assert json.loads(text)["classes"]["ours.C"]["members"] == sorted(members)
    assert parse_profile(text).classes["ours.C"].members == members


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
