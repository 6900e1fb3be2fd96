"""Dynamic temperature: how hot a step runs, by how unsure the model is."""

from __future__ import annotations

from math import log, pow


def dynamic_temperature(
    temperature: float, spread: float, exponent: float, entropy: float, support: int
) -> float:
    """Return the temperature of a step, between temperature - spread and temperature + spread.

        low + (high - low) · (entropy / log(support))^exponent,
        low = max(0, temperature - spread), high = temperature + spread

    This is `llama_sampler_temp_ext_apply` of llama.cpp (src/llama-sampler.cpp) and koboldcpp's
    `sample_entropy`, under their names `dynatemp_range` and `dynatemp_exponent`. As there, a
    spread of 0 gives the temperature itself, and so does a single token, whose probability is 1
    at any temperature. text-generation-webui (`DynamicTemperatureLogitsWarper`) has the same
    formula with both ends given instead, `dynatemp_low` and `dynatemp_high`, beside a temperature
    that then does nothing.

    Args:
        temperature: at least 0.
        spread: at least 0, 0 is off.
        exponent: at least 0; above 1 it takes more entropy to be hot, at 0 every step is.
        entropy: of the distribution that reaches this stage, in nats.
        support: how many tokens are left in it. llama.cpp counts those that top-n-sigma masked
            just before, too, and so runs colder behind it.

    Returns:
        A value in [low, high]. It may be 0, or too small to divide a logit by: then the most
        probable token is meant.
    """
    if spread <= 0.0 or support <= 1:
        return temperature
    low, high = max(0.0, temperature - spread), temperature + spread
    share = min(1.0, max(0.0, entropy / log(support)))  # rounding may leave [0, 1]
    return low + (high - low) * pow(share, exponent)
