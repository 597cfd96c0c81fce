"""What the import contracts of ``pyproject.toml`` do not say, so that nobody has to add a name to them."""

import re
import tomllib
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2]
FEATURES, MODELS = ROOT / "bot" / "features", ROOT / "bot" / "platform" / "models"


def list_parts(room: Path) -> set[str]:
    return {path.stem for path in room.iterdir() if path.suffix == ".py" or (path / "__init__.py").exists()}


def list_uses(room: Path, parts: set[str]) -> Iterator[tuple[str, str]]:
    name = re.escape(".".join(room.relative_to(ROOT).parts))
    for part in parts:
        for path in [room / f"{part}.py", *(room / part).rglob("*.py")]:
            text = path.read_text() if path.exists() else ""
            names = re.findall(rf"^ *(?:from|import) {name}\.(\w+)", text, re.MULTILINE)
            together = re.findall(rf"^ *from {name} import (\([^)]*\)|.*)", text, re.MULTILINE)
            yield from (
                (part, each) for each in {*names, *re.findall(r"\w+", " ".join(together))} & parts - {part}
            )


def test_a_feature_that_no_layer_names_is_used_by_no_other() -> None:
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"]
    [layers] = [each["layers"] for each in contracts if each.get("containers") == ["bot.features"]]
    named = {part for layer in layers for part in layer.split(" : ")}
    features = list_parts(FEATURES) - {"__init__"}
    assert named <= features
    assert {used for _, used in list_uses(FEATURES, features)} <= named


def test_providers_of_models_stand_apart() -> None:
    providers = {path.name for path in MODELS.iterdir() if (path / "__init__.py").exists()}
    assert len(providers) > 1
    assert list(list_uses(MODELS, providers)) == []
