"""How typed values are stored: as hashes of strings and as JSON, each with a version."""
