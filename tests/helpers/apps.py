"""An app in which a test has put what its feature uses."""

from __future__ import annotations

import time
from contextlib import ExitStack
from typing import Any

from redis import Redis

from bot.app import App
from bot.platform.models.registry import PROVIDERS
from bot.platform.store.tables import Store
from bot.settings import load_settings
from tests.helpers.builders import DAY


def make_app(store: Redis | None = None, sources: Any = None, **parts: Any) -> App:
    """Return an app over a real store, if it needs one, at the end of a day.

    ``parts`` take the place of its properties.
    """
    app = App(load_settings(), lambda: DAY.end, time.sleep, PROVIDERS[0], sources, ExitStack())
    if store is not None:
        parts = {"store": store, "expiring_store": store, "tables": Store(store), **parts}
    app.__dict__.update(parts)
    return app
