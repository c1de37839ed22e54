"""A GitHub that speaks the real REST API and sends the real webhooks.

github = GitHub(timeline)
org = github.accounts.add_organization("riseproject")
github.accounts.install(app, org)
github.engine.push(repository, workflow.parse(text))
"""

from .limits import Limits
from .service import GitHub

__all__ = ["GitHub", "Limits"]
