"""XTC for vLLM, which has none, as a logits processor of a request's own settings.

    vllm serve MODEL --logits-processors xtc_viz.plugins.vllm.v1:XTC    # the V1 model runner
    vllm serve MODEL --logits-processors xtc_viz.plugins.vllm.v2:XTC    # the V2 model runner

There is no entry point: V2 refuses to start where any package has one of V1's kind.
`docs/plugins.md` says what a request may ask for (`parameters`).
"""
