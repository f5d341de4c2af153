# SPDX-License-Identifier: MIT
"""What must not happen to the Python package: several threads at once."""

import gc
import sys
import threading

import perfdata


def run_all(functions):
    threads = [threading.Thread(target=function, daemon=True) for function in functions]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    return not any(thread.is_alive() for thread in threads)


def check_shared_flame(require):
    """The tree is made when it is asked for, by one of the threads."""
    recording = perfdata.open("hot.data", symbols=False)
    for _ in range(20):
        totals, flame = [], recording.flame()
        ask = (lambda: totals.append(flame.tree.total), lambda: totals.append(len(flame.svg()) and flame.tree.total),
               lambda: totals.append(flame.summary and flame.tree.total))
        require(run_all(ask * 2) and len(totals) == 6 and len(set(totals)) == 1, "a flame of threads", totals)
    held, asked = recording.flame(), threading.Event()
    with recording._handle.lock:  # as a thread does that reads a table
        waits = threading.Thread(target=lambda: (held.tree, held.svg(), held.summary, asked.set()), daemon=True)
        waits.start()
        require(not asked.wait(0.2), "a flame is used while its recording is")
    waits.join(60)
    require(asked.is_set(), "a flame waits for ever")


def run(require, scratch):
    """All of it; what Python can only print is wrong, too."""
    sys.unraisablehook = lambda what: require(False, "an exception where none can be raised:", repr(what.exc_value), what.object)
    check_shared_flame(require)
    gc.collect()
    sys.unraisablehook = sys.__unraisablehook__
