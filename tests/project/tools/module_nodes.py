"""The nodes of a module, for checks that look at a thousand modules."""

import ast
import gc


def list_nodes(source: str) -> list[ast.AST]:
    """Return all nodes of a module, as ``ast.walk`` does in twice the time; each comes before its parts."""
    was_enabled = gc.isenabled()
    # nothing of a tree is garbage, and to look for some takes as long as to parse
    gc.disable()
    try:
        nodes: list[ast.AST] = [ast.parse(source)]
    finally:
        if was_enabled:
            gc.enable()
    # the list grows while it is read
    for node in nodes:
        for value in vars(node).values():
            if isinstance(value, ast.AST):
                nodes.append(value)
            elif isinstance(value, list):
                nodes += [each for each in value if isinstance(each, ast.AST)]
    return nodes
