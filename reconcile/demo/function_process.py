"""The webhook function over HTTP, as `python -m webhook_fn` serves it, but in the world's time."""

import os
import sys

from webhook_fn.__main__ import main

from .. import clock

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:], clock.parse(os.environ["RUNNERS_CLOCK"]).now))
