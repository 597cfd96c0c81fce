"""Requests whose end is told twice or wrongly, byte for byte.

None may be answered with 200, and no second request may be read out of one.
"""

_SECOND = b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n"
_CHUNKED = b"0\r\n\r\n"


def _post(*headers: bytes, body: bytes = _CHUNKED, version: bytes = b"1.1") -> bytes:
    lines = [b"POST /slack/events HTTP/" + version, b"Host: x", *headers, b"", b""]
    return b"\r\n".join(lines) + body


# (what it is, what is sent, the status of its only answer)
FRAMINGS: tuple[tuple[str, bytes, int], ...] = (
    ("length and chunks", _post(b"Content-Length: 5", b"Transfer-Encoding: chunked"), 400),
    ("chunks and length", _post(b"Transfer-Encoding: chunked", b"Content-Length: 5"), 400),
    (
        "a second request behind the chunks",
        _post(b"Content-Length: 40", b"Transfer-Encoding: chunked", body=_CHUNKED + _SECOND),
        400,
    ),
    (
        "a second request behind the length",
        _post(b"Content-Length: 0", b"Transfer-Encoding: chunked", body=_SECOND),
        400,
    ),
    ("chunks in HTTP/1.0", _post(b"Content-Length: 0", b"Transfer-Encoding: chunked", version=b"1.0"), 400),
    ("chunks alone in HTTP/1.0", _post(b"Transfer-Encoding: chunked", version=b"1.0"), 400),
    ("two lengths", _post(b"Content-Length: 5", b"Content-Length: 6", body=b"12345"), 400),
    ("a length with a sign", _post(b"Content-Length: +5", body=b"12345"), 400),
    ("a negative length", _post(b"Content-Length: -5", body=b"12345"), 400),
    ("a length in hex", _post(b"Content-Length: 0x5", body=b"12345"), 400),
    ("a coding nobody knows", _post(b"Transfer-Encoding: chunked, gzip", b"Content-Length: 5"), 501),
    ("a chunk that is no number", _post(b"Transfer-Encoding: chunked", body=b"zz\r\n12\r\n0\r\n\r\n"), 400),
    ("a body too large by its length", _post(b"Content-Length: 99999999999", body=b""), 413),
    ("a bare line feed in a header", _post(b"X: a\nContent-Length: 5", body=b"12345"), 400),
    ("a blank before the colon", _post(b"Content-Length : 5", body=b"12345"), 400),
)
