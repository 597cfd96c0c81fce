"""What Claude says of a model: ``GET /v1/models/{name}``."""

from localslack.loopback import Request, Response

from tests.emulators.claude.errors import require
from tests.emulators.claude.limits import MODELS, check_caller

MODELS_PATH = "/v1/models/"


def model_answer(request: Request, api_key: str) -> Response:
    """The model, for callers with the key."""
    check_caller(request, api_key)
    name = request.path.removeprefix(MODELS_PATH)
    require(request.method == "GET" and name in MODELS, f"model: {name}", 404, "not_found_error")
    made = {"created_at": "2026-10-01T00:00:00Z", "display_name": name, "max_input_tokens": 1_000_000}
    return Response.of_json({"type": "model", "id": name, "max_tokens": 128_000, "capabilities": None, **made})
