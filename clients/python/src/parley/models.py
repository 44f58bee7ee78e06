"""The wire form of Parley's records, and the outcome of a question.

The keys have the names of the HTTP API, so that a record can be compared with the documentation and with logs. The
calls that return these records are in the clients.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypedDict

Json = Mapping[str, Any]
Answer = Mapping[str, str | int | float | bool | Sequence[str]]
"""The content of an answered form: one value for each field."""

Status = Literal["pending", "opened", "accepted", "declined", "cancelled", "expired", "withdrawn"]
EndStatus = Literal["accepted", "declined", "cancelled", "expired", "withdrawn"]
END_STATUSES: tuple[EndStatus, ...] = ("accepted", "declined", "cancelled", "expired", "withdrawn")


class _Ended(TypedDict, total=False):
    settledAt: str
    settledBy: Json
    reason: str


class _ElicitationRequired(TypedDict):
    elicitationId: str
    streamRequestId: str
    conversationId: str
    userId: str
    mode: Literal["form", "url"]
    message: str
    context: Json
    status: Status
    createdAt: str
    expiresAt: str
    serverTime: str


class Elicitation(_ElicitationRequired, _Ended, total=False):
    """A question, as ``GET /v1/elicitations/:id`` returns it. Times are ISO 8601."""

    title: str
    description: str
    requestedSchema: Json
    url: str
    completion: Literal["client", "server"]
    answerUrl: str
    sensitive: bool
    tags: Sequence[str]
    risk: Literal["low", "medium", "high"]
    action: Literal["accept", "decline", "cancel"]
    content: Answer


class _ApprovalRequired(TypedDict):
    approvalId: str
    streamRequestId: str
    conversationId: str
    userId: str
    toolCallId: str
    step: str
    agent: str
    tool: Json
    arguments: Json
    masked: Sequence[str]
    status: Literal["pending", "approved", "edited", "denied", "expired", "withdrawn"]
    createdAt: str
    expiresAt: str
    serverTime: str


class Approval(_ApprovalRequired, _Ended, total=False):
    """A tool call on which a person decides, as ``GET /v1/approvals/:id`` returns it. Times are ISO 8601."""

    inputSchema: Json
    remember: Literal["conversation"] | Json
    risk: Literal["low", "medium", "high"]
    tags: Sequence[str]
    decision: Literal["approve", "edit", "deny"]
    editedArguments: Json
    remembered: bool


class _RememberedRequired(TypedDict):
    grantId: str
    agent: str
    server: str
    tool: str
    grantedAt: str
    expiresAt: str


class RememberedApproval(_RememberedRequired, total=False):
    """An approval that also applies to further calls of this tool by this agent."""

    conversationId: str


class AnswerLink(TypedDict):
    """A link with which one browser answers one question. Its part after ``#`` is a secret: do not store it."""

    url: str
    expiresAt: str


@dataclass(frozen=True)
class Outcome:
    """How a question ended. Only ``accepted`` is consent; the other four never are.

    ``content`` is the answer of an accepted form, and ``{}`` otherwise. ``reason`` says why a question was withdrawn.
    """

    status: EndStatus
    content: Mapping[str, Any]
    elicitation: Elicitation
    reason: str | None = None

    @property
    def accepted(self) -> bool:
        """True only if the person agreed."""
        return self.status == "accepted"

    def __repr__(self) -> str:
        # A logged outcome must not show the answer.
        return f"Outcome(status={self.status!r}, elicitationId={self.elicitation['elicitationId']!r})"
