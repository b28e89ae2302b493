"""The verdict:

findings against expectations, growth against its bounds, one run against another.
"""
