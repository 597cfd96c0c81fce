import pytest

from bot.demo.run import bypass_proxy


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ({}, "127.0.0.1"),
        ({"NO_PROXY": "corp.example"}, "corp.example,127.0.0.1"),
        ({"no_proxy": "corp.example", "NO_PROXY": "other"}, "corp.example,127.0.0.1"),
        ({"NO_PROXY": "*"}, "*"),
    ],
)
def test_nothing_of_this_machine_is_asked_through_a_proxy(before: dict[str, str], after: str) -> None:
    bypass_proxy(before)
    assert (before["no_proxy"], before["NO_PROXY"]) == (after, after)
