"""Right implementations in plain Python, made to have single rules changed.

Slow, and no less exact: each is a control of the hunt on which nothing may be found.
"""
