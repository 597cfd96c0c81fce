"""Runs the team's code of many rows, each in a process of its own: a fork of this one, which knows no row.

It reads ``[[folder, [path, …]], …]`` and prints ``[[[works, output], [works, output]], …]``, before and after.
"""

import contextlib
import importlib
import io
import json
import os
import runpy
import shlex
import sys
from pathlib import Path

# what rows import is imported once
for name in ("asyncio", "abc", "argparse", "dataclasses", "enum", "functools", "pydantic", "typing_extensions"):
    importlib.import_module(name)
importlib.import_module("unittest.mock")


def run_side(folder: str, side: str, paths: list[str]) -> tuple[bool, str]:
    """Run files in a child process, and return whether they ended well, with what they printed, or why not."""
    reader, writer = os.pipe()
    child = os.fork()
    if not child:
        os.close(reader)
        with os.fdopen(writer, "w") as stream:
            json.dump(run_files(folder, side, paths), stream)
        os._exit(0)
    os.close(writer)
    with os.fdopen(reader) as stream:
        text = stream.read()
    os.waitpid(child, 0)
    return tuple(json.loads(text)) if text else (False, "the process ended")


def run_files(folder: str, side: str, paths: list[str]) -> tuple[bool, str]:
    os.chdir(f"{folder}/ours")
    sys.path[:0] = [f"{folder}/{side}", f"{folder}/{side}/site", f"{folder}/ours"]
    output = io.StringIO()
    with contextlib.redirect_stdout(output), contextlib.redirect_stderr(io.StringIO()) as errors:
        try:
            for path in paths:
                run_file(path)
        except BaseException as error:  # what ends the team's program, such as SystemExit
            return False, f"{type(error).__name__}: {error} {errors.getvalue()[-300:]}"
    return True, output.getvalue()


def run_file(path: str) -> None:
    if path.endswith(".py"):
        importlib.import_module(path.removesuffix(".py").replace("/", "."))
    if path.endswith(".sh"):
        for line in Path(path).read_text().splitlines():
            run_line(shlex.split(line, comments=True))


def run_line(words: list[str]) -> None:
    """Run a line of a shell script: ``VARIABLE=value up arguments`` is upstream's command."""
    while words and (words[0] == "export" or "=" in words[0]):
        name, _, value = words.pop(0).partition("=")
        if value:
            os.environ[name] = value
    if words:
        sys.argv = words
        runpy.run_module(words[0], run_name="__main__", alter_sys=True)


if __name__ == "__main__":
    jobs = json.load(sys.stdin)
    answers = [[run_side(folder, side, paths) for side in ("before", "after")] for folder, paths in jobs]
    json.dump(answers, sys.stdout)
