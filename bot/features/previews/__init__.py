"""Previews of links to pull requests and comparisons."""
