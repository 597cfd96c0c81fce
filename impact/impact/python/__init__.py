"""Python source files as data: what a module defines, imports and calls."""
