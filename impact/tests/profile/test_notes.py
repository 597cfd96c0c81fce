"""Notes on replacements that stand apart from them, in the layout that teams use."""

from __future__ import annotations

import pytest

from impact.profile.models import Use, UseKind
from impact.profile.notes import find_notes, list_notes

HEADER = """# Copyright octo
#
# * Worker Patch:
# ===============
# ** 1. File: worker/patch_cache.py **
# ~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
#   1. `engine.core.Cache.allocate`
#      `engine.core.Cache.free`
#    Why:
#       1. It is slow.
#    Related PR (if no, explain why):
#       https://github.com/octo/engine/pull/7
#    Future Plan:
#       Remove this patch when engine merges the PR.
#   2. `engine.core.Pool`
#   (1) __init__()
#    Why: other options, see #8
#   (2) take()
#    Why: another order, see #9
# ** 2. File: worker/patch_other.py **
#   1. `engine.core.load`
#    Related PR: #10
"""


def use(name: str, path: str = "ours/patch/worker/patch_cache.py") -> Use:
    return Use(UseKind.PATCH, name, path, 3)


@pytest.mark.parametrize(
    ("name", "path", "numbers"),
    [
        ("engine.core.Cache.allocate", "", "7"),
        ("engine.core.Cache.free", "", "7"),
        ("engine.core.Pool.__init__", "", "#8"),
        ("engine.core.Pool.take", "", "#9"),
        ("engine.core.Pool.give", "", ""),
        ("engine.core.load", "", ""),
        ("engine.core.load", "ours/patch/worker/patch_other.py", "#10"),
        ("engine.core.load", "patch_other.py", ""),
        ("engine.core.loads", "ours/worker/patch_other.py", ""),
    ],
)
def test_a_note_is_on_the_names_and_the_file_that_it_has(name: str, path: str, numbers: str) -> None:
    notes = list_notes("ours/patch/__init__.py", HEADER)
    texts = [*find_notes(notes, use(name, path or "ours/patch/worker/patch_cache.py"))]
    assert len(texts) == bool(numbers)
    assert all(numbers in text for text in texts)


OTHERS = {
    "a docstring": ("a.py", '"""What is replaced.\n\n- `engine.core.load`\n  until #10\n"""\n', True),
    "a document": ("PATCHES.md", "## Patches\n\n* `engine.core.load`\n\nuntil #10\n", True),
    "a name alone in a sentence": ("PATCHES.md", "We replace `engine.core.load`\nuntil #10\n", False),
    "code between": ("a.py", "# `engine.core.load`\nx = 1\n# until #10\n", False),
    "a file that can't be parsed": ("a.py", "# `engine.core.load`\n# until #10\n)(\n", True),
    "nothing": ("a.py", "", False),
}


@pytest.mark.parametrize(("path", "text", "is_found"), OTHERS.values(), ids=OTHERS)
def test_notes_stand_in_comments_docstrings_and_documents(path: str, text: str, *, is_found: bool) -> None:
    texts = find_notes(list_notes(path, text), use("engine.core.load"))
    assert ["#10" in each for each in texts] == [True] * is_found


def test_a_hostile_text_is_bounded() -> None:
    text = "# `a.b`\n" + f"# {'x ' * 5_000}\n" * 50 + "# `" * 20_000
    assert all(len(note.text) <= 4_000 for note in list_notes("a.py", text))
