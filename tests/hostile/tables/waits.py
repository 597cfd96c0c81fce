"""What a service, or somebody in its place, may write into ``Retry-After``.

None of it may raise, hold a thread for longer than half a minute, be slept out for hours, or be taken for a pause
that ends before it starts. ``ahead`` writes an HTTP date that many seconds from now.
"""

import time
from email.utils import formatdate

DAY = 86_400.0

# what is written, and the seconds it asks for; None: it does not say
WAITS: dict[str, float | None] = {
    "0": 0.0,
    "7": 7.0,
    " 7 ": 7.0,
    "007": 7.0,
    "720": 720.0,
    "1.5": 1.5,
    "0.01": 0.01,
    "2.": 2.0,
    "86401": DAY,
    "99999999999999999999": DAY,
    "9" * 400: DAY,
    "9" * 5_000: DAY,
    "-1": None,
    "-0.5": None,
    "+5": None,
    "": None,
    " ": None,
    ".5": None,
    "1e3": None,
    "1e400": None,
    "1_000": None,
    "0x10": None,
    "NaN": None,
    "nan": None,
    "Infinity": None,
    "inf": None,
    "-inf": None,
    "soon": None,
    "1, 2": None,
    "1;2": None,
    "<!channel>": None,
    "\u0667": None,
    "\u00b2": None,
    "Thu, 01 Jan 1970 00:00:00 GMT": 0.0,
    "Sun, 06 Nov 1994 08:49:37 GMT": 0.0,
    "Sunday, 06-Nov-94 08:49:37 GMT": 0.0,
    "Fri, 31 Dec 9999 23:59:59 GMT": DAY,
    "Mon, 00 Foo 0000 00:00:00 GMT": None,
    "Fri, 31 Dec 99999999999999999999 23:59:59 GMT": None,
}

# days that are none, and zones: anything from nothing to a day, without an error
ODD_DATES = (
    "Fri, 32 Dec 2026 25:61:61 GMT",
    "Fri, 31 Dec 2026 23:59:59 +99999999999999999999",
    "Fri, 31 Dec 2026 23:59:59 -9999",
    "Fri, 31 Dec 2026",
    "31 Dec 26 23:59 EST",
)


def ahead(seconds: float) -> str:
    """Write an HTTP date that many seconds from now."""
    return formatdate(time.time() + seconds, usegmt=True)
