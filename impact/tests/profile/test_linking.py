from impact.profile.models import UseKind
from tests.profile.downstream import link_tree, list_uses

_SCHEDULER = """
from up import Scheduler, UpConfig

class TeamScheduler(Scheduler):
    def __init__(self, config: UpConfig):
        super().__init__(config, log=True)
        self.running = []
        self.own = 1

    def schedule(self, count=1, extra=None):
        self.own += 1
        self.blocks.allocate(None, count=2)
        return self.config.cache_config.block_size

    def helper(self):
        self.close()
"""
_SUBCLASS = """
from team.scheduler import TeamScheduler

class Special(TeamScheduler):
    def finish(self, request):
        super().finish(request)
        if hasattr(self, "blocks"):
            self.blocks.allocate(request)
"""


def test_members_of_subclasses_lead_to_every_upstream_class_that_defines_them() -> None:
    profile = link_tree({"team/scheduler.py": _SCHEDULER})
    schedule = list_uses(profile, UseKind.OVERRIDE)["up.core.scheduler.Scheduler.schedule"]
    assert schedule.definitions == (
        "up.core.scheduler.Scheduler.schedule",
        "up.core.base.SchedulerInterface.schedule",
    )
    assert schedule.name == "up.Scheduler.schedule"
    assert schedule.signature is not None
    assert [each.name for each in schedule.signature.parameters] == ["self", "count", "extra"]


def test_what_only_the_team_defines_is_no_use() -> None:
    profile = link_tree({"team/scheduler.py": _SCHEDULER})
    assert not [use for use in profile.uses if use.name.endswith((".own", ".helper"))]


def test_values_are_followed_through_attributes_of_upstream() -> None:
    profile = link_tree({"team/scheduler.py": _SCHEDULER})
    call = list_uses(profile, UseKind.CALL)["up.core.blocks.BlockManager.allocate"]
    assert call.call is not None
    assert (call.call.positional, call.call.keywords) == (1, ("count",))
    assert call.name == "up.Scheduler.blocks.allocate"
    assert "up.config.CacheConfig.block_size" in list_uses(profile, UseKind.READ)


def test_calls_of_the_inherited_have_their_shape() -> None:
    inherited = list_uses(link_tree({"team/scheduler.py": _SCHEDULER}), UseKind.INHERITED)
    init = inherited["up.core.scheduler.Scheduler.__init__"].call
    assert init is not None
    assert (init.positional, init.keywords) == (1, ("log",))
    assert inherited["up.core.base.SchedulerInterface.close"].call is not None


def test_a_class_of_the_team_between_is_looked_through() -> None:
    profile = link_tree({"team/scheduler.py": _SCHEDULER, "team/special.py": _SUBCLASS})
    derived = profile.classes["team.special.Special"]
    assert derived.ancestors == ("up.core.scheduler.Scheduler", "up.core.base.SchedulerInterface")
    assert {"schedule", "own", "finish"} <= derived.members
    assert derived.calls_super_init
    uses = [use for use in profile.uses if use.path == "team/special.py"]
    finish = [use for use in uses if use.definitions == ("up.core.scheduler.Scheduler.finish",)]
    assert {use.kind for use in finish} == {UseKind.OVERRIDE, UseKind.INHERITED}
    guarded = [use for use in uses if use.definitions == ("up.core.blocks.BlockManager.allocate",)]
    assert [use.is_guarded for use in guarded] == [True]


def test_re_exports_of_the_team_are_followed() -> None:
    files = {
        "team/shared.py": "from up import get_config as load\n",
        "team/use.py": "from team.shared import load\nprint(load().cache_config)\n",
    }
    profile = link_tree(files)
    assert "up.config.get_config" in list_uses(profile, UseKind.CALL)
    assert "up.config.UpConfig.cache_config" in list_uses(profile, UseKind.READ)


def test_a_copy_has_the_name_and_most_calls_of_what_it_was_copied_from() -> None:
    same, other = (
        "from up.helpers import x\ndef move_away(x):\n" + "".join(f"    {name}(x)\n" for name in names.split())
        for names in ("one two three four five", "one a b c d")
    )
    profile = link_tree({"team/copied.py": same, "team/unlike.py": other})
    assert {use.path for use in profile.uses if use.kind is UseKind.COPY} == {"team/copied.py"}


_CALLER = """
from up import Scheduler

class Runner:
    def run(self, model, scheduler: Scheduler):
        model.get_input_positions(1, 2)
        model.get_own_positions(1)
        model.forward(1)
        scheduler.blocks.unknown.find_longest_prefix(key=1)
        self.wrapped = Wrapper(model)
        self.wrapped.embed_multimodal_inputs(1)

class Wrapper:
    def __init__(self, model): ...
    def get_own_positions(self, one): ...
"""


def test_calls_on_objects_of_unknown_type_are_kept_by_the_name_of_the_method() -> None:
    calls = list_uses(link_tree({"team/runner.py": _CALLER}), UseKind.POSSIBLE_CALL)
    assert set(calls) == {"get_input_positions", "find_longest_prefix", "embed_multimodal_inputs"}
    assert calls["get_input_positions"].call is not None
    assert calls["get_input_positions"].call.positional == 2


def test_such_calls_of_tests_are_left_out() -> None:
    assert not list_uses(link_tree({"tests/test_runner.py": _CALLER}), UseKind.POSSIBLE_CALL)


def test_a_replacement_has_the_signature_of_a_function_of_another_file() -> None:
    files = {
        "team/ops.py": "def move_away(x, y): ...\n",
        "team/__init__.py": "from team.ops import move_away\n",
        "team/patch.py": "import up.helpers\nfrom team import move_away\nup.helpers.move_away = move_away\n",
    }
    patch = list_uses(link_tree(files), UseKind.PATCH)["up.helpers.move_away"]
    assert patch.signature is not None
    assert [each.name for each in patch.signature.parameters] == ["x", "y"]


def test_a_replacement_that_is_no_function_has_no_signature() -> None:
    text = "import up.helpers\nfrom elsewhere import move_away\nup.helpers.move_away = move_away\n"
    patch = list_uses(link_tree({"team/patch.py": text}), UseKind.PATCH)["up.helpers.move_away"]
    assert patch.signature is None
