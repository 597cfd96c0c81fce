"""``python -m docs.settings``: writes ``.env.example`` and ``docs/settings.md`` from the settings' fields."""

from __future__ import annotations

from docs.settings import render_documents


def main() -> None:
    """Write both files."""
    for path, text in render_documents().items():
        path.write_text(text, encoding="utf-8", newline="\n")


if __name__ == "__main__":
    main()
