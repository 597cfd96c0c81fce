"""What stands of names in removed lines: a table of changes, and what a prompt says of each."""

import difflib
from collections.abc import Mapping
from dataclasses import dataclass, field

import pytest

from bot.platform.models.packing import SectionSource
from bot.platform.pulls.models import ChangedFile
from bot.platform.source.models import SourceUse, SourceUses
from bot.platform.source.standing import describe_standing, format_standing
from impact.source.models import SourceFile
from tests.helpers.builders import changed_file

Texts = Mapping[str, tuple[str, str]]
FILLER = "".join(f"step_{n}(value)\n" for n in range(12))


@dataclass(frozen=True)
class Case:
    """A change as texts before and after, by path. ``tree`` are the lines that a search shows; None: no search."""

    texts: Texts
    says: tuple[str, ...] = ()
    never: tuple[str, ...] = ()
    tree: tuple[SourceUse, ...] | None = ()
    is_complete: bool = True
    unread: tuple[str, ...] = ()
    statuses: Mapping[str, str] = field(default_factory=dict)


METHOD = "def run(x):\n        return"
FILL = "    def fill(self):\n        self.items = 1\n"
FLAG = 'parser.add_argument("--enable-foo", action="store_true")\n'
CLASS = "class Cache:\n    def clear(self):\n        self.items = {}\n        return self\n"
LONG = "".join(f"    total_{n} = compute_part(value, {n})\n" for n in range(6))

CASES: dict[str, Case] = {
    "renamed": Case(
        {"a.py": ("def load_weights(x):\n    return x\n", "def read_weights(x):\n    return x\n")},
        ("Nowhere in the tree at the merge: `load_weights`",),
    ),
    "renamed, and still called elsewhere": Case(
        {"a.py": ("def load_weights(x):\n    return x\n", "def read_weights(x):\n    return x\n")},
        ("in the tree at the merge:\n- `load_weights`: b.py:3",),
        ("Nowhere",),
        (SourceUse("b.py", 3, "    load_weights(1)"), SourceUse("b.py", 9, "reload_weights(load_weights_of)")),
    ),
    "renamed, and still called in the file": Case(
        {"a.py": (f"def load_weights(x):\n    return x\n{FILLER}load_weights(1)\n", f"{FILLER}load_weights(1)\n")},
        ("`load_weights` (definition) is no longer defined here; the name still stands at line 13",),
        ("Nowhere",),
    ),
    "moved to another file": Case(
        {"a.py": (f"def load_weights(x):\n{LONG}", "x = 1\n"), "b.py": ("", f"def load_weights(x):\n{LONG}")},
        (
            "`load_weights` (definition) is defined in b.py now",
            "Moved to b.py from a.py, word for word: 7 lines from `def load_weights(x):` on",
        ),
        ("Nowhere",),
        statuses={"b.py": "added"},
    ),
    "moved within the file and indented otherwise": Case(
        {
            "a.py": (
                f"def load():\n{LONG}{FILLER}",
                f"{FILLER}if True:\n    def load():\n" + LONG.replace("    t", "        t"),
            )
        },
        ("Moved within a.py, word for word: 7 lines from `def load():` on",),
        ("Nowhere",),
    ),
    "one of two conditional definitions": Case(
        {
            "a.py": (
                f"if FAST:\n    {METHOD} x\n{FILLER}if SLOW:\n    {METHOD} -x\n",
                f"{FILLER}if SLOW:\n    {METHOD} -x\n",
            )
        },
        ("`run` (definition) is still defined at line 14",),
        ("Nowhere", "`FAST`"),
    ),
    "a flag that is registered twice": Case(
        {"a.py": (FLAG + FILLER + FLAG, FILLER + FLAG)},
        ("a.py: `--enable-foo` (option) still stands at line 13",),
        ("Nowhere",),
    ),
    "a flag whose longer sister stands": Case(
        {"a.py": (FLAG + FILLER + FLAG.replace("foo", "foo-bar"), FILLER + FLAG.replace("foo", "foo-bar"))},
        ("Nowhere in the tree at the merge: `--enable-foo`",),
        ("still stands",),
        (SourceUse("b.py", 1, 'add("--enable-foo-bar")'),),
    ),
    "a key that stands elsewhere in the file": Case(
        {"a.py": (f'A = {{"qwen": 1}}\n{FILLER}B = {{"qwen": 2}}\n', f'A = {{}}\n{FILLER}B = {{"qwen": 2}}\n')},
        ("`qwen` (key) still stands at line 14",),
        ("`A`",),
    ),
    "a literal of an enum": Case(
        {
            "a.py": (
                f'class Mode(Enum):\n    FAST_PATH = "fast"\n    SLOW = "slow"\n{FILLER}',
                f'class Mode(Enum):\n    SLOW = "slow"\n{FILLER}',
            )
        },
        ("Nowhere in the tree at the merge: `FAST_PATH`, `fast`",),
        ("SLOW",),
    ),
    "an environment variable": Case(
        {"a.py": (f'x = os.getenv("ENGINE_SLOW_PATH")\n{FILLER}', FILLER)},
        ("- `ENGINE_SLOW_PATH`: envs.py:7 (defined), run.py:1",),
        ("Nowhere",),
        (
            SourceUse("run.py", 1, "if envs.ENGINE_SLOW_PATH:"),
            SourceUse("envs.py", 7, '    "ENGINE_SLOW_PATH": 1,'),
        ),
    ),
    "a method of one class whose namesake stands in another": Case(
        {
            "a.py": (
                f"{CLASS}{FILLER}class Pool:\n    def clear(self):\n        pass\n",
                f"class Cache:\n    pass\n{FILLER}class Pool:\n    def clear(self):\n        pass\n",
            )
        },
        ("`clear` (definition) is no longer defined in `Cache`; another one is in `Pool` (line 16)",),
        ("still defined",),
    ),
    "an attribute that is set in another method": Case(
        {
            "a.py": (
                f"{CLASS}{FILL}",
                f"class Cache:\n    def clear(self):\n        return self\n{FILL}",
            )
        },
        ("`items` (attribute) is still defined at line 5",),
    ),
    "an option of a configuration": Case(
        {
            "a.yaml": (
                "args:\n- --max-len\n- --fast\nmore:\n- --max-len\n",
                "args:\n- --fast\nmore:\n- --max-len\n",
            )
        },
        ("`--max-len` (option) still stands at line 4",),
    ),
    "a file that could not be read": Case(
        {"a.py": (FLAG + FILLER, FILLER)},
        ("Not looked up, as the file could not be read (it may still stand there): `--enable-foo` (a.py)",),
        ("Nowhere", "No longer"),
        unread=("a.py",),
    ),
    "a tree that is not searched": Case(
        {"a.py": (FLAG + FILLER, FILLER)},
        ("No longer in their files; whether anywhere else was not looked up: `--enable-foo`",),
        ("Nowhere",),
        tree=None,
    ),
    "a search that a limit ended": Case(
        {"a.py": (FLAG + FILLER, FILLER)},
        ("whether anywhere else was not looked up: `--enable-foo`",),
        ("Nowhere",),
        is_complete=False,
    ),
    "a file that is gone": Case(
        {"a.py": (f"def load_weights(x):\n{LONG}", "")},
        ("Nowhere in the tree at the merge: `load_weights`",),
        statuses={"a.py": "removed"},
    ),
    "nothing of a name": Case({"a.py": (f"run(1)\n{FILLER}", f"run(2)\n{FILLER}")}, never=("a.py", "run")),
    "a signature with another parameter": Case(
        {"a.py": ("def run(x):\n    return x\n", "def run(x, y):\n    return x\n")}, never=("run",)
    ),
    "words of a text that look like code": Case(
        {"a.py": (f'"""\nA type of model, and\nclass of models.\n"""\n{FILLER}', FILLER)},
        never=("`of`", "`model`"),
    ),
}


def make_file(path: str, old: str, new: str, status: str) -> ChangedFile:
    lines = [*difflib.unified_diff(old.splitlines(), new.splitlines(), lineterm="", n=3)][2:]
    added, deleted = (sum(line.startswith(mark) for line in lines) for mark in "+-")
    return changed_file(path, added, deleted, patch="\n".join(lines), status=status)


def say(case: Case) -> str:
    files = [make_file(path, *texts, case.statuses.get(path, "modified")) for path, texts in case.texts.items()]
    read = {path: SourceFile(path, new) for path, (_, new) in case.texts.items() if path not in case.unread}
    built = [
        SectionSource.build(file, read.get(file.path) if file.status == "modified" else None) for file in files
    ]
    changes = {each.file.path: each.change for each in built if each.change}
    searched = None if case.tree is None else SourceUses(case.tree, case.is_complete)
    return format_standing(describe_standing(files, changes), searched)


@pytest.mark.parametrize("name", CASES)
def test_what_stands_is_told_and_nothing_is_told_to_be_gone_that_was_not_looked_for(name: str) -> None:
    case, text = CASES[name], say(CASES[name])
    assert [part for part in case.says if part not in text] == [], text
    assert [part for part in case.never if part in text] == [], text


def test_what_is_told_is_bounded_and_its_end_is_told_too() -> None:
    lines = "".join(f'"--flag-{n}-{"x" * 40}"\n' for n in range(400))
    texts = {f"part_{n}.py": (lines + FILLER + lines, FILLER + lines) for n in range(30)}
    text = say(Case(texts))
    assert len(text) < 2_600
    assert "[cut: " in text.split("\n")[-1]
