"""The gate in front of every route of the page, gradio's own included: who may ask what."""
