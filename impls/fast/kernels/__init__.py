"""The processor's instructions that Numba does not give: on bits, on eight bytes, on sixty-four."""
