"""Values and rules of the product. Nothing here reads a clock, a file, a setting or a network."""
