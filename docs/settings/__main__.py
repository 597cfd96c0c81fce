"""``python -m docs.settings``: writes what is made of the settings' fields."""

from __future__ import annotations

from docs.settings import render_documents


def main() -> None:
    """Write all files."""
    for path, text in render_documents().items():
        path.write_text(text, encoding="utf-8", newline="\n")


if __name__ == "__main__":
    main()
