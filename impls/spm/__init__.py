"""SentencePiece BPE, in the variants of SentencePiece itself and of llama.cpp (its "SPM")."""
