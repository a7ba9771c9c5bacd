"""Counting tokens: by a server that speaks the Messages API, and by the simulator as it counts them itself."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import anthropic
import httpx2

from memdash.answerer import check_key
from memdash.calibration import Count
from memdash.errors import CountError, InputError
from memdash.simulator.engine import Caller, Engine, SimulatorConfig
from memdash.simulator.errors import ApiError


@contextmanager
def live_counter() -> Iterator[Count]:
    """Give what counts by ``POST /v1/messages/count_tokens``, which is free and needs a key.

    Raises :class:`InputError` without a key; what is given raises :class:`CountError` where the server does not count.
    """
    check_key("counting tokens by the API")
    with anthropic.Anthropic() as sdk:
        yield lambda body: _count(sdk, body)


def _count(sdk: anthropic.Anthropic, body: Mapping[str, Any]) -> int:
    try:
        answer = sdk.messages.count_tokens(**body)
    except anthropic.NotFoundError as error:
        said = error.api_message or "not found"
        raise CountError(f"the server does not count tokens for this model (404: {said})") from None
    except anthropic.APIStatusError as error:
        said = error.api_message or str(error)
        raise CountError(f"the server refused to count tokens ({error.status_code}: {said})") from None
    except anthropic.APIConnectionError as error:
        raise CountError(f"there is no server to count tokens: {error}") from None
    except (anthropic.APIError, httpx2.HTTPError, ValueError) as error:
        raise CountError(f"the server's answer to a count of tokens cannot be read: {error}") from None
    counted = answer.input_tokens if isinstance(answer, anthropic.BaseModel) else None
    if not isinstance(counted, int):  # the SDK hands on whatever it was sent
        raise CountError("the server's answer to a count of tokens holds no input_tokens")
    return counted


def simulated_counter(token_counter: str) -> tuple[Count, str]:
    """Return what counts as the simulator does, and the token counter's name with its version.

    Raises :class:`InputError` for a counter that is not installed; what is returned raises it for a body the simulator refuses.
    """
    engine = Engine(SimulatorConfig(token_counter=token_counter))
    caller = Caller(key="calibration", api_version="2026-10-21", betas=frozenset())

    def count(body: Mapping[str, Any]) -> int:
        try:
            return int(engine.count_tokens(body, caller, 0.0)["input_tokens"])
        except ApiError as error:
            raise InputError(f"the simulator cannot count a block of the script: {error}") from None

    return count, engine.token_counter.name
