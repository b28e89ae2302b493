"""Worker processes: limits, clocks, the format of the exchange, restarts.

Import one way: ``limits`` and ``wire`` know no other module here; ``packets`` is what other
processes of the harness answer; ``clock`` reads the kernel's counters; ``keeper`` is the parent of
a process, ``control_groups`` its group, ``keeping`` both seen from the harness; ``process`` is one
process; ``requests`` says what a request asks about; ``restarting`` is one implementation, whose
process is started again as often as its limits allow; ``worker`` asks it until its failures are
sure; ``server`` runs inside the process.
"""

from harness.workers.limits import Limits
from harness.workers.requests import first_line, rows
from harness.workers.worker import Worker

__all__ = ["Limits", "Worker", "first_line", "rows"]
