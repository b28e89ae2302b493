"""Mistakes in what a user gave: each ends a command with one line and no traceback.

The class is in a module of its own, so that who handles such errors imports none of the modules
that raise them.
"""


class UserError(Exception):
    """A mistake that the user can mend; the message names the fault and the mend in one line."""
