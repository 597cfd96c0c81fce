"""The Slack emulator's files, seen through the real client."""

import urllib.request

import pytest
from slack_sdk import WebClient

from localslack.server.local_slack import UPLOAD
from localslack.testing.emulator import SlackEmulator
from tests.client import HOME, Json, refusal, ts_of


def test_upload_lands_in_the_thread(slack: SlackEmulator, web: WebClient) -> None:
    lead = ts_of(web.chat_postMessage(channel=HOME, text="lead"))
    report: Json = {"filename": "report.md", "content": "# Größe\r\n", "title": "Report"}
    answer = web.files_upload_v2(channel=HOME, thread_ts=lead, initial_comment="all of it", **report)
    (reply,) = slack.list_replies(HOME, lead)
    assert (reply["text"], reply["files"]) == ("all of it", [answer["file"]])
    assert (reply["files"][0]["name"], reply["files"][0]["title"]) == ("report.md", "Report")
    (file,) = slack.files
    assert file["content"] == "# Größe\r\n".encode()
    assert (file["channels"], file["thread_ts"]) == ([HOME], lead)


def test_several_files_share_one_message(slack: SlackEmulator, web: WebClient) -> None:
    uploads = [{"filename": name, "content": name} for name in ("a.txt", "b.txt")]
    web.files_upload_v2(file_uploads=uploads, channel=HOME)
    assert [file["name"] for file in slack.list_messages(HOME)[0]["files"]] == ["a.txt", "b.txt"]


def test_multipart_upload_is_unpacked(slack: SlackEmulator, web: WebClient) -> None:
    announced = web.files_getUploadURLExternal(filename="a.bin", length=5)
    head = 'Content-Disposition: form-data; name="file"; filename="a.bin"'
    body = b"--edge\r\n" + head.encode() + b"\r\n\r\n\x00\r\n\xff!\r\n--edge--\r\n"
    headers = {"Content-Type": "multipart/form-data; boundary=edge"}
    with urllib.request.urlopen(urllib.request.Request(announced["upload_url"], body, headers)) as answer:
        assert answer.read() == b"OK - 5"
    web.files_completeUploadExternal(files=[{"id": announced["file_id"], "title": "a"}])
    assert slack.files[0]["content"] == b"\x00\r\n\xff!"
    assert slack.list_messages(HOME) == []


def test_a_file_that_was_not_sent_cannot_be_shared(web: WebClient) -> None:
    announced = web.files_getUploadURLExternal(filename="a.txt", length=1)
    files: list[dict[str, str | None]] = [{"id": announced["file_id"]}]
    refused = refusal(lambda: web.files_completeUploadExternal(files=files, channel_id=HOME))
    assert refused["error"] == "file_not_found"


def test_a_failed_upload_shares_nothing(slack: SlackEmulator, web: WebClient) -> None:
    slack.fail_next(UPLOAD, status=500)
    with pytest.raises(OSError, match="500"):
        web.files_upload_v2(channel=HOME, filename="a.txt", content="a")
    assert (slack.files, slack.list_messages(HOME)) == ([], [])
