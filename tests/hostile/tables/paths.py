"""Patterns of paths, each with the path of a file on which a reader that tries every way needs minutes or more.

What must not happen: that anything which reads one (``path:`` in a command, ``paths`` of the model's tools, the
file of ``PRDIGEST_PATHS``) keeps the processor for longer than a moment, or that the file is not found where it
fits.
"""

# pattern, path of a file, whether it fits
SLOW_PATTERNS: dict[str, tuple[str, str, bool]] = {
    "nine double stars": ("**/a/" * 9 + "zz", "a/" * 60 + "b.py", False),
    "nine double stars, fitting": ("**/a/" * 9 + "b.py", "a/" * 60 + "b.py", True),
    "as many as a command has room for": ("**/a/" * 190 + "zz", "a/" * 99 + "b.py", False),
    "folders of one star": ("*/" * 400 + "zz", "a/" * 99 + "b.py", False),
    "names with stars between double stars": ("**/*a*a*/" * 9 + "zz", "aaaaaaaa/" * 60 + "b.py", False),
    "stars and any sign": ("**/" + "*?*?*?x/" * 9 + "zz", "aaaaaaaaaaaa/" * 60 + "b.py", False),
    "a folder of double stars": ("**/a/" * 9, "b/" * 60 + "a.py", False),
    "taken away": ("!" + "**/a/" * 9 + "zz", "a/" * 60 + "b.py", True),
    "a long name": ("**/*a*a*a", "a" * 4_000 + "b", False),
}
