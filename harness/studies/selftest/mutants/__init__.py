"""The planted mistakes, one family a file: a table of rows (:mod:`..mutant`).

Each row changes a right implementation: its name, what is wrong, inputs that show it, and the
change. What rows have in common (the check that catches them, the vocabulary, the mode) stands
above the table.
"""
