"""The definition of byte-pair encoding, compiled as it stands and by a heap.

All other algorithms are checked against it.
"""
