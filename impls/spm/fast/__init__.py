"""What exists for the speed of SentencePiece BPE alone: without it all stays as it is."""
