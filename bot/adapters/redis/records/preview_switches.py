"""Where previews of links are on, on Redis: a hash by conversation, without expiry."""

from __future__ import annotations

import json
import logging
import zlib
from collections.abc import Sequence
from typing import cast

from redis import Redis

from bot.domain.conversations.requests.preview_request import PreviewSwitch
from bot.domain.keyspace.keys import PREVIEW_SWITCHES
from bot.platform.store.connection import pack_value, unpack_value
from bot.platform.store.errors import translate_redis_errors
from bot.platform.store.keyspace import UNPREFIXED, Keyspace
from bot.ports.codecs.versioned_json import VersionedJson

log = logging.getLogger(__name__)

SWITCH_JSON = VersionedJson(PreviewSwitch, 1)


class RedisPreviewSwitches:
    """``PreviewSwitches`` on Redis."""

    def __init__(self, client: Redis, keys: Keyspace = UNPREFIXED) -> None:
        self._client = client
        self._key = keys.add_prefix(PREVIEW_SWITCHES.build_key())

    def get(self, channel: str) -> PreviewSwitch | None:
        """Return what was decided for a conversation. What can't be read counts as off, which is the default."""
        with translate_redis_errors():
            value = cast("bytes | None", self._client.hget(self._key, channel))
        return _load_switch(value) if value else None

    def put(self, channel: str, switch: PreviewSwitch) -> None:
        """Store what was decided for a conversation."""
        with translate_redis_errors():
            value = pack_value(json.dumps(SWITCH_JSON.dump(switch)))
            self._client.hset(self._key, channel, cast("str", value))

    def list_on(self) -> Sequence[str]:
        """List the conversations in which previews are on, by id."""
        with translate_redis_errors():
            values = cast("dict[bytes, bytes]", self._client.hgetall(self._key))
        switches = {name.decode(): _load_switch(value) for name, value in values.items()}
        return sorted(name for name, switch in switches.items() if switch and switch.is_on)


def _load_switch(value: bytes) -> PreviewSwitch | None:
    try:
        fields = json.loads(unpack_value(value))
        return SWITCH_JSON.load(fields) if isinstance(fields, dict) else None
    except (ValueError, zlib.error) as error:
        log.warning("whether previews are on can't be read, so they are off: %s", error)
        return None
