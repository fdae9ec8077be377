//! Comment lines are within 120 columns, but for tables and examples, whose lines cannot be broken.

use std::fs;
use std::path::Path;

const MOST: usize = 120;

/// The lines of comments that are too long.
fn too_long(text: &str) -> Vec<usize> {
    let mut is_example = false;
    let mut found = Vec::new();
    for (number, line) in text.lines().enumerate() {
        let Some(comment) = line.trim_start().strip_prefix("//") else {
            is_example = false;
            continue;
        };
        let comment = comment.trim_start_matches(['/', '!']).trim_start();
        is_example ^= comment.starts_with("```");
        if line.chars().count() > MOST && !is_example && !comment.starts_with('|') {
            found.push(number + 1);
        }
    }
    found
}

fn collect(directory: &Path, found: &mut Vec<String>) {
    for path in fs::read_dir(directory).expect("a directory").map(|entry| entry.expect("an entry").path()) {
        if path.is_dir() {
            collect(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            let lines = too_long(&fs::read_to_string(&path).expect("UTF-8"));
            found.extend(lines.into_iter().map(|line| format!("{}:{line}", path.display())));
        }
    }
}

#[test]
fn comment_lines_are_within_120_columns() {
    let mut found = Vec::new();
    for directory in ["src", "tests", "benches"] {
        collect(&Path::new(env!("CARGO_MANIFEST_DIR")).join(directory), &mut found);
    }
    assert_eq!(found, Vec::<String>::new());
}

#[test]
fn a_long_comment_is_found_and_a_table_is_not() {
    let long = "x".repeat(MOST);
    let text = format!(
        "// short\n/// {long}\nlet a = \"{long}\";\n//! | {long} |\n//! ```\n//! {long}\n//! ```\n    // {long}"
    );
    assert_eq!(too_long(&text), [2, 8]);
}
