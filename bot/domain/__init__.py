"""Values and rules of the product. No module here reads a clock, a file, a setting or the network."""
