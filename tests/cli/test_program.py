"""A command as a function of its parameters."""

import os
import re
import signal
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from gssbo.cli.program import CannotStart, Program, ProgramFailed
from gssbo.cli.value import last_number
from tests.commands import PYTHON, python


def test_the_value_is_the_last_number_printed():
    program = Program(python("print('step 1'); print('loss:', {x} * 2); print()"), ["x"])
    assert program({"x": 1.5}) == 3.0
    assert Program(python("print('[2.5]'[1:4])"), ["x"])({"x": 1}) == 2.5


def test_backslashes_of_windows_stand_for_themselves(monkeypatch):
    monkeypatch.setattr("gssbo.cli.program.ESCAPE", "")
    program = Program(r"""C:\Python\python.exe .\train.py "C:\a b\c" 'd\e f' --x={x}""", ["x"])
    words = ["".join(text + (name or "") for text, name in parts) for parts in program._words]
    assert words == ["C:\\Python\\python.exe", ".\\train.py", "C:\\a b\\c", "d\\e f", "--x=x"]


def test_values_reach_the_program_whole():
    code = "import sys, json; json.dump(sys.argv[1:], open(sys.argv[4], 'w')); print(len(sys.argv))"
    program = Program(f"{python(code)} {{name}} --flag={{flag}} {{{{x}}}} {{value_file}}", ["name", "flag"])
    with pytest.raises(ProgramFailed, match=r"a; \$\(b\).*--flag=true.*\{x\}"):
        program({"name": 'a; $(b) "c" d', "flag": True})


def test_a_value_file_and_a_key():
    code = "import sys; open(sys.argv[1], 'w').write('{{\\'loss\\': {x}}}'.replace(chr(39), chr(34)))"
    program = Program(f"{python(code)} {{value_file}}", ["x"], key="loss")
    assert program({"x": 0.25}) == 0.25
    with pytest.raises(ProgramFailed, match="wrote no value file"):
        Program(f"{python('print({x})')} {{value_file}}", ["x"])({"x": 1})
    with pytest.raises(ProgramFailed, match="JSON object with a number 'loss'"):
        Program(python("print({x})"), ["x"], key="loss")({"x": 1})


def test_no_temporary_folder_is_needed_without_a_value_file(monkeypatch, tmp_path):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "gone"))
    assert Program("echo {x}", ["x"])({"x": 0.5}) == 0.5
    with pytest.raises(
        CannotStart, match=r"^\{value_file\} must have a folder for temporary files, see TMPDIR \(.*gone"
    ):
        Program("touch {value_file} {x}", ["x"])({"x": 0.5})


def test_parameters_in_the_environment():
    code = "import os, json; print(json.loads(os.environ['GSSBO_PARAMETERS'])['n'] + 1)"
    assert Program(python(code), ["n", "act"])({"n": 2**53, "act": "relu"}) == 2.0**53 + 1


@pytest.mark.parametrize(
    ("code", "reason"),
    [
        ("import sys; sys.exit('out of memory')", "code 1: out of memory"),
        ("print('done')", "must hold a number, .* behind = : [(] or a comma, got 'done'"),
        ("print('nan')", r"not a finite number \(nan\)$"),
        ("print('-inf')", r"not a finite number \(-inf\)$"),
        ("pass", "printed nothing"),
    ],
)
def test_a_failure_says_why(code, reason):
    with pytest.raises(ProgramFailed, match=reason):
        Program(python(code), ["x"])({"x": 1})


def test_a_command_that_takes_too_long_is_killed_with_its_children():
    code = "import subprocess, sys; subprocess.run([sys.executable, '-c', 'import time; time.sleep(60)'])"
    begin = time.monotonic()
    with pytest.raises(ProgramFailed, match=r"killed after 0\.5 s"):
        Program(python(code), ["x"], timeout=0.5)({"x": 1})
    assert time.monotonic() - begin < 30


def test_closing_kills_what_runs():
    program = Program(python("import time; time.sleep(60)"), ["x"])
    reasons = []

    def evaluate():
        try:
            program({"x": 1})
        except ProgramFailed as error:
            reasons.append(str(error))

    thread = threading.Thread(target=evaluate)
    thread.start()
    while not program._running:
        time.sleep(0.01)
    program.close()
    thread.join(timeout=30)
    assert len(reasons) == 1 and "ended with code" in reasons[0]


@pytest.mark.parametrize(
    ("command", "message"),
    [
        ("", "must not be empty"),
        ("run {z}", r"got \{z\}"),
        ("run {x}", "missing: y"),
        ("run {x", "must be words"),
        ("run 'x", "must be words"),
        ("run {x:.3f} {y}", r"\{x\} takes no format"),
        ("run {x!r} {y}", r"\{x\} takes no format"),
    ],
)
def test_a_wrong_command_is_refused_at_once(command, message):
    with pytest.raises(ValueError, match=message):
        Program(command, ["x", "y"])


@pytest.mark.parametrize("seconds", [0.0, -1.0, float("nan"), float("inf")])
def test_a_time_that_is_none_is_refused(seconds):
    with pytest.raises(ValueError, match=r"^command-timeout must be (greater than 0.0|finite), got"):
        Program("echo {x}", ["x"], timeout=seconds)


def test_a_value_that_no_command_takes_fails():
    with pytest.raises(ProgramFailed, match=r"^it could not be started: .*null"):
        Program("echo {x}", ["x"])({"x": "a\0b"})


def test_any_time_is_waited():
    for seconds in (1e7, 1e10, 1e300):
        assert Program("echo {x}", ["x"], timeout=seconds)({"x": 0.5}) == 0.5


def test_names_stand_for_themselves():
    names = ["model.lr", "a[0]", "0", "x"]
    program = Program(python("import sys; print(sum(map(float, sys.argv[1:])))") + " {model.lr} {a[0]} {0} {x}", names)
    assert program({"model.lr": 0.5, "a[0]": 1, "0": 2.0, "x": 4}) == 7.5


def test_a_program_that_the_point_chooses_is_of_the_point():
    with pytest.raises(ProgramFailed, match=r"^it could not be started: .*no-such-program"):
        Program("no-such-{x}", ["x"])({"x": "program"})
    with pytest.raises(ProgramFailed, match=r"^it could not be started: .*too long"):
        Program("echo {x}", ["x"])({"x": "a" * 10**7})


HOLDS = "sh -c 'setsid sleep 30 & {last}' sh {{x}}"  # setsid: killing the command does not reach it


@pytest.mark.skipif(os.name != "posix", reason="process groups")
@pytest.mark.parametrize("last", ["sleep 60", "echo 1"])
def test_a_timeout_holds_whoever_has_the_output(last):
    begin = time.monotonic()
    with pytest.raises(ProgramFailed, match=r"^it was killed after 0\.5 s$"):
        Program(HOLDS.format(last=last), ["x"], timeout=0.5)({"x": 1})
    assert time.monotonic() - begin < 15


@pytest.mark.skipif(not hasattr(os, "waitid"), reason="whether a process is over cannot be seen")
def test_whoever_has_the_output_is_named_once(monkeypatch, capfd):
    monkeypatch.setattr("gssbo.cli.program.PATIENCE", 0.0)
    program = Program("sh -c 'sleep 2.5 & echo 1' sh {x}", ["x"])
    assert program({"x": 1}) == program({"x": 1}) == 1.0
    note = capfd.readouterr().err
    assert note.startswith("gssbo tune: note: a command is over, but what it started still holds its output")
    assert note.count("note:") == 1
    assert Program("sh -c 'sleep 1.5; echo 1' sh {x}", ["x"])({"x": 1}) == 1.0
    assert capfd.readouterr().err == ""


@pytest.mark.skipif(not hasattr(os, "waitid"), reason="whether a process is over cannot be seen")
def test_where_nobody_takes_note_of_a_command_it_is_waited_for_all_the_same():
    before = signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    try:
        assert Program("sh -c 'sleep 1.5 & echo 1' sh {x}", ["x"])({"x": 1}) == 1.0
    finally:
        signal.signal(signal.SIGCHLD, before)


@pytest.mark.skipif(os.name != "posix", reason="process groups")
def test_closing_waits_for_nobody_who_has_the_output():
    program = Program(HOLDS.format(last="sleep 60"), ["x"])
    with ThreadPoolExecutor(1) as executor:
        begin, future = time.monotonic(), executor.submit(program, {"x": 1})
        while not program._running:
            time.sleep(0.01)
        time.sleep(0.3)  # until there is somebody
        program.close()
        with pytest.raises(ProgramFailed, match=r"^it was killed$"):
            future.result()
    assert time.monotonic() - begin < 15


def test_a_timeout_is_waited_in_pieces():
    code = "import sys, time; time.sleep(1.5); print(sys.argv[1])"
    assert Program(f"{python(code)} {{x}}", ["x"], timeout=60)({"x": 0.5}) == 0.5
    with pytest.raises(ProgramFailed, match=r"^it was killed after 1\.2 s$"):
        Program(f"{python(code)} {{x}}", ["x"], timeout=1.2)({"x": 0.5})


@pytest.mark.parametrize(
    ("command", "word"),
    [
        ("echo {x} | tail -1", "|"),
        ("echo {x} |tail -1", "|tail"),
        ("run {x} || echo 1", "||"),
        ("cd there && run {x}", "&&"),
        ("cd there ; run {x}", ";"),
        ("cd there; run {x}", "there;"),
        ("run {x} > out", ">"),
        ("run {x} >>out", ">>out"),
        ("run {x} < in", "<"),
        ("run {x} 2> log", "2>"),
        ("run {x} 2>&1", "2>&1"),
        ("run {x} &> log", "&>"),
        ("run {x} &", "&"),
        ("SEED=1 run {x}", "SEED=1"),
        ("X={x} run", "X={x}"),
    ],
)
def test_a_command_for_a_shell_is_refused(command, word):
    with pytest.raises(ValueError, match=rf"no shell: got {re.escape(repr(word))}, for which write sh -c '\.\.\.'"):
        Program(command, ["x"])


@pytest.mark.parametrize(
    "command",
    [
        "sh -c 'echo 7; echo $1 | tail -1' sh {x}",
        'sh -c "echo \\"7; 7\\" && echo $1" sh {x}',
        "env X={x} sh -c 'echo $X'",
    ],
)
def test_a_shell_may_be_brought_in(command):
    assert Program(command, ["x"])({"x": 0.5}) == 0.5


def test_what_is_quoted_is_an_argument():
    command = python("import sys; sys.exit(' '.join(sys.argv[1:]))")
    arguments = """'|' {x} ';' \\; "&" \\> 'a;' b\\& '2>' X=1 a=b&c=d a|b 1"""
    with pytest.raises(ProgramFailed, match=re.escape("code 1: | 0.5 ; ; & > a; b& 2> X=1 a=b&c=d a|b 1")):
        Program(f"{command} {arguments}", ["x"])({"x": 0.5})


@pytest.mark.parametrize(
    ("line", "value"),
    [
        ("0.5", 0.5),
        ("  loss 0.5  ", 0.5),
        ("time: 2.4272 s", 2.4272),
        ("loss=0.5", 0.5),
        ("loss = 0.5", 0.5),
        ("score:-0.5", -0.5),
        ("score:+.5", 0.5),
        ("loss=1e-3", 1e-3),
        ("loss=-1.5E+03 units", -1500.0),
        ("1.", 1.0),
        ("(0.5)", 0.5),
        ("f(x)=(0.5, 0.25)", 0.25),
        ("[0.5]", 0.5),
        ("{'loss': 0.5}", 0.5),
        ("loss: '0.5'", 0.5),
        ('loss "0.5"', 0.5),
        ("3,0.25", 0.25),
        ("3,-2", -2.0),
        ("loss,7", 7.0),
        ("loss 0.5, done", 0.5),
        ("loss 0.5; done", 0.5),
        ("0.5 v1.2-rc", 0.5),
        ("0.5 run3", 0.5),
        ("0.5 run-3", 0.5),
        ("0.5 x_1 a.b2", 0.5),
        ("0.5 inf-norm", 0.5),
        ("0.5 nanoseconds", 0.5),
        ("0.5 - ok ...", 0.5),
        ("epoch 3: loss 0.5 after 12 min", 12.0),
        ("1_000", 1000.0),
        ("3 1_000_000.5", 1_000_000.5),
        ("3 123", 123.0),
        ("1 0.25", 0.25),
        ("score: 7", 7.0),
        ("loss=7 acc:0.5", 0.5),
        ("-inf", -np.inf),
        ("loss=inf", np.inf),
        ("loss: Infinity", np.inf),
    ],
)
def test_the_last_number_of_a_line(line, value):
    assert last_number(line) == value


@pytest.mark.parametrize("line", ["nan", "NaN", "loss -nan", "3: loss=nan", "(nan)", "step 3 loss nan s"])
def test_nan_is_the_last_number(line):
    assert np.isnan(last_number(line))


@pytest.mark.parametrize(
    "line",
    [
        "done", "run3", "v1.2-rc", "model_7 a-1", "...", "-", "+-", "", "epoch 3: 95%", "3: 2.4s", "epoch 3: 5/10",
        "3 at 12:30", "3 at 12:30:05", "3 1.2.3", "3 2024-01-02", "3 0.5-0.7", "3 0.5+-0.1", "3 0.5±0.1", "3 +/-0.1",
        "3 $5", "3 10^-3", "3 \u22125", "3 --5", "3 0x1f", "3 1e", "loss 0,5", "3 1,234", "3 1,234.5", "3 1,234,567",
        "tensor(3., device='cuda:0')", "3 on cuda:1", "3 localhost:8080", "3 errors:2", "3 1'234.5", "3 1\u2019234",
        "3 1\u202f234.5", "3 1\u00a0234", "loss 1 000", "3 1 000.5", "3 ckpt 2024_01", "3 1_0",
        "3 loss None", "3 loss null", "3 -nan(ind)x 4x", "3 |0.5|", "3 #4", "3 5th", "3 \x1b[32m0.5\x1b[0m",
    ],
)  # fmt: skip
def test_what_is_not_clearly_the_last_number_is_none(line):
    assert last_number(line) is None


def test_a_closed_program_starts_nothing(here):
    program = Program(python("open('ran', 'w'); print({x})"), ["x"])
    program.close()
    with pytest.raises(ProgramFailed, match="not started any more"):
        program({"x": 1})
    assert not (here / "ran").exists()


@pytest.mark.skipif(os.name != "posix", reason="permissions")
@pytest.mark.parametrize(
    ("command", "reason"),
    [
        ("no-such-program {x}", "got 'no-such-program' .*No such file"),
        ("./text {x}", "got './text' .*Permission denied"),
        ("./empty {x}", "got './empty' .*Exec format error"),
        ("sh -c 'no-such-program $1' sh {x}", "but it ended with code 127: .*not found"),
        ("sh -c './text $1' sh {x}", "but it ended with code 126: .*ermission denied"),
        ("env no-such-program {x}", "but it ended with code 127: .*No such file"),
    ],
)
def test_a_program_that_is_not_there_is_no_fault_of_the_point(here, command, reason):
    (here / "text").write_text("print(1)")
    (here / "empty").touch(mode=0o755)
    with pytest.raises(CannotStart, match=f"^the command must be one that can be started, {reason}"):
        Program(command, ["x"])({"x": 1})


@pytest.mark.skipif(os.name != "posix", reason="permissions")
def test_a_program_of_this_folder_is_pointed_out(here):
    (here / "train.sh").write_text("echo 1")
    with pytest.raises(CannotStart, match=r"got 'train.sh' .*; the file in this folder is ./train.sh$"):
        Program("train.sh {x}", ["x"])({"x": 1})


@pytest.mark.parametrize("value", ["1" + "0" * 400, "[" * 100_000, "true]"])
def test_json_without_a_number_is_a_failed_evaluation(here, value):
    (here / "program.py").write_text(f"""print('{{"loss": {value}}}')""")
    with pytest.raises(ProgramFailed, match="must be a JSON object with a number 'loss', got"):
        Program(f"{PYTHON} program.py", ["x"], key="loss")({"x": 1})


def test_a_json_object_asks_for_its_key(here):
    (here / "program.py").write_text("""print('{"loss": 0.5, "epoch": 3}')""")
    with pytest.raises(ProgramFailed, match="the last line it printed is a JSON object, of which --key must name an"):
        Program(f"{PYTHON} program.py", ["x"])({"x": 1})
    assert Program(f"{PYTHON} program.py", ["x"], key="loss")({"x": 1}) == 0.5
