import json
import re
import socket
from html import unescape

import pytest
from slack_sdk import WebClient

from localslack.page.about import About
from localslack.page.server import Page
from tests.client import client_of
from tests.page.conftest import HOME, TOKEN, YOU, Stage
from tests.parts import actions, button, entry, home, menu, modal, mrkdwn, plain, section

STATIC = [
    "app.js",
    "page.js",
    "pieces.js",
    "forms.js",
    "complete.js",
    "menus.js",
    "preview.js",
    "app.css",
    "blocks.css",
    "theme.css",
    "icon.svg",
]
PAGES = ["/", "/preview", "/calls", *(f"/static/{name}" for name in STATIC)]


def bot_of(stage: Stage) -> WebClient:
    return client_of(stage.slack)


@pytest.mark.parametrize("path", PAGES)
def test_pages_are_served_and_may_load_nothing_from_elsewhere(stage: Stage, path: str) -> None:
    answer = stage.ask("GET", path)
    assert answer.status == 200
    policy = answer.headers["Content-Security-Policy"]
    assert policy.startswith("default-src 'none'; ")
    assert set(re.findall(r"-src (\S+?);", policy)) == {"'none'", "'self'"}
    text = answer.text
    assert not re.findall(r"(?:src|href|url\()[=\"'(]*(?:https?:)?//", text)


def test_every_message_but_an_ephemeral_one_has_the_apps_shortcuts_in_a_menu(stage: Stage) -> None:
    stage.slack.add_message(HOME, "hello")
    bot_of(stage).chat_postMessage(channel=HOME, text="morning")
    bot_of(stage).chat_postEphemeral(channel=HOME, user=YOU, text="only you")
    *messages, ephemeral = [piece["html"] for piece in stage.screen.render_place(HOME)["pieces"][1:]]
    assert len(messages) == 2
    for html in messages:
        assert 'aria-haspopup="menu" aria-expanded="false"' in html
        assert re.findall(r'role="menuitem".*?data-shortcut="(.*?)".*?>(.*?)<', html) == [
            ("explain", "Explain &lt;this&gt;")
        ]
    assert "menu" not in ephemeral
    index = stage.ask("GET", "/").text
    assert re.findall(r'data-shortcut="(.*?)".*?>(.*?)<', index) == [("note", "Take &lt;note&gt;")] * 2


@pytest.mark.parametrize(
    "path",
    ["/no", "/static/../server.py", "/static/%2e%2e/server.py", "/static/no.js", "/files/F1", "/source/C0NO/1"],
)
def test_what_is_not_there_is_a_404(stage: Stage, path: str) -> None:
    assert stage.ask("GET", path).status == 404


@pytest.mark.parametrize("place", ["C0NO", "", "D0OTHER"])
def test_places_that_are_not_there_have_no_screen(stage: Stage, place: str) -> None:
    assert stage.ask("GET", f"/live?place={place}").status == 404


def test_a_thread_that_is_not_there_has_no_screen(stage: Stage) -> None:
    assert stage.ask("GET", f"/live?place={HOME}&thread=17.5").status == 404


@pytest.mark.parametrize(
    "headers",
    [
        {"Host": "evil.example"},
        {"Host": "evil.example:80"},
        {"Origin": "http://evil.example"},
        {"Origin": "null"},
        {"Origin": "http://["},
        {"Origin": "http://127.0.0.1"},
        {"Host": "127.0.0.1"},
        {"Content-Type": "text/plain"},
        {"Content-Type": "application/x-www-form-urlencoded"},
    ],
)
def test_other_sites_can_do_nothing(stage: Stage, headers: dict[str, str]) -> None:
    answer = stage.ask("POST", "/do/say", {"place": HOME, "text": "hi"}, headers)
    assert answer.status == 403
    assert stage.slack.list_messages(HOME) == []
    assert stage.bot.sent == []


def test_the_page_itself_may_post(stage: Stage) -> None:
    assert stage.ask("POST", "/do/say", {"place": HOME, "text": "hi"}, {"Origin": stage.page.url}).status == 200


@pytest.mark.parametrize("path", ["/", "/live?place=C0GENERAL", "/source/C0GENERAL/1"])
def test_names_of_other_sites_that_lead_here_read_nothing(stage: Stage, path: str) -> None:
    assert stage.ask("GET", path, headers={"Host": "rebound.example"}).status == 403


@pytest.mark.parametrize(
    ("path", "body", "status"),
    [
        ("/do/say", b"no json", 400),
        ("/do/say", b"[]", 400),
        ("/do/say", {}, 400),
        ("/do/say", {"place": "C0NO", "text": "x"}, 200),
        ("/do/submit", {"view": "V1", "values": 3}, 400),
        ("/do/press", {"place": HOME, "ts": "1.5", "action": "a", "block": "b"}, 200),
        ("/do/nothing", {}, 404),
        ("/other", {}, 404),
        ("/preview", {}, 400),
    ],
)
def test_what_cannot_be_done_is_said_in_a_sentence(stage: Stage, path: str, body: object, status: int) -> None:
    answer = stage.ask("POST", path, body)
    assert answer.status == status
    assert answer.text.strip()


def test_the_screen_comes_again_when_something_happens(stage: Stage) -> None:
    with stage.live(f"/live?place={HOME}") as screens:
        assert next(screens)["pieces"] == []
        bot_of(stage).chat_postMessage(channel=HOME, text="good *morning*")
        assert "good <strong" in next(screens)["pieces"][-1]["html"]


def test_a_file_is_a_page_and_a_download(stage: Stage) -> None:
    bot_of(stage).files_upload_v2(
        channel=HOME, content="# A <b>day</b>\n\n[x](javascript:1)", filename="day.md", title="Day"
    )
    [file] = stage.slack.files
    shown = stage.ask("GET", f"/files/{file['id']}").text
    assert "A &lt;b&gt;day&lt;/b&gt;</h1>" in shown
    assert "javascript:" not in re.findall(r"href=\"([^\"]*)", shown)
    loaded = stage.ask("GET", f"/files/{file['id']}/download")
    assert loaded.text.encode() == file["content"]
    assert loaded.headers["Content-Disposition"] == "attachment; filename*=UTF-8''day.md"
    assert stage.ask("GET", f"/files/{file['id']}/other").status == 404


def test_every_message_has_its_json(stage: Stage) -> None:
    posted = bot_of(stage).chat_postMessage(channel=HOME, text="x", blocks=[section("*a*")])
    message = json.loads(stage.ask("GET", f"/source/{HOME}/{posted['ts']}").text)
    assert message["blocks"] == [section("*a*")]
    whispered = stage.slack.show_ephemeral(HOME, YOU, "psst")
    assert json.loads(stage.ask("GET", f"/source/{HOME}/{whispered}").text)["text"] == "psst"


def test_what_slack_refused_is_listed_with_its_error(stage: Stage) -> None:
    with pytest.raises(Exception, match="invalid_blocks"):
        bot_of(stage).chat_postMessage(channel=HOME, text="x", blocks=[{"type": "marquee"}])
    shown = stage.ask("GET", "/calls").text
    assert "invalid_blocks: /blocks/0/type must be section or header or " in shown
    assert stage.screen.render_place(HOME)["refused"] == 1


def test_calls_are_listed_with_time_place_and_result(stage: Stage) -> None:
    bot = bot_of(stage)
    root = bot.chat_postMessage(channel=HOME, text="x")["ts"]
    bot.chat_postMessage(channel=HOME, text="y", thread_ts=root)
    with pytest.raises(Exception, match="channel_not_found"):
        bot.chat_postMessage(channel="C0NO", text="x")
    rows = re.findall(r"<summary>(.*?)</summary>", stage.ask("GET", "/calls").text)
    plain = [re.sub(r"<[^>]+>", "", row).split(" ", 1) for row in rows]
    assert all(re.fullmatch(r"\d\d:\d\d:\d\d", at) for at, _ in plain[1:])
    assert [" ".join(row) for row in plain[:1]] == ["chat.postMessage channel_not_found"]
    assert [rest for _, rest in plain[1:]] == [
        "chat.postMessage C0NO channel_not_found",
        "chat.postMessage #general (thread) ok",
        "chat.postMessage #general ok",
    ]


def test_the_page_says_what_it_is_and_what_there_is_to_try(stage: Stage) -> None:
    text = stage.ask("GET", "/").text
    for fragment in (
        "One line.",
        "Sample",
        "All of it.",
        'data-try="/echo hi"',
        'data-try="Why?"',
        "/echo",
        'data-place="D0YOU"',
    ):
        assert fragment in text


PREVIEWS = [
    ([section("*a* <b>")], "html", "<strong"),
    ({"text": "_a_"}, "html", "<em"),
    (modal(entry({"type": "plain_text_input"})), "html", "data-input"),
    (home(actions(button(action_id="go"))), "html", 'data-action="go"'),
    ([{"type": "section"}], "error", "invalid_blocks \N{EM DASH} /blocks/0 needs text or fields."),
    ([section("x")] * 51, "error", "invalid_blocks \N{EM DASH} /blocks must have at most 50 items."),
    ([{"type": "header", "text": mrkdwn("x")}], "error", " /blocks/0/text/type must be plain_text."),
    ([{"type": "divider", "block_id": "a"}] * 2, "error", " /blocks repeats a block_id."),
    ([section("x", **{"a/b": 1})], "error", " /blocks/0/a~1b is not allowed here."),
    ([actions(button(text=plain("x" * 76)))], "error", " /blocks/0/elements/0/text/text must be text of 1 to 75 "),
    ([actions(*[button()] * 26)], "error", " /blocks/0/elements must have 1 to 25 items."),
    ([actions(button(style="big"))], "error", " /blocks/0/elements/0/style must be primary or danger."),
    ([actions(menu())], "error", " /blocks/0/elements/0 needs either options or option_groups"),
    ([3], "error", " /blocks/0 must be an object."),
    ({"text": ""}, "error", "no_text"),
    ({"type": "modal", "blocks": []}, "error", "invalid_arguments \N{EM DASH} / lacks title."),
    ({"type": "home", "blocks": 3}, "error", "invalid_arguments \N{EM DASH} /blocks must be a list."),
    (3, "error", "neither"),
]


@pytest.mark.parametrize(("pasted", "key", "part"), PREVIEWS)
def test_blocks_are_shown_or_refused_as_slack_refuses_them(
    stage: Stage, pasted: object, key: str, part: str
) -> None:
    answer = json.loads(stage.ask("POST", "/preview", {"text": json.dumps(pasted)}).text)
    assert list(answer) == [key]
    assert part in answer[key]


@pytest.mark.parametrize("pasted", ["{", "[" * 100_000])
def test_what_is_no_json_is_said(stage: Stage, pasted: str) -> None:
    assert "no JSON" in json.loads(stage.ask("POST", "/preview", {"text": pasted}).text)["error"]


def test_a_port_that_is_taken_is_an_error(stage: Stage) -> None:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        with pytest.raises(OSError, match="in use"):
            Page(stage.slack, stage.visitor, stage.screen, About("", "", (), ()), "", listener.getsockname()[1])


STRANGERS = [
    {"Cookie": ""},
    {"Cookie": "localslack-1=the-token"},
    {"Cookie": "localslack-{port}=another"},
    {"Cookie": "localslack-{port}="},
    {"Cookie": "other=1; \x01; localslack-{port}"},
]


@pytest.mark.parametrize("headers", STRANGERS, ids=lambda headers: headers["Cookie"][:24] or "none")
@pytest.mark.parametrize("path", [*PAGES, f"/live?place={HOME}", f"/?token={TOKEN}x", "/calls?token="])
def test_who_was_not_given_the_address_sees_nothing(stage: Stage, path: str, headers: dict[str, str]) -> None:
    """Another user of the machine, to whom the port is open."""
    shown = {name: value.format(port=stage.port) for name, value in headers.items()}
    answer = stage.ask("GET", path, headers=shown)
    assert answer.status == 403
    assert "Open the address" in answer.text
    assert TOKEN not in answer.text


def test_who_was_not_given_the_address_can_do_nothing(stage: Stage) -> None:
    assert stage.ask("POST", "/do/say", {"place": HOME, "text": "hi"}, {"Cookie": ""}).status == 403
    assert stage.bot.sent == []


def test_the_first_address_leads_to_one_without_the_token(stage: Stage) -> None:
    answer = stage.ask("GET", stage.page.address.removeprefix(stage.page.url), headers={"Cookie": ""})
    assert (answer.status, answer.headers["Location"]) == (303, "/")
    kept, *attributes = answer.headers["Set-Cookie"].split("; ")
    assert kept == stage.cookie
    assert set(attributes) == {"Path=/", "HttpOnly", "SameSite=Lax"}


def test_the_page_says_what_whoever_runs_it_has_told_it(stage: Stage) -> None:
    about = About(
        "Mine",
        program="my program",
        command="my command",
        without_script="Use <another> browser.",
        example='*Hi* from "me" <b>',
        icon="<svg id='mine'/>",
    )
    with Page(stage.slack, stage.visitor, stage.screen, about, TOKEN) as page:
        mine = Stage(stage.slack, stage.visitor, stage.screen, page, stage.bot)
        index = mine.ask("GET", "/").text
        assert "<title>Mine</title>" in index
        assert 'data-program="my program"' in index
        assert "Use &lt;another&gt; browser." in index
        pasted = re.search(r"<textarea[^>]*>(.*?)</textarea>", mine.ask("GET", "/preview").text, re.DOTALL)
        assert pasted
        assert json.loads(unescape(pasted[1]))[0]["text"]["text"] == about.example
        assert mine.ask("GET", "/static/icon.svg").text == about.icon
        assert "`my command`" in mine.ask("GET", "/", headers={"Cookie": ""}).text
        page.close()
