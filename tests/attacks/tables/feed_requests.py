"""Requests for feeds by those who have no token, or nearly it. None may learn that there are feeds."""

from __future__ import annotations

TOKEN = "canary-of-the-feeds-7c35-of-32-characters"

# path and headers
STRANGERS: dict[str, tuple[str, dict[str, str]]] = {
    "no token": ("/feeds/atom.xml", {}),
    "an empty token": ("/feeds/atom.xml?token=", {}),
    "the beginning of the token": (f"/feeds/atom.xml?token={TOKEN[:-1]}", {}),
    "the token and more": (f"/feeds/atom.xml?token={TOKEN}x", {}),
    "the token in capitals": (f"/feeds/atom.xml?token={TOKEN.upper()}", {}),
    "the token and a zero byte": (f"/feeds/atom.xml?token={TOKEN}%00", {}),
    "bytes that are no text": ("/feeds/atom.xml?token=%ff%fe", {}),
    "a surrogate": ("/feeds/atom.xml?token=%ed%a0%80", {}),
    "a very long token": (f"/feeds/atom.xml?token={'x' * 20_000}", {}),
    "the token under another name": (f"/feeds/atom.xml?Token={TOKEN}", {}),
    "the token second": (f"/feeds/atom.xml?token=x&token={TOKEN}", {}),
    "the token in a list": (f"/feeds/atom.xml?token[]={TOKEN}", {}),
    "the token in the path": (f"/feeds/{TOKEN}/atom.xml", {}),
    "another scheme": ("/feeds/atom.xml", {"Authorization": f"Basic {TOKEN}"}),
    "no scheme": ("/feeds/atom.xml", {"Authorization": TOKEN}),
    "a wrong bearer": ("/feeds/atom.xml", {"Authorization": f"Bearer {TOKEN[:-1]}"}),
    "a bearer that is empty": ("/feeds/atom.xml", {"Authorization": "Bearer "}),
    # the header counts, so that a leaked address can't be tried behind it
    "a wrong bearer beside the token": (f"/feeds/atom.xml?token={TOKEN}", {"Authorization": "Bearer x"}),
    "a cookie": ("/feeds/atom.xml", {"Cookie": f"token={TOKEN}"}),
    "the other feeds": ("/feeds/contract.json", {}),
    "the calendar": ("/feeds/deprecations.ics", {}),
    "no feed, with the token": (f"/feeds/other?token={TOKEN}", {}),
    "a folder above, with the token": (f"/feeds/..%2fhealthz?token={TOKEN}", {}),
    "a slash too many, with the token": (f"/feeds/atom.xml/?token={TOKEN}", {}),
}
METHODS = ("POST", "PUT", "DELETE", "OPTIONS", "PATCH", "TRACE", "BREW")
# texts for ?since=, with the token
SINCE = (
    "'; DROP TABLE merges; --",
    "../../../etc/passwd",
    "<script>",
    "0" * 10_000,
    "\x00",
    "\ud800",
    "2026-02-30",
)
