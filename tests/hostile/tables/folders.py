"""Names of folders in which the embedded store has to start, keep its data, and be found again.

Each may be the user's choice (``PRDIGEST_STATE_DIR``) or the system's: on macOS the default holds a blank. What
must not happen: no start, data elsewhere, a file outside of the folder, another store's socket.
"""

from __future__ import annotations

FOLDERS = {
    "plain": "state",
    "blank": "Application Support",
    "blanks at its ends": " state ",
    "double quote": 'sta"te',
    "single quote": "sta'te",
    "hash": "sta#te",
    "hash after a blank": "state #1",
    "question mark": "sta?db=1",
    "backslash": "sta\\te",
    "escape": "sta\\x41te",
    "percent": "sta%te",
    "percent code": "sta%41te",
    "umlaut": "Größe",
    "other scripts": "日本語",
    "not UTF-8": b"sta\xffte".decode("utf-8", "surrogateescape"),
    "leading dash": "-state",
    "option": "--port",
    "newline": "sta\nte",
    "tab": "sta\tte",
    "dollar": "$HOME",
    "glob": "sta*[te]",
    "at the length of a socket's path": "s" * 60,
    "longer than a socket's path": "long " * 40,
}
