# SPDX-License-Identifier: Apache-2.0
"""Many targets in one recording: each case looks at the samples of its own program."""

import contextlib

from support import ENGINES, Skip, Target, case, check, compile_c, record_cpu, selected


class Group:
    """Recorded until each program has used so many seconds of CPU time."""

    def __init__(self, *args, cpu, hz):
        self._args, self._cpu, self._hz = args, cpu, hz
        self._starters = {}  # name of the program → what starts it and returns the Target
        self._sentences = {}  # name of the program → of its cases
        self._recordings = {}

    def starter(self, name):
        """Registers a function that starts the program of that name and returns its Target."""

        def register(function):
            self._starters[name] = function
            return function

        return register

    def program(self, name, source, *flags, **options):
        """A program without arguments, compiled under that name."""
        self._starters[name] = lambda: Target(compile_c(name, source, *flags, **options))

    def case(self, name, sentence, samples=40):
        """Registers a test: function(stacks of that program, engine)."""
        self._sentences.setdefault(name, []).append(sentence)

        def register(function):
            @case(sentence, engines=True)
            def run_case(engine):
                folded = self.recording(engine).folded
                own = folded.process(name)
                check(own.total >= samples, f"only {own.total} samples of {name}; in all:",
                      *folded.most_common())
                return function(own, engine)

            return function

        return register

    def recording(self, engine):
        """Starts the programs whose cases were asked for and records them at the same time."""
        if engine not in self._recordings:
            with contextlib.ExitStack() as stack:
                self._recordings[engine] = self._record(engine, stack)
        return self._recordings[engine]

    def _wanted(self, name):
        return any(selected(f"{sentence} (engine {engine})")
                   for sentence in self._sentences.get(name, ()) for engine in ENGINES)

    def _record(self, engine, stack):
        targets = []
        for name, start in self._starters.items():
            if self._wanted(name):
                with contextlib.suppress(Skip):  # told by the case itself
                    targets.append(stack.enter_context(start()))

        def during():
            for target in targets:
                target.go()

        return record_cpu(targets, self._cpu, *self._args, engine=engine, hz=self._hz, during=during)[0]
