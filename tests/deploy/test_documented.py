"""What ``docs/deploy.md`` tells people to type: its files, commands, values and stages exist."""

import re

from bot.cli import cli
from tests.deploy.files import DEPLOY, load_yaml
from tests.helpers.processes.command import ROOT

PAGE = (ROOT / "docs" / "deploy.md").read_text(encoding="utf-8")


def test_it_names_every_file_that_people_start_from() -> None:
    # `kubectl exec deploy/…` names a deployment
    named = set(re.findall(r"(?<!exec )deploy/[\w./@-]*\w", PAGE))
    assert [name for name in named if not (ROOT / name).exists()] == []
    units = {f"deploy/systemd/{path.name}" for path in (DEPLOY / "systemd").iterdir()}
    assert units | {"deploy/Dockerfile", "deploy/compose.yaml", "deploy/chart"} <= named


def test_it_types_commands_that_exist() -> None:
    blocks = "".join(re.findall(r"```(.*?)```", PAGE, re.DOTALL))
    typed = set(re.findall(r"(?:dist/prdigest-\*\.whl|exec prdigest|exec worker|--) prdigest (\w+)", blocks))
    typed |= set(re.findall(r"`(?:uv run )?prdigest (\w+)", PAGE))
    assert {"demo", "doctor", "run"} <= typed
    assert typed <= set(cli.commands)


def test_it_sets_values_that_the_chart_has() -> None:
    values = load_yaml("chart/values.yaml")
    for path in set(re.findall(r"--set ([\w.]+)=|`(metrics[\w.]+)=", PAGE)):
        first, _, rest = next(filter(None, path)).partition(".")
        assert first in values
        if first != "settings" and rest:
            assert rest.partition(".")[0] in values[first]


def test_it_executes_in_services_that_compose_has() -> None:
    services = load_yaml("compose.yaml")["services"]
    assert set(re.findall(r"compose\.yaml exec (\w+)", PAGE)) <= services.keys()
