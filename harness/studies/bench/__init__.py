"""``tokgate bench``: what is measured, how, and what a person sees meanwhile."""
