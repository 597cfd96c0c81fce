"""Wheels of a package index (PEP 503, 691): found, downloaded within limits, checked, and kept in a folder."""

from __future__ import annotations

import hashlib
import html
import json
import logging
import os
import re
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any
from urllib.parse import unquote, urljoin, urlsplit

import httpx2
from packaging.utils import InvalidWheelFilename, NormalizedName, parse_wheel_filename
from packaging.version import Version

from bot.errors import PackageUnavailable
from bot.platform.cleaning import parse_count, parse_node, parse_nodes
from bot.platform.http.bounded_calls import DeadlineExceeded, bound_requests
from bot.platform.http.httpx_clients import build_client_options, track_connections
from bot.platform.private_folders import make_private_folder
from bot.settings.values import PackageIndexAddress, is_private_host

log = logging.getLogger(__name__)

# bytes of a page of the index (the longest have some 5 MB), of a wheel (most have a tenth of that, those with GPU
# code more), and of the folder
_MAX_PAGE, MAX_WHEEL, MAX_FOLDER = 12_000_000, 60_000_000, 600_000_000
# seconds for the page and the wheel together: a review waits for it
_SECONDS = 20.0
_MAX_REDIRECTS = 3
_JSON = "application/vnd.pypi.simple.v1+json"
_ACCEPT = f"{_JSON}, application/vnd.pypi.simple.v1+html;q=0.2, text/html;q=0.1"
_ANCHOR = re.compile(r"<a\s[^<>]{0,2000}?\bhref\s{0,9}=\s{0,9}[\"']([^\"'<>]{1,2000})[\"']", re.I)
_SHA256 = re.compile(r"[0-9a-f]{64}")


@dataclass(frozen=True, slots=True)
class WheelLink:
    """A file on a page of the index. ``size`` is in bytes, 0 if it is not said; so is an empty ``sha256``."""

    filename: str
    address: str
    sha256: str
    size: int


@dataclass(frozen=True)
class PackageIndex:
    """The index at an address; wheels are kept in ``folder``. One wheel is found and loaded in ``seconds``."""

    address: PackageIndexAddress
    folder: Path
    seconds: float = _SECONDS

    def load_wheel(self, package: NormalizedName, version: Version) -> Path:
        """Return the smallest wheel of a version, loaded now if it is not kept. Raises PackageUnavailable."""
        key = hashlib.sha256(f"{self.address.url} {package} {version}".encode()).hexdigest()
        kept = self.folder / f"{key}.whl"
        with suppress(OSError):
            os.utime(kept)  # what is used stays longest
            return kept
        try:
            with bound_requests(self.seconds):
                return self._load(package, version, kept)
        except (DeadlineExceeded, httpx2.TimeoutException) as error:
            raise self._build_error(package, version, "the package index did not send it in time") from error
        except (httpx2.HTTPError, httpx2.StreamError, httpx2.InvalidURL) as error:
            raise self._build_error(package, version, "the package index can't be reached") from error
        except OSError as error:
            raise self._build_error(package, version, "the bot can't write its folder of packages") from error
        except PackageRefused as error:
            raise self._build_error(package, version, str(error)) from error

    def check(self, package: NormalizedName) -> bool:
        """Return whether the index lists a package. Raises PackageUnavailable unless it answers for it."""
        try:
            with bound_requests(self.seconds):
                return bool(self._list_files(package))
        except (DeadlineExceeded, httpx2.HTTPError, httpx2.StreamError, httpx2.InvalidURL, OSError) as error:
            raise PackageUnavailable(
                "The package index can't be reached: check PRDIGEST_PACKAGE_INDEX."
            ) from error
        except PackageRefused as error:
            raise PackageUnavailable(f"The package index can't be used: {error}.") from error

    def measure_folder(self) -> tuple[int, int]:
        """Return how many wheels are kept, and their bytes."""
        sizes = [size for _, size, _ in self._list_kept()]
        return len(sizes), sum(sizes)

    def _build_error(self, package: str, version: Version, why: str) -> PackageUnavailable:
        log.info("%s %s is not read: %s", package, version, why)
        return PackageUnavailable(f"{package} {version} could not be read: {why}.")

    def _load(self, package: NormalizedName, version: Version, kept: Path) -> Path:
        fitting = [link for link in self._list_files(package) if _fits(link.filename, package, version)]
        if not fitting:
            raise PackageUnavailable(f"The package index has no wheel of {package} {version}.")
        link = min(fitting, key=lambda link: (not link.size, link.size, "-none-any" not in link.filename))
        if not _SHA256.fullmatch(link.sha256):
            raise PackageRefused("the package index has no checksum of it")
        if link.size > MAX_WHEEL:
            raise PackageRefused(f"its smallest wheel has more than {MAX_WHEEL // 1_000_000} MB")
        make_private_folder(self.folder)
        self._make_room(link.size or MAX_WHEEL)
        descriptor, name = tempfile.mkstemp(suffix=".part", dir=self.folder)
        try:
            with os.fdopen(descriptor, "wb") as file:
                if self._copy(link.address, file) != link.sha256:
                    raise PackageRefused("its wheel is not the one whose checksum the package index has")
            Path(name).replace(kept)
        finally:
            Path(name).unlink(missing_ok=True)
        return kept

    def _list_files(self, package: NormalizedName) -> list[WheelLink]:
        """Return what the page of a package lists; nothing of one that the index does not have."""
        with self._open(f"{self.address.url}/{package}/") as answer:
            if answer.status_code == httpx2.codes.NOT_FOUND:
                return []
            page, kind = bytearray(), answer.headers.get("content-type", "").partition(";")[0].strip().lower()
            for piece in _read_body(answer, _MAX_PAGE):
                page += piece
            address = str(answer.url)
        text = page.decode("utf-8", "replace")
        links = _parse_json(text, address) if kind == _JSON else _parse_html(text, address)
        if not links and kind != _JSON:
            # a form to sign in, or an error
            raise PackageRefused("the package index sent a page without files")
        return links

    def _copy(self, address: str, file: IO[bytes]) -> str:
        digest = hashlib.sha256()
        with self._open(address) as answer:
            for piece in _read_body(answer, MAX_WHEEL):
                digest.update(piece)
                file.write(piece)
        return digest.hexdigest()

    @contextmanager
    def _open(self, address: str) -> Iterator[httpx2.Response]:
        """Open an answer without its body. Redirects are followed to hosts that the settings name alone."""
        headers = {"accept": _ACCEPT, "accept-encoding": "identity", "user-agent": "prdigest"}
        for _ in range(_MAX_REDIRECTS + 1):
            if not self._allows(address):
                raise PackageRefused("its file is on a host that the settings do not allow")
            with httpx2.Client(timeout=self.seconds, headers=headers, **build_client_options(address)) as client:
                track_connections(client)
                with client.stream("GET", address) as answer:
                    if not answer.is_redirect:
                        yield answer
                        return
                    address = _join(address, answer.headers.get("location", ""))
        raise PackageRefused("the package index redirects without end")

    def _allows(self, address: str) -> bool:
        try:
            own, parts = urlsplit(self.address.url), urlsplit(address)
            host, is_own = parts.hostname or "", (parts.scheme, parts.netloc) == (own.scheme, own.netloc)
        except ValueError:
            return False
        is_safe = parts.scheme == "https" or (parts.scheme == "http" and is_private_host(host))
        return is_own or (is_safe and parts.netloc.lower() in self.address.hosts)

    def _make_room(self, size: int) -> None:
        """Remove the wheels that were not used for longest, until another one fits."""
        kept = sorted(self._list_kept())
        room = MAX_FOLDER - sum(each_size for _, each_size, _ in kept)
        for _, each_size, path in kept:
            if room >= size:
                return
            path.unlink(missing_ok=True)
            room += each_size

    def _list_kept(self) -> list[tuple[float, int, Path]]:
        """List the files of the folder, each with its time and its bytes; what a killed process left counts."""
        kept = []
        for path in self.folder.glob("*.*"):
            # another process may remove it meanwhile
            with suppress(OSError):
                status = path.lstat()
                kept.append((status.st_mtime, status.st_size, path))
        return kept


class PackageRefused(Exception):
    """What the index sent and is not used; the message is a clause."""


def _read_body(answer: httpx2.Response, limit: int) -> Iterator[bytes]:
    if answer.status_code != httpx2.codes.OK:
        raise PackageRefused(f"the package index answered with {answer.status_code}")
    if answer.headers.get("content-encoding", "identity").lower() != "identity":
        raise PackageRefused("the package index sent something packed")
    size = 0
    for piece in answer.iter_raw():
        size += len(piece)
        if size > limit:
            raise PackageRefused(f"the package index sent more than {limit // 1_000_000} MB")
        yield piece


def _parse_json(text: str, address: str) -> list[WheelLink]:
    try:
        page = parse_node(json.loads(text))
    except (ValueError, RecursionError):
        page = {}
    if not isinstance(page.get("files"), list):
        raise PackageRefused("the package index sent a page that can't be read")
    return [_parse_file(each, address) for each in parse_nodes(page["files"])]


def _parse_file(file: Mapping[str, Any], address: str) -> WheelLink:
    texts = (file.get("filename"), file.get("url"), parse_node(file.get("hashes")).get("sha256"))
    name, url, sha256 = (each if isinstance(each, str) else "" for each in texts)
    return WheelLink(name, _join(address, url), sha256, parse_count(file.get("size")))


def _parse_html(text: str, address: str) -> list[WheelLink]:
    links = []
    for match in _ANCHOR.finditer(text):
        url, _, fragment = html.unescape(match[1]).partition("#")
        name = unquote(url.partition("?")[0].rpartition("/")[2])
        if name.endswith((".whl", ".gz", ".zip")):
            links.append(WheelLink(name, _join(address, url), fragment.removeprefix("sha256="), 0))
    return links


def _join(address: str, relative: str) -> str:
    """Return an address that stands on a page; empty, which is no host, for what is none."""
    try:
        return urljoin(address, relative)
    except ValueError:
        return ""


def _fits(filename: str, package: NormalizedName, version: Version) -> bool:
    # the rest costs more, and a page may have thousands
    if len(filename) > 300 or not filename.endswith(".whl"):
        return False
    try:
        return parse_wheel_filename(filename)[:2] == (package, version)
    except InvalidWheelFilename:
        return False
