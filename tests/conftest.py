"""What all tests rest on."""

import signal

from hypothesis import settings

# A shell has its background jobs ignore Ctrl-C, and children inherit that: without this line the
# tests that interrupt a command would wait for ever where CI runs in the background.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# How long an example takes is the machine's affair, and the first one compiles.
settings.register_profile("tokgate", deadline=None)
settings.load_profile("tokgate")
