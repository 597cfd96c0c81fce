"""Facts of Python code, read from its syntax tree."""
