"""Any program as an objective: one command an evaluation, its value from the last line it prints, or from a file.

The command is split into words as a shell does and started without one; `sh -c '...'` brings one in. A word may hold
`{name}` for the value of a parameter, and `{value_file}` for a file of its own to write the value to; `{{` and `}}`
stand for braces. All parameters are also in the environment, as JSON, in GSSBO_PARAMETERS.
"""

from __future__ import annotations

import contextlib
import errno
import io
import json
import math
import os
import re
import shlex
import signal
import string
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from gssbo._validation import check_real
from gssbo.cli.guard import Guard
from gssbo.cli.text import written
from gssbo.cli.value import last_number

__all__ = ["CannotStart", "Program", "ProgramFailed", "cause"]

VALUE_FILE = "value_file"
SHELL = re.compile(r"(\d*[<>]|[|&;]).*|.*(?<!\\)[|&;]")  # unquoted words that a shell would not pass on
ESCAPE = "" if os.name == "nt" else "\\"  # in a command; paths on Windows are full of them
ASSIGNMENT = re.compile(r"[A-Za-z_]\w*=")
GRACE = 1.0  # seconds in which a command that is killed ends, and a wait notices that it was
PATIENCE = 10.0  # seconds that a command may be over, and its output held, without a word about it
TAIL = 300  # characters of the error output that a failure quotes
NOT_STARTED = (126, 127)  # how a shell, env, nice and their like end where they cannot start a program


class ProgramFailed(Exception):
    """A command gave no value; the message says why."""


class CannotStart(Exception):
    """A command could not be started, whatever the point; the message says why."""


def cause(reason: str) -> str:
    """Return why an evaluation failed without the name of the exception, where it is of a command."""
    return reason.removeprefix(f"{ProgramFailed.__name__}: ")


class Program:
    """A command as a function of a dict of parameters.

    Parameters
    ----------
    command : str
        Template, see above.
    names : iterable of str
        Parameters. Each must be in the command, unless none is: then it reads the environment.
    key : str, optional
        The last line, or the file, is a JSON object, and this its entry. By default the value is the last number there.
    timeout : float, optional
        Seconds after which the command is killed, and the evaluation failed.
    guard : Guard, optional
        What ends the commands where this process is killed.

    Attributes
    ----------
    reads_environment : bool
        Whether the command has no parameter, so that it must read GSSBO_PARAMETERS.

    Raises
    ------
    ValueError
        If the command is empty or written for a shell, its placeholders are not those of the parameters, a parameter
        has the name of another one, or the time is not positive.

    Examples
    --------
    >>> program = Program("echo loss: {x}", ["x"])
    >>> program({"x": 0.25})
    0.25
    """

    def __init__(
        self,
        command: str,
        names: Iterable[str],
        *,
        key: str | None = None,
        timeout: float | None = None,
        guard: Guard | None = None,
    ) -> None:
        names = list(names)
        if VALUE_FILE in names:
            raise ValueError(
                f"a parameter must have another name than {VALUE_FILE}: in a command, {{{VALUE_FILE}}} is the file to "
                "write the value to"
            )
        self._words = _read(command)
        used = {name for parts in self._words for _, name in parts if name is not None}
        _check_used(used, names)
        self.reads_environment = not used.issuperset(names)
        self._needs_file = VALUE_FILE in used
        self._chosen_by_point = any(name is not None for _, name in self._words[0])  # which program it is
        self._key = key
        self._timeout = math.inf if timeout is None else check_real("command-timeout", timeout, above=0.0)
        self._guard = Guard() if guard is None else guard
        self._patience = PATIENCE
        self._running: set[subprocess.Popen[str]] = set()
        self._lock, self._closed = threading.Lock(), False  # several threads may call

    def __call__(self, point: Mapping[str, Any]) -> float:
        """Run the command at a point and return its value.

        Raises
        ------
        ProgramFailed
            If it ended with another code than 0, took too long, gave no value, or could not start for what is in the
            point.
        CannotStart
            If there is no such program, it cannot be executed, or there is no room for its value file: the point has no
            part in that.
        """
        texts = {name: written(value) for name, value in point.items()}
        if not self._needs_file:
            output = self._run(self._filled(texts), point)
            lines = [line for line in output.splitlines() if line.strip()]
            if not lines:
                raise ProgramFailed("it printed nothing, so there is no last line to read the value from")
            return self._value(lines[-1], "the last line it printed")
        with _folder() as folder:
            file = Path(folder) / "value"
            self._run(self._filled(texts | {VALUE_FILE: str(file)}), point)
            try:
                return self._value(file.read_text(encoding="utf-8"), "the value file")
            except (OSError, UnicodeDecodeError) as error:
                raise ProgramFailed(f"it wrote no value file ({error})") from None

    def _filled(self, texts: Mapping[str, str]) -> list[str]:
        """The command's words, with a text for each name."""
        return [
            "".join(text + (texts[name] if name is not None else "") for text, name in parts) for parts in self._words
        ]

    def _run(self, words: list[str], point: Mapping[str, Any]) -> str:
        environment = {**os.environ, "GSSBO_PARAMETERS": json.dumps(point)}
        with self._lock:  # once closed, nothing starts that would outlive us
            if self._closed:
                raise ProgramFailed("it was not started any more")
            try:
                process: subprocess.Popen[str] = subprocess.Popen(
                    words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment,
                    encoding="utf-8", errors="replace", start_new_session=os.name == "posix",
                )  # fmt: skip
            except ValueError as error:  # a null character in a word
                raise ProgramFailed(f"it could not be started: {error}") from None
            except OSError as error:
                if error.errno == errno.E2BIG or self._chosen_by_point:
                    raise ProgramFailed(f"it could not be started: {error}") from None
                here = f"; the file in this folder is ./{words[0]}" if _is_here(words[0]) else ""
                raise CannotStart(
                    f"the command must be one that can be started, got {words[0]!r} ({error}){here}"
                ) from None
            self._running.add(process)
            self._guard.watch(process.pid)
        try:
            output, errors = self._output(process)
        except BaseException:
            _give_up(process)
            raise
        finally:
            self._running.discard(process)
            self._guard.release(process.pid)
        if process.returncode != 0:
            said = errors.strip()[-TAIL:]
            ended = f"it ended with code {process.returncode}" + (f": {said}" if said else "")
            if process.returncode in NOT_STARTED:
                raise CannotStart(f"the command must be one that can be started, but {ended}")
            raise ProgramFailed(ended)
        return output

    def _output(self, process: subprocess.Popen[str]) -> tuple[str, str]:
        """What a command prints until it is over and nobody holds its output any more; or its time is."""
        end = time.monotonic() + self._timeout
        over = math.inf
        while True:
            left = end - time.monotonic()
            try:
                return process.communicate(timeout=max(0.0, min(left, GRACE)))
            except subprocess.TimeoutExpired:
                if self._closed:  # the command was killed, but not who holds its output
                    raise ProgramFailed("it was killed") from None
                if left <= GRACE:
                    raise ProgramFailed(f"it was killed after {self._timeout:g} s") from None
                if over == math.inf and _is_over(process):
                    over = time.monotonic()
                if time.monotonic() - over > self._patience:
                    self._say_who_is_waited_for()

    def _say_who_is_waited_for(self) -> None:
        with self._lock:
            patience, self._patience = self._patience, math.inf  # once is enough
        if patience < math.inf:
            sys.stderr.write(
                "gssbo tune: note: a command is over, but what it started still holds its output, and is waited for; "
                "send its output elsewhere (>/dev/null 2>&1), or set --command-timeout\n"
            )

    def close(self) -> None:
        """Kill what is running, and start nothing more: those evaluations fail."""
        with self._lock:
            self._closed = True
            for process in list(self._running):
                _kill(process)

    def _value(self, text: str, source: str) -> float:
        if self._key is None:
            if _is_object(text):
                raise ProgramFailed(f"{source} is a JSON object, of which --key must name an entry, got {_end(text)}")
            value = last_number(text)
            if value is None:
                raise ProgramFailed(
                    f"{source} must hold a number, the last one as a word of its own or directly behind = : ( or a "
                    f"comma, got {_end(text)}"
                )
            return _number(value)
        try:
            return _number(float(json.loads(text)[self._key]))
        except (ValueError, TypeError, KeyError, OverflowError, RecursionError):
            raise ProgramFailed(
                f"{source} must be a JSON object with a number {self._key!r}, got {_end(text)}"
            ) from None


def _folder() -> tempfile.TemporaryDirectory[str]:
    """A folder for a value file."""
    try:
        return tempfile.TemporaryDirectory(prefix="gssbo-")
    except OSError as error:
        raise CannotStart(f"{{{VALUE_FILE}}} must have a folder for temporary files, see TMPDIR ({error})") from None


def _read(command: str) -> list[list[tuple[str, str | None]]]:
    """Words of a command, each in parts, see `_parts`."""
    try:
        words = _split(command)
        parts = [_parts(word) for word, _ in words]
    except ValueError as error:
        raise ValueError(f"the command must be words with {{name}} for parameters, got {command!r} ({error})") from None
    if not parts:
        raise ValueError("the command must not be empty")
    _refuse_shell([as_written for _, as_written in words])
    return parts


def _check_used(used: set[str], names: list[str]) -> None:
    """Raise a ValueError where a command uses what is no parameter, or some of the parameters but not all."""
    unknown = used - {*names, VALUE_FILE}
    if unknown:
        raise ValueError(
            f"the command must hold parameters of the space ({', '.join(names)}) or {VALUE_FILE}, got "
            + ", ".join(f"{{{name}}}" for name in sorted(map(str, unknown)))
        )
    left_out = [name for name in names if name not in used]
    if left_out and len(left_out) < len(names):
        raise ValueError(
            "the command must hold all parameters, or none and read GSSBO_PARAMETERS; missing: " + ", ".join(left_out)
        )


def _split(command: str) -> list[tuple[str, str]]:
    """Words of a command as `shlex.split` has them, and each as it is written: with its quotes.

    On Windows, where paths have them, backslashes stand for themselves.
    """
    source = io.StringIO(command)
    lexer = shlex.shlex(source, posix=True)
    lexer.whitespace_split, lexer.commenters, lexer.escape = True, "", ESCAPE
    words, begin = [], 0
    for word in lexer:
        words.append((word, command[begin : source.tell()].strip()))
        begin = source.tell()
    return words


def _refuse_shell(words: list[str]) -> None:
    """Raise a ValueError where a word, as it is written, is for a shell: a program would take it as an argument."""
    found = [word for word in words if SHELL.fullmatch(word)]
    if ASSIGNMENT.match(words[0]):
        found.insert(0, words[0])
    if found:
        raise ValueError(
            f"the command must be one program and its arguments, as there is no shell: got {found[0]!r}, for which "
            "write sh -c '...', or quote it where it is an argument"
        )


def _is_here(program: str) -> bool:
    """Whether a program that was looked for elsewhere is a file of this folder."""
    return os.path.basename(program) == program and os.path.isfile(program)


def _parts(word: str) -> list[tuple[str, str | None]]:
    """Text of a word, and the name behind each piece of it; names stand for themselves, dots and digits too."""
    parts = []
    for text, name, form, conversion in string.Formatter().parse(word):
        if form or conversion:
            raise ValueError(f"{{{name}}} takes no format, values are written in full")
        parts.append((text, name))
    return parts


def _is_object(text: str) -> bool:
    try:
        return isinstance(json.loads(text), dict)
    except ValueError:
        return False


def _end(text: str) -> str:
    """The end of a text as messages show it."""
    return repr(text.strip()[-80:])


def _number(value: float) -> float:
    if not math.isfinite(value):  # infinitely good, too: the next call would meet it again, and never get past it
        raise ProgramFailed(f"its value is not a finite number ({value})")
    return value


def _is_over(process: subprocess.Popen[str]) -> bool:
    """Whether a command is over, without taking note of it: its number is its own as long as nobody has."""
    if not hasattr(os, "waitid"):
        return False
    try:
        return os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None
    except ChildProcessError:  # who killed it has taken note, or the system, where SIGCHLD is ignored
        return True


def _give_up(process: subprocess.Popen[str]) -> None:
    """Kill a command, and do not wait for those that hold its output and could not be killed."""
    _kill(process)
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(timeout=GRACE)
    if os.name == "posix":  # elsewhere threads are reading, and closing would wait for them
        for pipe in (process.stdout, process.stderr):
            assert pipe is not None
            pipe.close()


def _kill(process: subprocess.Popen[str]) -> None:
    """End a command, and what it started where that is possible."""
    if os.name == "posix":
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
    process.kill()
