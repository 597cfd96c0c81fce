"""Regular digests: who gets which one when, what goes wrong with them, and how people change that."""
