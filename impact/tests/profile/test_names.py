"""Names of profiles: what people type, and what can be part of a key; and profiles as texts."""

import json

import pytest

from impact.errors import UsageError
from impact.profile.models import DerivedClass
from impact.profile.names import parse_profile_name
from impact.profile.profile_json import dump_profile, parse_profile
from impact.testing.touches import make_profile


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
