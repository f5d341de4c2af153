# SPDX-License-Identifier: MIT
"""What the interpreter of Python runs while its stack is copied: calls of its own functions, and of C and back.

usage: copied_script.py MILLISECONDS
"""

import functools
import re
import sys
import time


def spin():
    return sum(i * i for i in range(3000))


def compare(a, b):
    spin()
    return a - b


def replace(_):
    spin()
    return "b"


def main():
    end = time.monotonic() + int(sys.argv[1]) / 1000
    while time.monotonic() < end:
        sorted([5, 3, 8], key=functools.cmp_to_key(compare))
        re.sub("a", replace, "aaa")


main()
