//! Names that may mean the same memory: an array and its elements, and elements whose index is not a number.
//!
//! `v[0]` and `v[1]` are two locations. `v`, `v[0]` and `v[i]` overlap, nobody can tell how, so all names of such an
//! array are taken together: they are one *vague* location, the array. Accesses to it may conflict; but that one
//! thread accesses it twice does not mean that it accesses the same memory twice, so no order is kept for that. Names
//! of arrays whose indices are all numbers, and equally many, are locations of their own.

use std::collections::{BTreeMap, BTreeSet};

/// For every vague name, the name under which it is known: the array's if several names were taken together, its own
/// otherwise.
pub(super) fn vague_names<'n>(names: impl IntoIterator<Item = &'n str>) -> BTreeMap<String, String> {
    let mut arrays: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for name in names {
        arrays.entry(array_of(name)).or_default().insert(name);
    }
    let mut vague = BTreeMap::new();
    for (array, names) in arrays {
        let mut dimensions = names.iter().map(|name| dimensions(name));
        let first = dimensions.next().flatten();
        if first.is_some() && dimensions.all(|dimensions| dimensions == first) {
            continue;
        }
        let known_as = |name: &str| if names.len() > 1 { array.to_owned() } else { name.to_owned() };
        vague.extend(names.iter().map(|&name| (name.to_owned(), known_as(name))));
    }
    vague
}

/// The name without its indices.
fn array_of(name: &str) -> &str {
    name.split_once('[').map_or(name, |(array, _)| array)
}

/// How many indices the name has; nothing if one is not a number.
fn dimensions(name: &str) -> Option<usize> {
    let indices = name[array_of(name).len()..].strip_prefix('[').map_or("", |rest| rest);
    if indices.is_empty() {
        return Some(0);
    }
    let indices: Vec<&str> = indices.strip_suffix(']')?.split("][").collect();
    indices.iter().all(|index| is_number(index)).then_some(indices.len())
}

/// Whether the index is a number, written as numbers are: another spelling could be the same number.
fn is_number(index: &str) -> bool {
    let digits = index.strip_prefix('-').unwrap_or(index);
    !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit()) && (index == "0" || !digits.starts_with('0'))
}

#[cfg(test)]
mod tests {
    use super::vague_names;

    fn vague(names: &[&str]) -> Vec<String> {
        vague_names(names.iter().copied()).into_iter().map(|(name, known_as)| format!("{name} as {known_as}")).collect()
    }

    #[test]
    fn elements_with_numbers_are_locations_of_their_own() {
        assert_eq!(vague(&["v[0]", "v[1]", "v[-1]", "w[0][1]", "w[1][0]", "x", "x'y"]), [""; 0]);
    }

    #[test]
    fn what_may_overlap_is_taken_together() {
        assert_eq!(vague(&["v", "v[0]", "w[0]", "vv"]), ["v as v", "v[0] as v"]);
        assert_eq!(vague(&["v[i]", "v[0]", "v[1]"]), ["v[0] as v", "v[1] as v", "v[i] as v"]);
        assert_eq!(vague(&["v[i+1]"]), ["v[i+1] as v[i+1]"]);
        assert_eq!(vague(&["v[0]", "v[0][1]"]), ["v[0] as v", "v[0][1] as v"]);
        assert_eq!(vague(&["v[0][1]", "v[0][w[0]]"]), ["v[0][1] as v", "v[0][w[0]] as v"]);
        assert_eq!(vague(&["v[1]", "v[01]"]), ["v[01] as v", "v[1] as v"]);
    }
}
