"""What a team is told of: from texts of upstream before and after a merge, and from a file of the team."""

import datetime as dt
from textwrap import dedent

from impact.contract.extraction import extract_contract
from impact.contract.models import FileVersions, MergeContract
from impact.profile.file_uses import scan_file
from impact.profile.linking import UpstreamIndex, link_profile
from impact.profile.scan import build_profile
from impact.python.module_names import name_module
from impact.python.outline import build_outline
from impact.source.models import SourceFile
from impact.testing.checks import check_rows
from impact.touches.judgement import list_touches
from impact.touches.models import TouchLevel
from impact.touches.profile_index import ProfileIndex

NO, TOUCHES, MAY_BREAK, _, BREAKS = TouchLevel
NOON = dt.datetime(2026, 1, 1, 12, tzinfo=dt.UTC)
Files = dict[str, str]


def tell(before: str | Files, after: str | Files, ours: str) -> list[tuple[TouchLevel, str]]:
    """The level and sentence of each place, strongest first; a text alone is that of ``up/a.py``."""
    old, new = (
        {path: dedent(text) for path, text in (side if isinstance(side, dict) else {"up/a.py": side}).items()}
        for side in (before, after)
    )
    outlines = {named[0]: build_outline(path, old[path]) for path in old if (named := name_module(path))}
    profile = build_profile("team", "", "", NOON, ("up",), [scan_file("ours/a.py", dedent(ours), ("up",))])
    index = ProfileIndex(link_profile(profile, UpstreamIndex(outlines.get)))
    versions = [
        FileVersions(*(SourceFile(path, side[path]) if path in side else None for side in (old, new)))
        for path in sorted(old.keys() | new.keys())
        if old.get(path) != new.get(path)
    ]
    kept = {named[0]: build_outline(path, new[path]) for path in new if (named := name_module(path))}
    contract = extract_contract(MergeContract(1, "a" * 40, NOON), versions, kept.get)
    return [(touch.level, touch.tell(use)) for touch in list_touches(contract, index) for use in touch.uses]


def check(before: str | Files, after: str | Files, ours: str, level: TouchLevel, words: str = "") -> None:
    touches = tell(before, after, ours)
    assert max((each for each, _ in touches), default=NO) is level, touches
    assert not words or words in touches[0][1]


PAIR, TRIPLE = "def f(x):\n    return x, 1\n", "def f(x):\n    return x, 1, 2\n"
USE_F, USE_C = "from up.a import f\n", "from up.a import C\n"
METHODS = "class C:\n    def get_input_positions(self, x):\n        return x, 1\n"
MORE = METHODS.replace("x, 1", "x, 1, 2")
TAKEN = "    def run(self):\n        a, b = self.get_input_positions(1)\n"
TAKE = "class T(C):\n    def run(self, o):\n        a, b = o.get_input_positions(1)\n"


@check_rows(
    {
        "one more": (PAIR, TRIPLE, f"{USE_F}a, b = f(1)\n", BREAKS, "`a.f` returns 3 values now"),
        "it is not taken apart": (PAIR, TRIPLE, f"{USE_F}a = f(1)\n", TOUCHES, "returns 3 values now"),
        "it takes any": (PAIR, TRIPLE, f"{USE_F}a, *b = f(1)\n", TOUCHES),
        "it takes as many as there are now": (PAIR, TRIPLE, f"{USE_F}a, b, c = f(1)\n", NO),
        "by annotations": (
            "def f(x) -> tuple[int, str]: ...",
            "def f(x) -> tuple[int, str, int] | None: ...",
            f"{USE_F}a, b = f(1)\n",
            BREAKS,
        ),
        "of any length": (
            "def f(x) -> tuple[int, ...]: ...",
            "def f(x) -> tuple[str, ...]: ...",
            f"{USE_F}a, b = f(1)\n",
            MAY_BREAK,
        ),
        "one way may return another": (PAIR, f"{TRIPLE}    return g(x)\n", f"{USE_F}a, b = f(1)\n", MAY_BREAK),
        "one way returns as many": (PAIR, f"{TRIPLE}    return 1, 2\n", f"{USE_F}a, b = f(1)\n", MAY_BREAK),
        "a generator": (PAIR, TRIPLE.replace("return", "yield x\n    return"), f"{USE_F}a, b = f(1)\n", NO),
        "what a function in it returns": (
            PAIR,
            PAIR.replace("return", "def g(): return 1, 2, 3\n    return"),
            f"{USE_F}a, b = f(1)\n",
            NO,
        ),
        "a coroutine": (
            f"async {PAIR}",
            f"async {TRIPLE}",
            f"{USE_F}async def g():\n    a, b = await f(1)\n",
            BREAKS,
        ),
        "an override gives as many as before": (
            METHODS + TAKEN,
            MORE + TAKEN.replace("a, b", "a, b, c"),
            f"{USE_C}class T(C):\n    def get_input_positions(self, x):\n        return 1, 2\n",
            BREAKS,
            "must return 3 values",
        ),
        "nobody takes them apart": (
            METHODS,
            MORE,
            f"{USE_C}class T(C):\n    def get_input_positions(self, x):\n        return 1, 2\n",
            MAY_BREAK,
        ),
        "an override gives as many as now": (
            METHODS,
            MORE,
            f"{USE_C}class T(C):\n    def get_input_positions(self, x):\n        return 1, 2, 3\n",
            TOUCHES,
        ),
        "an object of unknown type": (METHODS, MORE, USE_C + TAKE, MAY_BREAK, "returns 3 values now"),
        "of a protocol": (
            METHODS + METHODS.replace("C", "D"),
            MORE + MORE.replace("C", "D"),
            USE_C + TAKE,
            BREAKS,
        ),
        "of which nothing is taken": (METHODS, MORE, USE_C + TAKE.replace("a, b =", "a ="), NO),
    }
)
def test_how_many_values_a_call_gives(before: str, after: str, ours: str, level: TouchLevel, *words: str) -> None:
    check(before, after, ours, level, *words)


LONG = ", ".join(f"argument_{number}=option_{number}.value" for number in range(30))
HELD = {
    "up/a.py": f"from up.b import Pool\nclass C:\n    def __init__(self):\n        self.pool = Pool({LONG})\n",
    "up/b.py": "class Pool:\n    def take(self, n): ...\n",
}
ROOT = "class C:\n    def __init__(self, a): ...\n"


@check_rows(
    {
        "an attribute that a base makes in a long call": (
            HELD,
            HELD | {"up/b.py": "class Pool:\n    def take(self, n, m): ...\n"},
            f"{USE_C}class T(C):\n    def run(self):\n        self.pool.take(1)\n",
            BREAKS,
            "must pass `m`",
        ),
        "an inherited constructor": (
            {"up/a.py": "from up.b import R\nclass C(R): ...\n", "up/b.py": ROOT.replace("C", "R")},
            {
                "up/a.py": "from up.b import R\nclass C(R): ...\n",
                "up/b.py": ROOT.replace("C", "R").replace("a)", "a, b)"),
            },
            f"{USE_C}C(1)\n",
            BREAKS,
            "must pass `b`",
        ),
        "a call with some arguments": (
            "def f(a, b=1): ...",
            "def f(a): ...",
            f"from functools import partial\n{USE_F}g = partial(f, b=2)\n",
            BREAKS,
            "no longer accepts `b`",
        ),
        "the others may follow": (
            "def f(a): ...",
            "def f(a, b): ...",
            f"import functools\n{USE_F}g = functools.partial(f, 2)\n",
            MAY_BREAK,
            "may have to pass `b`",
        ),
        "a function that is set on an object": (
            "class C:\n    def m(self, a): ...\n",
            "class C:\n    def m(self, a, b): ...\n",
            f"{USE_C}def mine(a): ...\ndef use(c: C):\n    c.m = mine\n",
            BREAKS,
            "must accept `b`",
        ),
        "one that is bound to it": (
            "class C:\n    def m(self, a): ...\n",
            "class C:\n    def m(self, a, b): ...\n",
            f"{USE_C}def mine(self, a, b): ...\ndef use(c: C):\n    c.m = MethodType(mine, c)\n",
            TOUCHES,
        ),
        "an alias in the place of a replaced function": (
            {"up/a.py": "def f(x):\n    y = x + 1\n    return y\n"},
            {"up/a.py": "from up.b import f\n", "up/b.py": "def f(x):\n    y = x + 1\n    return y\n"},
            "import up.a\ndef mine(x): ...\nup.a.f = mine\n",
            MAY_BREAK,
            "your replacement is no longer called",
        ),
        "its module still calls it": (
            {"up/a.py": "def f(x):\n    y = x + 1\n    return y\ndef g(): return f(1)\n"},
            {
                "up/a.py": "from up.b import f\ndef g(): return f(1)\n",
                "up/b.py": "def f(x):\n    y = x + 1\n    return y\n",
            },
            "import up.a\ndef mine(x): ...\nup.a.f = mine\n",
            TOUCHES,
        ),
        "an op": (
            _LIBRARY := "lib = Library('up', 'DEF')\nlib.define('move(Tensor(a!) x, int n) -> (Tensor, int)')\n",
            _LIBRARY.replace("int n", "int n, *, int[2] m"),
            "import torch\ntorch.ops.up.move(x, 1)\n",
            BREAKS,
            "must pass `m`",
        ),
        "an op under another name": (
            _LIBRARY,
            _LIBRARY.replace("int n", "int n, int m=[1, 2]"),
            "import torch\nmove = torch.ops.up.move\nmove(x, 1)\n",
            MAY_BREAK,
            ":2 may break",
        ),
    }
)
def test_other_ways_to_use_a_name(
    before: str | Files, after: str | Files, ours: str, level: TouchLevel, *words: str
) -> None:
    check(before, after, ours, level, *words)


BODY = "class C:\n    def m(self, a):\n        total = self.count_all(a)\n        self.total = total\n"
OURS = "class T(C):\n    def m(self, a):\n        total = self.count_all(a)\n        return total\n"


@check_rows(
    {
        "a line that stands in ours": (
            BODY.replace("count_all(a)", "count_some(a)"),
            OURS,
            TOUCHES,
            "a line that",
        ),
        "it has another place now": (
            "class C:\n    def m(self, a):\n        self.total = 0\n        total = self.count_all(a)\n",
            OURS,
            TOUCHES,
        ),
        "one that says too little": (BODY.replace("self.total = total", "self.total += 1"), OURS, TOUCHES),
        "another one": (
            BODY.replace("count_all(a)", "count_some(a)"),
            OURS.replace("count_all", "count_other"),
            TOUCHES,
        ),
        "with another signature": (
            BODY.replace("count_all(a)", "count_some(a)").replace("a):", "a, b=1):"),
            OURS.replace("a):", "a, b=2):"),
            TOUCHES,
            "a line that stands here is gone from `C.m`",
        ),
        "two of them": (
            "class C:\n    def m(self, a):\n        return self.count_some(a)\n",
            OURS.replace("return total", "self.total = total"),
            MAY_BREAK,
            "2 lines that stand here are gone from `C.m`",
        ),
    }
)
def test_lines_that_upstream_lost(after: str, ours: str, level: TouchLevel, *words: str) -> None:
    check(BODY, after, USE_C + ours, level, *words)
