"""``python -m localslack``: a local Slack with its page, for a bot that runs beside it."""

from __future__ import annotations

from localslack.cli import main

if __name__ == "__main__":
    main()
