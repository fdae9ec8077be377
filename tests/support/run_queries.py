"""Runs the queries of `seqcon facts --sql` in an engine: run_queries.py ENGINE DIRECTORY...

A directory has parts/*.csv (src, label, dst), labels.csv and queries.sql; the result is its steps.csv.
"""

import glob
import os
import shutil
import sys


def statements(path):
    with open(path) as file:
        text = "".join(line for line in file if not line.startswith("--"))
    return [statement for statement in text.split(";\n") if statement.strip()]


def duckdb_tables():
    import duckdb

    connection = duckdb.connect()
    connection.execute("SET threads = 2")
    types = "{'src': 'BIGINT', 'label': 'VARCHAR', 'dst': 'BIGINT'}"
    connection.execute(f"CREATE VIEW transitions AS FROM read_csv('parts/*.csv', header = true, columns = {types}, quote = '\"')")
    connection.execute(
        "CREATE TABLE labels AS SELECT * REPLACE (CAST(id AS INT) AS id) FROM read_csv('labels.csv', header = true, all_varchar = true)"
    )
    return lambda statement: connection.execute(statement)


def datafusion_tables():
    from datafusion import SessionContext

    context = SessionContext()
    tables = [
        ("transitions(src BIGINT, label VARCHAR, dst BIGINT)", "parts/"),
        ("labels(text VARCHAR, id INT, thread VARCHAR, kind VARCHAR, meaning VARCHAR)", "labels.csv"),
    ]
    for table, place in tables:
        options = "OPTIONS ('format.has_header' 'true')"
        context.sql(f"CREATE EXTERNAL TABLE {table} STORED AS CSV LOCATION '{place}' {options}").collect()
    return lambda statement: context.sql(statement).collect()


def spark_session():
    from pyspark.sql import SparkSession

    builder = SparkSession.builder.master("local[2]")
    # The inputs are small: what helps with large ones would only take time.
    settings = {
        "spark.ui.enabled": "false",
        "spark.driver.host": "127.0.0.1",
        "spark.sql.shuffle.partitions": "1",
        "spark.sql.adaptive.enabled": "false",
        "spark.sql.codegen.wholeStage": "false",
        "spark.sql.codegen.factoryMode": "NO_CODEGEN",
    }
    for name, value in settings.items():
        builder = builder.config(name, value)
    return builder.getOrCreate()


def spark_tables(session, directory):
    options = "OPTIONS (path '%s', header 'true', escape '\"')"
    session.sql(
        "CREATE OR REPLACE TEMPORARY VIEW transitions(src BIGINT, label STRING, dst BIGINT) USING csv "
        + options % os.path.join(directory, "parts")
    )
    session.sql(
        "CREATE OR REPLACE TEMPORARY VIEW labels(text STRING, id INT, thread STRING, kind STRING, meaning STRING) "
        "USING csv " + options % os.path.join(directory, "labels.csv")
    )
    # Spark's own directory is not this one.
    return lambda statement: session.sql(statement.replace("'steps'", "'%s/steps'" % directory))


def main(engine, directories):
    session = spark_session() if engine == "spark" else None
    for directory in map(os.path.abspath, directories):
        os.chdir(directory)
        if engine == "spark":
            # With tables of its own.
            run = spark_tables(session.newSession(), directory)
        else:
            run = duckdb_tables() if engine == "duckdb" else datafusion_tables()
        for statement in statements("queries.sql"):
            run(statement)
        if engine == "spark":
            [part] = glob.glob("steps/part-*.csv")
            shutil.copy(part, "steps.csv")
            session.catalog.clearCache()


main(sys.argv[1], sys.argv[2:])
