"""Sends one call with http.client."""

from __future__ import annotations

import http.client
import ssl
import time

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
    """One try of about `timeout` seconds, which also limits each single wait for bytes. It follows no redirect."""
    headers, body = head_and_body(call, token)
    ends_at = time.monotonic() + timeout
    connection = (
        http.client.HTTPSConnection(origin.host, origin.port, timeout=timeout, context=context)
        if origin.is_secure
        else http.client.HTTPConnection(origin.host, origin.port, timeout=timeout)
    )
    try:
        connection.request(call.method, target_of(origin, call), body or None, headers)
        response = connection.getresponse()
        chunks: list[bytes] = []
        size = 0
        while chunk := response.read1(_CHUNK):
            chunks.append(chunk)
            size += len(chunk)
            if size > REPLY_BYTES_MAX:
                raise too_long_reply()
            if time.monotonic() > ends_at:
                raise nothing_came(timeout)
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
        connection.close()
