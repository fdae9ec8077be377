//! Names that may have been meant.

/// Within how many edits a name is taken for a misspelling of another.
const SUGGESTED_DISTANCE: usize = 2;
/// Names of which one is longer than this are not compared.
const COMPARED_CHARS: usize = 100;

/// The known name that is nearest to `name`, if one is near enough to have been meant.
pub(crate) fn nearest<'a>(name: &str, known: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let near = known.map(|candidate| (distance(name, candidate), candidate));
    // Short names are all near to each other: at least one character must be right.
    let near =
        near.filter(|(edits, candidate)| *edits <= SUGGESTED_DISTANCE && *edits < name.len().min(candidate.len()));
    near.min_by_key(|(edits, _)| *edits).map(|(_, candidate)| candidate)
}

/// How many characters must be inserted, removed, replaced or swapped with their neighbour to turn one name into the
/// other.
fn distance(a: &str, b: &str) -> usize {
    if a.len().max(b.len()) > COMPARED_CHARS {
        return usize::MAX;
    }
    let (a, b) = (a.as_bytes(), b.as_bytes());
    let mut rows = vec![vec![0; b.len() + 1]; a.len() + 1];
    for i in 0..=a.len() {
        for j in 0..=b.len() {
            rows[i][j] = if i == 0 || j == 0 {
                i + j
            } else {
                let replaced = rows[i - 1][j - 1] + usize::from(a[i - 1] != b[j - 1]);
                let mut least = replaced.min(rows[i - 1][j] + 1).min(rows[i][j - 1] + 1);
                if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                    least = least.min(rows[i - 2][j - 2] + 1);
                }
                least
            };
        }
    }
    rows[a.len()][b.len()]
}

#[cfg(test)]
mod tests {
    use super::distance;

    #[test]
    fn edits_are_counted() {
        let cases = [("turn", "turn", 0), ("trun", "turn", 1), ("tur", "turn", 1), ("flag", "flog", 1), ("", "ab", 2)];
        for (a, b, edits) in cases {
            assert_eq!((distance(a, b), distance(b, a)), (edits, edits), "{a} {b}");
        }
    }
}
