"""Names of folders in which the embedded store has to start, keep its data, and be found again.

Each may be the user's choice (``PRDIGEST_STATE_DIR``) or the system's: on macOS the default holds a blank. What
must not happen: no start, data elsewhere, a file outside of the folder, another store's socket.

Signs that mean something in different places stand in one name: starting a store takes a while.
"""

FOLDERS = {
    "plain": "state",
    "blanks, within and at its ends": " Application Support ",
    "double quote": 'sta"te',
    "single quote": "sta'te",
    "hashes, behind a letter and a blank": "sta#te #1",
    "question mark": "sta?db=1",
    "backslash and escape": "sta\\te\\x41",
    "percent and its code": "sta%te%41",
    "umlaut and other scripts": "Größe 日本語",
    "not UTF-8": b"sta\xffte".decode("utf-8", "surrogateescape"),
    "leading dash": "-state",
    "option": "--port",
    "newline and tab": "sta\nt\te",
    "dollar and glob": "$HOME*[te]",
    "at the length of a socket's path": "s" * 60,
    "longer than a socket's path": "long " * 40,
}
