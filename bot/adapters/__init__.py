"""One package for each vendor, and what they share. Whoever is outside a package imports from its face."""
