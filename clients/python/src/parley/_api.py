"""The calls of the HTTP API as flows, shared by both clients so that they never differ.

Sending, waiting and retrying are not here: the flows of ``_flows.py`` describe them, and the clients carry them out.
"""

from __future__ import annotations

import secrets
from collections.abc import Mapping, Sequence
from typing import Any, TypedDict

from ._calls import Call, segment
from ._flows import (
    Flow,
    Policy,
    Retry,
    anything,
    approval_of,
    elicitation_of,
    elicitation_path,
    link_of,
    list_of,
    request,
    wait_for_outcome,
)
from .errors import ParleyError
from .models import AnswerLink, Approval, Elicitation, Json, Outcome, RememberedApproval


class Question(TypedDict, total=False):
    """The options of a question, in addition to the person and the message.

    requested_schema: the form, a flat JSON Schema object (docs/http-api.md). Give this or ``url``.
    url: the https page that the person opens. ``completion="server"`` waits for ``complete``.
    title, description: shown above and below the message.
    sensitive: the answer must be kept from the model.
    risk: ``low``, ``medium`` or ``high``: how much harm a wrong answer can do. Inboxes list the highest first.
    context: why the question is asked; ``trigger`` is a short code such as ``credential_required``.
    tags: up to ten short labels by which operators find the question. They are no content.
    conversation_id, stream_request_id: where the question belongs; both are created when absent.
    on_unavailable: the content with which you continue when the question cannot be shown; it is never an answer.
    webhook_url: an https URL that receives a signed POST when the question ends.
    timeout_seconds: 1 to 604800, 600 when absent.
    """

    requested_schema: Json
    url: str
    completion: str
    title: str
    description: str
    sensitive: bool
    risk: str
    context: Json
    tags: Sequence[str]
    conversation_id: str
    stream_request_id: str
    on_unavailable: Json
    webhook_url: str
    timeout_seconds: int


_WIRE = {
    "requested_schema": "requestedSchema",
    "conversation_id": "conversationId",
    "stream_request_id": "streamRequestId",
    "webhook_url": "webhookUrl",
    "timeout_seconds": "timeoutSeconds",
}


class Api:
    def __init__(self, retry: Retry) -> None:
        self._policy = Policy(retry)

    def start(
        self, user_id: str, message: str, idempotency_key: str | None, question: Mapping[str, Any]
    ) -> Flow[Elicitation]:
        # A repeated try after a lost reply must not ask twice.
        key = idempotency_key or secrets.token_urlsafe(24)
        body = _question(user_id, message, question)
        return request(
            self._policy,
            Call("POST", "/v1/elicitations", body=body, headers={"Idempotency-Key": key}),
            elicitation_of,
        )

    def ask(
        self, user_id: str, message: str, idempotency_key: str | None, question: Mapping[str, Any]
    ) -> Flow[Outcome]:
        asked = yield from self.start(user_id, message, idempotency_key, question)
        return (yield from wait_for_outcome(self._policy, asked))

    def outcome_of(self, elicitation_id: str) -> Flow[Outcome]:
        asked = yield from self.get(elicitation_id)
        return (yield from wait_for_outcome(self._policy, asked))

    def get(self, elicitation_id: str) -> Flow[Elicitation]:
        return request(self._policy, Call("GET", elicitation_path(elicitation_id)), elicitation_of)

    def page(
        self,
        status: str | Sequence[str] | None,
        user_id: str | None,
        conversation_id: str | None,
        cursor: str | None,
    ) -> Flow[Mapping[str, Any]]:
        query = {
            "status": status if isinstance(status, str) else ",".join(status or ()) or None,
            "userId": user_id,
            "conversationId": conversation_id,
            "cursor": cursor,
        }
        return request(self._policy, Call("GET", "/v1/elicitations", query=query), list_of("elicitations"))

    def answer(
        self, elicitation_id: str, action: str, content: Json | None, response_id: str | None
    ) -> Flow[Elicitation]:
        # Every try carries the same id, so the answer counts once.
        body = {"action": action, "responseId": response_id or secrets.token_urlsafe(24)}
        call = Call(
            "POST",
            elicitation_path(elicitation_id, "/response"),
            body=body if content is None else {**body, "content": content},
        )
        return request(self._policy, call, elicitation_of)

    def complete(self, elicitation_id: str) -> Flow[Elicitation]:
        call = Call("POST", elicitation_path(elicitation_id, "/complete"), body={})
        return request(self._policy, call, elicitation_of)

    def withdraw(self, elicitation_id: str, reason: str | None) -> Flow[Elicitation]:
        body = {} if reason is None else {"reason": reason}
        return request(self._policy, Call("DELETE", elicitation_path(elicitation_id), body=body), elicitation_of)

    def create_answer_link(
        self, record_id: str, expires_in_seconds: int | None, allow_sensitive: bool, allow_high_risk: bool
    ) -> Flow[AnswerLink]:
        body: dict[str, Any] = {}
        if allow_sensitive:
            body["allowSensitive"] = True
        if allow_high_risk:
            body["allowHighRisk"] = True
        if expires_in_seconds is not None:
            body["expiresInSeconds"] = expires_in_seconds
        return request(self._policy, Call("POST", _link_path(record_id), body=body), link_of)

    def revoke_answer_link(self, record_id: str) -> Flow[None]:
        return request(self._policy, Call("DELETE", _link_path(record_id)), anything)

    def approval(self, approval_id: str) -> Flow[Approval]:
        return request(self._policy, Call("GET", f"/v1/approvals/{segment(approval_id)}"), approval_of)

    def approval_page(self, status: str | None, user_id: str | None, cursor: str | None) -> Flow[Mapping[str, Any]]:
        query = {"status": status, "userId": user_id, "cursor": cursor}
        return request(self._policy, Call("GET", "/v1/approvals", query=query), list_of("approvals"))

    def decide(self, approval_id: str, choice: Json) -> Flow[Approval]:
        call = Call("POST", f"/v1/approvals/{segment(approval_id)}/response", body=choice)
        return request(self._policy, call, approval_of)

    def remembered(self) -> Flow[Sequence[RememberedApproval]]:
        reply = yield from request(self._policy, Call("GET", "/v1/approval-grants"), list_of("grants"))
        grants: Sequence[RememberedApproval] = reply["grants"]
        return grants

    def forget(self, grant_id: str) -> Flow[None]:
        return request(self._policy, Call("DELETE", f"/v1/approval-grants/{segment(grant_id)}"), anything)


def _link_path(record_id: str) -> str:
    if record_id.startswith("ap_"):
        return f"/v1/approvals/{segment(record_id)}/answer-link"
    return elicitation_path(record_id, "/answer-link")


def _question(user_id: str, message: str, question: Mapping[str, Any]) -> Mapping[str, Any]:
    unknown = sorted(set(question) - set(Question.__annotations__))
    if unknown:
        raise ParleyError("invalid_request", f"A question has no {', '.join(unknown)}.")
    body: dict[str, Any] = {_WIRE.get(name, name): value for name, value in question.items() if value is not None}
    if (on_unavailable := body.pop("on_unavailable", None)) is not None:
        body["onUnavailable"] = {"content": on_unavailable}
    mode = "url" if "url" in body else "form"
    return {"userId": user_id, "mode": mode, "message": message, **body}


def choice_of(decision: str, arguments: Json | None = None, reason: str | None = None, remember: bool = False) -> Json:
    given = {"arguments": arguments, "reason": reason, "remember": remember or None}
    return {"decision": decision, **{name: value for name, value in given.items() if value is not None}}
