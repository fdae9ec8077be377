//! Names in conditions on states that mean nothing, and which of the same kind there are.

use super::names::listed;
use crate::lang::Diagnostic;
use crate::lang::similar::nearest;
use crate::lang::slco::syntax::Name;

/// The error for a name that is not among what can be observed: `variable`, `thread.variable` and `thread@state`, with
/// the object and a dot before them if there are several objects.
pub fn unknown_observable(name: &Name, known: &[&str]) -> Diagnostic {
    let text = name.text.as_str();
    let mut threads: Vec<&str> = known.iter().filter_map(|known| known.rsplit_once('@')).map(|place| place.0).collect();
    threads.dedup();
    let error = |what: &str, name_of: &str| Diagnostic::error(name.span, format!("there is no {what} `{name_of}`"));
    if let Some((thread, _)) = text.split_once('@') {
        if !threads.contains(&thread) {
            return error("thread", thread).with_help(advice(thread, "", "threads", &threads));
        }
        let prefix = format!("{thread}@");
        let states = format!("control states of `{thread}`");
        return error("control state", text).with_help(advice(text, &prefix, &states, &behind(&prefix, known)));
    }
    if let Some((owner, _)) = text.rsplit_once('.') {
        let prefix = format!("{owner}.");
        let is_object = threads.iter().any(|thread| thread.starts_with(&prefix));
        if !is_object && !threads.contains(&owner) {
            return error("thread", owner).with_help(advice(owner, "", "threads", &threads));
        }
        let variables = format!("variables of `{owner}`");
        return error("variable", text).with_help(advice(text, &prefix, &variables, &behind(&prefix, known)));
    }
    let of_thread = || known.iter().find(|known| known.rsplit_once('.').is_some_and(|(_, own)| own == text));
    let help = if threads.contains(&text) {
        format!("`{text}` is a thread: write `{text}@STATE` or `{text}.VARIABLE`")
    } else if let Some(own) = of_thread() {
        format!("a variable of a thread or an object is written with its owner: `{own}`")
    } else {
        advice(text, "", "shared variables", &behind("", known))
    };
    error("variable", text).with_help(help)
}

/// The names that begin so, each without that, if what is left is one word. (A control state between two statements of
/// a transition has none.)
fn behind<'a>(prefix: &str, known: &[&'a str]) -> Vec<&'a str> {
    let is_word = |name: &&str| name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    known.iter().filter_map(|known| known.strip_prefix(prefix)).filter(is_word).collect()
}

/// What may have been meant, and what there is; `prefix` stands before each of the candidates.
fn advice(name: &str, prefix: &str, what: &str, candidates: &[&str]) -> String {
    if candidates.is_empty() {
        return format!("there are no {what}");
    }
    let list = format!("{what} are {}", listed(candidates));
    let name = name.strip_prefix(prefix).unwrap_or(name);
    match nearest(name, candidates.iter().copied()) {
        Some(meant) => format!("did you mean `{prefix}{meant}`? The {list}"),
        None => format!("the {list}"),
    }
}
