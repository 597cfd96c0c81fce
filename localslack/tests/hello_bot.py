"""A small bot as anybody writes one: it answers a command, a button and a mention."""

import os
from typing import Any

from slack_bolt import Ack, App, Respond, Say
from slack_bolt.adapter.socket_mode import SocketModeHandler
from slack_sdk import WebClient

client = WebClient(token=os.environ["SLACK_BOT_TOKEN"], base_url=os.environ["SLACK_API_URL"])
app = App(client=client, signing_secret=os.environ.get("SLACK_SIGNING_SECRET"))
WAVE = {"type": "button", "action_id": "wave", "value": "5", "text": {"type": "plain_text", "text": "Wave"}}


@app.command("/hello")
def greet(ack: Ack, say: Say, command: dict[str, Any]) -> None:
    ack()
    say(text=f"Hello {command['text']}", blocks=[{"type": "actions", "block_id": "greeting", "elements": [WAVE]}])


@app.action("wave")
def wave(ack: Ack, respond: Respond, action: dict[str, Any]) -> None:
    ack()
    respond(text=f"Waved {action['value']} times", replace_original=True)


@app.event("app_mention")
def answer(event: dict[str, Any], say: Say) -> None:
    say(text=f"You said: {event['text']}", thread_ts=event["ts"])


if __name__ == "__main__":
    if "SLACK_APP_TOKEN" in os.environ:
        SocketModeHandler(app, os.environ["SLACK_APP_TOKEN"]).start()  # type: ignore[no-untyped-call]
    app.start(port=int(os.environ["PORT"]))
