"""What all tests rest on."""

import os
import signal

from hypothesis import settings

from corpora.families.user import VARIABLE

# A shell has its background jobs ignore Ctrl-C, and children inherit that: without this line the
# tests that interrupt a command would wait for ever where CI runs in the background.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# Families that whoever runs the tests has kept of a search are no part of them.
os.environ.setdefault(VARIABLE, "")

# How long an example takes is the machine's affair, and the first one compiles.
settings.register_profile("tokgate", deadline=None)
settings.load_profile("tokgate")
