"""The whole of it: a service for the server, a broker for the runners."""

from urllib.parse import urlencode

from ..broker import Listener, Session
from ..http import Endpoint, Request, Response, Router, encode
from ..timeline import Timeline
from .accounts import Accounts
from .api import (
    DOCUMENTATION,
    MEDIA_TYPE,
    AppCall,
    Call,
    InstallationCall,
    Operation,
    Reply,
    error_response,
    respond,
)
from .api_actions import ActionsApi
from .api_apps import AppsApi
from .api_runners import RunnersApi
from .auth import Auth
from .deliveries import Deliveries
from .engine import Engine
from .errors import ApiError, LimitError, MovedError
from .ids import Ids
from .limits import Limits, RateLimiter
from .model import Installation
from .runners import Runners

ENTERPRISE_PREFIX = "/api/v3"  # where GitHub Enterprise Server keeps the same API
FREE = "metadata"  # what every installation may read: only the rate limit, and that costs nothing


class GitHub:
    """The service, and the broker that simulated runners connect to."""

    name = "github"
    prefix = ENTERPRISE_PREFIX

    def __init__(self, timeline: Timeline, seed: int = 0, limits: Limits | None = None) -> None:
        ids = Ids(seed)
        self._timeline = timeline
        self._answered = 0
        self.deliveries = Deliveries(timeline, ids)
        self.accounts = Accounts(timeline, ids, self.deliveries)
        self.runners = Runners(timeline, ids)
        self.engine = Engine(timeline, ids, self.accounts, self.runners, self.deliveries)
        self.limiter = RateLimiter(limits or Limits())
        self._auth = Auth(self.accounts, ids)
        operations = [
            Operation("get_rate_limit", "GET", "/rate_limit", self._rate_limit, FREE),
            *AppsApi(self.accounts, self._auth, self.deliveries).operations(),
            *RunnersApi(self.accounts, self.runners, self.engine.dispatch).operations(),
            *ActionsApi(self.accounts, self.engine).operations(),
        ]
        self.router = Router([each for one in operations for each in one.endpoints(self._serve)])

    def connect(self, jit_config: str, listener: Listener) -> Session:
        return self.engine.dispatch.connect(jit_config, listener)

    def respond(self, endpoint: Endpoint, request: Request) -> Response:
        return endpoint.handler(request)

    def _serve(self, operation: Operation, request: Request) -> Response:
        now = self._timeline.now()
        key = ""
        try:
            call, key = self._identify(operation, request)
            if operation.permission != FREE:
                self.limiter.admit(key, request.method, request.at_once, now)
            response = respond(operation(call), call, request.headers["authorization"])
        except MovedError as moved:
            response = self._moved(moved, request)
        except ApiError as error:
            response = error_response(error)
            if isinstance(error, LimitError):
                return self._completed(response, key)
        if key and operation.permission != FREE and response.status != 304:
            self.limiter.charge(key, now)
        return self._completed(response, key)

    def no_such_path(self, request: Request) -> Response:  # noqa: ARG002 they all get the same
        return self._completed(error_response(ApiError(404, "Not Found")), "")

    def refusal(self, status: int, retry_after: int | None) -> Response:
        words = {
            401: "Bad credentials",
            403: "API rate limit exceeded",
            429: "You have exceeded a secondary rate limit.",
            500: "Server Error",
            502: "Server Error",
            503: "Service Unavailable",
        }
        error = error_response(ApiError(status, words.get(status, "Error"), retry_after))
        headers = dict(error.headers)
        if status == 403:  # It reads as the primary limit's, so it says what that says.
            reset = int(self._timeline.now().timestamp()) + (retry_after or 3600)
            headers |= {"X-RateLimit-Remaining": "0", "X-RateLimit-Reset": str(reset)}
        return self._completed(Response(status, error.body, headers), "")

    def _identify(self, operation: Operation, request: Request) -> tuple[Call, str]:
        """The caller, and under which name its requests are counted."""
        now = self._timeline.now()
        authorization = request.headers.get("authorization", "")
        if operation.permission is None:
            app = self._auth.app(authorization, now)
            return AppCall(request, now, app), f"app ID {app.id}"
        token = self._auth.token(authorization, now)
        return InstallationCall(request, now, token), limit_key(token.installation)

    def _rate_limit(self, call: InstallationCall) -> Reply:
        state = self.limiter.state(limit_key(call.token.installation), call.now)
        rate = {name.lower(): value for name, value in state.items()}
        return Reply(200, {"resources": {"core": rate, "search": rate}, "rate": rate})

    def _moved(self, moved: MovedError, request: Request) -> Response:
        """A read may be repeated as a GET; anything else is to be sent again as it was."""
        rest = request.path.split("/", 4)[4]
        query = f"?{urlencode(request.query)}" if request.query else ""
        url = f"{request.base_url}/repositories/{moved.repository.id}/{rest}{query}"
        value = {"message": "Moved Permanently", "url": url, "documentation_url": DOCUMENTATION}
        status = 301 if request.method == "GET" else 307
        return Response(status, encode(value), {**MEDIA_TYPE, "Location": url})

    def _completed(self, response: Response, key: str) -> Response:
        self._answered += 1
        headers = {
            "Server": "github.com",
            "X-GitHub-Media-Type": "github.v3; format=json",
            "X-GitHub-Request-Id": f"{self._answered:04X}:SIM",
            **response.headers,
        }
        if key:
            headers |= self.limiter.headers(key, self._timeline.now())
        return Response(response.status, response.body, headers)


def limit_key(installation: Installation) -> str:
    """Under which name an installation's requests are counted."""
    return f"installation ID {installation.id}"
