"""Secrets such as the chart would be given, and as its pods would find them."""

import base64

from tests.charts.helm import Rendered, render
from tests.simulated import private_key

POSTGRES_URL = "postgresql://reconcile:p%40ss@db.example:5432/runners?sslmode=verify-full"


def secrets(rendered: Rendered) -> dict[tuple[str, str], str]:
    return {
        (each["metadata"]["name"], key): base64.b64decode(value).decode()
        for each in rendered.of("Secret")
        for key, value in each["data"].items()
    }


def with_keys(name: str) -> Rendered:
    """A values file, with secrets that are such as they would be."""
    keys = {"organizationPrivateKey": private_key(), "personalPrivateKey": private_key()}
    created = {"postgresUrl": POSTGRES_URL, **keys}
    return render(name, values={"secret": {"existingName": None, "create": created}})
