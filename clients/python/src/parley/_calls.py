"""HTTP calls and replies as plain values, so that both transports send the same bytes and read the same replies.

Opening connections is not here, but in ``_http.py`` and ``_http_async.py``.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote, urlencode, urlsplit

from .errors import UNREADABLE_JSON, ParleyError

# Replies of Parley are far smaller, but a wrong address may send anything.
REPLY_BYTES_MAX = 8 * 1024 * 1024
_HEADER_VALUE = re.compile(r"[\x20-\x7e]+")
_URL = re.compile(r"[\x21-\x7e]+")


@dataclass(frozen=True)
class Origin:
    """The address of Parley. ``path`` has no slash at its end."""

    host: str
    port: int
    is_secure: bool
    path: str

    @property
    def url(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{'https' if self.is_secure else 'http'}://{host}:{self.port}{self.path}"


@dataclass(frozen=True)
class Call:
    method: str
    path: str
    query: Mapping[str, str | None] = field(default_factory=dict)
    body: Any = None
    headers: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Reply:
    """A reply. Header names are in lower case."""

    status: int
    headers: Mapping[str, str]
    body: bytes


def parse_base_url(base_url: str) -> Origin:
    """Parses a base URL. Raises ``invalid_request`` unless it is an ASCII http(s) URL without user, query and fragment."""
    if not _URL.fullmatch(base_url):
        raise _bad_base_url()
    try:
        parts = urlsplit(base_url)
        port = parts.port
    except ValueError:
        raise _bad_base_url() from None
    if parts.scheme not in ("http", "https") or not parts.hostname or parts.username or parts.password:
        raise _bad_base_url()
    if parts.query or parts.fragment:
        raise _bad_base_url()
    is_secure = parts.scheme == "https"
    return Origin(parts.hostname, port or (443 if is_secure else 80), is_secure, parts.path.rstrip("/"))


# The message does not repeat the value, which may contain a password.
def _bad_base_url() -> ParleyError:
    return ParleyError("invalid_request", "base_url must be an http(s) URL of ASCII without user, query and fragment.")


def segment(identifier: str) -> str:
    """An id as one segment of a path. Raises ``not_found`` for ``.`` and ``..``, which are not ids."""
    if identifier in ("", ".", ".."):
        raise ParleyError("not_found", "This is not an id.")
    return quote(identifier, safe="")


def target_of(origin: Origin, call: Call) -> str:
    given = {name: value for name, value in call.query.items() if value is not None}
    return f"{origin.path}{call.path}{'?' + urlencode(given) if given else ''}"


def head_and_body(call: Call, token: str) -> tuple[dict[str, str], bytes]:
    """Encodes a call. Raises ``invalid_request`` for a value that no header can have; the error does not repeat it."""
    body = b"" if call.body is None else _encode(call.body)
    headers = {
        "Accept": "application/json",
        "Connection": "close",
        **({"Content-Type": "application/json"} if call.body is not None else {}),
        **({"Content-Length": str(len(body))} if call.method != "GET" else {}),
        **call.headers,
        "Authorization": f"Bearer {token}",
    }
    if not all(_HEADER_VALUE.fullmatch(value) for value in headers.values()):
        raise ParleyError("invalid_request", "The token or the idempotency key contains invalid characters.")
    return headers, body


def _encode(body: Any) -> bytes:
    try:
        return json.dumps(body, allow_nan=False, separators=(",", ":")).encode()
    except (TypeError, ValueError):
        raise ParleyError("invalid_request", "The request contains a value that JSON does not have.") from None


def parse_reply(reply: Reply) -> Any:
    try:
        return json.loads(reply.body)
    except UNREADABLE_JSON:
        raise ParleyError("internal", "The reply is not JSON; check base_url.", status=reply.status) from None


def too_long_reply() -> ParleyError:
    return ParleyError("internal", "The reply is larger than 8 MiB; check base_url.")


def unreachable(origin: Origin) -> ParleyError:
    # This is an outage: the client cannot know whether the server did the work.
    return ParleyError("unavailable", f"Parley cannot be reached at {origin.url}.")


def nothing_came(seconds: float) -> ParleyError:
    return ParleyError("unavailable", f"Nothing came within {seconds:.0f} s.")
