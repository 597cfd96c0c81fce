"""Cleaning of pull requests' records where they enter."""
