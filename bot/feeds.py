"""The feeds under ``/feeds/``, for readers and calendars that have the token. To all others they are not there."""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Callable, Mapping
from typing import NamedTuple

from flask import Flask, Request, Response, abort, make_response, request
from werkzeug.routing import Rule

from bot.domain.errors import StoreUnavailable, UsageError
from bot.render.archive.sentences import FEED_IS_AWAY, FEEDS_ARE_READ
from bot.services.archive.feeds import FeedsBusy, FeedService

_BEARER = "bearer "
_READING_METHODS = ("GET", "HEAD")
# seconds: readers ask again after that, and the service reads the days no more often
_MAX_AGE = 300
_RETRY_AFTER = 60


class _Feed(NamedTuple):
    """A feed: its type, and what makes it for a request."""

    content_type: str
    make: Callable[[Request], bytes]


def add_feed_routes(app: Flask, service: FeedService, token: str) -> None:
    """Add the feeds.

    The token comes as a bearer, or in the address, as calendars and feed readers send no header.
    """
    feeds: Mapping[str, _Feed] = {
        "atom.xml": _Feed("application/atom+xml; charset=utf-8", lambda _: service.make_atom()),
        "contract.json": _Feed(
            "application/json", lambda asked: service.make_contract_changes(asked.args.get("since", ""))
        ),
        "deprecations.ics": _Feed("text/calendar; charset=utf-8", lambda _: service.make_calendar()),
    }

    # a rule without methods: a route of Flask would answer other methods before anybody looks at the token
    app.url_map.add(Rule("/feeds/<name>", endpoint="feeds"))

    @app.endpoint("feeds")
    def answer(name: str) -> Response:
        if not _has_token(request, token) or name not in feeds:
            abort(404)
        if request.method not in _READING_METHODS:
            return _make_text(FEEDS_ARE_READ, 405, {"Allow": ", ".join(_READING_METHODS)})
        return _make_feed_response(feeds[name])


def _has_token(asked: Request, token: str) -> bool:
    """Return whether a request has the token. The time that this takes says nothing about it."""
    header = asked.headers.get("Authorization", "")
    is_bearer = header[: len(_BEARER)].lower() == _BEARER
    presented_token = header[len(_BEARER) :].strip() if is_bearer else asked.args.get("token", "")
    return hmac.compare_digest(_hash(presented_token), _hash(token))


def _hash(text: str) -> bytes:
    """Hash a text, so that texts of any length are compared in the same time."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()


def _make_feed_response(feed: _Feed) -> Response:
    try:
        content = feed.make(request)
    except UsageError as error:
        return _make_text(str(error), 400)
    except (StoreUnavailable, FeedsBusy):
        return _make_text(FEED_IS_AWAY, 503, {"Retry-After": str(_RETRY_AFTER)})
    response = make_response(content)
    response.headers["Content-Type"] = feed.content_type
    response.set_etag(hashlib.sha256(content).hexdigest()[:32])
    _add_headers(response)
    # it answers 304 without the content if the reader has it
    response.make_conditional(request)
    return response


def _make_text(text: str, status: int, headers: Mapping[str, str] | None = None) -> Response:
    response = make_response(f"{text}\n", status, dict(headers or {}))
    response.headers["Content-Type"] = "text/plain; charset=utf-8"
    _add_headers(response)
    return response


def _add_headers(response: Response) -> None:
    """Add the headers that keep a feed between its reader and us."""
    response.headers["Cache-Control"] = f"private, max-age={_MAX_AGE}"
    response.headers["Vary"] = "Authorization"
    response.headers["X-Content-Type-Options"] = "nosniff"
    response.headers["Referrer-Policy"] = "no-referrer"
