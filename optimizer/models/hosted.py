"""Hosted models by the names that litellm gives them: openai/gpt-4o-mini, anthropic/claude-..., and so on."""

from __future__ import annotations

import os

from optimizer.errors import UsageError
from optimizer.models.endpoint import Endpoint


def hosted_endpoint(model: str) -> Endpoint:
    """The endpoint of a provider's model. Imports litellm, which takes seconds.

    Raises:
        UsageError: the name before the slash is no provider that litellm knows.
    """
    os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")  # it would fetch its price table from the network
    import litellm

    provider = model.partition("/")[0]
    known = {str(getattr(each, "value", each)) for each in litellm.provider_list}
    if provider not in known:
        raise UsageError(
            f"--model {model!r}: {provider!r} is no provider that litellm knows; write openai/NAME, anthropic/NAME and the like, "
            "give --base-url for a server of your own, or an embedded model (optimizer models list)"
        )
    prices = litellm.model_cost.get(model) or litellm.model_cost.get(model.partition("/")[2]) or {}
    return Endpoint(
        base_url="",
        model=model,
        identity=f"hosted:{model}",
        engine="litellm",
        context=int(prices.get("max_input_tokens") or 0),
        schema_support=bool(litellm.supports_response_schema(model=model)),
    )
