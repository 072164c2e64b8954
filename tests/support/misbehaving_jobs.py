"""A preparer whose children do what a job should not: hang, fork, take all memory, or say what they have.

Run by its path; with the word "threads" or "noise" the preparer itself does what it should not before it is ready.
"""

import os
import sys
import threading
import time

from discreet.privacy.opendp_sampler import opendp_laplace
from discreet.service import child, preparer


def answer(job):
    """What a child does, by the kind of its job."""
    if job["kind"] == "hang":
        time.sleep(600)
    if job["kind"] == "fork":  # a grandchild that outlives the job unless somebody ends it
        pid = os.fork()
        if pid == 0:
            time.sleep(600)
        return {"grandchild": pid}
    if job["kind"] == "memory":
        return {"length": len(bytearray(1 << 30))}
    places = [f"/proc/self/fd/{number}" for number in os.listdir("/proc/self/fd")]  # one of them was for this listing
    files = [os.readlink(place) for place in places if os.path.lexists(place)]
    return {"files": files, "pid": os.getpid(), "parent": os.getppid(), "session": os.getsid(0)}


if __name__ == "__main__":
    child.answer = answer
    if "threads" in sys.argv:
        threading.Thread(target=time.sleep, args=(600,), daemon=True).start()
    if "noise" in sys.argv:
        opendp_laplace(1.0, 1)
    preparer.main()
