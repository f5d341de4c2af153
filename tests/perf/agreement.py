# SPDX-License-Identifier: MIT
"""What perf and perfdata print of the same recording, counted."""

from timehist import first_difference, output

SKIPPED = 77


class Agreement:
    def __init__(self):
        self.same = self.other = 0

    def compare(self, theirs, ours, shown=lambda text: text, told=False):
        """Runs both command lines. shown: what is compared of an output. told: perf prints to standard error."""
        status, wanted, error = output(theirs)
        if status != 0:
            return
        wanted = shown(wanted + error if told else wanted)
        status, printed, error = output(ours)
        printed = shown(printed)
        if wanted == printed and status == 0:
            self.same += 1
            return
        self.other += 1
        print(f"{' '.join(ours[1:])}: exit status {status} {error[-100:]}\n  {first_difference(wanted, printed)}")

    def conclude(self):
        """The exit status of the test."""
        print(f"{self.same} outputs are equal, {self.other} are not")
        if self.other:
            return 1
        return 0 if self.same else SKIPPED
