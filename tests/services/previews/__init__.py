"""Previews of links: when a link may have one."""
