import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any
from urllib.parse import urlsplit

from playwright.sync_api import (
    Browser,
    BrowserContext,
    ConsoleMessage,
    Dialog,
    Request,
    ViewportSize,
    sync_playwright,
)

MISSING = "no Chromium is installed: apt-get install chromium"
SIZE: ViewportSize = {"width": 1280, "height": 800}
_NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
_ARGUMENTS = (
    "--no-sandbox",  # which root may not have
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)


def executable() -> str | None:
    """Where Chromium or Chrome is; None without one."""
    return next(filter(None, map(shutil.which, _NAMES)), None)


@contextmanager
def chromium(path: str) -> Iterator[Browser]:
    """A browser that is started from ``path``, without a window."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=[*_ARGUMENTS])
        try:
            yield browser
        finally:
            browser.close()


class Complaints(list[str]):
    """What pages should never do: complain, fail to load something, or ask another host than their own."""

    def __init__(self, own: str) -> None:
        super().__init__()
        self._own = urlsplit(own).netloc

    @contextmanager
    def hear_pages(self, context: BrowserContext) -> Iterator[None]:
        listeners: list[tuple[Any, Callable[[Any], None]]] = [
            ("console", self._console),
            ("weberror", lambda error: self.append(f"error: {error.error}")),
            ("dialog", self._dialog),
            ("requestfailed", self._note_failure),
            ("request", self._note_request),
        ]
        for event, listener in listeners:
            context.on(event, listener)
        try:
            yield
        finally:
            for event, listener in listeners:
                context.remove_listener(event, listener)

    def _console(self, message: ConsoleMessage) -> None:
        if message.type in ("error", "warning"):
            self.append(f"console: {message.text}")

    def _dialog(self, dialog: Dialog) -> None:
        self.append(f"dialog: {dialog.message}")
        dialog.dismiss()

    def _note_failure(self, request: Request) -> None:
        # what nobody waits for any more, as the page goes somewhere else
        if request.failure != "net::ERR_ABORTED":
            self.append(f"failed: {request.url} {request.failure}")

    def _note_request(self, request: Request) -> None:
        if urlsplit(request.url).netloc != self._own:
            self.append(f"another host: {request.url}")
