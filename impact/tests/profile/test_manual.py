import pytest

from impact.errors import UsageError
from impact.profile.manual import apply_manual, parse_manual
from impact.profile.models import UseKind
from tests.profile.downstream import link_tree

_FILE = """
explain: off
add:
  - kind: environment
    name: UP_LEVEL
    note: set by the host
ignore:
  - name: up.helpers.*
    reason: gone soon
  - path: old/
    reason: not shipped
"""
_TREE = {
    "team/a.py": "from up.helpers import move_away\nfrom up.config import CacheConfig\n",
    "old/b.py": "from up import Scheduler\nclass Old(Scheduler): ...\n",
}


def test_uses_are_added_and_ignored_by_hand() -> None:
    manual = parse_manual(_FILE)
    profile = apply_manual(link_tree(_TREE), manual)
    assert manual.explain == "off"
    assert not profile.explains
    assert apply_manual(link_tree(_TREE), parse_manual("")).explains
    assert [(use.kind, use.name) for use in profile.uses] == [
        (UseKind.IMPORT, "up.config.CacheConfig"),
        (UseKind.ENVIRONMENT, "UP_LEVEL"),
    ]
    assert profile.classes == {}


def test_an_empty_file_changes_nothing() -> None:
    profile = link_tree(_TREE)
    assert apply_manual(profile, parse_manual("")) == profile


@pytest.mark.slow
@pytest.mark.parametrize(
    ("text", "clause"),
    [
        ("add: [{kind: magic, name: x}]", "is no kind"),
        ("ignore: [{name: x}]", "ignore.1.reason"),
        ("ignore: [{reason: x}]", "write a name or a path"),
        ("ignore: [{name: 'a[z-a]', reason: x}]", "range"),
        ("explain: all", "explain"),
        ("more: 1", "more"),
        ("a: &a [x]\nb: *a", "aliases are not allowed"),
        ("add: " + "[" * 50 + "]" * 50, "nested too deeply"),
        ("[" * 20_000, "YAML"),
        ("add: {", "YAML"),
        ("- 1", "its top"),
        ("#" * 200_000, "bytes"),
    ],
)
def test_what_is_wrong_is_said_in_one_sentence(text: str, clause: str) -> None:
    with pytest.raises(UsageError, match=clause) as caught:
        parse_manual(text)
    assert "\n" not in str(caught.value)
