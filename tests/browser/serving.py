"""A sample site over HTTP, as it would be served: by the rules of the local server, from files that
a test may change."""

import contextlib
import json
import os
import shutil
import threading
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from socketserver import ThreadingMixIn
from typing import Any
from wsgiref.simple_server import WSGIRequestHandler, WSGIServer, make_server
from wsgiref.types import StartResponse, WSGIEnvironment

from static_site.server import application
from tests.site_sample_rows import TODAY
from tests.site_samples import Page, Site, sites


class _Server(ThreadingMixIn, WSGIServer):
    daemon_threads = True


class _Silent(WSGIRequestHandler):
    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
        pass


class Served:
    """`failing` are the paths that are answered with 503, `asked` those that were asked for."""

    def __init__(self, site: Site, directory: Path) -> None:
        self.site = site
        self.directory = directory
        self.failing: set[str] = set()
        self.asked: list[str] = []
        self.headers: list[tuple[str, str]] = []  # beside those that every answer has
        self.url = ""
        self._serve = application(directory, lambda: TODAY)

    def __call__(self, environ: WSGIEnvironment, start: StartResponse) -> Iterable[bytes]:
        path, query = environ["PATH_INFO"], environ.get("QUERY_STRING", "")
        self.asked.append(f"{path}?{query}" if query else path)
        if path in self.failing:
            start("503 Service Unavailable", [("Content-Type", "text/plain")])
            return [b"Not now.\n"]

        def begin(status: str, headers: list[tuple[str, str]], *more: Any) -> Any:
            return start(status, [*headers, *self.headers], *more)

        return self._serve(environ, begin)

    def write(self, file: str, content: bytes) -> None:
        path = self.directory / file.lstrip("/")
        path.unlink(missing_ok=True)  # It may be a link to what other tests see.
        path.write_bytes(content)

    def change(self, file: str, change: Callable[[Any], None], as_of: str) -> None:
        """Publishes a page whose model was changed, and health last, as a run does."""
        page = self.site.pages[file]
        model = json.loads(json.dumps(page.model))
        change(model)
        changed = replace(self.site, pages={file: Page(page.template, model, as_of)})
        self.write(file, changed.html(file).encode())
        self.tell(as_of=as_of, last_worked_at=as_of, boards_observed_at=as_of)

    def tell(self, **health: Any) -> None:
        self.write("/health.json", json.dumps({**self.site.health, **health}).encode())


def publish(kind: str, directory: Path) -> None:
    for file, content in sites()[kind].files():
        path = directory / file.lstrip("/")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)


@contextlib.contextmanager
def served(kind: str, published: Path, directory: Path) -> Iterator[Served]:
    """From a directory of its own. Files are published once, and linked to where they are the
    same."""
    if not published.exists():
        publish(kind, published)
    shutil.copytree(published, directory, copy_function=os.link)
    site = Served(sites()[kind], directory)
    with make_server("127.0.0.1", 0, site, _Server, _Silent) as server:
        site.url = f"http://127.0.0.1:{server.server_port}"
        thread = threading.Thread(target=server.serve_forever, args=(0.02,))
        thread.start()
        try:
            yield site
        finally:
            server.shutdown()
            thread.join()
