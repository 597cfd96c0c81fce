"""Texts that try to become markup, mentions or links."""

from hypothesis import strategies as st

TOKENS = (
    "<!channel>|<!here|x>|<!everyone>|<@U123>|<@W0ABC|you>|<!subteam^S123>|<#C123>|<#C123|general>|@here|@channel"
    "|@everyone|@group|@HERE|<https://evil.example|click>|https://evil.example|http://evil.example/?a=b&c"
    "|mailto:a@evil.example|<mailto:a@evil.example>|[click](https://evil.example)|www.evil.example|```|*_~`|`|**"
    "|&lt;|&amp;lt;!channel&gt;|&lt;!here&gt;|&|<|>|\\|:tada:|#1|#2|#999|\u200b|\u200d|\u202e|\u2066|\ufeff|\xad"
    "|\0|\x1b[31m|\n|\r\n|\t|\u2028|\x85|   |👨\u200d👩\u200d👧|é|漢字"
).split("|")
PIPED = (
    "<https://evil.example|click>",
    "<!here|x>",
    "<@W0ABC|you>",
    "|",
    "<!date^1^{date}^https://evil.example|x>",
)
BLANK = ("", " ", "\n", "\u200b", "\0\0", "\u202e \u2066", "\t\u2028")
LONG = ("x" * 90, "😀" * 40, "@" * 50)
_piece = st.sampled_from([*TOKENS, *PIPED]) | st.text(max_size=6) | st.sampled_from(LONG)


def texts(limit: int) -> st.SearchStrategy[str]:
    """Return a strategy of hostile texts of at most ``limit`` characters, also ones that only look like some."""
    mixed = st.lists(_piece, max_size=12).map("".join)
    return st.one_of(mixed, mixed, st.sampled_from(BLANK)).map(lambda text: text[:limit])
