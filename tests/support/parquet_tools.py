"""Tables of other tools: `FOLDER AUT...` writes each state space as pyarrow and DuckDB do by default and otherwise, into
FOLDER/NAME.N.parquet, and checks that both read FOLDER/NAME.own.parquet, which seqcon has written."""

import pathlib
import re
import sys

import duckdb
import pyarrow
import pyarrow.parquet

DELTA = {"src": "DELTA_BINARY_PACKED", "dst": "DELTA_BINARY_PACKED"}
PYARROW = [
    {},
    {"compression": "none", "use_dictionary": False},
    {"data_page_version": "2.0", "row_group_size": 100},
    {"use_dictionary": ["label"], "column_encoding": DELTA},
]
CHECKED = {"compression": "none", "use_dictionary": False, "write_page_checksum": True}
DUCKDB = ["", ", COMPRESSION uncompressed", ", PARQUET_VERSION v2", ", ROW_GROUP_SIZE 2048"]

folder = pathlib.Path(sys.argv[1])
for path in map(pathlib.Path, sys.argv[2:]):
    lines = path.read_text(encoding="utf-8").splitlines()[1:]
    rows = [re.fullmatch(r'\((\d+),"(.*)",(\d+)\)', line).groups() for line in lines if line]
    src, label, dst = [int(row[0]) for row in rows], [row[1] for row in rows], [int(row[2]) for row in rows]
    types = [pyarrow.int64(), pyarrow.string(), pyarrow.uint64()]
    arrays = [pyarrow.array(column, ty) for column, ty in zip([src, label, dst], types)]
    table = pyarrow.table(dict(zip(["src", "label", "dst"], arrays)))
    for number, options in enumerate(PYARROW):
        pyarrow.parquet.write_table(table, folder / f"{path.stem}.{number}.parquet", **options)
    connection = duckdb.connect()
    connection.register("transitions", table)
    for number, options in enumerate(DUCKDB, len(PYARROW)):
        target = folder / f"{path.stem}.{number}.parquet"
        connection.execute(f"COPY transitions TO '{target}' (FORMAT parquet{options})")
    pyarrow.parquet.write_table(table, folder / f"{path.stem}.checked.parquet", **CHECKED)
    own = folder / f"{path.stem}.own.parquet"
    read = pyarrow.parquet.read_table(own)
    assert [read.column(name).to_pylist() for name in ["src", "label", "dst"]] == [src, label, dst], path
    assert connection.execute(f"SELECT src, label, dst FROM '{own}'").fetchall() == list(zip(src, label, dst)), path
