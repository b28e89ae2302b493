"""What exists for the speed of unigram alone: without it all stays as it is."""
