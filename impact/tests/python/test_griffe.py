"""What griffe reads in packages of this environment, the bot's reader reads as well."""

import importlib.util
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import griffe
import pytest

from impact.python.code_reader import CUT_MARK
from impact.python.models import Definition, DefinitionKind, ModuleOutline, ParameterKind
from impact.python.outline import build_outline

pytestmark = pytest.mark.slow

# modules with many signatures, overloads, conditions, data classes and properties
MODULES = ["click.core", "click.types", "flask.app", "flask.config", "tenacity.asyncio"]
KINDS = {
    griffe.ParameterKind.positional_only: ParameterKind.POSITIONAL_ONLY,
    griffe.ParameterKind.positional_or_keyword: ParameterKind.POSITIONAL,
    griffe.ParameterKind.var_positional: ParameterKind.REST,
    griffe.ParameterKind.keyword_only: ParameterKind.KEYWORD_ONLY,
    griffe.ParameterKind.var_keyword: ParameterKind.KEYWORDS,
}


# read once: nothing changes what was read
@pytest.fixture(params=MODULES, scope="module")
def both(request: pytest.FixtureRequest) -> tuple[griffe.Module, ModuleOutline]:
    spec = importlib.util.find_spec(request.param)
    assert spec
    assert spec.origin
    path = Path(spec.origin)
    text = path.read_text(encoding="utf-8")
    suffix = "/__init__.py" if path.name == "__init__.py" else ".py"
    outline = build_outline(f"{request.param.replace('.', '/')}{suffix}", text)
    assert outline
    package, _, rest = request.param.partition(".")
    module = load_package(package)[rest]
    assert isinstance(module, griffe.Module)
    return module, outline


@cache
def load_package(name: str) -> griffe.Object | griffe.Alias:
    return griffe.load(name, allow_inspection=False)


def functions_of(owner: griffe.Module | griffe.Class, prefix: str = "") -> Iterator[tuple[str, griffe.Function]]:
    for name, member in owner.members.items():
        if isinstance(member, griffe.Function):
            yield f"{prefix}{name}", member
        elif isinstance(member, griffe.Class):
            yield from functions_of(member, f"{prefix}{name}.")


def names_of(owner: griffe.Module | griffe.Class, prefix: str = "") -> Iterator[str]:
    for name, member in owner.members.items():
        if not member.is_alias and not member.is_module:
            yield f"{prefix}{name}"
        if isinstance(member, griffe.Class):
            yield from names_of(member, f"{prefix}{name}.")


def test_the_same_names(both: tuple[griffe.Module, ModuleOutline]) -> None:
    module, outline = both
    assert set(names_of(module)) <= outline.definitions.keys()
    # griffe looks for attributes in constructors alone
    extra = outline.definitions.keys() - set(names_of(module))
    assert {outline.definitions[name].kind for name in extra} <= {DefinitionKind.ATTRIBUTE}


def test_the_same_signatures(both: tuple[griffe.Module, ModuleOutline]) -> None:
    module, outline = both
    functions = dict(functions_of(module))
    assert functions
    for name, function in functions.items():
        definition = outline.definitions[name]
        assert parameters_of(definition) == [
            (each.name, KINDS[each.kind], default_of(each)) for each in function.parameters if each.kind
        ], name
        assert definition.signature
        assert plain(definition.signature.returns) == plain(function.returns or ""), name


def default_of(parameter: griffe.Parameter) -> str | None:
    """The default of a parameter: griffe gives ``*args`` an empty one."""
    is_rest = parameter.kind in {griffe.ParameterKind.var_positional, griffe.ParameterKind.var_keyword}
    return None if is_rest else plain(parameter.default)


def parameters_of(definition: Definition) -> list[tuple[str, ParameterKind, str | None]]:
    assert definition.signature
    return [(each.name, each.kind, plain(each.default)) for each in definition.signature.parameters]


def plain(value: object) -> str | None:
    """An expression without what differs between its text and griffe's: blanks, quotes and brackets of tuples."""
    if value is None:
        return None
    text = str(value).partition(CUT_MARK)[0]
    return "".join(text.split()).replace('"', "'").replace("'", "").strip("()")


def test_the_same_imports(both: tuple[griffe.Module, ModuleOutline]) -> None:
    module, outline = both
    aliases = {name: each.target_path for name, each in module.members.items() if isinstance(each, griffe.Alias)}
    shown = {name: outline.imports[name] for name in aliases if name in outline.imports}
    assert shown.keys() == aliases.keys()
    differing = {name for name in aliases if shown[name] != aliases[name]}
    # of two imports of a name under a condition, griffe takes the last
    assert len(differing) <= 2, {name: (shown[name], aliases[name]) for name in differing}
