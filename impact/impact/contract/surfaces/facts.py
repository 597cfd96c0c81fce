"""What one version of a file states about a surface: a name, what it is by default, and how it is used."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from impact.contract.deprecations import is_deprecation, read_deadline
from impact.contract.models import ContractClass, Deadline
from impact.python.models import Parameter, ParameterKind, Signature
from impact.text.strings import collapse_lines, count_common

# characters of a value that a reader sees, and of those before the first difference of two long values
_MAX_SHOWN, _LEAD = 160, 40
# characters of a value that are compared, and of a text about it
_MAX_KEPT, _MAX_NOTE = 4_000, 2_000


@dataclass(frozen=True, slots=True)
class Fact:
    """A name that a file offers to others, and what it says of it.

    ``default`` and ``shape`` are compared on their own: a value that applies by itself, and the form in which
    the name is used (a type, a signature, labels). ``text`` is the whole as a reader sees it. ``help`` is what
    the file says about it, by which a renamed one is recognized. ``reference`` names a configuration field that
    the default is taken from; ``is_default_known`` if that field was read. ``owner`` is the message or endpoint
    that it belongs to, a fact of its own. ``is_loose``: the name is read here, and may as well be declared in a
    file that the merge leaves alone. ``is_local``: it holds in its file alone, as a pin does.
    """

    subject: ContractClass
    name: str
    line: int
    text: str = ""
    default: str = ""
    shape: str = ""
    help: str = ""
    reference: str = ""
    owner: str = ""
    is_loose: bool = False
    is_local: bool = False
    is_default_known: bool = False
    is_deprecated: bool = False
    deadline: Deadline | None = None

    @property
    def last_name(self) -> str:
        return self.name.rpartition(".")[2]


@dataclass(frozen=True, slots=True)
class FieldClass:
    """A class with its own fields, the last parts of its bases' names, and the fields that nobody can set."""

    name: str
    bases: tuple[str, ...]
    fields: tuple[Fact, ...] = ()
    fixed: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class FileFacts:
    """The facts of a file. ``classes`` are those whose fields are among them; ``notices`` are deprecations.

    ``flag_classes`` are those whose fields become flags. ``overrides`` has what code changes of such flags: by
    field and argument, the texts of the values. A file that is broken in one version, and so not ``is_read``, says
    nothing of what it stated.
    """

    path: str
    facts: tuple[Fact, ...] = ()
    classes: tuple[FieldClass, ...] = ()
    notices: tuple[Fact, ...] = ()
    flag_classes: frozenset[str] = frozenset()
    overrides: Mapping[str, Mapping[str, tuple[str, ...]]] = field(default_factory=dict)
    is_read: bool = True


def read_notice(fact: Fact, text: str, *, is_deprecated: bool = False) -> Fact:
    """Return a fact with what a text about it says of its end."""
    is_deprecated = is_deprecated or is_deprecation(text)
    return replace(fact, is_deprecated=True, deadline=read_deadline(text)) if is_deprecated else fact


def make_variable(name: str, line: int, default: str = "", note: str = "", *, is_loose: bool = False) -> Fact:
    text = show_default(name, default, " unset by default")
    return Fact(ContractClass.ENVIRONMENT, name, line, text, default, help=note, is_loose=is_loose)


def make_op(name: str, line: int, schema: str) -> Fact:
    """Describe an op by what callers write and by its schema."""
    shape = " ".join(schema.split()).replace("( ", "(").replace(" )", ")").replace(" ,", ",")
    shape = re.sub(r",\s*", ", ", shape)
    return Fact(ContractClass.OP, f"torch.ops.{name}", line, shorten_text(shape), shape=shape)


def make_entry_point(group: str, name: str, target: str, line: int) -> Fact:
    text = shorten_text(f"{group}: {name} = {target}")
    return Fact(ContractClass.ENTRY_POINT, f"{group}:{name}", line, text, default=target)


# --- texts


def shorten_text(text: str) -> str:
    """Put a text on one line; a reader sees the part of it that changed."""
    return collapse_lines(text[:_MAX_KEPT])


def shorten_note(text: str) -> str:
    return " ".join(text[:_MAX_NOTE].split())


def shorten_pair(before: str, after: str) -> tuple[str, str]:
    """Shorten two texts for a reader, so that their first word and their first difference stay."""
    if max(len(before), len(after)) <= _MAX_SHOWN:
        return before, after
    same = count_common(before, after)
    is_early = not before or not after or same < _MAX_SHOWN - _LEAD
    return _cut(before, 0 if is_early else same - _LEAD), _cut(after, 0 if is_early else same - _LEAD)


def _cut(text: str, start: int) -> str:
    head = f"{text[:_LEAD].split(' ', 1)[0]} … " if start else ""
    rest, room = text[start:], _MAX_SHOWN - len(head)
    return f"{head}{rest}" if len(rest) <= room else f"{head}{rest[: room - 1].rstrip()}…"


def show_default(name: str, default: str, unset: str = "") -> str:
    """Return a name with its default as a line; ``unset`` follows the name where there is none."""
    return shorten_text(f"{name} default {default}" if default else f"{name}{unset}")


def read_schema(shape: str) -> Signature | None:
    """Return the parameters of ``f(Tensor(a!) x, *, int n=1) -> Tensor`` or ``f(x: Tensor)``; None if unknown."""
    parts, depth = [""], 0
    for character in shape[shape.find("(") :] if "(" in shape else "":
        depth += (character in "([{") - (character in ")]}")
        if depth == 0:
            break
        if depth == 1 and character == ",":
            parts.append("")
        else:
            parts[-1] += character
    kind, parameters = ParameterKind.POSITIONAL, []
    for part in parts:
        declared, mark, default = part.lstrip("(").partition("=")
        words = declared.partition(":")[0].split()
        if words[-1:] == ["*"]:
            kind = ParameterKind.KEYWORD_ONLY
        elif words and words[-1].isidentifier():
            parameters.append(Parameter(words[-1], kind, default.strip() if mark else None))
        else:
            return None
    return Signature(tuple(parameters))
