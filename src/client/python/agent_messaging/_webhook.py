"""Verifies webhook requests (Standard Webhooks)."""
from __future__ import annotations

import base64
import hashlib
import hmac
import re
import time
from collections.abc import Mapping, Sequence
from typing import cast

from . import api
from .errors import AmsError, parse_json

_TIMESTAMP = re.compile(r"[0-9]{1,12}")


def _bad(why: str) -> AmsError:
    return AmsError("bad_signature", f"The webhook request {why}.")


def _decoded(text: str) -> bytes:
    return base64.b64decode(text + "=" * (-len(text) % 4), validate=True)


def _key(secret: str) -> bytes:
    try:
        return _decoded(secret.removeprefix("whsec_"))
    except ValueError:
        raise AmsError("invalid_input", "secret: must be whsec_ and base64") from None


def _signatures(header: str) -> list[bytes]:
    found = []
    for part in header.split(" "):
        version, _, value = part.partition(",")
        try:
            if version == "v1":
                found.append(_decoded(value))
        except ValueError:
            pass
    return found


def verify_webhook(
    headers: Mapping[str, str], body: bytes | str, secrets: str | Sequence[str], *, tolerance_seconds: float = 300
) -> api.WebhookPayload:
    """The payload of a webhook request, once it is certain that the service sent it: signed with one of the secrets, and
    recently. Raises ``bad_signature`` otherwise. ``body`` is the body as it came: one that was parsed already cannot be
    verified."""
    given = {name.lower(): value for name, value in headers.items()}

    def header(name: str) -> str:
        if value := given.get(name):
            return value
        raise _bad(f"has no {name} header")

    message_id, timestamp = header("webhook-id"), header("webhook-timestamp")
    signatures = _signatures(header("webhook-signature"))
    if not _TIMESTAMP.fullmatch(timestamp) or abs(time.time() - int(timestamp)) > tolerance_seconds:
        raise _bad("is too old, or the clocks differ")
    if not isinstance(body, (bytes, bytearray, str)):
        raise _bad("was parsed before it was verified: pass its body as text or bytes")
    content = body.encode() if isinstance(body, str) else bytes(body)
    signed = f"{message_id}.{timestamp}.".encode("utf-8", "surrogateescape") + content
    for secret in [secrets] if isinstance(secrets, str) else secrets:
        expected = hmac.new(_key(secret), signed, hashlib.sha256).digest()
        if any([hmac.compare_digest(expected, one) for one in signatures]):
            return _parsed(content)
    raise _bad("is not signed with this secret")


def _parsed(content: bytes) -> api.WebhookPayload:
    try:
        return cast(api.WebhookPayload, parse_json(content.decode("utf-8", "replace")))
    except ValueError:
        raise _bad("is not JSON") from None
