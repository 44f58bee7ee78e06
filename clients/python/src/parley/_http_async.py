"""Sends one call with the streams of asyncio, so that thousands of waits need no thread each."""

from __future__ import annotations

import asyncio
import http.client
import io
import ssl

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

_HEAD_BYTES_MAX = 64 * 1024
# No hexadecimal chunk length has more digits than this.
_CHUNK_SIZE_DIGITS = 8


async def send(origin: Origin, context: ssl.SSLContext | None, call: Call, token: str, timeout: float) -> Reply:
    """Makes one try of at most `timeout` seconds. A cancelled task closes the connection. Follows no redirects."""
    try:
        return await asyncio.wait_for(_exchange(origin, context, call, token), timeout)
    except asyncio.TimeoutError:
        raise nothing_came(timeout) from None
    except (OSError, EOFError, ValueError, http.client.HTTPException, asyncio.LimitOverrunError) as error:
        raise unreachable(origin) from error


async def _exchange(origin: Origin, context: ssl.SSLContext | None, call: Call, token: str) -> Reply:
    headers, body = head_and_body(call, token)
    reader, writer = await asyncio.open_connection(
        origin.host, origin.port, ssl=context if origin.is_secure else None, limit=_HEAD_BYTES_MAX
    )
    try:
        host = origin.url.split("://", 1)[1][: -len(origin.path) or None]
        lines = [f"{call.method} {target_of(origin, call)} HTTP/1.1", f"Host: {host}"]
        lines += [f"{name}: {value}" for name, value in headers.items()]
        writer.write("\r\n".join(lines).encode("ascii") + b"\r\n\r\n" + body)
        await writer.drain()
        status, replied = await _read_head(reader)
        return Reply(status, replied, await _read_body(reader, status, replied))
    finally:
        writer.close()


async def _read_head(reader: asyncio.StreamReader) -> tuple[int, dict[str, str]]:
    while True:
        head = await reader.readuntil(b"\r\n\r\n")
        first, _, rest = head.partition(b"\r\n")
        version, status, *_ = first.decode("latin-1").split(" ", 2)
        if not version.startswith("HTTP/1."):
            raise http.client.BadStatusLine("not HTTP/1")
        if not 100 <= int(status) < 200:
            fields = http.client.parse_headers(io.BytesIO(rest))
            return int(status), {name.lower(): value for name, value in fields.items()}


async def _read_body(reader: asyncio.StreamReader, status: int, headers: dict[str, str]) -> bytes:
    if status in (204, 304):
        return b""
    if headers.get("transfer-encoding", "").lower() == "chunked":
        return await _read_chunks(reader)
    length = headers.get("content-length")
    if length is None:
        body = await reader.read(REPLY_BYTES_MAX + 1)
        while chunk := await reader.read(REPLY_BYTES_MAX + 1 - len(body)):
            body += chunk
    elif int(length) <= REPLY_BYTES_MAX:
        return await reader.readexactly(int(length))
    else:
        raise too_long_reply()
    if len(body) > REPLY_BYTES_MAX:
        raise too_long_reply()
    return body


async def _read_chunks(reader: asyncio.StreamReader) -> bytes:
    chunks: list[bytes] = []
    size = 0
    while True:
        line = await reader.readuntil(b"\r\n")
        digits = line.split(b";", 1)[0].strip()
        if len(digits) > _CHUNK_SIZE_DIGITS:
            raise too_long_reply()
        length = int(digits, 16)
        size += length
        if size > REPLY_BYTES_MAX:
            raise too_long_reply()
        if length == 0:
            return b"".join(chunks)
        chunks.append(await reader.readexactly(length))
        await reader.readexactly(2)
