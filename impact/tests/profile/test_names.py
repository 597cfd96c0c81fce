"""Names of profiles: what people type, and what can be part of a key."""

import pytest

from impact.errors import UsageError
from impact.profile.names import parse_profile_name


@pytest.mark.parametrize(("text", "name"), [("ascend", "ascend"), (" Ascend-2 ", "ascend-2"), ("a.b_c", "a.b_c")])
def test_names_are_in_lower_case(text: str, name: str) -> None:
    assert parse_profile_name(text) == name


@pytest.mark.parametrize("text", ["", "a b", "a:b", "-a", "a/b", "é", "a" * 41, "a\nb", "*"])
def test_what_is_no_name_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match="not a name of a profile"):
        parse_profile_name(text)
