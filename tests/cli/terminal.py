#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Runs a command on a terminal and prints what appears there, without the carriage returns, and its exit status.

usage: terminal.py [--size COLUMNSxLINES] [--type KEYS] COMMAND [ARGUMENT]...
--type: what the user types once something appeared
"""
import fcntl
import os
import pty
import select
import signal
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
    ended, tell_end = os.pipe()
    done, tell_done = os.pipe()
    pid, terminal = pty.fork()
    if not pid:
        os.close(tell_done)
        # the size is set before the command asks for it
        fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", lines, columns, 0, 0))
        lead(words, tell_end, done)
    os.close(tell_end)
    os.close(done)
    seen = b""
    ready = [terminal]
    while ended not in ready:
        ready = select.select([terminal, ended], [], [])[0]
        # all that was printed before the end, too
        while select.select([terminal], [], [], 0)[0]:
            seen += os.read(terminal, 65536)
            if keys:
                os.write(terminal, keys)
                keys = b""
    status = struct.unpack("i", os.read(ended, 4))[0]
    os.close(tell_done)
    os.waitpid(pid, 0)
    sys.stdout.write(seen.replace(b"\r\n", b"\n").decode("utf-8", "replace"))
    if os.WIFSIGNALED(status):
        print(f"signal {os.WTERMSIG(status)}")
    elif os.WEXITSTATUS(status):
        print(f"exit {os.WEXITSTATUS(status)}")


def lead(words, tell_end, done):
    """Leads the session of the terminal while the command runs, and until what it printed was read: when the leader of a
    session ends, the kernel drops what nobody has read yet."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    pid = os.fork()
    if not pid:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        os.close(tell_end)
        os.close(done)
        try:
            os.execvp(words[0], words)
        except OSError as error:
            print(error, flush=True)
            os._exit(127)
    os.write(tell_end, struct.pack("i", os.waitpid(pid, 0)[1]))
    os.read(done, 1)
    os._exit(0)


main(sys.argv[1:])
