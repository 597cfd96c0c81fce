"""Which JSON schemas Claude takes where it promises to keep to them: structured output and strict tools."""

from collections.abc import Iterator
from typing import Any

from tests.emulators.claude.errors import require

# keywords of JSON Schema that structured output refuses in every place
UNSUPPORTED = frozenset(
    "minimum maximum exclusiveMinimum exclusiveMaximum multipleOf minLength maxLength pattern maxItems "
    "uniqueItems contains minContains maxContains prefixItems minProperties maxProperties patternProperties "
    "propertyNames oneOf not if then else dependentRequired dependentSchemas unevaluatedProperties".split()
)


def check_schema(schema: dict[str, Any], place: str) -> None:
    unsupported = sorted(UNSUPPORTED & set(schema))
    require(not unsupported, f"{place}: properties {unsupported} are not supported")
    require(schema.get("minItems", 0) in {0, 1}, f"{place}: minItems above 1 is not supported")
    if "properties" in schema or "object" in [schema.get("type"), *_as_list(schema.get("type"))]:
        closed = schema.get("additionalProperties") is False
        require(closed, f"{place}: for 'object' type, 'additionalProperties' must be explicitly set to false")
    for name, child in _children(schema):
        check_schema(child, f"{place}.{name}")


def _children(schema: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """The schemas inside a schema; a property may be called like a keyword."""
    for group in ("properties", "$defs", "definitions"):
        yield from schema.get(group, {}).items()
    for group in ("anyOf", "allOf"):
        yield from ((group, child) for child in schema.get(group, []))
    if isinstance(schema.get("items"), dict):
        yield "items", schema["items"]


def _as_list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []
