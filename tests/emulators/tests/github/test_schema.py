"""The GitHub emulator's GraphQL schema against GitHub's own."""

import gzip

import pytest
from graphql import (
    GraphQLEnumType,
    GraphQLInputObjectType,
    GraphQLInterfaceType,
    GraphQLNamedType,
    GraphQLObjectType,
    GraphQLSchema,
    GraphQLUnionType,
    build_schema,
)

from tests.emulators.github.schema import schema
from tests.helpers.builders import SHARED, needs_shared

FULL_SCHEMA = SHARED / "facts" / "github-schema.graphql.gz"


@pytest.fixture(scope="module")
def public_schema() -> GraphQLSchema:
    return build_schema(gzip.decompress(FULL_SCHEMA.read_bytes()).decode(), assume_valid=True)


@needs_shared
@pytest.mark.parametrize("name", [name for name in schema().type_map if not name.startswith("__")])
def test_what_we_declare_is_in_the_public_schema(public_schema: GraphQLSchema, name: str) -> None:
    theirs = public_schema.type_map[name]
    ours = schema().type_map[name]
    assert type(ours) is type(theirs)
    assert describe_type(ours) <= describe_type(theirs)


def describe_type(kind: GraphQLNamedType) -> set[str]:
    match kind:
        case GraphQLEnumType():
            return set(kind.values)
        case GraphQLUnionType():
            return {member.name for member in kind.types}
        case GraphQLInputObjectType():
            return {f"{name}: {item.type}" for name, item in kind.fields.items()}
        case GraphQLObjectType() | GraphQLInterfaceType():
            return {f"implements {item.name}" for item in kind.interfaces} | field_texts(kind)
        case _:
            return set()


def field_texts(kind: GraphQLObjectType | GraphQLInterfaceType) -> set[str]:
    texts = {f"{name}: {item.type}" for name, item in kind.fields.items()}
    for name, item in kind.fields.items():
        texts |= {f"{name}({key}: {argument.type})" for key, argument in item.args.items()}
    return texts
