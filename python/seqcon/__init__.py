"""Runs the program seqcon, and gives its tables.

Tables are data frames if pandas is there, and else lists of dictionaries. The program is that of ``SEQCON`` in the
environment, or ``seqcon`` on the path.
"""

import csv
import json
import os
import re
import subprocess
import tempfile
from pathlib import Path

__all__ = ["Failed", "Result", "analyse", "check", "run"]

#: The exit statuses that come with an answer: done, done and something is missing, stopped at a limit.
_ANSWERED = (0, 1, 3)


#: Columns of names and texts, which stay so also if a name looks like a number.
_TEXTS = frozenset(
    "model memory_model thread instruction from_instruction to_instruction from_access to_access mnemonic locations "
    "source position kind role".split()
)

_NUMBER = re.compile(r"-?[0-9]+(\.[0-9]+)?\Z")


class Failed(Exception):
    """The program refused its input: what it said, and its exit status."""

    def __init__(self, message, status):
        super().__init__(message)
        self.status = status


class Result:
    """What an analysis gave: its tables and its report."""

    def __init__(self, directory, status, messages=""):
        #: 0, or 1 if fences are missing and options have ``--check`` (or no fences are enough), or 3 after a limit; 2
        #: if something was wrong with some of several files, of which nothing is here.
        self.status = status
        #: What the program said besides: warnings, and what is wrong with files.
        self.messages = messages
        #: ``report.json``.
        self.report = json.loads((directory / "report.json").read_text(encoding="utf-8"))
        self.summary = _table(directory / "summary.csv")
        self.fences = _table(directory / "fences.csv")
        self.locks = _table(directory / "locks.csv")
        self.delays = _table(directory / "delays.csv")

    @property
    def complete(self):
        """Whether every row is a whole answer, and there is one for every file."""
        rows = self.summary if isinstance(self.summary, list) else self.summary.to_dict("records")
        return self.status in (0, 1) and all(row["complete"] == "yes" for row in rows)


def analyse(files, mm=(), options=(), program=None):
    """Analyses one file or several under the memory models, or those that are the program's default."""
    with tempfile.TemporaryDirectory(prefix="seqcon-") as directory:
        names = ["summary", "fences", "locks", "delays"]
        places = [os.path.join(directory, name + ".csv") for name in names]
        arguments = ["-q", "analyse", *_paths(files)]
        arguments += ["--mm", ",".join(_several(mm))] if mm else []
        for option, place in zip(["--summary-csv", "--csv", "--locks-csv", "--delays-csv"], places):
            arguments += [option, place]
        arguments += ["--json", os.path.join(directory, "report.json"), *options]
        done = _done(arguments, program)
        report = Path(directory) / "report.json"
        if not report.exists():
            raise Failed(done.stderr.strip() or done.stdout.strip(), done.returncode)
        return Result(Path(directory), done.returncode, done.stderr)


def check(files, options=(), program=None):
    """What is wrong in files: the document of ``seqcon check --json``. Errors in them are no exception."""
    status, text = run(["check", "--json", "-", *options, *_paths(files)], program, answered=(0, 2, 3))
    try:
        return json.loads(text)
    except ValueError:
        raise Failed("seqcon check gave no findings", status) from None


def run(arguments, program=None, answered=_ANSWERED):
    """Runs the program; gives its exit status and what it printed. Other statuses are :class:`Failed`."""
    done = _done(arguments, program)
    if done.returncode not in answered or (done.returncode == 2 and not done.stdout):
        raise Failed(done.stderr.strip() or done.stdout.strip(), done.returncode)
    return done.returncode, done.stdout


def _done(arguments, program):
    command = [program or os.environ.get("SEQCON", "seqcon"), *map(str, arguments)]
    try:
        return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, encoding="utf-8", check=False)
    except FileNotFoundError:
        message = f"there is no program {command[0]}: install it, or name it in SEQCON or by program="
        raise Failed(message, None) from None


def _several(names):
    return [names] if isinstance(names, (str, os.PathLike)) else list(names)


def _paths(files):
    return [os.fspath(file) for file in _several(files)]


def _table(path):
    with open(path, newline="", encoding="utf-8") as file:
        rows = [{name: _value(name, cell) for name, cell in row.items()} for row in csv.DictReader(file)]
        file.seek(0)
        columns = next(csv.reader(file), [])
    try:
        import pandas
    except ImportError:
        return rows
    return pandas.DataFrame(rows, columns=columns)


def _value(column, cell):
    """A number if it is one and the column is not of names, nothing if it is empty."""
    if cell == "":
        return None
    number = _NUMBER.match(cell) if column not in _TEXTS else None
    if number:
        return float(cell) if number[1] else int(cell)
    # What a spreadsheet would take for a formula has an apostrophe before it.
    return cell[1:] if cell[0] == "'" and cell[1:2] in ("=", "+", "-", "@", "\t", "\r") else cell
