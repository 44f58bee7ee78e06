"""Ask a person and await the outcome: the Python client of Parley. It needs only the standard library."""

from . import webhooks
from ._api import Question
from ._flows import Retry
from .aio import AsyncClient
from .client import Client
from .errors import ParleyError
from .models import AnswerLink, Approval, Elicitation, Outcome, RememberedApproval

__all__ = [
    "AnswerLink",
    "Approval",
    "AsyncClient",
    "Client",
    "Elicitation",
    "Outcome",
    "ParleyError",
    "Question",
    "RememberedApproval",
    "Retry",
    "webhooks",
]
