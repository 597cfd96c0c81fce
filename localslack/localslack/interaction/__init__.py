"""Interactions: controls, choices, and an app's answers to a form."""
