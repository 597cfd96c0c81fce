"""What a reader of typed text says when it refuses one."""

from collections.abc import Callable

from bot.errors import UsageError


def refusal(read: Callable[[str], object], text: str) -> str:
    """The sentence of the usage error, empty where the text is taken; any other error is the caller's."""
    try:
        read(text)
    except UsageError as error:
        return str(error)
    return ""
