"""Regular digests: who gets them, when they are due, and what becomes of them."""
