"""The planted mistakes, one family a file.

Each overrides one method of an implementation that is right; the docstrings of those methods say
what the method is for, those of the classes here what is wrong.
"""
