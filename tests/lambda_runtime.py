"""A small Lambda runtime API: hands out events, collects results.

AWS's own runtime client (awslambdaric) talks to it exactly as it does inside Lambda.
"""

import contextlib
import json
import os
import queue
import shutil
import subprocess
import sys
import threading
import time
import uuid
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import awslambdaric

# What the runtime client consists of: copied, so that nothing else of our environment is there.
CLIENT_PARTS = ("awslambdaric", "runtime_client*", "simplejson", "snapshot_restore_py*")
API = "/2018-06-01/runtime"


@dataclass
class LambdaRuntime:
    process: "subprocess.Popen[bytes] | None" = None
    events: "queue.Queue[tuple[str, Any]]" = field(default_factory=queue.Queue)
    results: "queue.Queue[tuple[str, Any]]" = field(default_factory=queue.Queue)

    def invoke(self, event: Any, timeout: float = 60) -> Any:
        request_id = str(uuid.uuid4())
        self.events.put((request_id, event))
        deadline = time.monotonic() + timeout
        while self.process is not None and self.process.poll() is None:
            with contextlib.suppress(queue.Empty):
                kind, result = self.results.get(timeout=0.5)
                assert kind == "response", f"the function failed: {result}"
                return result
            assert time.monotonic() < deadline, "the function did not answer in time"
        raise AssertionError("the runtime client ended")

    @contextlib.contextmanager
    def serving(self) -> Iterator[str]:
        runtime = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            disable_nagle_algorithm = True

            def do_GET(self) -> None:
                assert self.path == f"{API}/invocation/next", self.path
                request_id, event = runtime.events.get()
                if request_id == "":
                    self.close_connection = True
                    return
                deadline = int(time.time() * 1000) + 10_000
                self._send(
                    200,
                    event,
                    {
                        "Lambda-Runtime-Aws-Request-Id": request_id,
                        "Lambda-Runtime-Deadline-Ms": str(deadline),
                        "Lambda-Runtime-Invoked-Function-Arn": "arn:aws:lambda:::function:x",
                        "Lambda-Runtime-Trace-Id": "Root=1",
                    },
                )

            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                kind = "response" if self.path.endswith("/response") else "error"
                runtime.results.put((kind, json.loads(body)))
                self._send(202, {"status": "OK"}, {})

            def _send(self, status: int, value: Any, headers: dict[str, str]) -> None:
                body = json.dumps(value).encode()
                self.send_response(status)
                for name, text in headers.items():
                    self.send_header(name, text)
                # The client crashes without a content type.
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
                """Quiet."""

        server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        server.daemon_threads = True
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        try:
            yield f"127.0.0.1:{server.server_port}"
        finally:
            self.events.put(("", None))
            server.shutdown()
            server.server_close()
            thread.join()


@contextlib.contextmanager
def lambda_running(
    code: Path, handler: str, environ: dict[str, str], scratch: Path
) -> Iterator[LambdaRuntime]:
    """The unpacked bundle under AWS's runtime client, with nothing of this environment in reach."""
    client = scratch / "runtime-client"
    client.mkdir()
    site_packages = Path(awslambdaric.__path__[0]).parent
    for pattern in CLIENT_PARTS:
        for part in site_packages.glob(pattern):
            if part.is_dir():
                shutil.copytree(part, client / part.name)
            else:
                shutil.copy(part, client)
    runtime = LambdaRuntime()
    with runtime.serving() as address:
        runtime.process = subprocess.Popen(
            [sys.executable, "-S", "-m", "awslambdaric", handler],
            env={
                **environ,
                "PATH": os.environ["PATH"],
                "PYTHONPATH": f"{code}:{client}",
                "AWS_LAMBDA_RUNTIME_API": address,
                "LAMBDA_TASK_ROOT": str(code),
                "AWS_LAMBDA_FUNCTION_NAME": "webhook",
            },
            cwd=code,
        )
        try:
            yield runtime
        finally:
            runtime.process.kill()
            runtime.process.wait()
