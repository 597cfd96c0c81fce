from __future__ import annotations

import ast
from textwrap import dedent

import pytest
from hypothesis import given
from hypothesis import strategies as st

from impact.python.models import DefinitionKind, ModuleOutline, ParameterKind
from impact.python.module_names import name_module, resolve_relative
from impact.python.outline import KnownFunctions, build_outline
from impact.python.signatures import is_same_annotation
from impact.python.syntax import parse_source
from impact.testing.checks import check_rows

NAMES: dict[str, tuple[str, bool] | None] = {
    "vllm/v1/core/x.py": ("vllm.v1.core.x", False),
    "vllm/v1/__init__.py": ("vllm.v1", True),
    "src/vllm/x.py": ("vllm.x", False),
    "vllm/types.pyi": ("vllm.types", False),
    "setup.py": ("setup", False),
    "vllm/a-b.py": None,
    "__init__.py": None,
    "vllm/x.cu": None,
    "": None,
}


@pytest.mark.parametrize(("path", "name"), NAMES.items(), ids=NAMES)
def test_the_name_of_a_module(path: str, name: tuple[str, bool] | None) -> None:
    assert name_module(path) == name


@pytest.mark.parametrize(
    ("level", "target", "is_package", "name"),
    [
        (0, "os", False, "os"),
        (1, "x", False, "a.b.x"),
        (1, "x", True, "a.b.c.x"),
        (2, "x", False, "a.x"),
        (1, "", True, "a.b.c"),
        (2, "", False, "a"),
        (4, "x", False, ""),
        (9, "", False, ""),
    ],
)
def test_relative_imports(level: int, target: str, is_package: bool, name: str) -> None:
    assert resolve_relative("a.b.c", level, target, is_package=is_package) == name


def outline_of(text: str, path: str = "a/b.py") -> ModuleOutline:
    outline = build_outline(path, dedent(text))
    assert outline
    return outline


class TestDefinitions:
    def test_kinds(self) -> None:
        outline = outline_of("""
            LIMIT = 1
            def f(): pass
            class C:
                size: int = 2
                def m(self): self.x = 3
                class Inner:
                    def n(self): pass
        """)
        assert {name: each.kind for name, each in outline.definitions.items()} == {
            "LIMIT": DefinitionKind.CONSTANT,
            "f": DefinitionKind.FUNCTION,
            "C": DefinitionKind.CLASS,
            "C.size": DefinitionKind.FIELD,
            "C.m": DefinitionKind.METHOD,
            "C.Inner": DefinitionKind.CLASS,
            "C.Inner.n": DefinitionKind.METHOD,
            "C.x": DefinitionKind.ATTRIBUTE,
        }

    def test_the_constructor_says_what_an_attribute_is(self) -> None:
        outline = outline_of("""
            class C:
                def reset(self): self.x = None
                def __init__(self): self.x: int = 1
        """)
        assert (outline.definitions["C.x"].value, outline.definitions["C.x"].annotation) == ("1", "int")

    def test_self_in_a_class_within_a_method_is_another_object(self) -> None:
        outline = outline_of("""
            class C:
                def m(self):
                    class Inner:
                        def n(self): self.y = 1
                    self.x, self.z = 1, 2
        """)
        assert "C.y" not in outline.definitions
        assert {"C.x", "C.z"} <= outline.definitions.keys()

    def test_bases_and_decorators_are_resolved(self) -> None:
        outline = outline_of("""
            from .c import Base as B
            import a.d as d
            @d.register("x")
            class C(B, Own[int], d.Other, Unknown): pass
            class Own: pass
        """)
        definition = outline.definitions["C"]
        assert definition.bases == ("a.c.Base", "a.b.Own", "a.d.Other", "Unknown")
        assert definition.decorators == ("a.d.register",)

    def test_a_property_is_its_getter(self) -> None:
        outline = outline_of("""
            class C:
                @property
                def x(self) -> int: return self._x
                @x.setter
                def x(self, value): self._x = value
        """)
        signature = outline.definitions["C.x"].signature
        assert signature
        assert signature.is_property
        assert signature.returns == "int"

    def test_the_last_of_overloads_counts_and_of_branches_what_one_of_them_takes(self) -> None:
        outline = outline_of("""
            @overload
            def f(a: int): ...
            def f(a, b=1): ...
            if FAST:
                def g(a): ...
            else:
                def g(b): ...
        """)
        first, second = outline.definitions["f"].signature, outline.definitions["g"].signature
        assert first
        assert second
        assert [each.name for each in first.parameters] == ["a", "b"]
        assert [(each.name, each.default) for each in second.parameters] == [("a", "..."), ("b", "...")]
        assert outline.definitions["g"].is_conditional


DATA: dict[str, tuple[str, list[tuple[str, str | None]] | None]] = {
    "a dataclass": (
        "@dataclass\nclass C:\n  x: int\n  y: list = field(default_factory=list)",
        [("x", None), ("y", "list()")],
    ),
    "with what it does not take": (
        "@dataclass\nclass C:\n  x: ClassVar[int]\n  y: int = field(init=False)\n  z: int = 1",
        [("z", "1")],
    ),
    "pydantic": (
        "class C(BaseModel):\n  x: int = Field(..., gt=0)\n  y: int = Field(3)",
        [("x", None), ("y", "3")],
    ),
    "a model of one in this module": ("class B(BaseModel): pass\nclass C(B):\n  x: int = 1", [("x", "1")]),
    "msgspec": ("class C(msgspec.Struct, kw_only=True):\n  x: int", [("x", None)]),
    "a named tuple": ("class C(NamedTuple):\n  x: int = 1", [("x", "1")]),
    "a class": ("class C:\n  x: int = 1", None),
    "a default in an annotation": ("class C(BaseModel):\n  x: Annotated[int, Field(default=1)]", [("x", "1")]),
    "a value behind an annotation": ("class C(BaseModel):\n  x: Annotated[int, Field(1)] = 2", [("x", "2")]),
    "an annotation of a dataclass": ("@dataclass\nclass C:\n  x: Annotated[int, field(default=1)]", [("x", None)]),
    "private to a model": ("class C(BaseModel):\n  x: int\n  _y: int\n  z: int = PrivateAttr()", [("x", None)]),
    "private to a dataclass": ("@dataclass\nclass C:\n  _x: int", [("_x", None)]),
    "private to attrs": (
        "@attrs.define\nclass C:\n  _x: int\n  y = attrs.field(default=1)",
        [("x", None), ("y", "1")],
    ),
    "another name": ("class C(BaseModel):\n  x: int = Field(alias='y')", [("y", None)]),
    "either name": (
        "class C(BaseModel):\n  model_config = ConfigDict(populate_by_name=True)\n  x: int = Field(alias='y')",
        [("x", "..."), ("y", "...")],
    ),
    "keys that need not be there": (
        "class C(TypedDict):\n  x: int\n  y: NotRequired[int]",
        [("x", None), ("y", "...")],
    ),
    "a table that need not be whole": (
        "class C(TypedDict, total=False):\n  x: int\n  y: Required[int]",
        [("x", "..."), ("y", None)],
    ),
    "what only type checkers see": (
        "@dataclass\nclass C:\n  x: int\n  if TYPE_CHECKING:\n    y: int",
        [("x", None)],
    ),
}


@pytest.mark.parametrize(("text", "fields"), DATA.values(), ids=DATA)
def test_data_classes(text: str, fields: list[tuple[str, str | None]] | None) -> None:
    definition = outline_of(text).definitions["C"]
    parameters = definition.signature.parameters[1:] if definition.signature else None
    assert ([(each.name, each.default) for each in parameters] if parameters is not None else None) == fields
    assert definition.is_data == (fields is not None)


@pytest.mark.parametrize(
    "text",
    ["@dataclass\nclass C:\n  x: int\n  def __init__(self): pass", "@dataclass(init=False)\nclass C:\n  x: int"],
)
def test_fields_that_make_no_constructor_are_those_of_subclasses(text: str) -> None:
    definition = outline_of(text).definitions["C"]
    assert definition.signature
    assert ([each.name for each in definition.signature.parameters], definition.is_data) == (["self", "x"], False)


BOUND: dict[str, tuple[str, list[str]]] = {
    "a tuple": ("A, (B, *C) = load()", ["A", "B", "C"]),
    "a list": ("[A, B] = 1, 2", ["A", "B"]),
    "several targets": ("A = B = 1", ["A", "B"]),
    "with": ("with load() as (A, B): C = 1", ["A", "B", "C"]),
    "for": ("for A, B in load(): C = 1", ["A", "B", "C"]),
    "a walrus": ("if (A := load()) and [B := 1]: pass", ["A", "B"]),
    "match": ("match load():\n  case [A, *B] | {'c': A, **B}: pass\n  case C: pass", ["A", "B", "C"]),
    "a function that is called": ("def f():\n  global A\n  A = 1\nf()", ["f", "A"]),
    "a function that is not called": ("def f():\n  global A\n  A = 1", ["f"]),
    "an annotation alone": ("A: int", []),
    "del": ("A = B = C = 1\ndel A, (B)", ["C"]),
    "del under a condition": ("A = 1\nif go: del A", ["A"]),
    "del, and again": ("A = 1\ndel A\nA = 2", ["A"]),
    "an attribute of a class": ("class C: pass\nC.x, other.y = 1, 2", ["C", "C.x"]),
    "a class body": (
        "class C:\n  A, B = range(2)\n  for D in A: pass\n  E = 1\n  del E",
        ["C", "C.A", "C.B", "C.D"],
    ),
    "slots": ("class C:\n  __slots__ = ('x', 'y')", ["C", "C.__slots__", "C.x", "C.y"]),
    "setattr": (
        "class C:\n  def f(self):\n    object.__setattr__(self, 'x', 1)\n    setattr(self, 'y', 1)",
        ["C", "C.f", "C.x", "C.y"],
    ),
    "the table of an object": ("class C:\n  def f(self): self.__dict__['x'] = 1", ["C", "C.f", "C.x"]),
    "a condition that never holds": (
        "if TYPE_CHECKING and go: A = 1\nif not TYPE_CHECKING: B = 1\nif False: C = 1",
        ["B"],
    ),
    "a body that only type checkers see": (
        "class C:\n  if TYPE_CHECKING:\n    def f(self): pass\n    x = 1\n    y: int",
        ["C", "C.y"],
    ),
}


@check_rows(BOUND)
def test_every_way_to_bind_a_name_is_seen(text: str, names: list[str]) -> None:
    outline = outline_of(text)
    assert sorted(outline.definitions.keys() - outline.typing_only) == sorted(names)


@pytest.mark.skipif(not hasattr(ast, "TypeAlias"), reason="this Python has no type statement")
def test_a_type_statement_binds_as_an_assignment_does() -> None:
    assert outline_of("type Size = int | str").definitions["Size"].value == "int | str"


@check_rows(
    {
        "by a loader": (
            "__getattr__, __dir__, __all__ = lazy.attach(__name__, submod_attrs={'m': ['f']})",
            {"f"},
            False,
        ),
        "by a loader of a table": ("__getattr__ = lazy.attach(__name__, TABLE)[0]", set(), True),
        "by another module": ("from a.c import __getattr__", set(), True),
        "by a class of its own": ("sys.modules[__name__].__class__ = Lazy", set(), True),
        "by a loop": ("for name in NAMES:\n  setattr(sys.modules[__name__], name, load(name))", set(), True),
        "not at all": ("x = 1", set(), False),
    }
)
def test_modules_that_give_names_when_they_are_asked(text: str, names: set[str], may_give_others: bool) -> None:
    outline = outline_of(text)
    assert (set(outline.dynamic), outline.has_getattr) == (names, may_give_others)


@check_rows(
    {
        "nothing says so": ("x = _y = 1", {"x": True, "_y": False}),
        "a table": (
            "__all__ = ['x'] + ('_y',)\n__all__ += ['z']\n__all__.append('a')",
            {"x": True, "_y": True, "z": True, "a": True, "b": False},
        ),
        "another module's table": ("__all__ = ['x', *m.__all__]", {"x": True, "y": True}),
    }
)
def test_what_a_star_takes(text: str, names: dict[str, bool]) -> None:
    outline = outline_of(text)
    assert {name: outline.gives_star(name) for name in names} == names


def test_keyword_only_fields() -> None:
    definition = outline_of("@dataclass\nclass C:\n  x: int\n  _: KW_ONLY\n  y: int").definitions["C"]
    assert definition.signature
    kinds = [each.kind for each in definition.signature.parameters]
    assert kinds == [ParameterKind.POSITIONAL, ParameterKind.POSITIONAL, ParameterKind.KEYWORD_ONLY]


class TestModules:
    def test_imports_at_the_top_level(self) -> None:
        outline = outline_of(
            """
            import os.path, a.c as c
            from .d import e as f
            from x import *
            if TYPE_CHECKING:
                from a.g import H
            try:
                import fast
            except ImportError:
                import slow as fast
            def late():
                import hidden
            """,
            "a/b/__init__.py",
        )
        assert outline.imports == {"os": "os", "c": "a.c", "f": "a.b.d.e", "H": "a.g.H", "fast": "fast"}
        assert outline.stars == ("x",)
        assert outline.typing_only == {"H"}

    def test_what_stands_in_for_an_import_of_type_checkers_is_no_definition(self) -> None:
        outline = outline_of("""
            if typing.TYPE_CHECKING:
                from a.g import H, J
            else:
                H = None
                J = object
                K = None
        """)
        assert set(outline.definitions) == {"J", "K"}

    def test_names_that_a_module_gives_when_it_is_asked(self) -> None:
        outline = outline_of("""
            TABLE = {"A": ".x", "B": ".y"}
            def __getattr__(name):
                if name == "C":
                    return 1
                if name in TABLE:
                    return load(TABLE[name])
                raise AttributeError("missing")
        """)
        assert outline.dynamic == {"A", "B", "C"}
        assert not outline.has_getattr

    def test_one_that_raises_where_no_condition_holds(self) -> None:
        outline = outline_of("""
            def __getattr__(name):
                if name == "current":
                    return load()
                elif name in globals():
                    return globals()[name]
                else:
                    raise AttributeError(name)
        """)
        assert outline.dynamic == {"current"}
        assert not outline.has_getattr

    def test_one_that_may_give_any_name(self) -> None:
        outline = outline_of("""
            def __getattr__(name):
                if name == "C":
                    return 1
                return load(name)
        """)
        assert outline.dynamic == {"C"}
        assert outline.has_getattr

    @pytest.mark.parametrize("text", ["import sys\nsys.modules[__name__] = Lazy()", "globals().update(load())"])
    def test_modules_that_fill_themselves(self, text: str) -> None:
        assert outline_of(text).has_getattr

    def test_calls(self) -> None:
        outline = outline_of("""
            class C:
                def m(self):
                    self.cache.get(1, *a, key=2, **b)
                    super().m().n(3)
                    x[0].y()
        """)
        shown = [(call.name, call.scope, call.shape.positional, call.shape.keywords) for call in outline.calls]
        assert shown == [
            ("self.cache.get", "C.m", 1, ("key",)),
            ("super().m().n", "C.m", 1, ()),
            ("super().m", "C.m", 0, ()),
            ("super", "C.m", 0, ()),
            ("x[].y", "C.m", 0, ()),
        ]
        assert outline.calls[0].shape.has_star
        assert outline.calls[0].shape.has_double_star


class TestBodies:
    SAME = (
        "def f(a):\n    x = 1\n    return g(a, 'b')",
        'def f(a: int) -> int:\n  """Doc."""\n  # why\n  x: int = 1\n  return g(\n    a,\n    "b",\n  )',
    )

    def test_comments_docstrings_annotations_and_format_do_not_matter(self) -> None:
        first, second = (outline_of(text).definitions["f"].body for text in self.SAME)
        assert first == second

    @pytest.mark.parametrize("other", ["return g(a, 'c')", "return g('b', a)", "yield g(a, 'b')"])
    def test_everything_else_does(self, other: str) -> None:
        body = outline_of(f"def f(a):\n    x = 1\n    {other}").definitions["f"].body
        assert body != outline_of(self.SAME[0]).definitions["f"].body


@pytest.mark.parametrize(
    ("first", "second", "same"),
    [
        ("Optional[int]", "int | None", True),
        ("Union[int, str]", "str | int", True),
        ("List['Foo']", "list[Foo]", True),
        ("typing.Dict[str, Any]", "dict[str, Any]", True),
        ("torch.Tensor", "Tensor", True),
        ("int", "str", False),
        ("list[int]", "list[str]", False),
        ("int", "int | None", False),
    ],
)
def test_annotations(first: str, second: str, same: bool) -> None:
    assert is_same_annotation(first, second) is same


# what is hard on a parser, or on what walks through its tree
HOSTILE: dict[str, str] = {
    "a null byte": "x = '\0'",
    "deep brackets": "(" * 5_000 + ")" * 5_000,
    "deep minus signs": "x = " + "-" * 20_000 + "1",
    "a long sum": "x = " + "+".join(["1"] * 2_000),
    "a long chain": "x = a" + ".b()" * 900,
    "a long elif": "if a: pass\n" + "elif b: pass\n" * 900,
    "deep functions": "".join(" " * depth + "def f():\n" for depth in range(90)) + " " * 90 + "pass",
    "deep classes": "".join(" " * depth + "class C:\n" for depth in range(90)) + " " * 90 + "pass",
    "a huge number": "x = " + "9" * 10_000,
    "a surrogate": "x = '\ud800'",
    "a form feed": "\f\nx = 1\r\ny = 'é' + f(a)\r",
    "no names": "import *\nfrom . import *\nfrom ..... import x",
}


# the definitions and the names of the calls of those that can be parsed
READABLE: dict[str, tuple[list[str], list[str]]] = {
    "a long sum": (["x"], []),
    "a long chain": (["x"], ["a" + ".b()" * number + ".b" for number in reversed(range(6))]),
    "a long elif": ([], []),
    "deep functions": (["f"], []),
    "deep classes": ([".".join("C" * depth) for depth in range(1, 91)], []),
    "a form feed": (["x", "y"], ["f"]),
}


@check_rows({name: (name, text) for name, text in HOSTILE.items()})
def test_of_hostile_text_what_can_be_parsed_is_read(name: str, text: str) -> None:
    outline = build_outline("a/b.py", text)
    shown = outline and (list(outline.definitions), [call.name for call in outline.calls])
    assert shown == READABLE.get(name)


@given(st.text(max_size=200))
def test_any_text_never_raises(text: str) -> None:
    assert parse_source(text) is None or build_outline("a/b.py", text)


WORDS = (
    "def f ( ) : class C self . x = 1 , * ** lambda import from as if else return @ yield 'a' async with".split()
)
WORDS += ["\n", "\t"]


@given(st.lists(st.sampled_from(WORDS), max_size=40).map(" ".join))
def test_nearly_python_never_raises(text: str) -> None:
    outline = build_outline("a/b.py", text)
    assert outline == build_outline("a/b.py", text)


FUNCTION = "def f(self, a=go()):\n    self.x = walk(a)\n    def g(self): self.y = 1\n    return run(\n        a)\n"
METHODS = FUNCTION.replace("\n", "\n    ").rstrip()
CONSTRUCTOR = METHODS.replace("def f", "def __init__")
# the same function at other lines, in other classes, behind other decorators, imports and conditions
VERSIONS = [
    FUNCTION,
    f"# moved\n\n{FUNCTION}",
    f"class A:\n    {METHODS}\n",
    f"class A:\n    x = 0\n    {METHODS}\n    {CONSTRUCTOR}\nclass B(A):\n    {METHODS}\n",
    f"class A:\n    {CONSTRUCTOR}\n    {METHODS}\n",
    f"from a import once\n@once(go())\n{FUNCTION}",
    f"from b import once\n@once(go())\n{FUNCTION}",
    f"@once(\n    stop())\n{FUNCTION}",
    f"class A:\n    @staticmethod\n    {METHODS}\n    @f.setter\n    {METHODS}\n",
    f"if go:\n    {METHODS}\nelse:\n    f = None\n",
    FUNCTION.replace("\n", "\r\n"),
    FUNCTION.replace("a)", "'é'  # \ud800\n    )"),
]


@given(st.lists(st.sampled_from(VERSIONS), max_size=12))
def test_what_is_known_of_functions_changes_no_outline(texts: list[str]) -> None:
    known: KnownFunctions = {}
    for path, text in zip(("a/b.py", "a/c.py") * 6, texts, strict=False):
        assert build_outline(path, text, known) == build_outline(path, text)


@pytest.mark.slow
def test_the_longest_file_that_is_read_takes_no_recursion() -> None:
    text = "\n".join(f"def f{number}(a, b={number}): return a.b.c(d, e=[1, 2])" for number in range(2_000))
    assert len(outline_of(text).definitions) == 2_000
    assert isinstance(parse_source(text), ast.Module)
