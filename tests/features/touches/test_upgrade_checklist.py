from dataclasses import replace

import pytest

from bot.features.merges.outcomes import MergeOutcome
from bot.features.touches.upgrade_view import describe_difference, render_upgrade
from impact.contract.models import ChangeKind, ContractChange, ContractClass
from impact.coverage import UnreadFile
from impact.history.outcomes import OutcomeKind
from impact.profile.models import UseKind
from impact.source.models import SourceProblem
from impact.testing.touches import make_change, make_merge, make_profile, make_use
from impact.touches.profile_index import ProfileIndex
from impact.touches.upgrade import UpgradeRange, build_upgrade_plan
from tests.helpers.builders import pull

K = ChangeKind
START, END = "a" * 40, "b" * 40
URL = "https://github.com/octo/engine"


def render(*changes: ContractChange, url: str = URL, **fields: object) -> str:
    merge = make_merge(*changes)
    way = UpgradeRange(START, END, [merge], {merge.commit: START}, **fields)  # type: ignore[arg-type]
    uses = [
        make_use(UseKind.IMPORT, "up.a.run", line=3),
        make_use(UseKind.CALL, "up.a.run", call="run(1)", line=9),
    ]
    return render_upgrade(build_upgrade_plan(way, ProfileIndex(make_profile(uses))), url)


REMOVAL = replace(make_change(K.REMOVED, "up.a.run", before="def run(a)"), path="up/a.py")


def test_a_plan_has_stops_and_a_checklist() -> None:
    text = render(REMOVAL)
    assert text.startswith(f"# Upgrade ours: {'a' * 10} to {'b' * 10}\n\n1 of 1 merge breaks 1 of your files; ")
    assert "; checked against 2 places in your code." in text
    assert (
        f"- [ ] [{'a' * 10}]({URL}/commit/{START}), before [#7]({URL}/pull/7) Change it: `a.run` in 1 file" in text
    )
    assert "## `ours/a.py`\n\n- [ ] **Line " in text
    assert "    - upstream: `def run(a)`\n" in text


def test_the_first_sentence_counts_what_the_list_below_it_has() -> None:
    variable = make_change(K.REMOVED, "UP_X", ContractClass.ENVIRONMENT)
    base = make_change(K.REMOVED, "up.b.Base.run", ContractClass.METHOD)
    method = replace(base, name="up.a.C.run")
    names = ("up.a.C.run", "up.b.Base.run")
    uses = (
        make_use(UseKind.CALL, "up.a.C.run", *names, call="run(1)", line=3),
        replace(make_use(UseKind.SET, "up.a.C.run", *names, line=5), path="ours/c.py"),
        replace(make_use(UseKind.ENVIRONMENT, "UP_X", line=7), path="values.yaml"),
        replace(make_use(UseKind.COPY, "up.a.run", line=9), path="ours/d.py"),
    )
    merge = make_merge(variable, base, method, make_change(K.REMOVED, "up.a.run"))
    way = UpgradeRange(START, END, [merge], {merge.commit: START})
    text = render_upgrade(build_upgrade_plan(way, ProfileIndex(make_profile(uses))), URL)
    first = text.split("\n")[2]
    assert first.startswith(
        "1 of 1 merge breaks 1 of your files, 1 silently stops something in 1, 1 touches 1; checked"
    )
    # a class and its base are one row; what only sets it is not counted, and not listed
    assert [line.partition(" (")[0] for line in text.split("\n") if line.startswith("- [ ] **")] == [
        "- [ ] **Line 3** breaks: `C.run` is gone",
        "- [ ] **Line 7** silently stops working: `UP_X` is gone",
    ]
    assert (
        text.count("- [ ] `ours/d.py:9` is touched: `a.run`, of which this is a copy, is gone (`up.a.run`, ") == 1
    )
    assert "ours/c.py" not in text


def test_without_an_address_nothing_is_linked() -> None:
    assert "](" not in render(REMOVAL, url="")


def test_nothing_to_do_is_said() -> None:
    text = render(make_change(K.REMOVED, "up.b.other"))
    assert "None of 1 merge touches what ours uses (checked against 2 places in your code)." in text
    assert "- [ ]" not in text


def test_known_regressions_and_unread_files_are_listed() -> None:
    outcome = MergeOutcome(pull(1, title="Make `it` fast"), pull(2), OutcomeKind.REPAIRED)
    text = render(REMOVAL, regressions=(outcome,))
    assert f"[#1]({URL}/pull/1) Make `it` fast: repaired later by [#2]({URL}/pull/2)" in text
    merge = replace(
        make_merge(),
        unread=(UnreadFile("a.png", str(SourceProblem.BINARY)), UnreadFile("b.py", str(SourceProblem.TOO_LARGE))),
    )
    plan = build_upgrade_plan(UpgradeRange(START, END, [merge]), ProfileIndex(make_profile()))
    assert "## Not read\n\n- `b.py`: it is too large\n" in render_upgrade(plan)
    assert "a.png" not in render_upgrade(plan)


@pytest.mark.parametrize(
    ("before", "after", "text"),
    [
        ("(a)", "(a, b)", "with `b`"),
        ("(a, b=1)", "(a, c=2)", "without `b=1`; with `c=2`"),
        ("(a, b=1)", "(a, b=2)", "other default: `b=2`"),
        ("(a, b)", "(b, a)", "order: `b`, `a`"),
    ],
)
def test_a_signature_is_told_by_its_parameters(before: str, after: str, text: str) -> None:
    assert describe_difference(make_change(K.SIGNATURE, "up.a.run", before=before, after=after)) == text


def test_other_changes_are_told_by_both_sides() -> None:
    assert describe_difference(make_change(K.DEFAULT, "up.a.X", before="1", after="2")) == "`1` → `2`"
    assert describe_difference(make_change(K.BEHAVIOUR, "up.a.run", before="def run()", after="def run()")) == ""


def test_hostile_texts_stay_texts() -> None:
    change = replace(REMOVAL, path="up/](http://x.example)\n# Title", before="`x` [a](b)\n## Head")
    text = render(change)
    assert "\n## Head" not in text
    assert "\n# Title" not in text
    assert "](http://x.example" not in text
