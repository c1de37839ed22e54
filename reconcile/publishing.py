"""`reconcile publish`: the whole site, made anew."""

import json as json_text
import time

from . import log, site
from .config import Config
from .errors import BusyError, ConfigError, StoreError
from .exit_codes import DONE, FAILED, UNUSABLE

SECONDS = 6 * 3600.0  # Years of history take minutes; what takes hours does not come to an end.


def main(config: Config, *, json: bool) -> int:
    """Raises ConfigError if there is no site."""
    publisher = site.publisher(config)
    if publisher is None:
        raise ConfigError("Cannot start: SITE_URL is not set.")
    log.bind(config.clock)
    started = time.monotonic()
    error, uploaded, deleted, code = None, 0, 0, FAILED
    try:
        done = publisher.publish_everything(config.clock.now, SECONDS, time.sleep)
    except StoreError as failure:
        error, code = str(failure), UNUSABLE
    except BusyError as failure:
        error = str(failure)
    else:
        uploaded, deleted = done.uploaded, done.deleted
        error = "; ".join(done.problems) or None
    told = {
        "status": "completed" if error is None else "failed",
        "error": error,
        "objects_published": uploaded,
        "objects_deleted": deleted,
        "seconds": round(time.monotonic() - started, 3),
    }
    log.emit("publish", **told)
    if json:
        print(json_text.dumps(told, indent=2))  # noqa: T201 this is its output
    return DONE if error is None else code
