from dataclasses import replace

from localslack.rules.messages import check_message

from bot.features.touches.upgrade_view import render_upgrade, render_upgrade_post
from bot.platform.slack.blocks import MAX_BLOCKS, MAX_CHARACTERS, count_characters
from impact.contract.models import ChangeKind
from impact.coverage import CoveredList
from impact.profile.models import UseKind
from impact.testing.touches import make_change, make_merge, make_profile, make_use
from impact.touches.profile_index import ProfileIndex
from impact.touches.upgrade import FileWork, UpgradePlan, UpgradeRange, build_upgrade_plan
from tests.helpers.world import as_read

URL = "https://github.com/octo/engine"


def plan(names: int, noise: str = "") -> UpgradePlan:
    """A plan for as many removed names, each used in a file of its own."""
    changes = [make_change(ChangeKind.REMOVED, f"up.a.run{number}{noise}") for number in range(names)]
    uses = [
        replace(make_use(UseKind.IMPORT, change.name), path=f"ours/{number}{noise}.py")
        for number, change in enumerate(changes)
    ]
    merge = make_merge(*changes)
    way = UpgradeRange("a" * 40, "b" * 40, [merge], {merge.commit: "a" * 40})
    return build_upgrade_plan(way, ProfileIndex(make_profile(uses)))


def test_nothing_to_do_is_said() -> None:
    assert "None of 1 merge touches what ours uses (checked against 0 places in your code)." in as_read(
        render_upgrade_post(plan(0), URL).build_payload()
    )


def test_many_hostile_names_fit_into_a_message() -> None:
    post = render_upgrade_post(plan(200, "<!here>`*x*" * 30), URL)
    assert count_characters(post.blocks) <= MAX_CHARACTERS
    assert len(post.blocks) <= MAX_BLOCKS


def test_a_name_of_which_nothing_is_visible_has_words_in_its_place() -> None:
    upgrade_plan = plan(1)
    item = upgrade_plan.files.ignore_coverage()[0].items[0]
    change = replace(item.net.change, name="\u200b")
    unseen = replace(item, net=replace(item.net, change=change), touch=replace(item.touch, reason="long " * 40))
    post = render_upgrade_post(replace(upgrade_plan, files=CoveredList((FileWork("\u2060", (unseen,)),))), URL)
    assert check_message(post.build_payload()) is None
    assert as_read(post.build_payload()).count("(no name)") == 2


def test_more_than_three_places_are_a_table_which_the_checklist_has_too() -> None:
    way = plan(9)
    post = render_upgrade_post(way, URL)
    (table,) = [block for block in post.blocks if block["type"] == "data_table"]
    assert table["caption"] == "9 places in 9 files of your code"
    text, checklist = as_read(post.build_payload()), render_upgrade(way, URL)
    for number in range(9):
        assert f"ours/{number}.py:7 · breaks: a.run{number} is gone · #7" in text
        assert f"ours/{number}.py" in checklist
        assert f"run{number}" in checklist
    few = as_read(render_upgrade_post(plan(60), URL).build_payload())
    assert "more places, in the file" in few
