"""What exists for speed alone: without this folder everything else gives the same answers."""
