"""What one version of a file states about a surface: a name, what it is by default, and how it is used."""

from __future__ import annotations

import re
from dataclasses import dataclass

from bot.domain.contract.models import ContractClass, Deadline
from bot.domain.text.strings import collapse_lines

# characters of a value that a reader sees
MAX_TEXT_LENGTH = 160


@dataclass(frozen=True, slots=True)
class Fact:
    """A name that a file offers to others, and what it says of it.

    ``default`` and ``shape`` are compared on their own: a value that applies by itself, and the form in which
    the name is used (a type, a signature, labels). ``text`` is the whole as a reader sees it. ``help`` is what
    the file says about it, by which a renamed one is recognised. ``reference`` names a configuration field that
    the default is taken from; ``is_default_known`` if that field was read. ``is_loose``: the name is read here,
    and may as well be declared in a file that the merge leaves alone. ``is_local``: it holds in its file alone,
    as a pin does.
    """

    subject: ContractClass
    name: str
    line: int
    text: str = ""
    default: str = ""
    shape: str = ""
    help: str = ""
    reference: str = ""
    is_loose: bool = False
    is_local: bool = False
    is_default_known: bool = False
    is_deprecated: bool = False
    deadline: Deadline | None = None


def shorten_text(text: str) -> str:
    """Put a text on one line, at most ``MAX_TEXT_LENGTH`` characters long."""
    line = collapse_lines(text)
    return line if len(line) <= MAX_TEXT_LENGTH else f"{line[: MAX_TEXT_LENGTH - 1].rstrip()}…"


def show_variable(name: str, default: str) -> str:
    """Return a variable and its default as a reader sees them."""
    return shorten_text(f"{name} default {default}" if default else f"{name} unset by default")


def make_op(name: str, line: int, schema: str) -> Fact:
    """Describe an op by what callers write and by its schema."""
    shape = " ".join(schema.split()).replace("( ", "(").replace(" )", ")").replace(" ,", ",")
    shape = re.sub(r",\s*", ", ", shape)
    return Fact(ContractClass.OP, f"torch.ops.{name}", line, text=shorten_text(shape), shape=shape)
