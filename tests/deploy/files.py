import json
import re
from typing import Any

import yaml

from tests.helpers.processes.command import ROOT

DEPLOY = ROOT / "deploy"
DOCKERFILE = DEPLOY / "Dockerfile"
PINNED = re.compile(r"[\w./-]+:[\w.-]+@sha256:[0-9a-f]{64}")


def read_instructions() -> list[tuple[str, str]]:
    text = re.sub(r"^#.*\n", "", DOCKERFILE.read_text(encoding="utf-8"), flags=re.MULTILINE)
    lines = re.sub(r"\\\n\s*", " ", text).splitlines()
    instructions = [line.partition(" ") for line in lines if line.strip()]
    return [(name, rest) for name, _, rest in instructions]


def list_arguments(instruction: str) -> list[str]:
    return [rest for name, rest in read_instructions() if name == instruction]


def read_health_check() -> list[str]:
    [check] = list_arguments("HEALTHCHECK")
    command: list[str] = json.loads(check.partition(" CMD ")[2])
    return command


def load_yaml(name: str) -> Any:
    return yaml.safe_load((DEPLOY / name).read_text(encoding="utf-8"))
