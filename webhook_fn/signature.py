"""GitHub's proof that a body is its own: HMAC-SHA256 over the raw bytes."""

import hmac


def sign(secret: bytes, body: bytes) -> str:
    return "sha256=" + hmac.digest(secret, body, "sha256").hex()


def is_valid(secret: bytes, body: bytes, header: str) -> bool:
    """In constant time, and on bytes: compare_digest refuses a str that is not ASCII."""
    return hmac.compare_digest(sign(secret, body).encode(), header.encode("utf-8", "replace"))
