"""The parts of byte-pair encoding that exist for speed alone: batches, vectors, and caches."""
