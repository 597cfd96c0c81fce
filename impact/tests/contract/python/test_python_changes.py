from __future__ import annotations

import pytest

from impact.contract.models import ChangeKind, ContractClass
from impact.testing.checks import check_rows
from tests.contract.merges import compare, rows_of

BIG = "def cdiv(a, b):\n    c = a + b\n    c -= 1\n    return c // b\n"
CLASS = (
    "class Cache(Base):\n    size = 1\n    def get(self, key): return 1\n    def put(self, key, value): return 2\n"
)

# one module a.b before and after, and the rows
ONE_MODULE: dict[str, tuple[str, str, list[str]]] = {
    "a function is gone": ("def f(): pass\n", "", ["function removed a.b.f"]),
    "a class is gone, its members follow silently": (CLASS, "", ["class removed a.b.Cache"]),
    "a constant is gone": ("LIMIT = 10\n", "", ["constant removed a.b.LIMIT"]),
    "a private name counts": ("def _f(): pass\n", "", ["function removed a.b._f"]),
    "a renamed function": (BIG, BIG.replace("cdiv", "ceil_div"), ["function renamed a.b.cdiv -> a.b.ceil_div"]),
    "another function is no rename": (
        BIG,
        "def load(path, *, strict): return path\n",
        ["function removed a.b.cdiv"],
    ),
    "a renamed class": (CLASS, CLASS.replace("Cache", "KVCache"), ["class renamed a.b.Cache -> a.b.KVCache"]),
    "an alias keeps the old name": (
        CLASS,
        CLASS.replace("Cache", "KVCache") + "Cache = KVCache\n",
        ["class renamed a.b.Cache -> a.b.KVCache (still works)"],
    ),
    "a shim keeps the old name": (BIG, "from x.y import cdiv\n", []),
    "a conditional definition is one": (
        BIG,
        f"try:\n    from x import cdiv\nexcept ImportError:\n    {BIG.splitlines()[0]} return 1\n",
        [],
    ),
    "a module with __getattr__ may give any name": (BIG, "def __getattr__(name):\n    return load(name)\n", []),
    "a module that gives names by a table": (
        BIG,
        "NAMES = {'cdiv': 'x.y'}\ndef __getattr__(name):\n    return load(NAMES[name])\n",
        [],
    ),
    "an import for type checkers alone is no shim": (
        BIG,
        "if TYPE_CHECKING:\n    from x.y import cdiv\nelse:\n    cdiv = None\n",
        ["function removed a.b.cdiv"],
    ),
    "one that runs as well": (
        BIG,
        "if typing.TYPE_CHECKING:\n    from x.y import cdiv\nfrom x.y import cdiv\n",
        [],
    ),
    "a star import of what is not known": (BIG, "from x.y import *\n", []),
    "a new parameter with a default": ("def f(a): pass", "def f(a, b=1): pass", ["function signature a.b.f"]),
    "parameters in another order": ("def f(a, b): pass", "def f(b, a): pass", ["function signature a.b.f"]),
    "keyword-only ones in another order": ("def f(*, a, b): pass", "def f(*, b, a): pass", []),
    "a renamed parameter": ("def f(a, b): pass", "def f(a, c): pass", ["function signature a.b.f"]),
    "a parameter that is required now": ("def f(a=1): pass", "def f(a): pass", ["function signature a.b.f"]),
    "another kind": ("def f(a, b=1): pass", "def f(a, *, b=1): pass", ["function signature a.b.f"]),
    "another annotation of a parameter": ("def f(a: int): pass", "def f(a: str): pass", []),
    "a coroutine now": ("def f(): pass", "async def f(): pass", ["function signature a.b.f"]),
    "another default": ("def f(a=1): pass", "def f(a=2): pass", ["function default a.b.f"]),
    "the same default in other words": ("def f(a='x', b=(1, 2)): pass", 'def f(a="x", b=(1,2)): pass', []),
    "another value": ("LIMIT = 10\n", "LIMIT = 20\n", ["constant default a.b.LIMIT"]),
    "another result": ("def f() -> int: pass", "def f() -> str: pass", ["function return a.b.f"]),
    "the same result in other words": (
        "def f() -> Optional[List[int]]: pass",
        "def f() -> 'list[int] | None': pass",
        [],
    ),
    "an annotation for the first time": ("def f(): pass", "def f() -> str: pass", []),
    "a new member": (CLASS, CLASS + "    def pop(self): pass\n", ["method added member a.b.Cache.pop"]),
    "a new attribute": (
        "class C:\n    def __init__(self): pass",
        "class C:\n    def __init__(self): self.x = 1",
        ["attribute added member a.b.C.x"],
    ),
    "a new abstract member": (
        CLASS,
        CLASS + "    @abstractmethod\n    def pop(self): pass\n",
        ["method new abstract member a.b.Cache.pop"],
    ),
    "a member that became abstract": (
        "class C:\n    def f(self): pass",
        "class C:\n    @abc.abstractmethod\n    def f(self): pass",
        ["method new abstract member a.b.C.f"],
    ),
    "a removed attribute": (
        "class C:\n    def __init__(self): self.x = load()",
        "class C:\n    def __init__(self): pass",
        ["attribute removed a.b.C.x"],
    ),
    "an attribute that is a property now": (
        "class C:\n    def __init__(self): self.x = 1",
        "class C:\n    @property\n    def x(self): return 1",
        ["method signature a.b.C.x"],
    ),
    "a value that can still be set": (
        "class C:\n    def __init__(self): self.x = 1",
        "class C:\n    @property\n    def x(self): return 1\n    @x.setter\n    def x(self, value): pass",
        [],
    ),
    "an attribute that may be called": (
        "class C:\n    def __init__(self): self.x = make()",
        "class C:\n    def x(self): return 1",
        [],
    ),
    "two constants in one assignment": ("LOW = -4\nHIGH = 4", "LOW, HIGH = bounds()", []),
    "members of an enum in one assignment": (
        "class Pace(enum.Enum):\n    FAST = 1\n    SLOW = 2",
        "class Pace(enum.Enum):\n    FAST, SLOW = range(1, 3)",
        [],
    ),
    "a helper that is deleted": (BIG, f"{BIG}del cdiv", ["function removed a.b.cdiv"]),
    "a name for type checkers alone": (
        f"Size = int\n{CLASS}",
        "if TYPE_CHECKING:\n    Size = int\n    class Cache: pass",
        ["constant removed a.b.Size", "class removed a.b.Cache"],
    ),
    "a name for type checkers that the module gives": (
        "A = 1",
        "if TYPE_CHECKING:\n    A = 1\ndef __getattr__(name):\n    if name == 'A': return 1\n    raise KeyError",
        [],
    ),
    "a partial that takes the calls": (
        BIG,
        BIG.replace("cdiv(a, b)", "_cdiv(a, b, *, c)") + "cdiv = partial(_cdiv, c=2)",
        ["constant signature a.b.cdiv"],
    ),
    "a class with __getattr__": (
        "class C:\n    def run(self): pass",
        "class C:\n    def __getattr__(self, name): return getattr(self.inner, name)",
        ["method added member a.b.C.__getattr__"],
    ),
    "an attribute that is a slot now": (
        "class C:\n    def __init__(self): self.n = 1",
        "class C:\n    __slots__ = ('n',)\n    def __init__(self): object.__setattr__(self, 'n', 1)",
        ["attribute added member a.b.C.__slots__"],
    ),
    "a class that becomes a dataclass": (
        "class C:\n    def __init__(self, a):\n        self.a = a",
        "@dataclass\nclass C:\n    a: int\n    b: int",
        ["method signature a.b.C.__init__", "attribute added member a.b.C.b"],
    ),
    "a class that gets a constructor": (
        "class C:\n    x = 1",
        "class C:\n    x = 1\n    def __init__(self, a): pass",
        ["method added member a.b.C.__init__", "method signature a.b.C.__init__"],
    ),
    "a class that loses its constructor": (
        "class C:\n    def __init__(self, a): pass",
        "class C: pass",
        ["method signature a.b.C.__init__"],
    ),
    "a class whose metaclass may make its objects": (
        "class C:\n    x = 1",
        "class C(metaclass=Maker):\n    x = 1\n    def __init__(self, a): pass",
        ["method added member a.b.C.__init__"],
    ),
    "a field of a base": (
        "@dataclass\nclass B:\n    x: int\n@dataclass\nclass C(B):\n    y: int",
        "@dataclass\nclass B:\n    x: int\n    z: int\n@dataclass\nclass C(B):\n    y: int",
        ["method signature a.b.B.__init__", "attribute added member a.b.B.z", "method signature a.b.C.__init__"],
    ),
    "a field that goes by name": (
        "@dataclass\nclass C:\n    x: int = 0\n    y: int = 0",
        "@dataclass\nclass C:\n    x: int = field(default=0, kw_only=True)\n    y: int = 0",
        ["method signature a.b.C.__init__"],
    ),
    "another form of a dispatched function": (
        "@dispatch\ndef f(a: int, b=0): pass",
        "@dispatch\ndef f(a: int, b=0): pass\n@dispatch\ndef f(a: str): pass",
        [],
    ),
    "a function that is a class now": (
        "def C(a): pass",
        "class C:\n    def __init__(self, a): pass",
        ["class signature a.b.C"],
    ),
    "a function that is a value now": ("def f(a): pass", "f = 3", ["constant signature a.b.f"]),
    "a function of which an expression makes another": ("def f(a): pass", "f = wrap(g)", []),
    "a decorator about an argument": (
        "def f(ids=None): pass",
        "@deprecate_kwargs('ids', message='gone in v0.13')\ndef f(ids=None): pass",
        [],
    ),
    "a decorator that names an argument": (
        "def f(ids=None): pass",
        "@deprecated('ids')\ndef f(ids=None): pass",
        [],
    ),
    "one form that is deprecated": (
        "def f(a): pass",
        "@overload\n@deprecated('use str')\ndef f(a: int): ...\n@overload\ndef f(a: str): ...\ndef f(a): pass",
        [],
    ),
    "all forms that are deprecated": (
        "def f(a): pass",
        (
            "@overload\n@deprecated('x')\ndef f(a: int): ...\n@overload\n@deprecated('x')\ndef f(a: str): ...\n"
            "def f(a): pass"
        ),
        ["function deprecated a.b.f"],
    ),
    "a setter that is deprecated": (
        "class C:\n    @property\n    def x(self): pass\n    @x.setter\n    def x(self, value): pass",
        (
            "class C:\n    @property\n    def x(self): pass\n"
            "    @x.setter\n    @deprecated('x')\n    def x(self, value): pass"
        ),
        [],
    ),
    "a renamed method": (
        "class C:\n    def load_all(self, path, mode):\n        return path",
        "class C:\n    def load_every(self, path, mode):\n        return path",
        ["method renamed a.b.C.load_all -> a.b.C.load_every"],
    ),
    "a method that an unknown base of the same repository may have": (
        "class C(a.c.Base):\n    def f(self): pass",
        "class C(a.c.Base): pass",
        [],
    ),
    "a field of a dataclass": (
        "@dataclass\nclass C:\n    x: int",
        "@dataclass\nclass C:\n    x: int\n    y: int = 0",
        ["method signature a.b.C.__init__", "attribute added member a.b.C.y"],
    ),
    "another default of a field": (
        "class C(BaseModel):\n    x: int = Field(default=1, description='a')",
        "class C(BaseModel):\n    x: int = Field(2, description='b')",
        ["attribute default a.b.C.x"],
    ),
    "another description of a field": (
        "class C(BaseModel):\n    x: int = Field(default=1, description='a')",
        "class C(BaseModel):\n    x: int = Field(default=1, description='b')",
        [],
    ),
    "a docstring that says so": (
        "def f(): pass",
        'def f():\n    """Return.\n\n    .. deprecated:: 0.9\n    """',
        ["function deprecated a.b.f"],
    ),
    "a decorator that says so": (
        "class C: pass",
        "@typing_extensions.deprecated('use D')\nclass C: pass",
        ["class deprecated a.b.C"],
    ),
    "a warning about an argument": (
        "def f(a=None): pass",
        "def f(a=None):\n    if a is not None:\n        logger.warning('`a` is deprecated, use `b`')",
        [],
    ),
    "a warning under a condition that names the function": (
        "def f(): pass",
        "def f():\n    if not done:\n        logger.warning('`f` is deprecated, use `g`')",
        ["function deprecated a.b.f"],
    ),
    "a warning under a condition that says it is about the function": (
        "def f(): pass",
        "def f():\n    if not done:\n        logger.warning('This function is deprecated')",
        ["function deprecated a.b.f"],
    ),
    "a warning under a condition that names the class": (
        "class C:\n    def __init__(self): pass",
        "class C:\n    def __init__(self):\n        if DEBUG:\n            warn('C is deprecated')",
        ["method deprecated a.b.C.__init__"],
    ),
    "what was deprecated before": ("@deprecated('x')\ndef f(): pass", "@deprecated('x')\ndef f(): return 1", []),
    "comments, docstrings and annotations": (
        "def f(a):\n    return a",
        'def f(a: int):\n    """Doc."""\n    # comment\n    return a',
        [],
    ),
    "what can't be parsed says nothing": ("def f(): pass", "def f(:", []),
}


@check_rows(ONE_MODULE)
def test_one_module(before: str, after: str, rows: list[str]) -> None:
    assert rows_of({"a/b.py": before}, {"a/b.py": after}) == rows


@check_rows({name: (before, after) for name, (before, after, _) in ONE_MODULE.items()})
def test_a_file_that_stays_as_it_is_has_no_rows(before: str, after: str) -> None:
    for text in (before, after):
        assert compare({"a/b.py": text}, {"a/b.py": text}).changes == ()


class TestSeveralFiles:
    def test_a_class_that_moves_is_one_row(self) -> None:
        rows = rows_of({"a/b.py": CLASS + BIG, "a/c.py": ""}, {"a/b.py": BIG, "a/c.py": CLASS})
        assert rows == ["class moved a.b.Cache -> a.c.Cache"]

    def test_it_still_works_where_the_old_module_imports_it(self) -> None:
        rows = rows_of({"a/b.py": CLASS}, {"a/b.py": "from a.c import Cache\n", "a/c.py": CLASS})
        assert rows == ["class moved a.b.Cache -> a.c.Cache (still works)"]

    @pytest.mark.parametrize(
        "shim", ["from .c import *", "from a.c import Cache as Cache", "import a.c\nCache = a.c.Cache"]
    )
    def test_other_shims(self, shim: str) -> None:
        rows = rows_of({"a/b.py": CLASS}, {"a/b.py": shim, "a/c.py": CLASS})
        assert all("still works" in row for row in rows)

    def test_a_moved_class_keeps_its_other_changes_under_its_old_name(self) -> None:
        after = CLASS.replace("put(self, key,", "put(self, key, *,")
        assert rows_of({"a/b.py": CLASS}, {"a/b.py": "", "a/c.py": after}) == [
            "class moved a.b.Cache -> a.c.Cache",
            "method signature a.b.Cache.put",
        ]

    def test_a_module_that_moves_is_one_row(self) -> None:
        assert rows_of({"a/b.py": CLASS + BIG}, {"a/d/b.py": CLASS + BIG}) == ["module moved a.b -> a.d.b"]

    def test_a_module_that_is_gone_is_one_row(self) -> None:
        assert rows_of({"a/b.py": CLASS + BIG}, {}) == ["module removed a.b"]

    def test_a_module_that_is_a_package_now_keeps_its_names(self) -> None:
        after = {"a/b/__init__.py": "from a.b.core import Cache, cdiv\n", "a/b/core.py": CLASS + BIG}
        assert rows_of({"a/b.py": CLASS + BIG}, after) == [
            "class moved a.b.Cache -> a.b.core.Cache (still works)",
            "function moved a.b.cdiv -> a.b.core.cdiv (still works)",
        ]

    def test_a_module_that_is_split_sends_its_names_to_both(self) -> None:
        after = {"a/x.py": CLASS, "a/y.py": BIG}
        assert rows_of({"a/b.py": CLASS + BIG}, after) == [
            "function moved a.b.cdiv -> a.y.cdiv",
            "module moved a.b -> a.x",
        ] or set(rows_of({"a/b.py": CLASS + BIG}, after)) >= {"function moved a.b.cdiv -> a.y.cdiv"}

    def test_a_package_that_no_longer_re_exports_a_name(self) -> None:
        rows = rows_of(
            {"a/__init__.py": "from a.b import Cache\nimport os\n"}, {"a/__init__.py": ""}, {"a/b.py": CLASS}
        )
        assert rows == ["class moved a.Cache -> a.b.Cache"]

    def test_callers_say_where_a_name_went(self) -> None:
        before = {"a/b.py": BIG, "a/user.py": "from a.b import cdiv\n"}
        after = {"a/b.py": "", "a/user.py": "from a.math import cdiv\n"}
        assert rows_of(before, after, {"a/math.py": BIG}) == ["function moved a.b.cdiv -> a.math.cdiv"]

    def test_a_method_that_a_base_has_is_still_there(self) -> None:
        base = {"a/base.py": "class Base:\n    def f(self): pass\n"}
        before = "from a.base import Base\nclass C(Base):\n    def f(self): return 1\n"
        assert (
            rows_of({"a/b.py": before}, {"a/b.py": "from a.base import Base\nclass C(Base): pass\n"}, base) == []
        )

    def test_a_method_that_moves_into_a_base_is_still_there(self) -> None:
        before = "class Base:\n    pass\nclass C(Base):\n    def f(self): return 1\n"
        after = "class Base:\n    def f(self): return 1\nclass C(Base):\n    pass\n"
        assert rows_of({"a/b.py": before}, {"a/b.py": after}) == ["method added member a.b.Base.f"]

    def test_a_new_method_is_not_the_new_name_of_one_that_moves_into_a_base(self) -> None:
        before = "class C:\n    def start(self): self.run = go()\n"
        after = (
            "class Base:\n    def start(self): self._start()\n"
            "class C(Base):\n    def _start(self): self.run = go()\n"
        )
        assert rows_of({"a/b.py": before}, {"a/b.py": after}) == ["method added member a.b.C._start"]

    def test_a_method_that_sets_an_inherited_attribute_adds_none(self) -> None:
        base = "class Base:\n    use: bool = False\n"
        before = f"{base}class C(Base):\n    def f(self): return 1\n"
        after = f"{base}class C(Base):\n    def f(self):\n        self.use = True\n        return 1\n"
        assert rows_of({"a/b.py": before}, {"a/b.py": after}) == []

    def test_a_base_that_is_known_and_lacks_it(self) -> None:
        base = {"a/base.py": "class Base:\n    pass\n"}
        before = "from a.base import Base\nclass C(Base):\n    def f(self): return 1\n"
        after = "from a.base import Base\nclass C(Base): pass\n"
        assert rows_of({"a/b.py": before}, {"a/b.py": after}, base) == ["method removed a.b.C.f"]

    @pytest.mark.parametrize("path", ["tests/a/b.py", "benchmarks/b.py", "examples/b.py", "docs/b.py", "setup.py"])
    def test_tests_and_tools_are_no_contract(self, path: str) -> None:
        assert rows_of({path: BIG}, {path: ""}) == []


class TestRows:
    def test_a_row_has_what_a_reader_needs(self) -> None:
        [row] = compare({"a/b.py": "\ndef f(a, b=1): pass\n"}, {"a/b.py": "def f(a, *, c): pass\n"}).changes
        assert (row.before, row.after) == ("def f(a, b=1)", "def f(a, *, c)")
        assert (row.subject, row.path, row.line) == (ContractClass.FUNCTION, "a/b.py", 1)
        assert row.old_signature
        assert row.new_signature
        assert [each.name for each in row.new_signature.parameters] == ["a", "c"]

    def test_what_is_removed_stands_at_its_old_line(self) -> None:
        [row] = compare({"a/b.py": "\n\ndef f(a): pass\n"}, {"a/b.py": ""}).changes
        assert (row.side, row.line, row.before, row.after) == ("old", 3, "def f(a)", "")

    def test_a_long_signature_shows_what_differs(self) -> None:
        names = [f"a_long_parameter_name_{number}: int" for number in range(9)]
        before, after = ", ".join(names), ", ".join([*names[:4], "mode: str", *names[4:]])
        [row] = compare({"a/b.py": f"def f({before}): pass"}, {"a/b.py": f"def f({after}): pass"}).changes
        assert (row.before, row.after) == ("def f(…)", "def f(…, mode: str, …)")

    def test_a_body_that_changed_is_one_quiet_row(self) -> None:
        [row] = compare({"a/b.py": "def f(a): return a"}, {"a/b.py": "def f(a): return -a"}).changes
        assert row.kind is ChangeKind.BEHAVIOUR

    def test_what_is_deprecated_has_its_deadline(self) -> None:
        message = "f goes. Use `g` instead, it will be removed in v0.15"
        text = f"import warnings\ndef f():\n    warnings.warn('{message}', DeprecationWarning)"
        [row] = [each for each in compare({"a/b.py": "def f(): pass"}, {"a/b.py": text}).changes if each.deadline]
        assert row.deadline
        assert (row.deadline.when, row.deadline.replacement) == ("v0.15", "g")

    def test_a_deadline_may_be_a_release_without_a_version(self) -> None:
        text = (
            "import warnings\ndef f():\n"
            "    warnings.warn('f will be removed in a future release', DeprecationWarning)"
        )
        [row] = [each for each in compare({"a/b.py": "def f(): pass"}, {"a/b.py": text}).changes if each.deadline]
        assert row.deadline
        assert row.deadline.when == "future release"


class TestCallers:
    def test_upstreams_own_callers_show_what_to_do(self) -> None:
        before = {"a/b.py": "def f(a): pass", "tests/test_b.py": "def test():\n    f(\n        1,\n    )\n"}
        after = {
            "a/b.py": "def f(a, b): pass",
            "tests/test_b.py": "def test():\n    f(\n        1,\n        b=2,\n    )\n",
        }
        changes = compare(before, after)
        [migration] = changes.migrations["a.b.f"]
        assert (migration.path, migration.before, migration.after) == (
            "tests/test_b.py",
            "f( 1, )",
            "f( 1, b=2, )",
        )
        assert changes.calls["f"][0].keywords == ("b",)

    def test_lines_that_had_a_lost_name(self) -> None:
        before = {"a/b.py": BIG, "tests/use.py": "from a.b import cdiv\nx = 1\ny = cdiv(x, 2)\n"}
        after = {
            "a/b.py": BIG.replace("cdiv", "ceil_div"),
            "tests/use.py": "from a.b import ceil_div\nx = 1\ny = ceil_div(x, 2)\n",
        }
        migrations = compare(before, after).migrations["a.b.cdiv"]
        assert [(each.line, each.before, each.after) for each in migrations] == [
            (1, "from a.b import cdiv", "from a.b import ceil_div"),
            (3, "y = cdiv(x, 2)", "y = ceil_div(x, 2)"),
        ]
