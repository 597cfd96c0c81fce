"""Subscriptions, their form, App Home and incidents."""
