# SPDX-License-Identifier: Apache-2.0
"""Folded stacks, read back: `process;outermost;...;innermost COUNT`, one a line."""

import re
from collections import Counter

TRUNCATED = "[truncated]"


class Stack:
    """One line: the process's name, its frames from the outermost to the innermost, a count."""

    def __init__(self, process, frames, count):
        self.process, self.frames, self.count = process, frames, count

    def find(self, chain, contiguous=True):
        """Whether the frames of `chain` (names, or compiled patterns) are there in this order."""
        if contiguous:
            last = len(self.frames) - len(chain)
            return any(all(map(same, self.frames[i:], chain)) for i in range(last + 1))
        frames = iter(self.frames)
        return all(any(same(frame, wanted) for frame in frames) for wanted in chain)


def same(frame, wanted):
    return frame == wanted if isinstance(wanted, str) else wanted.fullmatch(frame) is not None


class Folded:
    """A set of stacks, and what share of them has which frames."""

    def __init__(self, stacks):
        self.stacks = list(stacks)
        self.total = sum(stack.count for stack in self.stacks)

    @classmethod
    def parse(cls, text):
        stacks = []
        for number, line in enumerate(text.splitlines(), 1):
            found = re.fullmatch(r"(.+) ([1-9][0-9]*)", line)
            if not found:
                raise ValueError(f"line {number} is not `stack count`: {line[:200]!r}")
            frames = found[1].split(";")
            if not all(frames):
                raise ValueError(f"line {number} has a frame without a name: {line[:200]!r}")
            stacks.append(Stack(frames[0], frames[1:], int(found[2])))
        return cls(stacks)

    def where(self, keep):
        return Folded(stack for stack in self.stacks if keep(stack))

    def process(self, name):
        return self.where(lambda stack: stack.process == name[:15])

    def having(self, *chain, contiguous=True):
        return self.where(lambda stack: stack.find(chain, contiguous))

    def without(self, *chain, contiguous=True):
        return self.where(lambda stack: not stack.find(chain, contiguous))

    def share(self, *chain, contiguous=True):
        """The part of all samples that has the frame, or the chain of frames."""
        return self.having(*chain, contiguous=contiguous).total / self.total if self.total else 0.0

    def chain_share(self, *chain, contiguous=True):
        """Of the samples that have the chain's last frame, the part that has all of it."""
        return self.having(chain[-1]).share(*chain, contiguous=contiguous)

    def truncated(self):
        return self.where(lambda stack: stack.frames[:1] == [TRUNCATED])

    def names(self):
        return {frame for stack in self.stacks for frame in stack.frames}

    def processes(self):
        return {stack.process for stack in self.stacks}

    def most_common(self, count=5):
        lines = Counter()
        for stack in self.stacks:
            frames = stack.frames
            if len(frames) > 24:
                frames = frames[:8] + [f"... {len(frames) - 16} more ..."] + frames[-8:]
            lines[";".join([stack.process] + frames)] += stack.count
        return [f"{n:6} {line}" for line, n in lines.most_common(count)]
