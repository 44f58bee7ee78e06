"""Verifies webhooks of Parley (Standard Webhooks 1.0)."""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import json
import time
from collections.abc import Mapping
from typing import Any

from .errors import ParleyError

TOLERANCE_SECONDS = 300
# Parley signs with no shorter key. An empty key, for example from an unset variable, would let anybody sign.
_KEY_BYTES_MIN = 24


def verify(secret: str, headers: Mapping[str, str], body: bytes, *, now: float | None = None) -> Mapping[str, Any]:
    """Returns the event of a webhook with a valid signature; raises ``unauthenticated`` for any other.

    Raises ``invalid_request`` for a malformed secret.

    secret: ``whsec_…``, without the tenant. headers: those of the request, in any letter case. body: the raw bytes. A
    webhook may come more than once with the same ``webhook-id``: skip those that you have processed.
    """
    given = {name.lower(): value for name, value in headers.items()}
    message_id = given.get("webhook-id", "")
    timestamp = given.get("webhook-timestamp", "")
    key = _key_of(secret)
    if not timestamp.isascii() or not timestamp.isdigit() or len(timestamp) > 12:
        raise _refused()
    if abs((time.time() if now is None else now) - int(timestamp)) > TOLERANCE_SECONDS:
        raise ParleyError("unauthenticated", "The webhook is older or newer than five minutes.")
    signed = f"{message_id}.{timestamp}.".encode() + body
    expected = b"v1," + base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest())
    signatures = given.get("webhook-signature", "").encode().split(b" ")
    if not any(hmac.compare_digest(expected, signature) for signature in signatures):
        raise _refused()
    event = json.loads(body)
    if not isinstance(event, dict):
        raise _refused()
    return event


def _key_of(secret: str) -> bytes:
    try:
        key = base64.b64decode(secret.removeprefix("whsec_"), validate=True)
    except (binascii.Error, ValueError):
        key = b""
    if len(key) < _KEY_BYTES_MIN:
        raise ParleyError("invalid_request", "The secret is not whsec_ and base64 of at least 24 bytes.")
    return key


def _refused() -> ParleyError:
    return ParleyError("unauthenticated", "The signature of the webhook does not fit.")
