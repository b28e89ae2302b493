"""SentencePiece's unigram, faster: without this package all stays as it is."""
