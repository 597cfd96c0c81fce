from tests.emulators.claude.script import Failure


class Rejected(Exception):
    """The service refuses the request."""

    def __init__(self, message: str, status: int = 400, kind: str = "invalid_request_error") -> None:
        super().__init__(message)
        self.failure = Failure(status, kind, message)


def require(condition: object, message: str, status: int = 400, kind: str = "invalid_request_error") -> None:
    if not condition:
        raise Rejected(message, status, kind)
