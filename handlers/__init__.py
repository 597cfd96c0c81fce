"""Slack in. Parse, check, enqueue, acknowledge; no rule of the product lives here."""
