"""The HTTP interface of OpenRLHF's remote reward models, on this machine.

``python -m assay.adapters.openrlhf_server assay.toml`` and, in the training,
``--reward.remote_url http://127.0.0.1:5000/get_reward``.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Iterable
from socketserver import ThreadingMixIn
from typing import Any, TypeGuard
from wsgiref.simple_server import WSGIRequestHandler, WSGIServer, make_server
from wsgiref.types import StartResponse, WSGIApplication, WSGIEnvironment

from assay._core import AssayError, DataError
from assay.adapters._adapter import Config
from assay.adapters.openrlhf import RewardFunction, answer, reward_function

BODY_MAX = 64 << 20
"""The longest request, in bytes."""


def app(config: Config | None = None, **settings: Any) -> WSGIApplication:
    """A WSGI application that answers ``POST /get_reward`` with ``{query, prompts, labels}``.

    The arguments are those of :func:`assay.adapters.openrlhf.reward_function`.
    """
    function = reward_function(config, **settings)

    def application(environ: WSGIEnvironment, start: StartResponse) -> Iterable[bytes]:
        status, told = _reply(function, environ)
        body = json.dumps(told).encode()
        start(status, [("Content-Type", "application/json"), ("Content-Length", str(len(body)))])
        return [body]

    return application


def server(
    config: Config | None = None, *, host: str = "127.0.0.1", port: int = 5000, **settings: Any
) -> WSGIServer:
    """A server of :func:`app` with a thread a request; run its ``serve_forever``.

    It asks nobody who they are: listen beyond this machine in a network that you trust alone.

    >>> from assay.adapters.openrlhf_server import server
    >>> config = {"version": 1, "reward": [{"name": "right", "verifier": "exact"}]}
    >>> with server(config, port=0) as running:
    ...     running.server_port > 0
    True
    """
    return make_server(host, port, app(config, **settings), _Server, _Handler)


def serve(config: Config | None = None, **settings: Any) -> None:
    """Serves until it is interrupted. ``settings`` are those of :func:`server`."""
    with server(config, **settings) as running:
        _LOGGER.info("http://%s:%d/get_reward", *running.server_address[:2])
        running.serve_forever()


def _reply(function: RewardFunction, environ: WSGIEnvironment) -> tuple[str, dict[str, Any]]:
    if environ["REQUEST_METHOD"] != "POST" or environ.get("PATH_INFO") not in ("/get_reward", "/"):
        return "404 Not Found", {"error": "POST /get_reward"}
    try:
        return "200 OK", answer(function.judge(*_lists(environ)))
    except DataError as error:
        return "400 Bad Request", {"error": str(error)}
    except AssayError as error:
        _LOGGER.error("%s", error)
        return "503 Service Unavailable", {"error": str(error)}


def _lists(environ: WSGIEnvironment) -> tuple[list[str], list[str], list[Any]]:
    """The lists of a request. Without prompts a query is all response; without labels there are none."""
    length = environ.get("CONTENT_LENGTH") or ""
    if not length.isdigit() or int(length) > BODY_MAX:
        raise DataError(f"expected a body of at most {BODY_MAX} bytes, and its Content-Length")
    try:
        told = json.loads(environ["wsgi.input"].read(int(length)))
    except (ValueError, RecursionError) as error:
        raise DataError(f"not JSON: {error}") from None
    queries = told.get("query") if isinstance(told, dict) else None
    if not _are_texts(queries):
        raise DataError("query: expected a list of texts")
    prompts = told.get("prompts") or [""] * len(queries)
    labels = told.get("labels") or [None] * len(queries)
    if not _are_texts(prompts) or not isinstance(labels, list):
        raise DataError("prompts: expected a list of texts; labels: expected a list")
    return queries, prompts, labels


def _are_texts(value: object) -> TypeGuard[list[str]]:
    return isinstance(value, list) and all(isinstance(one, str) for one in value)


class _Server(ThreadingMixIn, WSGIServer):
    daemon_threads = True
    request_queue_size = 1024


class _Handler(WSGIRequestHandler):
    def address_string(self) -> str:
        return str(self.client_address[0])

    def log_message(self, format: str, *args: Any) -> None:
        _LOGGER.debug(format, *args)


def _main(arguments: list[str] | None = None) -> None:
    import argparse

    parser = argparse.ArgumentParser(description="The remote reward model of OpenRLHF.")
    parser.add_argument("config", help="the path of a configuration")
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=5000)
    given = parser.parse_args(arguments)
    logging.basicConfig(level=logging.INFO, format="%(levelname)s %(message)s")
    serve(given.config, host=given.host, port=given.port)


_LOGGER = logging.getLogger("assay")

if __name__ == "__main__":
    _main()
