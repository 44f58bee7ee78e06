"""The one exception of this client, and how it is made from a reply of the server."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

_CODE_OF_STATUS = {
    400: "invalid_request",
    401: "unauthenticated",
    403: "forbidden",
    404: "not_found",
    410: "expired",
    413: "too_large",
    422: "invalid_answer",
    429: "rate_limited",
    503: "unavailable",
}
# A proxy sends these statuses for a pod that did not answer, whatever their body says.
_TRANSIENT_STATUSES = (408, 502, 504)
_FIELDS_NAMED_MAX = 3
# The errors of json.loads; RecursionError for text that is nested too deeply for Python.
UNREADABLE_JSON = (ValueError, RecursionError)


class ParleyError(Exception):
    """A refused or failed call.

    ``code`` is stable (docs/http-api.md lists the codes). ``unavailable`` means that the result is unknown: the server
    could not be reached, or did not reply in time. Neither the message nor ``repr`` contains tokens or answers. They
    leave out ``problem``, the server's problem document (RFC 9457), which may contain an answer.
    """

    def __init__(
        self,
        code: str,
        message: str,
        *,
        status: int | None = None,
        retry_after_seconds: int | None = None,
        problem: Mapping[str, Any] | None = None,
    ) -> None:
        super().__init__(message)
        self.code = code
        self.status = status
        self.retry_after_seconds = retry_after_seconds
        self.problem: Mapping[str, Any] = problem or {}

    @property
    def is_transient(self) -> bool:
        """Whether the same call may succeed if it is repeated."""
        return self.code in ("unavailable", "rate_limited", "read_quota") or (self.status or 0) >= 500


def error_of(status: int, headers: Mapping[str, str], body: bytes) -> ParleyError:
    """The error for a reply that is not 2xx. Header names are in lower case."""
    problem = _problem_of(headers.get("content-type", ""), body)
    code = problem.get("code")
    if status in _TRANSIENT_STATUSES:
        code = "unavailable"
    elif not isinstance(code, str):
        code = _CODE_OF_STATUS.get(status, "internal" if status >= 500 else "invalid_request")
    return ParleyError(
        code,
        _message_of(problem) or f"The server answered with status {status}.",
        status=status,
        retry_after_seconds=_retry_after_of(headers.get("retry-after", "")),
        problem=problem,
    )


def _problem_of(content_type: str, body: bytes) -> Mapping[str, Any]:
    if not content_type.startswith("application/problem+json"):
        return {}
    try:
        problem = json.loads(body)
    except UNREADABLE_JSON:
        return {}
    return problem if isinstance(problem, dict) else {}


def _message_of(problem: Mapping[str, Any]) -> str | None:
    detail = problem.get("detail")
    errors = problem.get("errors")
    if not isinstance(detail, str) or not isinstance(errors, list) or not errors:
        return detail if isinstance(detail, str) else None
    named = errors[:_FIELDS_NAMED_MAX]
    if not all(isinstance(fault, dict) for fault in named):
        return detail
    faults = [f"{fault.get('path')}: {fault.get('message')}" for fault in named]
    others = len(errors) - len(faults)
    return f"{detail} {'; '.join(faults)}{f'; and {others} more' if others else ''}"


# The date form is ignored, because it depends on the local clock, which may be wrong. Then the back-off decides.
def _retry_after_of(header: str) -> int | None:
    return int(header) if re.fullmatch(r"[0-9]{1,9}", header) else None
