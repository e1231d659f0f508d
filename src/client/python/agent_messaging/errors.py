"""The one error that this package raises for what the service, the network or its own input did."""
from __future__ import annotations

import json
import re
from typing import Any

_FIELD = re.compile(r"([\w.\[\]-]+): ")
_SECONDS = re.compile(r"\s*[0-9]{1,9}(?:\.[0-9]{1,9})?\s*")


class AmsError(Exception):
    """What went wrong: a code of the service's error body, or one of the client's own.

    - ``unreachable``: no answer from the service (network failure or timeout)
    - ``bad_response``: an answer that is not the service's, for example a proxy's page or a redirect
    - ``replaced``: another client connected as this agent
    - ``bad_signature``: a webhook request that the service did not sign, or one that is too old
    - ``not_stored``: a message to a Message URL, of which the service has no copy
    """

    def __init__(
        self,
        code: str,
        message: str,
        *,
        status: int | None = None,
        retry_after: float | None = None,
        request_id: str | None = None,
        reason: str | None = None,
        message_id: str | None = None,
    ) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        #: The HTTP status, if the service answered.
        self.status = status
        #: Seconds after which a retry can succeed, if the service named them.
        self.retry_after = retry_after
        #: The id of the request in the service's log.
        self.request_id = request_id
        #: ``key_reused``: the idempotency key was used for another request.
        self.reason = reason
        #: With ``key_reused``: the message that the first request sent.
        self.message_id = message_id
        named = _FIELD.match(message) if code == "invalid_input" else None
        #: With ``invalid_input``: the part of the request that broke a rule, such as ``to[0]``.
        self.field: str | None = named.group(1) if named else None

    @property
    def is_temporary(self) -> bool:
        """Whether the same request can succeed later; 409 only while the first attempt of a POST still runs."""
        if self.code == "unreachable" or self.status in (429, 500, 502, 503, 504):
            return True
        return self.status == 409 and "Idempotency-Key" in self.message


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is not JSON")


def parse_json(text: str) -> Any:
    """Raises ValueError, also for what is nested too deeply to be read, and for NaN, which Python takes for JSON."""
    try:
        return json.loads(text, parse_constant=_no_constant)
    except RecursionError:
        raise ValueError("nested too deeply") from None


def field_of(answer: Any, name: str | int) -> Any:
    """A field of a response, or an item of one that is a list."""
    try:
        return answer[name]
    except (LookupError, TypeError):
        raise AmsError("bad_response", f"The response has no {name}, it is not the service's.") from None


def error_of(status: int, headers: dict[str, str], text: str) -> AmsError:
    """The error of a response that is not a success."""
    seconds = headers.get("retry-after", "")
    retry_after = float(seconds) if _SECONDS.fullmatch(seconds) else None
    request_id = headers.get("x-request-id")
    try:
        error = parse_json(text)["error"]
        code, message = error["code"], error["message"]
        if isinstance(code, str) and isinstance(message, str):
            return AmsError(
                code,
                message,
                status=status,
                retry_after=retry_after,
                request_id=request_id,
                reason=error.get("reason"),
                message_id=error.get("messageId"),
            )
    except (ValueError, LookupError, TypeError):
        pass
    hint = " (a redirect: use the URL that it leads to)" if 300 <= status < 400 else ""
    said = f"Unexpected response with status {status}{hint}"
    return AmsError("bad_response", said, status=status, retry_after=retry_after, request_id=request_id)
