"""The GitHub Apps: their keys, the JWTs they sign, and the encryption that rests on them.

PyJWT and cryptography are slow to import and are so only when a key is at hand.
"""

import math
import os
import threading
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from ..clock import Clock
from ..model import ORGANIZATION, Scope

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM

JWT_BACKDATED = timedelta(seconds=60)  # GitHub's clock may be behind ours
JWT_LIFE = timedelta(seconds=540)  # GitHub allows ten minutes
JWT_RENEWED = timedelta(seconds=60)  # before it expires
NONCE_BYTES = 12
TOKEN_KEY_PURPOSE = b"riscv-runners installation token"


@dataclass(frozen=True, slots=True)
class App:
    """Raises ValueError for what is no private key."""

    id: int
    private_key: str = field(repr=False)  # PEM
    key: "RSAPrivateKey" = field(init=False, repr=False, compare=False)
    cipher: "AESGCM" = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        key = _load(self.id, self.private_key)
        object.__setattr__(self, "key", key)
        object.__setattr__(self, "cipher", _cipher(key))

    def seal(self, token: str, owner: str) -> bytes:
        """The token as it may be stored: of use only with the App's key, and to that owner."""
        nonce = os.urandom(NONCE_BYTES)
        return nonce + self.cipher.encrypt(nonce, token.encode(), owner.encode())

    def unseal(self, sealed: bytes, owner: str) -> str | None:
        """None: it was sealed under another key."""
        from cryptography.exceptions import InvalidTag

        try:
            nonce, text = sealed[:NONCE_BYTES], sealed[NONCE_BYTES:]
            return self.cipher.decrypt(nonce, text, owner.encode()).decode()
        except (InvalidTag, ValueError):
            return None


@dataclass(frozen=True, slots=True)
class Apps:
    organization: App
    personal: App

    def of(self, scope: Scope) -> App:
        return self.organization if scope.entity_type == ORGANIZATION else self.personal

    def other(self, app: App) -> App:
        return self.personal if app is self.organization else self.organization

    def by_id(self, app_id: int) -> App:
        for app in (self.organization, self.personal):
            if app.id == app_id:
                return app
        raise ValueError(f"There is no App {app_id} in the settings.")


class Signer:
    """Each App's JWT, made once and used until it is about to expire."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._made: dict[int, tuple[str, datetime]] = {}

    def jwt(self, app: App) -> str:
        now = self._clock.now()
        with self._lock:
            assertion, expires_at = self._made.get(app.id, ("", now))
            if expires_at - now < JWT_RENEWED:
                assertion, expires_at = _sign(app, now), now + JWT_LIFE
                self._made[app.id] = assertion, expires_at
            return assertion


def _sign(app: App, now: datetime) -> str:
    import jwt

    claims = {
        "iss": str(app.id),
        "iat": int((now - JWT_BACKDATED).timestamp()),
        "exp": int((now + JWT_LIFE).timestamp()),
    }
    return jwt.encode(claims, app.key, algorithm="RS256")


def _load(app_id: int, text: str) -> "RSAPrivateKey":
    from cryptography.exceptions import UnsupportedAlgorithm
    from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey
    from cryptography.hazmat.primitives.serialization import load_pem_private_key

    problem = f"The private key of GitHub App {app_id} is not an RSA key in PEM form"
    try:
        # What is no text at all becomes no key, instead of an error that quotes it.
        key = load_pem_private_key(
            text.encode(errors="replace"), password=None, unsafe_skip_rsa_key_validation=True
        )
    except TypeError as error:
        raise ValueError(f"{problem}: it is protected by a password.") from error
    except (ValueError, UnsupportedAlgorithm) as error:
        raise ValueError(f"{problem}.") from error
    if not isinstance(key, RSAPrivateKey):
        raise ValueError(f"{problem}: it is of another kind.")  # noqa: TRY004 the text is wrong
    if not _is_consistent(key):
        raise ValueError(f"{problem}: its numbers do not belong together.")
    return key


def _is_consistent(key: "RSAPrivateKey") -> bool:
    """Finds a damaged key a thousand times faster than cryptography's own validation, which tests
    for primes: that would be most of what a run without work costs."""
    it = key.private_numbers()
    return (
        it.p * it.q == it.public_numbers.n
        and it.d * it.public_numbers.e % math.lcm(it.p - 1, it.q - 1) == 1
        and (it.dmp1, it.dmq1) == (it.d % (it.p - 1), it.d % (it.q - 1))
        and it.iqmp * it.q % it.p == 1
    )


def _cipher(key: "RSAPrivateKey") -> "AESGCM":
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM
    from cryptography.hazmat.primitives.kdf.hkdf import HKDF

    der = key.private_bytes(
        serialization.Encoding.DER,
        serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption(),
    )
    derivation = HKDF(algorithm=hashes.SHA256(), length=32, salt=None, info=TOKEN_KEY_PURPOSE)
    return AESGCM(derivation.derive(der))
