"""What the clients do, without doing it: each flow yields what to send or how long to pause, and receives the reply.

Both clients run the same flows, so that they retry, wait and give up in the same way. Sockets and event loops are not
known here.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Generator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, TypeVar, cast

from ._calls import Call, Reply, parse_reply, segment
from .errors import ParleyError, error_of
from .models import END_STATUSES, Elicitation, Outcome

T = TypeVar("T")
# The error page of a proxy may ask for an hour.
_RETRY_AFTER_SECONDS_MAX = 60
# Before the first reply, a failed connection most likely means a wrong address, not an outage.
_FIRST_CONTACT_SECONDS = 1.5
# A draining pod ends a long poll early; a reply within this time counts as such an end.
_EARLY_REPLY_SECONDS = 0.5
# The time limit of the last read, after the deadline.
_LAST_READ_SECONDS = 2.0


@dataclass(frozen=True)
class Retry:
    """How a client retries. All times are in seconds.

    give_up: how long a call is retried before it fails. Waiting for an outcome has its own limit.
    first_delay: the delay before the second try; it doubles with each try, with jitter, up to ``delay_max``.
    attempt: how long one try may wait for its reply.
    grace: how long after the deadline an outcome may still come before waiting fails.
    poll: the length of one long poll, at most 60. Keep it below the idle time-out of your proxies.
    """

    give_up: float = 30.0
    first_delay: float = 0.2
    delay_max: float = 5.0
    attempt: float = 15.0
    grace: float = 10.0
    poll: int = 25


@dataclass(frozen=True)
class Send:
    call: Call
    timeout: float


@dataclass(frozen=True)
class Pause:
    seconds: float


Flow = Generator[Send | Pause, Any, T]


class Policy:
    """The retry settings of one client, and whether it has ever got a reply."""

    def __init__(self, retry: Retry) -> None:
        self.retry = retry
        self.has_reached = False


class _Backoff:
    def __init__(self, retry: Retry) -> None:
        self._retry = retry
        self._tries = 0

    def next_delay(self, retry_after: int | None = None) -> float:
        full = min(self._retry.first_delay * 2.0**self._tries, max(self._retry.first_delay, self._retry.delay_max))
        self._tries = min(self._tries + 1, 32)
        return max(full / 2, min(retry_after or 0, _RETRY_AFTER_SECONDS_MAX)) + random.random() * full / 2

    def reset(self) -> None:
        self._tries = 0


def _attempt(policy: Policy, call: Call, timeout: float) -> Flow[Any]:
    reply: Reply = yield Send(call, timeout)
    policy.has_reached = True
    if not 200 <= reply.status < 300:
        raise error_of(reply.status, reply.headers, reply.body)
    return None if reply.status == 204 else parse_reply(reply)


def request(policy: Policy, call: Call, check: Callable[[Any], T]) -> Flow[T]:
    """Tries until the result is known or the limit is reached. Only for calls that are safe to repeat."""
    retry = policy.retry
    started = time.monotonic()
    backoff = _Backoff(retry)
    while True:
        left = max(started + retry.give_up - time.monotonic(), 0.001)
        try:
            reply = yield from _attempt(policy, call, min(retry.attempt, left))
            return check(reply)
        except ParleyError as error:
            if not error.is_transient:
                raise
            delay = backoff.next_delay(error.retry_after_seconds)
            lasts = retry.give_up if policy.has_reached else min(retry.give_up, _FIRST_CONTACT_SECONDS)
            if time.monotonic() + delay >= started + lasts:
                raise
        yield Pause(delay)


def wait_for_outcome(policy: Policy, first: Elicitation) -> Flow[Outcome]:
    """Long-polls until the question has ended, through lost connections, outages and restarts of pods."""
    retry = policy.retry
    call_path = elicitation_path(first["elicitationId"], "/wait")
    give_up_at = time.monotonic() + _seconds_to_deadline(first) + retry.grace
    deadline = first["expiresAt"]
    backoff = _Backoff(retry)
    latest = first
    while latest["status"] in ("pending", "opened"):
        started = time.monotonic()
        left = give_up_at - started
        poll = min(retry.poll, max(-int(-left // 1), 0))
        timeout = min(left, poll + retry.attempt) if left > 0 else _LAST_READ_SECONDS
        delay = 0.0
        try:
            call = Call("GET", call_path, query={"timeoutSeconds": str(poll)})
            latest = elicitation_of((yield from _attempt(policy, call, timeout)))
            # An operator may have moved the deadline.
            if latest["expiresAt"] != deadline:
                deadline = latest["expiresAt"]
                give_up_at = time.monotonic() + _seconds_to_deadline(latest) + retry.grace
            if time.monotonic() - started < _EARLY_REPLY_SECONDS:
                delay = backoff.next_delay()
            else:
                backoff.reset()
        except ParleyError as error:
            if not error.is_transient:
                raise
            delay = backoff.next_delay(error.retry_after_seconds)
            if left <= 0:
                raise _unknown_outcome(first) from error
        if latest["status"] not in ("pending", "opened"):
            break
        if left <= 0 and time.monotonic() >= give_up_at:
            raise _unknown_outcome(first)
        yield Pause(max(min(delay, give_up_at - time.monotonic()), 0.0))
    return _outcome_of(latest)


def _outcome_of(ended: Elicitation) -> Outcome:
    status = ended["status"]
    # The status of a newer server must never count as an acceptance.
    if status not in END_STATUSES:
        raise ParleyError("internal", "The question ended with a status that this client does not know.")
    content = ended.get("content") or {} if status == "accepted" else {}
    return Outcome(status, content, ended, ended.get("reason"))


# Only the server's clock counts, because the local one may be wrong.
def _seconds_to_deadline(asked: Elicitation) -> float:
    try:
        return max((_instant(asked["expiresAt"]) - _instant(asked["serverTime"])).total_seconds(), 0.0)
    except (ValueError, TypeError):
        raise _not_parley() from None


# Python 3.10 cannot parse the Z.
def _instant(text: str) -> datetime:
    return datetime.fromisoformat(text.replace("Z", "+00:00"))


def _unknown_outcome(asked: Elicitation) -> ParleyError:
    return ParleyError(
        "unavailable",
        f"The deadline of {asked['elicitationId']} passed and its outcome could not be read; "
        "call outcome_of to read it later.",
    )


def elicitation_path(elicitation_id: str, action: str = "") -> str:
    return f"/v1/elicitations/{segment(elicitation_id)}{action}"


def elicitation_of(reply: Any) -> Elicitation:
    return cast(Elicitation, _with(reply, "elicitationId", "status", "expiresAt", "serverTime"))


def approval_of(reply: Any) -> Any:
    return _with(reply, "approvalId", "status")


def link_of(reply: Any) -> Any:
    return _with(reply, "url", "expiresAt")


def list_of(key: str) -> Callable[[Any], Any]:
    def check(reply: Any) -> Any:
        if isinstance(reply, Mapping) and isinstance(reply.get(key), list):
            return reply
        raise _not_parley()

    return check


def anything(reply: Any) -> None:
    return None


# This is enough to distinguish a reply of Parley from one of a proxy.
def _with(reply: Any, *keys: str) -> Any:
    if isinstance(reply, Mapping) and all(isinstance(reply.get(key), str) for key in keys):
        return reply
    raise _not_parley()


def _not_parley() -> ParleyError:
    return ParleyError("internal", "The reply does not come from Parley; check base_url.")
