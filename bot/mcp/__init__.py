"""The edge to other people's agents: tools and resources over the Model Context Protocol.

It knows services, never what is wired. :mod:`bot.mcp.registry` has the tools as a table. ``protocol``, ``stdio``
and ``http`` alone need the extra ``mcp``.
"""
