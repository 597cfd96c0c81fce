"""What of a digest someone wants to see, and how that is written and marked."""

import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.errors import UsageError
from bot.features.merges.requests import FULL_VIEW, DigestView, ViewLevel
from bot.platform.commands import FILTER_NAMES, QueryOptions
from bot.platform.pulls.paths import Filters
from tests.helpers.builders import make_view


@pytest.mark.parametrize(
    ("view", "text"),
    [
        pytest.param(FULL_VIEW, "", id="everything"),
        pytest.param(DigestView(only=ViewLevel.RISKY), "only:risky", id="risky"),
        pytest.param(DigestView(only=ViewLevel.SUBSTANTIAL), "only:substantial", id="substantial"),
        pytest.param(
            DigestView(Filters(("csrc",), not_authors=("bots",))), "path:csrc not-author:bots", id="filters"
        ),
        pytest.param(
            DigestView(Filters(labels=("good first issue",)), ViewLevel.RISKY),
            'label:"good first issue" only:risky',
            id="both",
        ),
        pytest.param(
            DigestView(only=ViewLevel.TOUCHING, profile="ascend"), "only:touching profile:ascend", id="touching"
        ),
        pytest.param(
            DigestView(only=ViewLevel.PENDING, profile="ascend"), "only:pending profile:ascend", id="pending"
        ),
    ],
)
def test_a_view_is_written_as_in_a_command(view: DigestView, text: str) -> None:
    assert str(view) == text
    assert " ".join(view.list_options()) == text
    assert bool(view) is bool(text)


def test_a_profile_hides_nothing_and_makes_another_view() -> None:
    checked = DigestView(profile="ascend")
    assert (str(checked), bool(checked)) == ("profile:ascend", False)
    assert checked.fingerprint not in ("", DigestView(profile="xpu").fingerprint)


@pytest.mark.parametrize(
    ("fields", "sentence"),
    [
        ({"only": ViewLevel.TOUCHING}, "only:touching needs a profile: add profile:NAME."),
        ({"only": ViewLevel.PENDING}, "only:pending needs a profile: add profile:NAME."),
        ({"profile": "a b"}, "'a b' is not a name of a profile: use up to 40 letters, digits, dots and dashes."),
        ({"profile": "<!channel>"}, "'<!channel>' is not a name of a profile"),
        ({"profile": "x" * 41}, f"{'x' * 41!r} is not a name of a profile"),
        ({"profile": "-x"}, "'-x' is not a name of a profile"),
    ],
)
def test_a_profile_that_can_not_be_one_is_refused(fields: dict[str, Any], sentence: str) -> None:
    with pytest.raises(UsageError, match=re.escape(sentence)):
        DigestView(**fields)


def test_where_everything_is_shown_there_is_no_mark() -> None:
    assert FULL_VIEW.fingerprint == ""


def test_a_mark_is_the_same_in_each_version_as_records_hold_it() -> None:
    assert DigestView(only=ViewLevel.RISKY).fingerprint == "7549e8ff"


values = st.sampled_from(["a", "b", "A", "a b", "bots", "a:b", "only:risky"])
some = st.lists(values, max_size=2).map(tuple)
names = st.sampled_from(["", "ascend", "Xpu.2"])
views = st.builds(make_view, st.builds(Filters, some, some, some, some), st.sampled_from(list(ViewLevel)), names)


@given(views, views)
def test_two_views_share_a_mark_only_if_they_are_equal(one: DigestView, other: DigestView) -> None:
    assert (one.fingerprint == other.fingerprint) is (one == other)


@given(views)
def test_what_is_written_reads_back_as_the_same_view(view: DigestView) -> None:
    options = QueryOptions.parse(str(view), (*FILTER_NAMES, "only", "profile"))
    only, profile = ViewLevel(options.get_last("only")), options.get_last("profile")
    assert DigestView(options.filters, only, profile) == view
