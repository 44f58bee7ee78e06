"""The client for programs without an event loop.

It only carries the calls out with threads and sockets; what a call does is in ``_api.py`` and ``_flows.py``.
"""

from __future__ import annotations

import ssl
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from . import _http
from ._api import Api, choice_of
from ._calls import parse_base_url
from ._flows import Flow, Pause, Retry
from .errors import ParleyError
from .models import AnswerLink, Approval, Elicitation, Json, Outcome, RememberedApproval

if TYPE_CHECKING:
    # Type checkers provide this module for every Python version; `typing` has Unpack only since 3.11.
    from typing_extensions import Unpack

    from ._api import Question

T = TypeVar("T")


class Client:
    """A client of Parley. Threads may share it.

    A call is retried for up to ``retry.give_up`` seconds after a lost connection, a 5xx or a 429. Every call is safe to
    repeat. All calls raise :class:`ParleyError`.

    base_url: the URL of Parley, including its path if it has one.
    token: a service key, for asking; or a user's token, for answering. A function is called for every request.
    ssl_context: for https; ``ssl.create_default_context()`` when absent.

    >>> client = Client("https://parley.example.com", service_key)           # doctest: +SKIP
    >>> outcome = client.ask("ada", "Which colour?", requested_schema={      # doctest: +SKIP
    ...     "type": "object", "properties": {"colour": {"type": "string", "enum": ["red", "blue"]}},
    ...     "required": ["colour"]})
    >>> if outcome.accepted: paint(outcome.content["colour"])                # doctest: +SKIP
    """

    def __init__(
        self,
        base_url: str,
        token: str | Callable[[], str],
        *,
        retry: Retry = Retry(),
        ssl_context: ssl.SSLContext | None = None,
    ) -> None:
        if token == "":
            raise ParleyError("unauthenticated", "A client needs a token: a string, or a function.")
        self._origin = parse_base_url(base_url)
        self._token = token
        self._ssl = ssl_context or (ssl.create_default_context() if self._origin.is_secure else None)
        self._api = Api(retry)

    def ask(
        self, user_id: str, message: str, *, idempotency_key: str | None = None, **question: Unpack[Question]
    ) -> Outcome:
        """Asks a person and waits until the deadline, through outages and restarts of pods. For services.

        Raises ``unavailable`` when the outcome cannot be read by the deadline plus ``retry.grace``. Without an
        `idempotency_key`, each call creates one: a lost reply never asks twice, but a restarted process does.
        """
        return self._run(self._api.ask(user_id, message, idempotency_key, question))

    def start(
        self, user_id: str, message: str, *, idempotency_key: str | None = None, **question: Unpack[Question]
    ) -> Elicitation:
        """Asks, and returns as soon as the question exists. Keep its ``elicitationId`` for ``outcome_of``."""
        return self._run(self._api.start(user_id, message, idempotency_key, question))

    def outcome_of(self, elicitation_id: str) -> Outcome:
        """Waits for a question that was asked earlier, for example before a restart. For services."""
        return self._run(self._api.outcome_of(elicitation_id))

    def get(self, elicitation_id: str) -> Elicitation:
        """Reads a question. A service may read those of its tenant, a person only their own."""
        return self._run(self._api.get(elicitation_id))

    def list(
        self,
        *,
        status: str | Sequence[str] | None = None,
        user_id: str | None = None,
        conversation_id: str | None = None,
    ) -> Iterator[Elicitation]:
        """Lists questions, newest first. A service must give the `user_id`."""
        cursor: str | None = None
        while True:
            page = self._run(self._api.page(status, user_id, conversation_id, cursor))
            yield from page["elicitations"]
            cursor = page.get("nextCursor")
            if cursor is None:
                return

    def answer(
        self,
        elicitation_id: str,
        action: str,
        content: Json | None = None,
        *,
        response_id: str | None = None,
    ) -> Elicitation:
        """Answers in the person's name: ``accept`` with the `content` of a form, ``decline`` or ``cancel``.

        Raises ``invalid_answer``, ``already_settled`` or ``expired``.
        """
        return self._run(self._api.answer(elicitation_id, action, content, response_id))

    def complete(self, elicitation_id: str) -> Elicitation:
        """Completes a url question whose ``completion`` is ``server``. For services."""
        return self._run(self._api.complete(elicitation_id))

    def withdraw(self, elicitation_id: str, reason: str | None = None) -> Elicitation:
        """Withdraws a question; `reason` is a short lower-case code. For services. Raises ``already_settled``."""
        return self._run(self._api.withdraw(elicitation_id, reason))

    def create_answer_link(
        self,
        record_id: str,
        *,
        expires_in_seconds: int | None = None,
        allow_sensitive: bool = False,
        allow_high_risk: bool = False,
    ) -> AnswerLink:
        """Makes a link to a question or an approval, and revokes the previous one.

        One browser can answer or decide with it, without a token. For services whose key has the scope ``link``.
        """
        return self._run(
            self._api.create_answer_link(record_id, expires_in_seconds, allow_sensitive, allow_high_risk)
        )

    def revoke_answer_link(self, record_id: str) -> None:
        """Revokes the link of a question or an approval, even if a browser has opened it. For services."""
        return self._run(self._api.revoke_answer_link(record_id))

    def get_approval(self, approval_id: str) -> Approval:
        """Reads an approval. A service may read those of its tenant, a person only their own."""
        return self._run(self._api.approval(approval_id))

    def list_approvals(self, *, status: str | None = None, user_id: str | None = None) -> Iterator[Approval]:
        """Lists approvals, newest first. A service must give the `user_id`."""
        cursor: str | None = None
        while True:
            page = self._run(self._api.approval_page(status, user_id, cursor))
            yield from page["approvals"]
            cursor = page.get("nextCursor")
            if cursor is None:
                return

    def approve(self, approval_id: str, *, remember: bool = False) -> Approval:
        """Lets a tool call run, in the person's name. Sending the same decision again is safe.

        This call, ``approve_edited`` and ``deny`` raise ``already_settled`` or ``expired``.
        """
        return self._run(self._api.decide(approval_id, choice_of("approve", remember=remember)))

    def approve_edited(self, approval_id: str, arguments: Mapping[str, Any]) -> Approval:
        """Lets a tool call run with other arguments. Give all of them; masked values must stay unchanged.

        Raises ``invalid_answer`` when they do not fit the tool's schema.
        """
        return self._run(self._api.decide(approval_id, choice_of("edit", arguments=arguments)))

    def deny(self, approval_id: str, reason: str | None = None) -> Approval:
        """Denies a tool call. The model reads the `reason`."""
        return self._run(self._api.decide(approval_id, choice_of("deny", reason=reason)))

    def remembered_approvals(self) -> Sequence[RememberedApproval]:
        """The approvals of the token's owner that also apply to further calls."""
        return self._run(self._api.remembered())

    def forget_approval(self, grant_id: str) -> None:
        """Revokes a remembered approval, so that the next call of its kind asks again.

        Raises ``not_found`` when there is none. An earlier try, whose reply was lost, may have revoked it.
        """
        return self._run(self._api.forget(grant_id))

    def _run(self, flow: Flow[T]) -> T:
        result: Any = None
        error: ParleyError | None = None
        while True:
            try:
                step = flow.send(result) if error is None else flow.throw(error)
            except StopIteration as end:
                value: T = end.value
                return value
            result, error = None, None
            if isinstance(step, Pause):
                time.sleep(step.seconds)
                continue
            try:
                token = self._token() if callable(self._token) else self._token
                result = _http.send(self._origin, self._ssl, step.call, token, step.timeout)
            except ParleyError as caught:
                error = caught
