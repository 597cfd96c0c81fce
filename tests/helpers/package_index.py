"""A package index on loopback: made-up wheels, as JSON or HTML, and answers that no index should give."""

import hashlib
import io
import zipfile
from collections.abc import Mapping
from typing import Any

from localslack.loopback import Loopback, Request, Response

JSON = "application/vnd.pypi.simple.v1+json"


def make_wheel(files: Mapping[str, str | bytes], compression: int = zipfile.ZIP_DEFLATED) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", compression) as archive:
        for path, text in files.items():
            archive.writestr(path, text)
    return file.getvalue()


class PackageServer(Loopback):
    """Serves the wheels that were added. ``answers`` has other answers, by path; ``base`` is where files lie."""

    def __init__(self) -> None:
        super().__init__()
        self.files: dict[str, bytes] = {}
        self.sums: dict[str, str] = {}
        self.answers: dict[str, Response] = {}
        self.kind = JSON
        self.base = ""
        self.paths: list[str] = []
        self.headers: list[Mapping[str, str]] = []

    def add(self, filename: str, data: bytes, sha256: str | None = None) -> None:
        self.files[filename] = data
        self.sums[filename] = hashlib.sha256(data).hexdigest() if sha256 is None else sha256

    def handle(self, request: Request) -> Response:
        self.paths.append(request.path)
        self.headers.append(request.headers)
        if answer := self.answers.get(request.path):
            return answer
        folder, _, name = request.path.rpartition("/")
        if folder == "/files" and name in self.files:
            return Response(200, self.files[name], {"Content-Type": "application/octet-stream"})
        package = folder.removeprefix("/simple/")
        listed = [each for each in self.files if each.partition("-")[0].replace("_", "-").lower() == package]
        if not listed:
            return Response(404)
        return self._list_json(listed) if self.kind == JSON else self._list_html(listed)

    def _list_json(self, names: list[str]) -> Response:
        files: list[dict[str, Any]] = [
            {
                "filename": name,
                "url": f"{self.base}/files/{name}",
                "hashes": {"sha256": self.sums[name]},
                "size": len(self.files[name]),
            }
            for name in names
        ]
        return Response.of_json({"meta": {"api-version": "1.1"}, "files": files}, headers={"Content-Type": JSON})

    def _list_html(self, names: list[str]) -> Response:
        anchors = (f'<a href="../../files/{name}#sha256={self.sums[name]}">{name}</a><br>' for name in names)
        page = f"<!DOCTYPE html><html><body>{''.join(anchors)}</body></html>"
        return Response(200, page.encode(), {"Content-Type": self.kind})
