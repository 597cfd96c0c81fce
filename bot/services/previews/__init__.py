"""Previews of links: small cards below messages that link to pull requests and ranges of them."""
