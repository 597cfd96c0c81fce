import ast
import sysconfig
from pathlib import Path
from textwrap import dedent
from typing import NoReturn

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.platform.source.excerpts import has_scopes, list_scopes

Lines = tuple[int, int, int]


def scopes_of(path: str, text: str) -> list[Lines]:
    return [(scope.start, scope.head_end, scope.end) for scope in list_scopes(path, dedent(text).lstrip("\n"))]


PYTHON: dict[str, tuple[str, list[Lines]]] = {
    "a function on one line": ("def f(): pass", [(1, 1, 1)]),
    "a signature over several lines": ("def f(\n    a,\n    b,\n):\n    return a\n", [(1, 4, 5)]),
    "decorators": ("x = 1\n@a\n@b(\n  1)\nasync def f():\n    return 1\n\nx = 2", [(2, 5, 6)]),
    "a method, and a function within it": (
        "class A:\n    def f(self):\n        def g():\n            return 1\n        return g\n",
        [(1, 1, 5), (2, 2, 5), (3, 3, 4)],
    ),
    "a decorated method comes after the head of its class": (
        "class A(\n    B\n):\n    @property\n    def f(self): ...",
        [(1, 3, 5), (4, 5, 5)],
    ),
    "an escape that means nothing": ("def f():\n    return '\\d'\n", [(1, 1, 2)]),
    "what is not Python": ("def f(:\n", []),
    "nothing": ("", []),
}


class Trap(str):
    """A text that fails whoever reads it."""

    __slots__ = ()

    def _fail(self, *_: object) -> NoReturn:
        raise RuntimeError("planted")

    __hash__ = count = replace = _fail


@pytest.mark.parametrize("path", ["a/b.py", "kernel.cu"])
def test_a_file_that_fails_has_no_scopes(path: str, caplog: pytest.LogCaptureFixture) -> None:
    assert list_scopes(path, Trap("void f() {\n}\n")) == ()
    assert any(record.exc_info and "planted" in str(record.exc_info[1]) for record in caplog.records)


@pytest.mark.parametrize(("text", "scopes"), PYTHON.values(), ids=PYTHON)
def test_python(text: str, scopes: list[Lines]) -> None:
    assert scopes_of("a/b.py", text) == scopes


BRACES: dict[str, tuple[str, str, list[Lines]]] = {
    "C++": (
        "kernel.cu",
        """
        #include <a.h>
        namespace vllm {
        template <typename T>
        __global__ void scale(
            T* out,  // {
            const T* in) {
          if (in) {
            for (int i = 0; i < 3; i++) { out[i] = '{' + in[i]; }
          }
        }
        struct Foo { int a; };
        static const int N[] = {1, 2};
        }  // namespace
        """,
        [(3, 6, 10), (11, 11, 11)],
    ),
    "Go": (
        "main.go",
        """
        package main

        type T struct {
            a int
        }

        func (t *T) F(x int) error {
            if err := g(x); err != nil {
                return err
            }
            go func() {
                h()
            }()
            return nil
        }
        """,
        [(3, 3, 5), (7, 7, 15)],
    ),
    "Rust": (
        "lib.rs",
        """
        impl<'a> Foo<'a> for Bar {
            #[inline]
            pub fn f(&self) -> Option<u8> {
                let x = match g(1) {
                    Some(y) => y,
                    None => return None,
                };
                Some(x)
            }
        }
        """,
        [(1, 1, 10), (3, 3, 9)],
    ),
    "TypeScript": (
        "a.ts",
        """
        export class A extends B {
          async f(x: string): Promise<void> {
            const s = `}${x}`;
            await g(() => {
              h("}");
            });
          }
        }
        export const k = (a: number) => {
          return { a };
        };
        """,
        [(1, 1, 8), (2, 2, 7), (9, 9, 11)],
    ),
    "Java": (
        "A.java",
        """
        public class A {
            /* } */
            @Override
            public int f(int x) throws E {
                switch (x) { case 1: return 2; }
                try { g(); } catch (E e) { throw e; }
                return 1;
            }
        }
        """,
        [(1, 1, 9), (3, 4, 8)],
    ),
    "a block without an end": ("a.c", "int f() {\n  g();\n", [(1, 1, 2)]),
    "an end without a block": ("a.c", "}\nint f() {\n}\n", [(2, 2, 3)]),
}


@pytest.mark.parametrize(("path", "text", "scopes"), BRACES.values(), ids=BRACES)
def test_braces(path: str, text: str, scopes: list[Lines]) -> None:
    assert scopes_of(path, text) == scopes


@pytest.mark.parametrize("path", ["README.md", "a.yaml", "Makefile", "run.sh", "a.py.txt", ""])
def test_other_files_have_none(path: str) -> None:
    assert (has_scopes(path), scopes_of(path, "class A {\n}\n")) == (False, [])


@given(st.text(alphabet="{}();\"'`/*#\\\n ab=", max_size=80))
def test_any_text_has_scopes_within_its_lines(text: str) -> None:
    count = max(1, len(text.split("\n")))
    for scope in list_scopes("a.cpp", text):
        assert 1 <= scope.start <= scope.head_end <= scope.end <= count


@pytest.mark.slow
def test_in_real_files_every_line_has_the_function_that_the_parser_says() -> None:
    """The standard library: what a line is in is the last ``def`` above it that is less indented, and open."""
    folder = Path(sysconfig.get_paths()["stdlib"])
    for path in sorted(folder.glob("*.py"))[::12]:
        text = path.read_text(encoding="utf-8", errors="replace")
        names = {
            (node.lineno, node.end_lineno)
            for node in ast.walk(ast.parse(text))
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)
        }
        lines = text.split("\n")
        scopes = list_scopes(path.name, text)
        assert len(scopes) == len(names)
        for scope in scopes:
            head = [line.split()[0] for line in lines[scope.start - 1 : scope.head_end] if line.strip()]
            assert {"def", "class", "async"} & set(head), (path, scope)
