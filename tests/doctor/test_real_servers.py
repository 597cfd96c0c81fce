"""The doctor against servers of others, from the package index: llama.cpp's, and LiteLLM's in front of it.

Skipped without ``REAL_SERVERS``, the folder for their environments: they take some hundred megabytes and minutes.
``REAL_SERVERS=/var/tmp/servers uv run pytest -n 0 tests/doctor/test_real_servers.py`` runs them.
"""

import os
import secrets
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from bot.doctor.checkup import check_models
from bot.platform.models import ModelAccess, ModelProvider
from bot.platform.models.claude import CLAUDE
from bot.platform.models.openai_compatible import CONTEXT_TOKENS, OPENAI_COMPATIBLE
from tests.doctor.findings import format_findings
from tests.helpers.checks import closed_port, eventually

FOLDER = os.environ.get("REAL_SERVERS", "")
pytestmark = [pytest.mark.slow, pytest.mark.skipif(not FOLDER, reason="REAL_SERVERS names no folder for servers")]
INSTALL_SECONDS, START_SECONDS = 900, 120.0
MODEL = "claude-haiku-5-5"

# a model of one layer that knows nothing, so that no weights have to be found
_WRITE_MODEL = r"""
import sys, numpy, gguf
made, random = gguf.GGUFWriter(sys.argv[1], "llama"), numpy.random.default_rng(7)
size, width, hidden = 512, 64, 128
made.add_context_length(32768); made.add_embedding_length(width); made.add_block_count(1)
made.add_feed_forward_length(hidden); made.add_head_count(4); made.add_head_count_kv(4)
made.add_layer_norm_rms_eps(1e-5); made.add_rope_dimension_count(16); made.add_vocab_size(size)
tokens = ["<unk>", "<s>", "</s>", *(f"<0x{n:02X}>" for n in range(256)), "\u2581", *map(chr, range(33, 127))]
tokens += [f"\u2581w{n}" for n in range(size - len(tokens))]
made.add_tokenizer_model("llama"); made.add_token_list(tokens)
made.add_token_scores([-float(n) for n in range(size)])
made.add_token_types([2, 3, 3] + [6] * 256 + [1] * (size - 259))
made.add_bos_token_id(1); made.add_eos_token_id(2); made.add_unk_token_id(0)
made.add_chat_template("{% for m in messages %}{{ m['role'] }}: {{ m['content'] }}\n{% endfor %}assistant:")
def fill(*shape): return (random.standard_normal(shape) * 0.05).astype(numpy.float32)
ones = numpy.ones(width, numpy.float32)
for name, value in {
    "token_embd": fill(size, width), "output_norm": ones, "output": fill(size, width),
    **{f"blk.0.attn_{part}": fill(width, width) for part in ("q", "k", "v", "output")},
    "blk.0.ffn_gate": fill(hidden, width), "blk.0.ffn_up": fill(hidden, width),
    "blk.0.ffn_down": fill(width, hidden), "blk.0.attn_norm": ones, "blk.0.ffn_norm": ones,
}.items():
    made.add_tensor(f"{name}.weight", value)
made.write_header_to_file(); made.write_kv_data_to_file(); made.write_tensors_to_file(); made.close()
"""
_SERVE_MODEL = """
import sys, time, xllamacpp
options = xllamacpp.CommonParams()
options.model.path, options.port, options.hostnames = sys.argv[1], int(sys.argv[2]), ["127.0.0.1"]
options.n_ctx, options.n_parallel, options.cpuparams.n_threads = int(sys.argv[3]), 1, 1
options.model_alias, options.warmup = {"tiny"}, False
server = xllamacpp.Server(options)
time.sleep(600)
"""
_GATEWAY = """
model_list:
  - model_name: {model}
    litellm_params: {{model: openai/tiny, api_base: "{address}", api_key: none}}
    model_info: {{max_input_tokens: 32768}}
general_settings: {{master_key: {key}}}
"""


def install(name: str, *packages: str) -> Path:
    """The programs of an environment with these packages, which is made once."""
    programs = Path(FOLDER) / name / "bin"
    if not (programs / "installed").exists():
        for command in (
            [sys.executable, "-m", "venv", str(programs.parent)],
            [str(programs / "pip"), "install", "--quiet", *packages],
        ):
            subprocess.run(command, check=True, timeout=INSTALL_SECONDS)
        (programs / "installed").touch()
    return programs


@contextmanager
def serve(address: str, *command: str | Path, **environment: str) -> Iterator[None]:
    log = Path(FOLDER) / f"{Path(command[0]).name}.log"
    with log.open("wb") as out:
        process = subprocess.Popen(command, stdout=out, stderr=out, env={**os.environ, **environment})

    def is_ready() -> bool:
        assert process.poll() is None, log.read_text()
        try:
            with urllib.request.urlopen(address, timeout=5) as answer:
                return bool(answer.status == 200)
        except OSError:
            return False

    try:
        eventually(is_ready, START_SECONDS)
        yield
    finally:
        process.kill()
        process.wait(timeout=20)


@contextmanager
def serve_llama(window: int) -> Iterator[str]:
    programs, port = install("llama", "xllamacpp", "gguf"), closed_port()
    model = Path(FOLDER) / "tiny.gguf"
    subprocess.run([programs / "python", "-c", _WRITE_MODEL, model], check=True, timeout=60)
    address = f"http://127.0.0.1:{port}"
    with serve(f"{address}/health", programs / "python", "-c", _SERVE_MODEL, model, str(port), str(window)):
        yield f"{address}/v1"


def probe(provider: ModelProvider, address: str, key: str, model: str) -> list[str]:
    access = ModelAccess(key, address, {CONTEXT_TOKENS: None})
    return format_findings(check_models(provider, access, {model: "PRDIGEST_SUMMARY_MODEL"}, 8))


def list_expected(model: str) -> list[str]:
    return [
        f"- Model {model}, structured outputs: work",
        f"- Model {model}, tools: accepted",
        f"- Model {model}, context window: 32,768 tokens",
    ]


def test_the_server_of_llama_cpp_is_whole_and_says_its_window() -> None:
    with serve_llama(32_768) as address:
        lines = probe(OPENAI_COMPATIBLE, address, "", "tiny")
    assert lines[0] == "+ OpenAI-compatible server: accepted"
    assert lines[2:] == list_expected("tiny")


def test_a_slot_that_holds_no_question_is_told() -> None:
    with serve_llama(4_096) as address:
        lines = probe(OPENAI_COMPATIBLE, address, "", "tiny")
    assert lines[-1].startswith("! Model tiny, context window: 4,096 tokens: no question can be answered -> ")


def test_a_gateway_is_whole_in_both_protocols() -> None:
    programs, port = install("litellm", "litellm[proxy]"), closed_port()
    key, address = f"sk-{secrets.token_hex(24)}", f"http://127.0.0.1:{port}"
    settings = Path(FOLDER) / "gateway.yaml"
    with serve_llama(32_768) as llama:
        settings.write_text(_GATEWAY.format(model=MODEL, address=llama, key=key))
        command = ("--config", settings, "--host", "127.0.0.1", "--port", str(port), "--telemetry", "False")
        alive = f"{address}/health/liveliness"
        with serve(alive, programs / "litellm", *command, LITELLM_LOCAL_MODEL_COST_MAP="True"):
            lines = probe(OPENAI_COMPATIBLE, f"{address}/v1", key, MODEL)
            assert (lines[0], lines[2:]) == ("+ OpenAI-compatible server: accepted", list_expected(MODEL))
            assert probe(CLAUDE, address, key, MODEL)[0] == "+ Claude key: accepted"
