"""Sentences about failed calls to an OpenAI-compatible server: what people read, and the advice for operators."""

from __future__ import annotations

KEY_REFUSED = "the model's API key was rejected"
WRONG_PATH = "the model's server has no such address"
REDIRECTED = "the model's server sends its callers elsewhere"
TOO_LARGE = "the model's answer was larger than any answer can be"
TOO_LONG = "the request is longer than the model's context window"
NO_TOOLS = "the model's server accepts no tools"

KEY_ADVICE = "The model's server rejected the key: check PRDIGEST_MODEL_KEY."
MODEL_ADVICE = (
    "The model's server has no model with that name: check PRDIGEST_SUMMARY_MODEL and PRDIGEST_ANSWER_MODEL."
)
ADDRESS_ADVICE = (
    "What answers at PRDIGEST_MODEL_URL does not speak the OpenAI-compatible protocol: check the address, which "
    "usually ends in /v1."
)
REDIRECT_ADVICE = (
    "The model's server answers with a redirect, which is not followed: set PRDIGEST_MODEL_URL to its target."
)
TOOLS_ADVICE = (
    "The model's server accepts no tools, without which there are no answers: start vLLM with "
    "--enable-auto-tool-choice and the --tool-call-parser of the model."
)
PLAIN_JSON_NOTE = (
    "The model's server refuses response_format json_schema: plain JSON is asked for from now on, and checked "
    "here."
)
ESTIMATE_NOTE = "The model's server reports no token counts: they are estimated from the length of the texts."
