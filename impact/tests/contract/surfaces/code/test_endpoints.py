import pytest

from tests.contract.surfaces.changes import change, compare, list_kinds, list_rows

PATH = "vllm/entrypoints/api_router.py"


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ('@router.post("/v1/score", deprecated=True)\nasync def f(): ...\n', ["POST /v1/score"]),
        ('@app.get(path="/health")\ndef f(): ...\n', ["GET /health"]),
        ('@router.api_route("/x", methods=["GET", "POST"])\ndef f(): ...\n', ["GET /x", "POST /x"]),
        ('@app.route("/x")\ndef f(): ...\n', ["GET /x"]),
        ('@router.websocket("/ws")\ndef f(): ...\n', ["WEBSOCKET /ws"]),
        ('router = APIRouter(prefix="/v1")\n@router.get("/x")\ndef f(): ...\n', ["GET /v1/x"]),
        ('router = Blueprint("a", url_prefix="/a")\n@router.get("/x")\ndef f(): ...\n', ["GET /a/x"]),
        ('r = APIRouter()\n@r.get("/x")\ndef f(): ...\napp.include_router(r, prefix="/api")\n', ["GET /api/x"]),
        ('app.router.add_post("/x", f)\n', ["POST /x"]),
        ('app.add_api_route("/x", f, methods=["PUT"])\n', ["PUT /x"]),
        ('app.router.add_route("GET", "/x", f)\n', ["GET /x"]),
        ('HEALTH = "/h"\n@app.get(HEALTH)\ndef f(): ...\n', ["GET /h"]),
        ('@cache.get("key")\ndef f(): ...\nsession.get("/x")\n', []),
    ],
)
def test_which_endpoints_a_file_serves(text: str, names: list[str]) -> None:
    assert list_kinds(PATH, "", text) == [("added", name) for name in names]


def test_an_endpoint_that_moves_to_another_router_stays() -> None:
    text = '@router.get("/x")\ndef f(): ...\n'
    assert list_rows(change(PATH, text, ""), change("vllm/entrypoints/new.py", None, text)) == []


def test_what_a_handler_takes_from_the_query() -> None:
    old = '@router.post("/sleep")\nasync def sleep(raw_request, level: int = Query(1)):\n    ...\n'
    new = (
        '@router.post("/sleep")\n'
        'async def sleep(raw_request, level: int = Query(2), tags: Annotated[str, Query()] = "a"):\n'
        '    mode = raw_request.query_params.get("mode", "abort")\n'
    )
    rows = compare(PATH, old, new)
    assert [(row.kind.value, row.name, row.after) for row in rows] == [
        ("default", "POST /sleep?level", "POST /sleep?level default 2"),
        ("added", "POST /sleep?tags", "POST /sleep?tags default 'a'"),
        ("added", "POST /sleep?mode", "POST /sleep?mode default 'abort'"),
    ]
    # of a new endpoint they go without saying
    assert list_kinds(PATH, "", new) == [("added", "POST /sleep")]
