"""The client for programs with an event loop.

It adds nothing to the calls of ``client.py`` but ``async``; what a call does is in ``_api.py`` and ``_flows.py``.
"""

from __future__ import annotations

import asyncio
import inspect
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from . import _http_async
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


class AsyncClient:
    """The calls of :class:`parley.Client` for asyncio. Cancelling a call ends the waiting, not the question.

    token: see ``Client``; the function may be asynchronous.
    """

    def __init__(
        self,
        base_url: str,
        token: str | Callable[[], str | Awaitable[str]],
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

    async def ask(
        self, user_id: str, message: str, *, idempotency_key: str | None = None, **question: Unpack[Question]
    ) -> Outcome:
        """See :meth:`parley.Client.ask`."""
        return await self._run(self._api.ask(user_id, message, idempotency_key, question))

    async def start(
        self, user_id: str, message: str, *, idempotency_key: str | None = None, **question: Unpack[Question]
    ) -> Elicitation:
        """See :meth:`parley.Client.start`."""
        return await self._run(self._api.start(user_id, message, idempotency_key, question))

    async def outcome_of(self, elicitation_id: str) -> Outcome:
        """See :meth:`parley.Client.outcome_of`."""
        return await self._run(self._api.outcome_of(elicitation_id))

    async def get(self, elicitation_id: str) -> Elicitation:
        """See :meth:`parley.Client.get`."""
        return await self._run(self._api.get(elicitation_id))

    async def list(
        self,
        *,
        status: str | Sequence[str] | None = None,
        user_id: str | None = None,
        conversation_id: str | None = None,
    ) -> AsyncIterator[Elicitation]:
        """See :meth:`parley.Client.list`."""
        cursor: str | None = None
        while True:
            page = await self._run(self._api.page(status, user_id, conversation_id, cursor))
            for each in page["elicitations"]:
                yield each
            cursor = page.get("nextCursor")
            if cursor is None:
                return

    async def answer(
        self,
        elicitation_id: str,
        action: str,
        content: Json | None = None,
        *,
        response_id: str | None = None,
    ) -> Elicitation:
        """See :meth:`parley.Client.answer`."""
        return await self._run(self._api.answer(elicitation_id, action, content, response_id))

    async def complete(self, elicitation_id: str) -> Elicitation:
        """See :meth:`parley.Client.complete`."""
        return await self._run(self._api.complete(elicitation_id))

    async def withdraw(self, elicitation_id: str, reason: str | None = None) -> Elicitation:
        """See :meth:`parley.Client.withdraw`."""
        return await self._run(self._api.withdraw(elicitation_id, reason))

    async def create_answer_link(
        self,
        record_id: str,
        *,
        expires_in_seconds: int | None = None,
        allow_sensitive: bool = False,
        allow_high_risk: bool = False,
    ) -> AnswerLink:
        """See :meth:`parley.Client.create_answer_link`."""
        return await self._run(
            self._api.create_answer_link(record_id, expires_in_seconds, allow_sensitive, allow_high_risk)
        )

    async def revoke_answer_link(self, record_id: str) -> None:
        """See :meth:`parley.Client.revoke_answer_link`."""
        return await self._run(self._api.revoke_answer_link(record_id))

    async def get_approval(self, approval_id: str) -> Approval:
        """See :meth:`parley.Client.get_approval`."""
        return await self._run(self._api.approval(approval_id))

    async def list_approvals(self, *, status: str | None = None, user_id: str | None = None) -> AsyncIterator[Approval]:
        """See :meth:`parley.Client.list_approvals`."""
        cursor: str | None = None
        while True:
            page = await self._run(self._api.approval_page(status, user_id, cursor))
            for each in page["approvals"]:
                yield each
            cursor = page.get("nextCursor")
            if cursor is None:
                return

    async def approve(self, approval_id: str, *, remember: bool = False) -> Approval:
        """See :meth:`parley.Client.approve`."""
        return await self._run(self._api.decide(approval_id, choice_of("approve", remember=remember)))

    async def approve_edited(self, approval_id: str, arguments: Mapping[str, Any]) -> Approval:
        """See :meth:`parley.Client.approve_edited`."""
        return await self._run(self._api.decide(approval_id, choice_of("edit", arguments=arguments)))

    async def deny(self, approval_id: str, reason: str | None = None) -> Approval:
        """See :meth:`parley.Client.deny`."""
        return await self._run(self._api.decide(approval_id, choice_of("deny", reason=reason)))

    async def remembered_approvals(self) -> Sequence[RememberedApproval]:
        """See :meth:`parley.Client.remembered_approvals`."""
        return await self._run(self._api.remembered())

    async def forget_approval(self, grant_id: str) -> None:
        """See :meth:`parley.Client.forget_approval`."""
        return await self._run(self._api.forget(grant_id))

    async def _run(self, flow: Flow[T]) -> T:
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
                await asyncio.sleep(step.seconds)
                continue
            try:
                token = self._token() if callable(self._token) else self._token
                text = await token if inspect.isawaitable(token) else token
                result = await _http_async.send(self._origin, self._ssl, step.call, text, step.timeout)
            except ParleyError as caught:
                error = caught
