from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from itertools import pairwise

from impact.profile.expressions import get_string
from impact.profile.models import UseKind
from impact.profile.scanners.patterns import get_patterns

_MAX_STRING = 300
_PATH = re.compile(r"[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)+(?::[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*)?", re.A)
_OP = re.compile(r"([A-Za-z_]\w*)::([A-Za-z_]\w*)(?:\.\w+)?", re.A)


def list_named(text: str, packages: Sequence[str]) -> Iterator[tuple[UseKind, str]]:
    """Yield what a string names, if it is one name: a path of modules and names, or an op."""
    if len(text) > _MAX_STRING:
        return
    first = re.split(r"[.:]", text, maxsplit=1)[0]
    if first not in packages and not first.startswith(("_C", "_moe_C")):
        return
    if get_patterns(tuple(packages)).group.fullmatch(text):
        yield UseKind.ENTRY_POINT, text
    elif _PATH.fullmatch(text):
        yield UseKind.NAMED, text.replace(":", ".")
    elif match := _OP.fullmatch(text):
        yield UseKind.OP, f"torch.ops.{match[1]}.{match[2]}"


def list_pairs(nodes: Sequence[ast.expr], packages: Sequence[str]) -> Iterator[str]:
    """Yield the names that a module and a name beside it make: ``("vllm.x", "Y")``."""
    for module, name in pairwise(nodes):
        first, second = get_string(module), get_string(name)
        if first.partition(".")[0] in packages and "." in first and second.isidentifier():
            yield f"{first}.{second}"
