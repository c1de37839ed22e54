"""In front of a simulated GitHub in which nothing happens: what it called unchanged once is called
so at once from then on, without asking it again.

The simulator takes milliseconds for an answer, of which it gives one at a time; a run that asks
for hundreds of them would be measured by that.
"""

import asyncio
import http.client
import threading
from collections import Counter
from collections.abc import Coroutine
from dataclasses import dataclass
from typing import Self
from urllib.parse import urlsplit

from reconcile.sim.http import Router

UNCHANGED = 304


@dataclass(frozen=True)
class Asked:
    method: str
    target: str
    headers: dict[str, str]
    body: bytes

    @property
    def key(self) -> tuple[str, str, str, str]:
        get = self.headers.get
        return self.method, self.target, get("authorization", ""), get("if-none-match", "")


class AtOnce:
    def __init__(self, upstream: str, router: Router) -> None:
        self._upstream = urlsplit(upstream).netloc
        self._router = router
        self._known: dict[tuple[str, str, str, str], tuple[bytes, str]] = {}
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._open: set[asyncio.StreamWriter] = set()
        self.url = ""
        self.counts: Counter[str] = Counter()  # of those that were answered here

    def __enter__(self) -> Self:
        self._thread.start()
        self._do(self._listen())
        return self

    def __exit__(self, *_: object) -> None:
        self._do(self._end())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    def _do(self, work: Coroutine[None, None, None]) -> None:
        asyncio.run_coroutine_threadsafe(work, self._loop).result()

    async def _listen(self) -> None:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        host, port = self._server.sockets[0].getsockname()[:2]
        self.url = f"http://{host}:{port}"

    async def _end(self) -> None:
        self._server.close()
        for writer in self._open:
            writer.close()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._open.add(writer)
        try:
            while True:
                asked = await _read(reader)
                known = self._known.get(asked.key)
                if known is None:
                    known = await self._loop.run_in_executor(None, self._forward, asked), ""
                else:
                    self.counts[known[1]] += 1
                writer.write(known[0])
                await writer.drain()
        except (asyncio.IncompleteReadError, ConnectionError):
            pass  # The client is done.
        finally:
            self._open.discard(writer)
            writer.close()

    def _forward(self, asked: Asked) -> bytes:
        connection = http.client.HTTPConnection(self._upstream, timeout=60)
        try:
            connection.putrequest(
                asked.method, asked.target, skip_host=True, skip_accept_encoding=True
            )
            for name, value in asked.headers.items():
                connection.putheader(name, value)
            connection.endheaders(asked.body)
            response = connection.getresponse()
            lines = [f"HTTP/1.1 {response.status} {response.reason}"]
            lines += [f"{name}: {value}" for name, value in response.getheaders()]
            answer = "\r\n".join([*lines, "", ""]).encode("latin-1") + response.read()
        finally:
            connection.close()
        if response.status == UNCHANGED:
            path = urlsplit(asked.target).path
            matched = self._router.match(asked.method, path)
            name = matched[0].name if matched else "no_such_path"
            self._known[asked.key] = answer, f"github.{name} {UNCHANGED} conditional"
        return answer


async def _read(reader: asyncio.StreamReader) -> Asked:
    head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
    method, target, _ = head[0].split(" ")
    headers = {}
    for line in head[1:]:
        if line:
            name, _, value = line.partition(":")
            headers[name.lower()] = value.strip()
    body = await reader.readexactly(int(headers.get("content-length", "0")))
    return Asked(method, target, headers, body)
