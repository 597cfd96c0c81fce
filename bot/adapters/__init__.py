"""One package for each vendor, and their common parts.

Code outside a package imports from its ``__init__`` only.
"""
