"""SentencePiece BPE, in the dialects of SentencePiece itself and of llama.cpp (its "SPM")."""
