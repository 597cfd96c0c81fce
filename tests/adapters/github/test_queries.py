"""The GraphQL queries against GitHub's own schema and against the emulator's."""

from __future__ import annotations

import gzip
from functools import cache

import pytest
from graphql import GraphQLSchema, build_schema, parse, validate

from bot.adapters.github.queries import ALL_QUERIES
from tests.emulators.github.schema import schema
from tests.helpers.builders import SHARED, needs_shared


@cache
def full_schema() -> GraphQLSchema:
    packed = (SHARED / "facts" / "github-schema.graphql.gz").read_bytes()
    # GitHub's own file defines two fields of EnterpriseOwnerInfo twice
    return build_schema(gzip.decompress(packed).decode(), assume_valid=True, assume_valid_sdl=True)


@needs_shared
@pytest.mark.parametrize("name", ALL_QUERIES)
@pytest.mark.slow
def test_a_query_fits_githubs_schema(name: str) -> None:
    assert validate(full_schema(), parse(ALL_QUERIES[name])) == []


@pytest.mark.parametrize("name", ALL_QUERIES)
def test_a_query_fits_the_emulators_schema(name: str) -> None:
    assert validate(schema(), parse(ALL_QUERIES[name])) == []
