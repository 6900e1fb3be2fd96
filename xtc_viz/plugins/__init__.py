"""XTC for programs that have none: vLLM, and the `custom_generate` of transformers."""
