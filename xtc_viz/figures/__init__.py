"""Records in, plotly figures out."""
