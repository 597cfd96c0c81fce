"""``python -m impact``: the command line."""

from __future__ import annotations

from impact.cli import main

if __name__ == "__main__":
    main()
