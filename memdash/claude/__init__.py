"""The one place that builds an SDK client and a request, and reads usage from a response."""

from memdash.claude.clients import Claude, Pending, connect
from memdash.claude.diagnosis import BETA as DIAGNOSIS_BETA
from memdash.claude.diagnosis import CacheDiagnosis, without_question
from memdash.claude.request import Request, RequestBuilder
from memdash.claude.response import Refused, Response, refused_by_api
from memdash.usage import read_iterations, read_usage

__all__ = [
    "DIAGNOSIS_BETA",
    "CacheDiagnosis",
    "Claude",
    "Pending",
    "Refused",
    "Request",
    "RequestBuilder",
    "Response",
    "connect",
    "read_iterations",
    "read_usage",
    "refused_by_api",
    "without_question",
]
