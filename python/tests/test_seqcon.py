"""Runs the program on the project's own models; ``SEQCON`` names it."""

import os
import sys
import unittest
from pathlib import Path
from unittest import mock

import seqcon

ROOT = Path(__file__).resolve().parents[2]
SB = ROOT / "specs" / "sb.slco"
MP = ROOT / "specs" / "mp.slco"


def rows(table):
    """The rows of a table, data frame or not."""
    return table if isinstance(table, list) else table.to_dict("records")


class Tables(unittest.TestCase):
    def test_an_analysis_has_rows_for_each_model_and_memory_model(self):
        result = seqcon.analyse([SB, MP], mm=["tso", "pso"])
        self.assertTrue(result.complete)
        counted = {(row["model"], row["memory_model"]): row["fences"] for row in rows(result.summary)}
        self.assertEqual(counted, {("sb", "tso"): 2, ("sb", "pso"): 2, ("mp", "tso"): 0, ("mp", "pso"): 1})
        self.assertEqual(len(result.report["models"]), 2)
        fences = [(row["model"], row["thread"], row["instruction"]) for row in rows(result.fences)]
        self.assertEqual(fences.count(("sb", "T0", "0")), 2)
        self.assertEqual(rows(result.locks), [])

    def test_without_pandas_tables_are_lists(self):
        with mock.patch.dict(sys.modules, {"pandas": None}):
            result = seqcon.analyse(SB, mm="tso")
        self.assertIsInstance(result.fences, list)
        self.assertEqual([row["cost"] for row in result.fences], [1, 1])
        self.assertIsNone(result.summary[0]["cycles"])
        self.assertIsInstance(result.summary[0]["seconds"], float)

    def test_with_pandas_they_are_data_frames(self):
        try:
            import pandas
        except ImportError:
            self.skipTest("no pandas")
        result = seqcon.analyse(MP, mm=["tso", "pso"])
        self.assertIsInstance(result.summary, pandas.DataFrame)
        self.assertEqual(list(result.summary["fences"]), [0, 1])
        # A table without rows has its columns.
        self.assertIn("lock", result.locks.columns)

    def test_a_limit_is_told(self):
        result = seqcon.analyse(ROOT / "specs" / "bakery.slco", mm="tso", options=["--max-states", "10"])
        self.assertFalse(result.complete)
        self.assertEqual({row["complete"] for row in rows(result.summary)}, {"no"})

    def test_of_several_files_the_others_are_there(self):
        result = seqcon.analyse([SB, "nowhere.slco"], mm="tso")
        self.assertEqual((result.status, result.complete), (2, False))
        self.assertEqual([row["model"] for row in rows(result.summary)], ["sb"])
        self.assertIn("nowhere.slco", result.messages)

    def test_what_no_fence_repairs_is_no_whole_answer(self):
        path = ROOT / "specs" / "properties" / "producer-consumer-1-n2.slco"
        result = seqcon.analyse(path, mm="tso", options=["--property", "never"])
        self.assertEqual((result.status, result.complete), (1, False))
        self.assertEqual([row["inserted"] for row in rows(result.summary)], ["unfixable"])

    def test_what_is_missing_is_no_failure(self):
        self.assertEqual(seqcon.analyse(SB, mm="tso", options=["--check"]).status, 1)


class Findings(unittest.TestCase):
    def test_errors_of_a_file_are_findings(self):
        found = seqcon.check([SB, "nowhere.slco"])
        self.assertEqual([file["errors"] for file in found["files"]], [0, 1])


class Failures(unittest.TestCase):
    def test_what_the_program_refuses_is_an_exception_with_its_words(self):
        with self.assertRaises(seqcon.Failed) as caught:
            seqcon.analyse("nowhere.slco")
        self.assertEqual(caught.exception.status, 2)
        self.assertIn("nowhere.slco", str(caught.exception))
        with self.assertRaises(seqcon.Failed) as caught:
            seqcon.check(SB, options=["--nonsense"])
        self.assertEqual(caught.exception.status, 2)

    def test_a_program_that_is_not_there_is_named(self):
        with self.assertRaisesRegex(seqcon.Failed, "there is no program /nowhere/seqcon"):
            seqcon.analyse(SB, program="/nowhere/seqcon")


class Values(unittest.TestCase):
    def test_cells_are_what_they_say(self):
        cells = {"7": 7, "-1": -1, "0.25": 0.25, "": None, "yes": "yes", "nan": "nan", "1_0": "1_0", "'=x": "=x", "'q": "'q"}
        self.assertEqual({cell: seqcon._value("states", cell) for cell in cells}, cells)
        # A model may be called 7.
        self.assertEqual(seqcon._value("model", "7"), "7")


if __name__ == "__main__":
    unittest.main()
