"""The composition root: turns settings into services. The only place that knows every adapter.

:func:`open_foundation` comes first. On what it yields, each process and command builds the services that it uses,
by the ``build_…`` functions of this package's modules, in the order in which one service needs another.
"""

from __future__ import annotations

from bot.container.connections.credentials import require_secret
from bot.container.foundation import Foundation, open_foundation

__all__ = ["Foundation", "open_foundation", "require_secret"]
