"""What lets operators see inside a process: its metrics on a port of their own, and its traces."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager

from flask import Flask, request
from flask.typing import ResponseReturnValue
from prometheus_client import CollectorRegistry
from prometheus_client.exposition import choose_encoder

from bot.adapters.tracing import EXTRA_HINT, has_exporter, trace_process
from bot.app import App
from bot.http_server import serve_app
from bot.settings import ListenAddress, Process

log = logging.getLogger(__name__)

# so that the processes of one machine can share the setting
PORT_OFFSETS = {Process.WEB: 0, Process.WORKER: 1, Process.CLOCK: 2}
_METRICS_VARIABLE = "PRDIGEST_METRICS_ADDRESS: port"
# a scrape has no body
_MAX_REQUEST_BYTES = 10_000


@contextmanager
def monitor_process(app: App, process: Process, can_export: Callable[[], bool] = has_exporter) -> Iterator[None]:
    """Serve metrics and send traces until the end of the block, each if the settings say where.

    ``can_export`` says whether the packages that send traces are installed.

    Raises ConfigurationError if the port can't be used.
    """
    address, endpoint = app.settings.prdigest_metrics_address, app.settings.otel_exporter_otlp_endpoint
    with ExitStack() as parts:
        if endpoint and can_export():
            parts.enter_context(trace_process(endpoint, process.value))
        elif endpoint:
            log.error("OTEL_EXPORTER_OTLP_ENDPOINT is set, but no traces are sent. %s", EXTRA_HINT)
        if address is not None:
            parts.enter_context(_serve_metrics(app, process, address))
        yield


@contextmanager
def _serve_metrics(app: App, process: Process, address: ListenAddress) -> Iterator[None]:
    registry = app.instruments.registry
    registry.register(app.hurry().state_collector)
    # port 0 is any free one
    port = address.port and address.port + PORT_OFFSETS[process]
    web = create_metrics_app(registry)
    with serve_app(web, address.host, port, _MAX_REQUEST_BYTES, variable=_METRICS_VARIABLE) as bound_port:
        log.info("metrics on http://%s/metrics", ListenAddress(address.host, bound_port))
        yield


def create_metrics_app(registry: CollectorRegistry) -> Flask:
    """Create the app with ``/metrics``, in the form that Prometheus asks for."""
    app = Flask(__name__)

    @app.get("/metrics")
    def metrics() -> ResponseReturnValue:
        encode, content_type = choose_encoder(request.headers.get("Accept", ""))
        return encode(registry), {"Content-Type": content_type}

    return app
