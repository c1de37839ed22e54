"""What real servers, and what stands before them, do on the wire and the simulated one does not."""

import contextlib
import ssl
import threading
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

from reconcile.errors import PermanentError, TransientError, UncertainError
from reconcile.kube import ClusterClient
from reconcile.sim.cluster.access import kubeconfig
from tests.integration.kube import BOARD, DEADLINE, IMAGE, connected

TIMEOUT = 0.3
EMPTY = b'{"kind":"PodList","apiVersion":"v1","metadata":{},"items":[]}'
Answer = Callable[[BaseHTTPRequestHandler], None]


@contextlib.contextmanager
def serving(answer: Answer, tls: ssl.SSLContext | None = None) -> Iterator[ClusterClient]:
    """A client of a server that answers everything so."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def _serve(self) -> None:
            self.rfile.read(int(self.headers.get("Content-Length", "0")))
            answer(self)

        do_GET = do_POST = do_DELETE = _serve  # noqa: N815 the standard library's names

        def log_message(self, *_: object) -> None:
            """Says nothing."""

    class Quiet(ThreadingHTTPServer):
        daemon_threads = True

        def handle_error(self, *_: object) -> None:
            """Clients hang up, as they should."""

    with Quiet(("127.0.0.1", 0), Handler) as server:
        if tls is not None:
            server.socket = tls.wrap_socket(server.socket, server_side=True)
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        try:
            scheme = "https" if tls else "http"
            url = f"{scheme}://127.0.0.1:{server.server_port}"
            config = kubeconfig(url, "token", "default")
            with connected(config, request_timeout=TIMEOUT) as client:
                yield client
        finally:
            server.shutdown()
            thread.join()


def sent(status: int, body: bytes, **headers: str) -> Answer:
    def answer(handler: BaseHTTPRequestHandler) -> None:
        handler.send_response(status)
        handler.send_header("Content-Length", str(len(body)))
        for name, value in headers.items():
            handler.send_header(name, value)
        handler.end_headers()
        handler.wfile.write(body)

    return answer


def chunked(*chunks: bytes, whole: bool = True) -> Answer:
    """As the API server sends whatever is long."""

    def answer(handler: BaseHTTPRequestHandler) -> None:
        handler.send_response(200)
        handler.send_header("Transfer-Encoding", "chunked")
        handler.end_headers()
        for chunk in chunks:
            handler.wfile.write(f"{len(chunk):x}\r\n".encode() + chunk + b"\r\n")
        if whole:
            handler.wfile.write(b"0\r\n\r\n")
        else:
            handler.close_connection = True

    return answer


def create(client: ClusterClient) -> str:
    return client.create_pod("runner-1", BOARD, IMAGE, None, DEADLINE)


def test_answer_in_chunks_is_read_to_its_end() -> None:
    with serving(chunked(EMPTY[:20], EMPTY[20:])) as client:
        assert client.pods() == []
        assert client.pods() == [], "on the same connection"


def test_answer_that_ends_between_two_chunks_is_no_answer() -> None:
    """Not even if what came so far is a whole list."""
    cut = serving(chunked(EMPTY, whole=False))
    with cut as client, pytest.raises(TransientError, match="the connection broke"):
        client.pods()


def drip(handler: BaseHTTPRequestHandler) -> None:
    """Each piece comes in time, the whole never would."""
    handler.send_response(200)
    handler.send_header("Content-Length", "100000")
    handler.end_headers()
    while True:
        handler.wfile.write(b" ")
        time.sleep(TIMEOUT / 10)


def test_answer_that_drips_is_given_up() -> None:
    with serving(drip) as client:
        begun = time.monotonic()
        with pytest.raises(TransientError, match="no answer in time"):
            client.pods()
        assert time.monotonic() - begun < 10 * TIMEOUT


@pytest.mark.parametrize(
    "body",
    [b"{}", b"[]", b'{"kind":"PodList","metadata":{}}', b'{"metadata":{},"items":null}', b"null"],
)
def test_answer_of_another_shape_is_not_an_empty_list(body: bytes) -> None:
    with serving(sent(200, body)) as client:
        with pytest.raises(TransientError):
            client.pods()
        with pytest.raises(UncertainError):
            create(client)


@pytest.mark.parametrize("status", [400, 401, 403, 404, 409, 410, 422])
@pytest.mark.parametrize("body", [b"", b"<html>\xff\xfe</html>", b"404 page not found", b"{}"])
def test_refusal_that_is_not_the_servers_own_proves_nothing(status: int, body: bytes) -> None:
    with serving(sent(status, body)) as client:
        with pytest.raises(TransientError):
            client.find_pod("runner-1")
        with pytest.raises(UncertainError):
            create(client)


def test_redirect_is_not_followed() -> None:
    away = serving(sent(302, b"", Location="http://127.0.0.1:1/elsewhere"))
    with away as client, pytest.raises(TransientError, match="302"):
        client.pods()


@pytest.fixture
def self_signed(tmp_path: Path) -> ssl.SSLContext:
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "127.0.0.1")])
    begins = datetime(2020, 1, 1, tzinfo=UTC)
    certificate = (
        x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number())
        .not_valid_before(begins)
        .not_valid_after(begins.replace(year=2120))
        .sign(key, hashes.SHA256())
    )
    path = tmp_path / "server.pem"
    path.write_bytes(
        key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption(),
        )
        + certificate.public_bytes(serialization.Encoding.PEM)
    )
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(path)
    return context


def test_server_with_another_certificate_is_not_spoken_to(self_signed: ssl.SSLContext) -> None:
    asked: list[str] = []
    with serving(lambda handler: asked.append(handler.path), self_signed) as client:
        for call in (client.pods, lambda: create(client)):
            with pytest.raises(PermanentError, match="certificate"):
                call()
    assert asked == []
