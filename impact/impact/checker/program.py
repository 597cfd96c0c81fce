"""The type checker as a process, bounded in time, memory and output. It runs nothing of what it reads."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

from impact.checker.diagnostics import KINDS, Diagnostic, parse_output
from impact.errors import ImpactError

# its kinds of diagnostics and the forms of their texts are those of this version, which pyproject.toml pins
PACKAGE, VERSION = "pyrefly", "1.4.1"
# a check of vllm-ascend beside vLLM takes 4.5 seconds of a processor and 200 MB, of ten of its 359 files 0.8; a
# busy machine waits longer
MOST_SECONDS, _PROCESSOR_SECONDS, _MEMORY, _OUTPUT = 300.0, 120, 4 << 30, 64 << 20
# the limits of a process are set in it, before it becomes the checker: threads of ours forbid to do so in a fork
_START = """import os, resource, sys
for name, most in (("AS", {0}), ("CPU", {1}), ("FSIZE", {2}), ("CORE", 0)):
    limit = getattr(resource, "RLIMIT_" + name)
    most = min([most, *(each for each in resource.getrlimit(limit) if each >= 0)])
    resource.setrlimit(limit, (most, most))
os.execv(sys.argv[1], sys.argv[1:])"""
# neither settings nor comments of the trees switch anything off, and no interpreter is asked
_SETTINGS = "enabled-ignores = []\nuse-ignore-files = false\n"
_TOO_LONG = "the type checker took too long"
_OPTIONS = (
    "--preset off --disable-search-path-heuristics --disable-project-excludes-heuristics --skip-interpreter-query"
    " --python-version 3.12 --python-platform linux --output-format json --summary none --progress-bar no"
    " --threads 1"
).split()


# all that what it says depends on, but for the trees
REQUEST = " ".join((PACKAGE, VERSION, _SETTINGS, *_OPTIONS, *KINDS))


class CheckerFailed(ImpactError):
    """The checker is not there, or a check failed: the rules judge alone. The message says why, as a clause."""


def find_program() -> Path:
    """Return the checker's program. Raises CheckerFailed without the version that is known here."""
    try:
        package = distribution(PACKAGE)
    except PackageNotFoundError as error:
        raise CheckerFailed("the type checker is not installed") from error
    if package.version != VERSION:
        raise CheckerFailed(f"{PACKAGE} {package.version} is installed in place of {VERSION}")
    for file in package.files or ():
        if file.name == PACKAGE and os.access(program := Path(str(file.locate())), os.X_OK):
            return program
    raise CheckerFailed("the type checker has no program here")


def run_program(
    program: Path, folder: Path, places: Sequence[str] = (), *, seconds: float = MOST_SECONDS
) -> tuple[Diagnostic, ...]:
    """Return what the checker says of ``folder/team`` beside ``folder/upstream``, with paths within the first.

    With ``places``, it looks at these files of the team alone, and reads of the others what these need.

    Raises:
        CheckerFailed: it took too long or too much, or ended otherwise.
        CheckerError: what it gave is not what its version gives.
    """
    if seconds <= 0:
        raise CheckerFailed(_TOO_LONG)
    settings, team = folder / "settings.toml", folder / "team"
    settings.write_text(_SETTINGS)
    kinds = [part for kind in KINDS for part in ("--error", kind)]
    roots = ["--config", settings, "--search-path", team, "--site-packages-path", folder / "upstream"]
    files = [team / place for place in places] or [team]
    start = _START.format(_MEMORY, _PROCESSOR_SECONDS, _OUTPUT)
    command = [sys.executable, "-I", "-S", "-c", start, program, "check", *_OPTIONS, *kinds, *roots, *files]
    with tempfile.TemporaryFile() as output:
        try:
            process = subprocess.run(  # noqa: S603 (arguments of ours, and no shell)
                list(map(str, command)),
                cwd=team,
                env={"HOME": str(folder), "PATH": os.defpath, "NO_COLOR": "1"},
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.DEVNULL,
                timeout=seconds,
                check=False,
            )
        except subprocess.TimeoutExpired as error:
            raise CheckerFailed(_TOO_LONG) from error
        except OSError as error:
            raise CheckerFailed(f"the type checker can't be started ({error.strerror})") from error
        if output.seek(0, os.SEEK_END) >= _OUTPUT:
            raise CheckerFailed("the type checker gave too much")
        # 1 says that there are diagnostics
        if process.returncode not in (0, 1):
            raise CheckerFailed(f"the type checker ended with status {process.returncode}")
        output.seek(0)
        return parse_output(output.read(_OUTPUT))
