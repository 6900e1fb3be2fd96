"""From logits to a token: the XTC rule, the stack around it, and what follows from its record."""
