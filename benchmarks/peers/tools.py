"""The two tools: how each is started for one pull request, and in which environment."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from platformdirs import user_cache_path

from tests.emulators.claude.server import ClaudeEmulator
from tests.emulators.github.server import GitHubEmulator
from tests.helpers.processes.command import command, environment

PEER_VERSION = "0.49.0"
# the peer needs this Python; ours runs on it too, but has an environment of its own
PEER_PYTHON = "3.12"
MODEL = "claude-haiku-5-5"
# nothing listens at this port: what does not go to the loopback fails at once
CLOSED_PROXY = "http://127.0.0.1:9"


@dataclass(frozen=True)
class Tool:
    """A tool that summarizes one pull request: its arguments with ``{number}`` in them, and its environment."""

    name: str
    arguments: tuple[str, ...]
    environment: Mapping[str, str]

    def list_arguments(self, number: int) -> list[str]:
        return [part.replace("{number}", str(number)) for part in self.arguments]


def default_venv() -> Path:
    """Return where the peer is installed if nobody names another folder: the user's cache."""
    return user_cache_path("prdigest") / f"pr-agent-{PEER_VERSION}"


def install_peer(venv: Path, python: str) -> None:
    """Install the peer from the package index, unless it is there; exit with a sentence if that fails."""
    if (venv / "bin" / "pr-agent").exists():
        return
    uv = os.environ.get("UV") or shutil.which("uv")
    if uv is None:
        sys.exit("uv installs the peer, and is not on the path: start this command with `uv run`")
    target = ["--python", str(venv / "bin" / "python")]
    for line in (
        [uv, "venv", "--quiet", "--clear", "--python", python, str(venv)],
        [uv, "pip", "install", "--quiet", *target, f"pr-agent[github]=={PEER_VERSION}"],
    ):
        if subprocess.run(line, check=False, timeout=1_200).returncode:
            sys.exit(f"The peer can't be installed, see above. It needs Python {python}: name one with --python.")


def make_ours(github: GitHubEmulator, claude: ClaudeEmulator, store: str) -> Tool:
    """Return our tool with its defaults, without the name of a command."""
    own = {
        "GITHUB_API_URL": github.url,
        "GITHUB_TOKEN": github.token,
        "ANTHROPIC_BASE_URL": claude.url,
        "ANTHROPIC_API_KEY": claude.api_key,
        "REDIS_URL": store,
        "PRDIGEST_SUMMARY_MODEL": MODEL,
        **_close_network(),
    }
    # the tests' own: a list of authorities that loads faster, and warnings as errors
    left_out = {"SSL_CERT_FILE", "PYTHONWARNINGS"}
    kept = {name: value for name, value in environment().items() if name not in left_out}
    return Tool("prdigest", tuple(command()), {**kept, **own})


def make_peer(
    github: GitHubEmulator, claude: ClaudeEmulator, venv: Path, repository: str, settings: Mapping[str, str]
) -> Tool:
    """Return the peer with its defaults, but for the model, the addresses and ``settings``."""
    own = {
        "GITHUB__BASE_URL": github.url,
        "GITHUB__USER_TOKEN": github.token,
        "ANTHROPIC__KEY": claude.api_key,
        "ANTHROPIC_API_BASE": claude.url,
        "CONFIG__MODEL": f"anthropic/{MODEL}",
        "CONFIG__FALLBACK_MODELS": "[]",
        # it does not know the model: how much that reads, and that it takes no temperature
        "CONFIG__CUSTOM_MODEL_MAX_TOKENS": "200000",
        "CONFIG__NO_TEMPERATURE_MODELS": f'["anthropic/{MODEL}"]',
        # a failure is an exit code, not a line in a log
        "CONFIG__PROPAGATE_TOOL_ERRORS": "true",
        "OTEL__IS_ENABLED": "false",
        # tables that it would load from the network, it has on disk too
        "LITELLM_LOCAL_MODEL_COST_MAP": "True",
        "TIKTOKEN_CACHE_DIR": str(_find_tokenizers(venv)),
        "PATH": os.environ["PATH"],
        "HOME": str(venv),
        **_close_network(),
        **settings,
    }
    page = f"--pr_url=https://github.com/{repository}/pull/{{number}}"
    return Tool("PR-Agent", (str(venv / "bin" / "pr-agent"), page, "describe"), own)


def _close_network() -> dict[str, str]:
    """Return variables that let nothing but the loopback be reached."""
    proxies = ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY")
    closed = {name: CLOSED_PROXY for each in proxies for name in (each, each.lower())}
    return {**closed, "NO_PROXY": "127.0.0.1", "no_proxy": "127.0.0.1"}


def _find_tokenizers(venv: Path) -> Path:
    tokenizer_folder = next(venv.glob("lib/python*/site-packages/litellm/litellm_core_utils/tokenizers"), None)
    if tokenizer_folder is None:
        sys.exit(f"{venv} is no whole environment of the peer: delete it, and run this again")
    return tokenizer_folder
