"""The Web API's methods for uploading files, and the content of an upload."""

from __future__ import annotations

import json
import re
from typing import Any

from localslack.errors import SlackError
from localslack.loopback import Request
from localslack.state.workspace import Json, Workspace, format_file

UPLOAD_PATH = "/upload/v1/"


def parse_list(value: object) -> list[Any]:
    """Return a list that came as JSON or as a form's string. Raises SlackError if it is not one or empty."""
    try:
        values = json.loads(value) if isinstance(value, str) else value
    except ValueError:
        values = None
    if not isinstance(values, list) or not values:
        raise SlackError("invalid_arguments")
    return values


def get_upload_url(team: Workspace, arguments: Json) -> Json:
    """Reserve a file and return its upload address (``files.getUploadURLExternal``)."""
    name, length = str(arguments.get("filename") or ""), str(arguments.get("length") or "")
    if not name or not length.isdecimal() or int(length) == 0:
        raise SlackError("invalid_arguments")
    file = team.reserve_file(name, int(length))
    return {"file_id": file["id"], "upload_url": f"{team.url}{UPLOAD_PATH}{file['id']}/{file['key']}"}


def complete_upload(team: Workspace, arguments: Json) -> Json:
    """Share the files in one message per channel (``files.completeUploadExternal``)."""
    uploads = [
        (team.find_unshared_file(entry.get("id")), entry.get("title"))
        for entry in parse_list(arguments.get("files"))
    ]
    names = arguments.get("channel_id") or arguments.get("channels") or ""
    channels, thread = [team.find_writable(name) for name in names.split(",") if name], arguments.get("thread_ts")
    if thread:
        _ = [channel.find_parent(thread) for channel in channels]
    for file, title in uploads:
        ids = [channel.id for channel in channels]
        file.update(title=title or file["name"], shared=True, channels=ids, thread_ts=thread)
    shown = [format_file(file) for file, _ in uploads]
    for channel in channels:
        comment = str(arguments.get("initial_comment") or "")
        team.add_bot_message(channel, comment, thread, files=shown, upload=True)
    return {"files": shown}


def read_file_content(request: Request) -> bytes:
    """Return the bytes of an upload: the body itself, or the first part of a multipart body."""
    boundary = re.fullmatch(
        r"multipart/form-data;.*boundary=\"?([^\";]+)\"?.*", request.headers.get("content-type", "")
    )
    if boundary is None:
        return request.body
    part = request.body.split(b"--" + boundary[1].encode())[1]
    return part.partition(b"\r\n\r\n")[2].removesuffix(b"\r\n")
