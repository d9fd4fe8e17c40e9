#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What wick says and how it ends: wrong input, help, man pages, completion, output files."""

import os
import re
import shutil
import subprocess
import tempfile
import threading
from pathlib import Path

from command import AS_NOBODY, COMMANDS, NOBODY, busy, check_ends, need_recording, sleeper, told, wick
from support import WICK, Skip, case, check, need_root, need_tool, run_cases, scratch_directory


# ---- wrong input -------------------------------------------------------------------------------

@case("an unknown command names the nearest one")
def unknown_command():
    check_ends(wick("recrod"), 2, "unknown command recrod", "hint: did you mean `wick record`")
    check_ends(wick("doc"), 2, "did you mean `wick doctor`")
    check_ends(wick("zzzzzz"), 2, "unknown command zzzzzz", "wick help")
    check_ends(wick("-p", 1), 2, "options come after a command", "hint: wick record -p$")
    check_ends(wick("--duration=5"), 2, "options come after a command")
    check_ends(wick("-x"), 2, "unknown option -x", "`wick help` lists the commands")
    check_ends(wick("help", "recrod"), 2, "did you mean `wick record`")


@case("an unknown option names the nearest one")
def unknown_option():
    check_ends(wick("record", "--duratoin", 5), 2, "unknown option --duratoin", "did you mean --duration\\?")
    check_ends(wick("record", "-duration", 5), 2, "did you mean --duration\\?")
    check_ends(wick("record", "-x"), 2, "unknown option -x", "wick record --help")
    check_ends(wick("doctor", "--frobnicate"), 2, "unknown option --frobnicate")
    check_ends(wick("record", "--force=1", "-a"), 2, "--force takes no value")
    check_ends(wick("record", "-a", "-d"), 2, "-d needs a value: -d DURATION")
    check_ends(wick("record", "-a", "-o", "a.html", "--output", "b.html"), 2,
               "--output b.html: it was given before, as a.html")


@case("a recording needs exactly one kind of target")
def one_target():
    check_ends(wick("record"), 2, "nothing to record", "-p PID.*--name REGEX.*-a.*-- COMMAND")
    check_ends(wick("record", "-d", 5), 2, "nothing to record")
    check_ends(wick("record", "-a", "-p", 1), 2, "-p and -a are two targets")
    check_ends(wick("record", "-p", 1, "--", "true"), 2, "-p and a program after -- are two targets")
    check_ends(wick("record", "--name", "x", "-a"), 2, "--name and -a are two targets")
    check_ends(wick("record", "--"), 2, "no program after --", "wick record -- ./program")
    check_ends(wick("record", "ls", "-l"), 2, "unexpected argument ls", "wick record -- ls")


@case("a process number that is none is refused")
def wrong_pid():
    for text in ["0", "-5", "abc", "", "1,", ",1", "1.5", "0x1", "1 2"]:
        check_ends(wick("record", f"--pid={text}"), 2, "process")
    for text in ["2147483648", "18446744073709551617", "99999999999999999999999"]:
        check_ends(wick("record", "-p", text), 2, "too large for a process number")


@case("no such process, in one sentence")
def no_process():
    child = subprocess.Popen(["true"])
    child.wait()
    check_ends(wick("record", "-p", child.pid), 1, f"there is no process {child.pid}", "wick list")


@case("the number of a thread is refused, naming its process")
def thread_number():
    stop = threading.Event()
    thread = threading.Thread(target=stop.wait)
    thread.start()
    try:
        tid, pid = thread.native_id, os.getpid()
        check_ends(wick("record", "-p", tid), 2, f"{tid} is a thread of process {pid}; use -p {pid}")
    finally:
        stop.set()
        thread.join()


@case("wick does not record itself")
def itself():
    done = subprocess.run(["sh", "-c", f'exec "{WICK}" record -p $$'], text=True, capture_output=True)
    check_ends(done, 2, "wick itself")


@case("a name that is no expression, or nobody's")
def wrong_name():
    check_ends(wick("record", "--name", "("), 2, "regular expression")
    check_ends(wick("record", "--name", "^no-such-name$"), 1, "no-such-name")
    check_ends(wick("list", "--name", "["), 2, "regular expression")
    check_ends(wick("list", "--name", "^no-such-name$"), 1, "no-such-name")


@case("a rate of nothing, less, text, or beyond the kernel's limit")
def wrong_rate():
    for text in ["0", "-1", "-0.5", "0.0"]:
        check_ends(wick("record", "-a", "-F", text), 2, "-F .*: a rate must be more than 0")
    for text in ["abc", "", "99Hz", "1e3", "9 9", "0x63", "nan", "inf"]:
        check_ends(wick("record", "-a", f"-F{text}" if text else "--rate="), 2, "not a rate")
    limit = int(Path("/proc/sys/kernel/perf_event_max_sample_rate").read_text())
    for args in [("-F", limit + 1), ("-i", "1ns")]:
        check_ends(wick("record", "-a", *args), 2, "kernel.perf_event_max_sample_rate",
                   "hint: sudo sysctl kernel.perf_event_max_sample_rate=")


@case("an interval needs a unit and excludes a rate")
def wrong_interval():
    for text in ["10", "ms", "10 ms", "10 min", "abc", "1ms1s"]:
        check_ends(wick("record", "-a", "-i", text), 2, "not an interval")
    for text in ["0ms", "-1ms"]:
        check_ends(wick("record", "-a", "-i", text), 2, "an interval must be more than 0")
    check_ends(wick("record", "-a", "-i", "10ms", "-F", "99"), 2, "-F and -i")


@case("a duration of nothing, less, or text")
def wrong_duration():
    for text in ["0", "0s", "-1", "-1m"]:
        check_ends(wick("record", "-a", "-d", text), 2, "a duration must be more than 0")
    for text in ["abc", "5x", "5 s", "1s1m", "1e9", "99999999999h"]:
        check_ends(wick("record", "-a", "-d", text), 2, "not a duration.*1m30s")


@case("an unknown event, format, extension, engine")
def wrong_names():
    check_ends(wick("record", "-a", "-e", "cpo"), 2, "cpo", "did you mean cpu")
    check_ends(wick("record", "-a", "-e", "nonsense"), 2, "nonsense", "cpu")
    check_ends(wick("record", "-a", "--format", "htlm"), 2, "htlm", "html")
    check_ends(wick("record", "-a", "--engine", "ebpf"), 2, "bpf and perf", "did you mean bpf")
    check_ends(wick("record", "-a", "-o", "/tmp/wick-never.fodled"), 2, "fodled", "folded")
    check_ends(wick("record", "-a", "-o", "/tmp/wick-never"), 2, "wick-never")
    check_ends(wick("record", "-a", "--top", "many"), 2, "--top many")
    check(not Path("/tmp/wick-never.fodled").exists(), "it left a file")


@case("what the user typed cannot drive the terminal")
def hostile_words():
    for args in [("\x1b[31mrecord",), ("record", "--\x1b[2J"), ("record", "-p", "\x07"),
                 ("record", "-a", "-o", "/no\x1b]0;title\x07/x.html"), ("help", "\u202e")]:
        done = wick(*args)
        check(done.returncode != 0, "it was accepted:", told(done))
        check(not re.search("[\x00-\x08\x0b-\x1f\x7f\u202e]", done.stderr), "raw control characters:",
              repr(done.stderr))


# ---- help, man pages, completion ---------------------------------------------------------------

@case("help is there in every way, on standard output")
def help_everywhere():
    overview = wick()
    for args in [("help",), ("--help",), ("-h",)]:
        check(wick(*args).stdout == overview.stdout, f"wick {args[0]} differs from wick")
    check(overview.returncode == 0 and not overview.stderr, told(overview))
    for command in COMMANDS:
        check(re.search(rf"^  {command} ", overview.stdout, re.M), f"{command} is not listed:", overview.stdout)
        done = wick("help", command)
        check(done.returncode == 0 and done.stdout.startswith(f"Usage: wick {command}"), told(done))
        for args in [(command, "--help"), (command, "-h"), (command, "-h", "--nonsense")]:
            check(wick(*args).stdout == done.stdout, f"wick {' '.join(args)} differs from wick help {command}")
        check(max(map(len, done.stdout.splitlines())) <= 80, "a line is longer than 80:", done.stdout)


@case("the version")
def version():
    for spelled in ("--version", "-V", "-v"):
        done = wick(spelled)
        check(re.fullmatch(r"wick \d+\.\d+\.\d+\n", done.stdout) and done.returncode == 0, told(done))


@case("man pages have nothing to complain about")
def man_pages():
    need_tool("mandoc")
    for command in ["", *COMMANDS]:
        page = wick("help", "--man", *filter(None, [command]))
        check(page.returncode == 0 and page.stdout.startswith(".TH WICK"), told(page))
        lint = subprocess.run(["mandoc", "-Tlint", "-W", "warning"], input=page.stdout, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        check(lint.returncode == 0 and not lint.stdout, f"wick help --man {command}:", lint.stdout)


@case("the man page has every option of the help")
def man_page_options():
    help_text, page = wick("record", "--help").stdout, wick("help", "--man", "record").stdout
    options = set(re.findall(r"^ {2,6}(?:-\w, )?--([\w-]+)", help_text, re.M))
    check(len(options) > 15, f"only {options}")
    for option in options:
        roff = option.replace("-", "\\-")
        check(f"\\-\\-{roff}\\fR" in page, f"--{option} is not in the man page")


@case("completion scripts are scripts of their shells")
def completion_syntax():
    checked = []
    for shell in ["bash", "zsh", "fish"]:
        script = wick("completion", shell)
        check(script.returncode == 0 and "record" in script.stdout, told(script))
        if not shutil.which(shell):
            continue
        with tempfile.NamedTemporaryFile("w", suffix=f".{shell}") as file:
            file.write(script.stdout)
            file.flush()
            done = subprocess.run([shell, "-n", file.name], text=True, capture_output=True)
        check(done.returncode == 0 and not done.stderr, f"{shell}:", done.stderr)
        checked.append(shell)
    check_ends(wick("completion"), 2, "bash, zsh or fish")
    check_ends(wick("completion", "tcsh"), 2, "tcsh")
    return f"read by {', '.join(checked) or 'no shell: none is installed'}"


@case("bash completes commands, options and their values")
def completion_works():
    need_tool("bash")
    script = f"""
    source <("{WICK}" completion bash)
    compopt() {{ :; }}
    complete_words() {{ COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _wick; echo "${{COMPREPLY[*]}}"; }}
    complete_words wick ''
    complete_words wick rec
    complete_words wick record --eng
    complete_words wick record --engine ''
    complete_words wick record --engine = p
    complete_words wick record --format ht
    complete_words wick record -p $$
    complete_words wick record -- --eng
    complete_words wick help doc
    """
    done = subprocess.run(["bash", "-c", script], text=True, capture_output=True)
    lines = done.stdout.splitlines()
    check(len(lines) == 9, "bash:", done.stdout, done.stderr)
    check(set(COMMANDS) <= set(lines[0].split()), lines[0])
    check(lines[1:6] == ["record", "--engine", "auto bpf perf", "perf", "html"], *lines)
    check(lines[6].split()[0].isdigit(), lines[6])
    check(lines[7:] == ["", "doctor"], *lines)


# ---- where the output goes ---------------------------------------------------------------------

@case("an output that cannot be written is refused before anything is touched")
def refused_output():
    with scratch_directory() as directory:
        (directory / "there.html").write_text("mine")
        (directory / "folder.html").mkdir()
        for name, code, pattern in [
                ("missing/a.html", 1, f"the directory {directory}/missing does not exist"),
                ("missing/deep/a.html", 1, f"the directory {directory}/missing/deep does not exist"),
                ("there.html/a.html", 1, "there.html"),
                ("there.html", 1, "exists already.*\n.*--force"),
                ("folder.html", 1, "[Dd]irectory"),
                ("a.fodled", 2, "fodled")]:
            done = wick("record", "-o", directory / name, "--", "touch", directory / "touched")
            check_ends(done, code, pattern)
        check(sorted(os.listdir(directory)) == ["folder.html", "there.html"], f"left: {os.listdir(directory)}")
        check((directory / "there.html").read_text() == "mine", "the file was overwritten")


@case("a directory of somebody else's is refused")
def forbidden_output():
    need_root()
    need_tool("setpriv")
    with scratch_directory() as directory:
        program = Path(shutil.copy(WICK, directory))
        (directory / "mine").mkdir(mode=0o755)
        done = wick("record", "-o", directory / "mine/a.html", "--", "true", wrapper=AS_NOBODY, wick_path=program)
        check_ends(done, 1, "mine/a.html.*Permission denied")
        check(not os.listdir(directory / "mine"), f"left: {os.listdir(directory / 'mine')}")


@case("help into a full disk is an error")
def full_disk():
    with open("/dev/full", "w") as full:
        check_ends(wick("help", "record", stdout=full), 1, "standard output.*[Nn]o space")


@case("without -o the file is named after target, event and time, and never overwrites")
def chosen_name():
    need_recording()
    with scratch_directory() as directory, sleeper() as pid:
        paths = []
        for _ in range(3):
            done = wick("record", "-p", pid, "-d", "0.1", "-q", cwd=directory)
            check_ends(done, 0)
            paths.append(done.stdout.strip())
        for path in paths:
            check(re.fullmatch(rf"wick-sleep-{pid}-cpu-\d{{8}}-\d{{6}}(-\d+)?\.html", path), path)
        check(sorted(os.listdir(directory)) == sorted(set(paths)) and len(set(paths)) == 3,
              f"{os.listdir(directory)} and {paths}")


@case("a name with odd characters becomes a plain file name")
def odd_name():
    need_recording()
    with scratch_directory() as directory:
        program = Path(shutil.copy("/bin/sleep", directory / "a b;\x1b[$(x)\n"))
        done = wick("record", "-q", "-d", "0.1", "--", program, "0.05", cwd=directory)
        check_ends(done, 0)
        check(re.fullmatch(r"wick-[A-Za-z0-9._-]+-cpu-[\d-]+\.html\n", done.stderr), repr(done.stderr))


@case("an idle target: no samples, said why, written, exit code 0")
def idle_target():
    need_recording()
    with scratch_directory() as directory, sleeper() as pid:
        done = wick("record", "-p", pid, "-d", "0.2", "-o", directory / "a.folded")
        check_ends(done, 0)
        check(re.search(r"no samples: .*too little CPU time for 99 samples a second.*-F 4999", done.stdout), told(done))
        check(("only root may" in done.stdout) == (os.getuid() != 0), told(done))
        check(re.search(r"^samples 0  lost 0 .* engine \w+$", done.stdout, re.M), told(done))
        check(f"profile: {directory}/a.folded" in done.stdout, told(done))
        check((directory / "a.folded").read_text() == "", "the file is not empty")


@case("-o - writes folded stacks there and the summary on standard error")
def standard_output():
    need_recording()
    with busy() as pid:
        done = wick("record", "-F", "999", "-o", "-", "-p", pid, "-d", "0.3")
        page = wick("record", "-o", "-", "-q", "--format", "html", "-d", "0.1", "-p", pid)
    check_ends(done, 0, r"samples [\d,]+  lost", r"self +samples +total +samples +function")
    check(done.stdout and all(re.fullmatch(r".+ \d+", line) for line in done.stdout.splitlines()),
          "not folded stacks:", done.stdout[:500])
    check(page.returncode == 0 and page.stdout.lstrip().lower().startswith("<!doctype html"), page.stdout[:200])
    check(not page.stderr, "it was not quiet:", page.stderr)


@case("-o - into a closed pipe is an error with a sentence")
def closed_pipe():
    need_recording()
    reading, writing = os.pipe()
    os.close(reading)
    try:
        with busy() as pid:
            done = wick("record", "-F", "999", "-q", "-o", "-", "-p", pid, "-d", "0.3", stdout=writing)
    finally:
        os.close(writing)
    check_ends(done, 1, "[Bb]roken pipe")


@case("the standard output of a program is its own")
def program_output():
    need_recording()
    with scratch_directory() as directory:
        done = wick("record", "-o", directory / "a.folded", "--", "seq", "1", "3")
        check_ends(done, 0, r"\nsamples \d+  lost", r"profile: .*/a\.folded")
        check(done.stdout == "1\n2\n3\n", "something else is in it:", told(done))
        check_ends(wick("record", "-o", "-", "--", "touch", directory / "b"), 2, "both write to standard output",
                   "hint: name a file: -o profile.folded")
        check(not (directory / "b").exists(), "the program ran")


@case("a program that is not there is named once")
def missing_program():
    need_recording()
    with scratch_directory() as directory:
        done = wick("record", "--", "./nope", cwd=directory)
        check_ends(done, 1, r"^wick: cannot start \./nope: No such file or directory$")
        check(not os.listdir(directory), f"left: {os.listdir(directory)}")


@case("the end of the program is told, and how many functions are listed is up to the user")
def program_end():
    need_recording()
    with scratch_directory() as directory:
        loop = "i=0; while [ $i -lt 100000 ]; do i=$((i+1)); done; "
        for number, (script, pattern) in enumerate([("exit 3", "exited with status 3"),
                                                    ("kill -SEGV $$", r"killed by signal 11 \(Segmentation fault\)")]):
            done = wick("record", "-F", "999", "--top", number, "-o", directory / f"{number}.folded", "--",
                        "sh", "-c", loop + script)
            check_ends(done, 0)
            check(re.search(pattern, done.stderr), told(done))
            rows = re.findall(r"^ +[\d.]+ % +[\d,]+ +[\d.]+ % +[\d,]+  \S", done.stderr, re.M)
            check(len(rows) == number, f"{len(rows)} rows, {number} expected:", told(done))


@case("a program that wick ends is not said to have been killed")
def program_ended():
    need_recording()
    with scratch_directory() as directory:
        done = wick("record", "-d", "0.3", "-o", directory / "a.folded", "--", "sleep", "100")
        check_ends(done, 0, "the program was still running and was ended")
        check("signal" not in done.stderr, told(done))


@case("a closed standard output does not get mixed into the file")
def closed_standard_output():
    need_recording()
    with scratch_directory() as directory, sleeper() as pid:
        for number, closed in enumerate(["<&-", ">&-", "2>&-", "<&- >&- 2>&-"]):
            out = directory / f"{number}.folded"
            done = subprocess.run(["sh", "-c", f'exec "{WICK}" record -p {pid} -d 0.2 -o {out} {closed}'],
                                  text=True, capture_output=True)
            check(done.returncode in (0, 1), told(done))
            check(out.read_text() == "", f"in the file, with {closed}:", out.read_text())


@case("an engine that is not permitted names the one that would work")
def other_engine():
    need_root()
    need_tool("setpriv")
    if int(Path("/proc/sys/kernel/perf_event_paranoid").read_text()) > 2:
        raise Skip("unprivileged users may not sample")
    with scratch_directory() as directory:
        program = Path(shutil.copy(WICK, directory))
        home = directory / "home"
        home.mkdir()
        os.chown(home, NOBODY, NOBODY)
        done = wick("record", "--engine", "bpf", "--", "true", wrapper=AS_NOBODY, wick_path=program, cwd=home)
        check_ends(done, 1, "hint: .*CAP_BPF.*--engine perf would work")
        check(not os.listdir(home), f"left: {os.listdir(home)}")


@case("a process that has ended but is not yet forgotten is refused")
def zombie():
    child = subprocess.Popen(["true"])
    try:
        os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)
        check_ends(wick("record", "-p", child.pid), 1, f"process {child.pid} has exited")
    finally:
        child.wait()


@case("--name says whom it chose")
def name_chosen():
    need_recording()
    with scratch_directory() as directory:
        program = Path(shutil.copy("/bin/sleep", directory / "wick_e2e_name"))
        process = subprocess.Popen([program, "1000"])
        try:
            done = wick("record", "--name", "^wick_e2e_name$", "-d", "0.1", "-o", directory / "a.folded")
            check_ends(done, 0, rf"{process.pid} \(wick_e2e_name\)")
            quiet = wick("record", "--name", "^wick_e2e_name$", "-d", "0.1", "-q", "-o", directory / "b.folded")
            check(quiet.stdout == f"{directory}/b.folded\n" and not quiet.stderr, told(quiet))
        finally:
            process.kill()
            process.wait()


if __name__ == "__main__":
    run_cases()
