//! The [quotient](super::quotient) as queries for engines that are where the data are: DuckDB, Spark, DataFusion.
//!
//! They are asked of two tables: `transitions(src, label, dst)`, and `labels`, which `seqcon labels` writes. What comes
//! out is the [table](super::quotient::table) that seqcon reads. An enabled set is the sorted list of the numbers of
//! its labels, as a text, so that there may be any number of labels.
//!
//! Whether the initial state leads to every state: nearly always every state has a step to it from a state with a
//! smaller number, or from the initial one, which a query can count. Where that is not so, DuckDB searches; for the
//! others that is not known, the result says so, and so does whoever reads it.
//!
//! The languages differ in how a table is made and written, and in how a list is put together; the rest is the same.

#![forbid(unsafe_code)]

/// An engine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Engine {
    /// DuckDB.
    DuckDb,
    /// Apache Spark.
    Spark,
    /// Apache DataFusion.
    DataFusion,
}

/// How an engine says what others say differently.
struct Words {
    view: &'static str,
    table: &'static str,
    list: &'static str,
    before_result: &'static str,
    after_result: &'static str,
    /// Makes `seqcon_reached(states)`, the number of states that the initial state leads to, or none if that is not
    /// known.
    reached: &'static str,
    how: &'static str,
}

impl Engine {
    fn words(self) -> Words {
        match self {
            Engine::DuckDb => Words {
                view: "CREATE OR REPLACE TEMP VIEW",
                table: "CREATE OR REPLACE TEMP TABLE",
                list: "array_to_string(list_sort(list(DISTINCT id)), ' ')",
                before_result: "COPY (",
                after_result: ") TO 'steps.csv' (FORMAT csv, HEADER);",
                reached: SEARCHED,
                how: "-- For DuckDB. It begins with, for example:\n\
                      --   CREATE VIEW transitions AS SELECT src, label, dst FROM 'transitions/*.parquet';\n\
                      --   CREATE TABLE labels AS SELECT * REPLACE (CAST(id AS INT) AS id) FROM read_csv('labels.csv', header = true, all_varchar = true);\n\
                      -- The result is the file steps.csv.\n",
            },
            Engine::Spark => Words {
                view: "CREATE OR REPLACE TEMPORARY VIEW",
                table: "CACHE TABLE",
                list: "array_join(array_sort(collect_set(id)), ' ')",
                before_result: "INSERT OVERWRITE DIRECTORY 'steps' USING csv OPTIONS (header 'true', escape '\"')\n\
                                SELECT /*+ COALESCE(1) */ * FROM (",
                after_result: ");",
                reached: COUNTED,
                how: "-- For Spark. It begins with, for example:\n\
                      --   CREATE TEMPORARY VIEW transitions USING parquet OPTIONS (path 'transitions');\n\
                      --   CREATE TEMPORARY VIEW labels(text STRING, id INT, thread STRING, kind STRING, meaning STRING)\n\
                      --     USING csv OPTIONS (path 'labels.csv', header 'true', escape '\"');\n\
                      -- The result is one file, steps/part-*.csv.\n",
            },
            Engine::DataFusion => Words {
                view: "CREATE OR REPLACE VIEW",
                table: "CREATE OR REPLACE TABLE",
                list: "array_to_string(array_sort(array_agg(DISTINCT id)), ' ')",
                before_result: "COPY (",
                after_result: ") TO 'steps.csv' STORED AS CSV OPTIONS ('format.has_header' 'true');",
                reached: COUNTED,
                how: "-- For DataFusion. It begins with, for example:\n\
                      --   CREATE EXTERNAL TABLE transitions STORED AS PARQUET LOCATION 'transitions/';\n\
                      --   CREATE EXTERNAL TABLE labels(text VARCHAR, id INT, thread VARCHAR, kind VARCHAR, meaning VARCHAR)\n\
                      --     STORED AS CSV LOCATION 'labels.csv' OPTIONS ('format.has_header' 'true');\n\
                      -- The result is the file steps.csv.\n",
            },
        }
    }
}

/// Every state is discovered, or a search tells how many are reached.
const SEARCHED: &str = "\
WITH RECURSIVE reached(state) AS (
  SELECT i.state FROM seqcon_initial i, seqcon_size z WHERE z.discovered + 1 < z.states
  UNION SELECT t.dst FROM reached r JOIN transitions t ON t.src = r.state)
SELECT CASE WHEN discovered + 1 = states THEN states ELSE (SELECT count(*) FROM reached) END AS states FROM seqcon_size";

/// Every state is discovered, or nothing is known.
const COUNTED: &str = "\
SELECT CASE WHEN discovered + 1 = states THEN states END AS states FROM seqcon_size";

/// The queries, with comments that say how they are used.
#[must_use]
pub fn queries(engine: Engine) -> String {
    let Words { view, table, list, before_result, after_result, reached, how } = engine.words();
    format!(
        "\
-- The steps between sets of enabled labels, over transitions(src, label, dst) and labels.csv of 'seqcon labels'.
{how}
-- The initial state: say here if it is another.
{view} seqcon_initial AS SELECT 0 AS state;

{view} seqcon_numbered AS
SELECT t.src, t.dst, l.id, l.kind = 'internal' AS internal
FROM transitions t LEFT JOIN labels l ON l.text = t.label;

-- What is enabled in every state; an internal self-loop is nothing.
{table} seqcon_sets AS
SELECT src AS state, {list} AS enabled
FROM seqcon_numbered WHERE NOT (internal AND src = dst) GROUP BY src;

{table} seqcon_steps AS
SELECT coalesce(b.enabled, '') AS enabled_before, t.id AS id, coalesce(a.enabled, '') AS enabled_after,
       CASE WHEN t.src = t.dst THEN '1' ELSE '0' END AS is_loop, count(*) AS transitions
FROM seqcon_numbered t LEFT JOIN seqcon_sets b ON b.state = t.src LEFT JOIN seqcon_sets a ON a.state = t.dst
GROUP BY 1, 2, 3, 4;

-- How many there are, and how many states have a step to them from the initial state or one with a smaller number.
{table} seqcon_size AS
SELECT (SELECT count(*) FROM (SELECT src AS state FROM transitions UNION SELECT dst FROM transitions
                              UNION SELECT state FROM seqcon_initial) s) AS states,
       (SELECT count(*) FROM transitions) AS transitions,
       (SELECT count(DISTINCT t.dst) FROM transitions t CROSS JOIN seqcon_initial i
        WHERE (t.src < t.dst OR t.src = i.state) AND t.dst <> i.state) AS discovered;

{table} seqcon_reached AS
{reached};

{before_result}
SELECT 'label' AS what, l.meaning AS text, '' AS before, CAST(l.id AS STRING) AS label, '' AS after, '' AS is_loop,
       '' AS count
FROM (SELECT DISTINCT id, meaning FROM labels) l WHERE l.id IN (SELECT id FROM seqcon_steps)
UNION ALL
SELECT 'step', '', enabled_before, CAST(id AS STRING), enabled_after, is_loop, CAST(transitions AS STRING)
FROM seqcon_steps
UNION ALL
SELECT 'initial', '', coalesce(max(s.enabled), ''), '', '', '', ''
FROM seqcon_initial i JOIN seqcon_sets s ON s.state = i.state
UNION ALL
SELECT 'states', '', '', '', '', '', CAST(states AS STRING) FROM seqcon_size
UNION ALL
SELECT 'transitions', '', '', '', '', '', CAST(transitions AS STRING) FROM seqcon_size
UNION ALL
SELECT 'reached', CASE WHEN states IS NULL THEN 'states are not numbered in an order of discovery' ELSE '' END,
       '', '', '', '', coalesce(CAST(states AS STRING), '') FROM seqcon_reached
{after_result}
"
    )
}
