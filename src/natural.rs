//! The order in which people expect names: `T2` before `T10`, `v[9]` before `v[10]`.

use std::cmp::Ordering;

/// Compares runs of digits by their value and everything else by characters; a total order (ties are broken
/// by the plain order, so that only equal names are equal).
#[must_use]
pub fn natural_order(a: &str, b: &str) -> Ordering {
    let (mut left, mut right) = (a, b);
    loop {
        let (Some(x), Some(y)) = (left.chars().next(), right.chars().next()) else {
            return left.len().cmp(&right.len()).then_with(|| a.cmp(b));
        };
        let order = if x.is_ascii_digit() && y.is_ascii_digit() {
            let (p, q) = (digits(left), digits(right));
            let (value_p, value_q) = (p.trim_start_matches('0'), q.trim_start_matches('0'));
            (left, right) = (&left[p.len()..], &right[q.len()..]);
            value_p.len().cmp(&value_q.len()).then_with(|| value_p.cmp(value_q))
        } else {
            (left, right) = (&left[x.len_utf8()..], &right[y.len_utf8()..]);
            x.cmp(&y)
        };
        if order != Ordering::Equal {
            return order;
        }
    }
}

fn digits(text: &str) -> &str {
    &text[..text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len())]
}

#[cfg(test)]
mod tests {
    use super::natural_order;

    #[test]
    fn numbers_are_compared_by_value() {
        let mut names = vec!["v[10]", "v[9]", "T10.2", "T2.10", "T2.9", "T02.9", "v", "é1"];
        names.sort_by(|a, b| natural_order(a, b));
        assert_eq!(names, ["T02.9", "T2.9", "T2.10", "T10.2", "v", "v[9]", "v[10]", "é1"]);
    }
}
