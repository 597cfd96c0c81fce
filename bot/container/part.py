"""What the parts of the wiring have in common."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import TYPE_CHECKING

from bot.settings import Settings

if TYPE_CHECKING:
    from bot.container.root import Wiring


class WiringPart:
    """Builds each of its services when it is first asked for, of the root's and of the settings."""

    def __init__(
        self,
        root: Wiring,
        settings: Settings,
        now: Callable[[], datetime],
        sleep: Callable[[float], None],
    ) -> None:
        self._root = root
        self._settings = settings
        self._now = now
        self._sleep = sleep
