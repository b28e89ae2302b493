"""The engine: cases to workers to checks to findings, and the verdict."""
