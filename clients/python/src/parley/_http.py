"""Sends one call with http.client."""

from __future__ import annotations

import http.client
import io
import socket
import ssl
import time
from typing import Any

from ._calls import (
    REPLY_BYTES_MAX,
    Call,
    Origin,
    Reply,
    head_and_body,
    nothing_came,
    target_of,
    too_long_reply,
    unreachable,
)

_CHUNK = 64 * 1024


def send(origin: Origin, context: ssl.SSLContext | None, call: Call, token: str, timeout: float) -> Reply:
    """Makes one try: `timeout` seconds for the reply, and as many for each step of connecting. Follows no redirects."""
    headers, body = head_and_body(call, token)
    connection = (
        http.client.HTTPSConnection(origin.host, origin.port, timeout=timeout, context=context)
        if origin.is_secure
        else http.client.HTTPConnection(origin.host, origin.port, timeout=timeout)
    )
    response = None
    try:
        connection.request(call.method, target_of(origin, call), body or None, headers)
        response = _read_head(connection.sock, call.method, time.monotonic() + timeout)
        chunks: list[bytes] = []
        size = 0
        while chunk := response.read1(_CHUNK):
            chunks.append(chunk)
            size += len(chunk)
            if size > REPLY_BYTES_MAX:
                raise too_long_reply()
        if response.length:
            # The connection ended within the body.
            raise unreachable(origin)
        replied = {name.lower(): value for name, value in response.getheaders()}
        return Reply(response.status, replied, b"".join(chunks))
    except TimeoutError:
        raise nothing_came(timeout) from None
    except (OSError, http.client.HTTPException) as error:
        raise unreachable(origin) from error
    finally:
        if response is not None:
            response.close()
        connection.close()


def _read_head(sock: socket.socket, method: str, ends_at: float) -> http.client.HTTPResponse:
    response: Any = http.client.HTTPResponse(sock, method=method)
    response.fp.close()
    reader: Any = io.BufferedReader(_Timed(sock, ends_at))
    response.fp = reader
    try:
        response.begin()
        # http.client skips only 100 of the interim replies, so the others are skipped here.
        while response.status < 200:
            response.headers = None
            response.begin()
    except BaseException:
        response.close()
        raise
    head: http.client.HTTPResponse = response
    return head


class _Timed(io.RawIOBase):
    """Reads from a socket until a time. Otherwise a server that sends byte by byte could block a thread for hours."""

    def __init__(self, sock: socket.socket, ends_at: float) -> None:
        self._raw = sock.makefile("rb", buffering=0)
        self._sock = sock
        self._ends_at = ends_at

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int | None:
        left = self._ends_at - time.monotonic()
        if left <= 0:
            raise TimeoutError
        self._sock.settimeout(left)
        return self._raw.readinto(buffer)

    def close(self) -> None:
        self._raw.close()
        super().close()
