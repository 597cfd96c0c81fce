"""The GraphQL queries against GitHub's own schema and against the emulator's."""

import gzip
from functools import cache

import pytest
from graphql import GraphQLSchema, build_schema, parse, validate

from bot.platform.github.pulls import (
    DISCUSSION_QUERY,
    HEAD_QUERY,
    HISTORY_QUERY,
    PAST_QUERY,
    RECENT_QUERY,
    RELEASES_QUERY,
    SINGLE_QUERY,
    TAG_QUERY,
    build_commits_query,
    build_source_query,
)
from tests.emulators.github.schema import schema
from tests.helpers.builders import SHARED, needs_shared

ALL_QUERIES = {
    "recent": RECENT_QUERY,
    "past": PAST_QUERY,
    "history": HISTORY_QUERY,
    "one": SINGLE_QUERY,
    "head": HEAD_QUERY,
    "releases": RELEASES_QUERY,
    "tag": TAG_QUERY,
    "files": build_source_query(2, 0),
    "files before": build_source_query(0, 2),
    "files before and after": build_source_query(2, 1),
    "discussion": DISCUSSION_QUERY,
    "commits": build_commits_query(2),
}


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
