import datetime as dt

from impact.profile.file_uses import scan_file
from impact.profile.linking import UpstreamIndex, link_profile
from impact.profile.models import Profile, Use, UseKind
from impact.profile.scan import build_profile
from impact.python.models import ModuleOutline
from impact.python.outline import build_outline

UPSTREAM = {
    "up/__init__.py": "from up.core.scheduler import Scheduler\nfrom up.config import *\n",
    "up/config.py": (
        "from dataclasses import dataclass\n"
        "@dataclass\nclass CacheConfig:\n    block_size: int = 16\n"
        "@dataclass\nclass UpConfig:\n    cache_config: CacheConfig\n"
        "def get_config() -> UpConfig: ...\n"
    ),
    "up/core/__init__.py": "",
    "up/core/base.py": (
        "from abc import ABC, abstractmethod\n"
        "class SchedulerInterface(ABC):\n"
        "    @abstractmethod\n    def schedule(self): ...\n"
        "    def close(self): ...\n"
    ),
    "up/core/request.py": "class Request:\n    def __init__(self, name: str):\n        self.status = 'new'\n",
    "up/core/blocks.py": "class BlockManager:\n    def allocate(self, request, count): ...\n",
    "up/core/scheduler.py": (
        "from up.config import UpConfig\n"
        "from up.core.base import SchedulerInterface\n"
        "from up.core.blocks import BlockManager\n"
        "from up.core.request import Request\n"
        "class Scheduler(SchedulerInterface):\n"
        "    def __init__(self, config: UpConfig, log: bool = False):\n"
        "        self.config = config\n"
        "        self.blocks = BlockManager()\n"
        "        self.running = []\n"
        "    def schedule(self, count=1):\n"
        "        first(count)\n        second(count)\n        third(count)\n        fourth(count)\n"
        "    def finish(self, request: Request): ...\n"
    ),
    "up/helpers.py": "def move_away(x):\n    one(x)\n    two(x)\n    three(x)\n    four(x)\n",
}


def load_upstream(module: str) -> ModuleOutline | None:
    base = module.replace(".", "/")
    for path in (f"{base}/__init__.py", f"{base}.py"):
        if path in UPSTREAM:
            return build_outline(path, UPSTREAM[path])
    return None


def scan_tree(files: dict[str, str]) -> Profile:
    """Return the profile of some files, before it is linked."""
    scans = [scan_file(path, text, ("up",)) for path, text in files.items()]
    return build_profile("team", "folder", "", dt.datetime(2026, 1, 1, tzinfo=dt.UTC), ("up",), scans)


def link_tree(files: dict[str, str]) -> Profile:
    return link_profile(scan_tree(files), UpstreamIndex(load_upstream))


def list_uses(profile: Profile, kind: UseKind) -> dict[str, Use]:
    return {use.definitions[0] if use.definitions else use.name: use for use in profile.uses if use.kind is kind}
