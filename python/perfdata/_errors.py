# SPDX-License-Identifier: MIT
"""What goes wrong, and what is wrong with a file."""

from __future__ import annotations

from collections import namedtuple

from ._library import NO_OFFSET, SEVERITIES, lib

TYPE_CHECKING = False  # as in typing, which takes longer to import than all of this
if TYPE_CHECKING:
    from typing import Optional


class Error(Exception):
    """A call has failed.

    code is the name of the status ("format", "system", "argument" ...), offset the place in the file in bytes or None, field the field
    that was being read ("mmap2.filename") or None.
    """

    def __init__(self, message: str, code: str, offset: Optional[int] = None, field: Optional[str] = None):
        super().__init__(message)
        self.code, self.offset, self.field = code, offset, field


class Problem(namedtuple("Problem", "code severity offset field message advice")):
    """Something that is wrong or unusual in a file; reading goes on."""

    __slots__ = ()
    code: str
    severity: str
    offset: Optional[int]
    field: Optional[str]
    message: str
    advice: Optional[str]


def text(value):
    return None if value is None else value.decode("utf-8", "replace")


def error_of(status, error):
    import re  # which takes a while, and most calls succeed

    message = text(error.message)
    field = re.search(r"offset \d+: (\w+(?:\.\w+)+): ", message)
    return Error(message, text(lib.pd_status_name(status)), None if error.offset == NO_OFFSET else error.offset,
                 field[1] if field else None)


def check(status, error):
    if status < 0:
        raise error_of(status, error)


def problem_of(problem):
    return Problem(text(problem.code), SEVERITIES.get(problem.severity, "info"),
                   None if problem.offset == NO_OFFSET else problem.offset, text(problem.field), text(problem.message),
                   text(problem.advice))
