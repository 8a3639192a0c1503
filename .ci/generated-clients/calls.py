"""Makes calls, prints how each ended, and fails if one did."""

import sys
import time
import traceback


class Calls:
    """The calls of a check. Each is a function that is decorated with this, runs at once and raises if something is wrong."""

    def __init__(self):
        self.made = 0
        self.failed = 0

    def __call__(self, call):
        self.made += 1
        try:
            call()
        except Exception as error:
            self.failed += 1
            where = traceback.extract_tb(error.__traceback__)[1]
            print(f"FAILED {call.__name__}, line {where.lineno}: {str(error) or repr(error)}"[:1000], file=sys.stderr)

    def finish(self, minimum):
        """Ends the program. It fails if a call failed, or if fewer than `minimum` were made."""
        print(f"{self.made - self.failed} of {self.made} calls work")
        sys.exit(self.failed > 0 or self.made < minimum)


def poll(read, seconds=30):
    """Repeats `read` until it returns something."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        found = read()
        if found:
            return found
        time.sleep(0.02)
    raise TimeoutError(f"nothing after {seconds} s")
