"""The page that GitHub sends people to after installing one of the Apps, or changing it.

Anybody can type any installation_id. So a verdict is given only of an installation of which GitHub
itself has told us within the last hour that it was made or changed, and says no more than whether
the right App is on the right kind of account. Of all others, unknown, old, suspended or
uninstalled, the page says the same, to the letter.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from urllib.parse import parse_qsl

from . import setup_page
from .config import Config
from .events import Apps
from .fields import LARGEST_ID
from .http import Request, Response
from .setup_words import ORGANIZATIONS, PERSONAL, Kind, Verdict
from .store import Row, Store, load_queries
from .trace.facts import Event, StateEvent
from .trace.state import Status, fold

QUERIES = load_queries(Path(__file__).with_name("setup.sql"))
KINDS = {"/setup/org": ORGANIZATIONS, "/setup/personal": PERSONAL}
# What somebody who comes here may just have done.
DONE_JUST_NOW = (
    "installation.created",
    "installation.new_permissions_accepted",
    "installation_repositories.added",
    "installation_repositories.removed",
)
FRESH = timedelta(hours=1)
MOST = 500  # events that are looked at: more than runs could add in that hour
LONGEST_QUERY = 1000
# GitHub sends the browser and the webhook on their way at once, and the browser may be faster.
LOOKS = 8
SECONDS_BETWEEN = 4


@dataclass(frozen=True, slots=True)
class Visit:
    kind: Kind
    action: str  # install, update or request
    installation_id: int | None
    looks: int  # that the page has taken before


def respond(request: Request, config: Config, store: Store, now: datetime) -> Response:
    visit = _read(request)
    events: list[StateEvent] = []
    if visit.installation_id is not None and visit.action != "request":
        parameters = {
            "installation_id": visit.installation_id,
            "most": MOST,
            "done": list(DONE_JUST_NOW),
            "since": now - FRESH,
        }
        rows = store.read(QUERIES["heard_of_installation"], parameters)
        events = [_event(row, visit.installation_id) for row in reversed(rows)]
    verdict, kind = judge(visit, events, config.apps, now)
    headers = {}
    if verdict is Verdict.WAITING:
        # Relative, since only the proxy in front knows the whole URL.
        address = f"?installation_id={visit.installation_id}&setup_action={visit.action}"
        headers["refresh"] = f"{SECONDS_BETWEEN}; url={address}&looks={visit.looks + 1}"
    return _page(200, verdict, kind, config, headers)


def unavailable(request: Request, config: Config) -> Response:
    """If the database does not answer."""
    kind = KINDS[request.path]
    return _page(503, Verdict.UNREADABLE, kind, config, {"retry-after": "60"})


def judge(
    visit: Visit, events: Sequence[StateEvent], apps: Apps, now: datetime
) -> tuple[Verdict, Kind]:
    """What is said, and of which App: of the installation's own, wherever the visitor came in.
    Pure: no I/O, no clock. The events are GitHub's, oldest first."""
    if visit.action == "request":
        # Only members of organizations have to ask.
        asked = visit.kind is ORGANIZATIONS
        return (Verdict.REQUESTED if asked else Verdict.REQUESTED_WRONGLY), visit.kind
    if visit.installation_id is None:
        return Verdict.GENERAL, visit.kind
    told = any(each.row.event in DONE_JUST_NOW and now - each.row.at < FRESH for each in events)
    account = fold(events) if told else None
    installation = account.installation(visit.installation_id) if account else None
    kinds = {apps.organization: ORGANIZATIONS, apps.personal: PERSONAL}
    kind = kinds.get(installation.app_id or 0) if installation else None
    in_use = installation is not None and installation.status is Status.INSTALLED
    if account is None or kind is None or not in_use:
        return (Verdict.WAITING if visit.looks < LOOKS else Verdict.SILENT), visit.kind
    if account.type != kind.type:
        return Verdict.WRONG_ACCOUNT, kind
    return (Verdict.UPDATED if visit.action == "update" else Verdict.INSTALLED), kind


def _read(request: Request) -> Visit:
    """What cannot be read is not there: the page has no use for complaints."""
    pairs = parse_qsl(request.query) if len(request.query) <= LONGEST_QUERY else []
    given = dict(reversed(pairs))  # the first of each name
    number = given.get("installation_id", "")
    is_number = re.fullmatch(r"[1-9][0-9]{0,18}", number) and int(number) <= LARGEST_ID
    action = given.get("setup_action")
    looks = given.get("looks", "0")
    return Visit(
        KINDS[request.path],
        action if action in ("update", "request") else "install",
        int(number) if is_number else None,
        # Whatever is no number of ours ends it.
        int(looks) if re.fullmatch(r"[0-9]", looks) else LOOKS,
    )


def _event(row: Row, installation_id: int) -> StateEvent:
    number, at, name, outcome, app_id, entity_id, entity_type, *said = row
    event = Event(
        id=number,
        at=at,
        source="webhook",
        event=name,
        outcome=outcome,
        installation_id=installation_id,
        app_id=app_id,
        entity_id=entity_id,
        entity_name=None,
        entity_type=entity_type,
        job_id=None,
    )
    return StateEvent(
        event, dict(zip(("delivery", "updated_at", "suspended_at"), said, strict=True))
    )


def _page(
    status: int, verdict: Verdict, kind: Kind, config: Config, headers: dict[str, str]
) -> Response:
    text = setup_page.render(verdict, kind, config.routes)
    return Response(status, {}, {**setup_page.HEADERS, **headers}, page=text)
