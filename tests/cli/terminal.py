#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Runs a command on a terminal and prints what appears there, without the carriage returns, and its exit status.

usage: terminal.py [--size COLUMNSxLINES] [--type KEYS] COMMAND [ARGUMENT]...
--type: what the user types once something appeared
"""
import fcntl
import os
import pty
import struct
import sys
import termios


def main(words):
    columns, lines, keys = 80, 24, b""
    while words[0].startswith("--"):
        if words[0] == "--size":
            columns, lines = (int(n) for n in words[1].split("x"))
        else:
            keys = words[1].encode()
        words = words[2:]
    pid, terminal = pty.fork()
    if not pid:
        # the size is set before the command asks for it
        fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", lines, columns, 0, 0))
        try:
            os.execvp(words[0], words)
        except OSError as error:
            print(error)
            os._exit(127)
    seen = b""
    while True:
        try:
            piece = os.read(terminal, 65536)
        except OSError:
            break
        if not piece:
            break
        seen += piece
        if keys:
            os.write(terminal, keys)
            keys = b""
    status = os.waitpid(pid, 0)[1]
    sys.stdout.write(seen.replace(b"\r\n", b"\n").decode("utf-8", "replace"))
    if os.WIFSIGNALED(status):
        print(f"signal {os.WTERMSIG(status)}")
    elif os.WEXITSTATUS(status):
        print(f"exit {os.WEXITSTATUS(status)}")


main(sys.argv[1:])
