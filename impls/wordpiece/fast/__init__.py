"""What exists for the speed of WordPiece alone: without it all stays as it is."""
