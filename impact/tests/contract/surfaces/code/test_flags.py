"""Flags: written out, taken from a configuration field, or made of all fields of a class."""

import pytest

from tests.contract.surfaces.changes import change, compare, list_kinds, list_rows

PATH = "vllm/cli.py"
CONFIG = "@config\nclass ModelConfig:\n    dtype: str = '{}'\n    eager: bool = {}\n"
ARGUMENTS = """
class EngineArgs:
    @staticmethod
    def add_cli_args(parser):
        model_kwargs = get_kwargs(ModelConfig)
        group.add_argument("--dtype", **model_kwargs["dtype"])
        group.add_argument("--eager", **model_kwargs["eager"])
"""
GENERATED = """
@config
class BaseArgs:
    port: int = 8000
    in_file: str | None = None
    quiet: bool = False
    _private: int = 1

    @classmethod
    def add_cli_args(cls, parser):
        kwargs = get_kwargs(cls)
        kwargs = cls.adapt(kwargs)
        kwargs["in_file"]["required"] = True
        kwargs["in_file"]["flags"] = ["-i"]
        for key, value in kwargs.items():
            parser.add_argument(*value.pop("flags", []), f"--{key.replace('_', '-')}", **value)
"""


@pytest.mark.parametrize(
    ("call", "text"),
    [
        ('p.add_argument("--x", type=int, default=3)', "--x default 3"),
        ('p.add_argument("--x", type=int, default=None)', "--x"),
        ('p.add_argument("--x", action="store_true")', "--x default off"),
        ('p.add_argument("--x", action=argparse.BooleanOptionalAction, default=True)', "--x default on"),
        ('p.add_argument("--x", required=True)', "--x (required)"),
        ('click.option("--x", default="a")', "--x default 'a'"),
        ('typer.Option(5, "--x")', "--x default 5"),
    ],
)
def test_how_a_flag_reads(call: str, text: str) -> None:
    (row,) = compare(PATH, "", f"{call}\n")
    assert (row.subject.value, row.kind.value, row.name, row.after) == ("flag", "added", "--x", text)


@pytest.mark.parametrize(
    ("old", "new", "rows"),
    [
        ('"--x", default=1', '"--x", default=2', [("default", "--x")]),
        ('"--x", default=None', '"--x", action="store_true"', [("signature", "--x")]),
        ('"--x", "-a"', '"--x"', [("removed", "-a")]),
        (
            '"--x", action=BooleanOptionalAction',
            '"--x", action="store_true"',
            [("removed", "--no-x"), ("default", "--x")],
        ),
        (
            '"--x", action="store_true"',
            '"--x", action=argparse.BooleanOptionalAction',
            [("added", "--no-x"), ("default", "--x")],
        ),
        ('"--x"', '"--x", deprecated=True', [("deprecated", "--x")]),
        ('"--x", help="One"', '"--x", help="Two"', []),
        ('"--max-tries", help="Tries"', '"--max-retries", help="Tries"', [("renamed", "--max-tries")]),
        ('"name"', '"other"', []),
    ],
)
def test_what_changes_a_flag(old: str, new: str, rows: list[tuple[str, str]]) -> None:
    assert list_kinds(PATH, f"p.add_argument({old})\n", f"p.add_argument({new})\n") == rows


PAIR = """
def make(p):
    p.add_argument("--fast", action="store_true")
    p.add_argument("--no-fast", dest="fast", action="store_false")
    p.add_argument("--width")
"""


@pytest.mark.parametrize(
    "after",
    [
        'p.add_argument("--fast", action=BooleanOptionalAction)\nfor x in ["width"]: p.add_argument(f"--{x}")',
        'for x, y in [("--fast", 1), ("--no-fast", 2), ("--width", 3)]: p.add_argument(x, default=y)',
        'for x, y in {"--fast": 1, "--no-fast": 2, "--width": 3}.items(): p.add_argument(x, default=y)',
        'NAMES = "--fast", "--no-fast", "--width"\nfor x in NAMES: p.add_argument(x)',
    ],
)
def test_flags_that_argparse_or_a_loop_makes_are_there(after: str) -> None:
    assert "removed" not in {kind for kind, _ in list_kinds(PATH, PAIR, after)}


def test_a_flag_has_the_default_of_its_field() -> None:
    rows = list_rows(
        change("vllm/config/model.py", CONFIG.format("auto", "False"), CONFIG.format("half", "True")),
        change("vllm/engine/arg_utils.py", ARGUMENTS, f"{ARGUMENTS}\n"),
    )
    assert [row for row in rows if row[0] == "flag"] == [
        ("flag", "default", "--dtype"),
        ("flag", "default", "--eager"),
    ]


def test_the_default_of_a_field_that_is_not_at_hand_is_unknown() -> None:
    new = ARGUMENTS.replace('**model_kwargs["dtype"]', 'default="auto"')
    assert list_kinds("vllm/engine/arg_utils.py", ARGUMENTS, new) == []


def test_fields_become_flags() -> None:
    rows = compare(PATH, "", GENERATED)
    assert [(row.name, row.after) for row in rows if row.subject == "flag"] == [
        ("--port", "--port default 8000"),
        ("--in-file", "--in-file (required)"),
        ("-i", "-i (required)"),
        ("--quiet", "--quiet default off"),
    ]


def test_flags_that_move_into_a_class_stay() -> None:
    written = (
        'p.add_argument("--port", default=8000)\n'
        'p.add_argument("-i", "--in-file", required=True)\n'
        'p.add_argument("--quiet", action="store_true")\n'
        'p.add_argument("--more")\n'
    )
    derived = "class MoreArgs(BaseArgs):\n    more: str | None = None\n"
    rows = list_rows(change(PATH, "", GENERATED), change("vllm/batch.py", f"#\n{written}", f"@config\n{derived}"))
    assert rows == []
