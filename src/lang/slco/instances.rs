//! Another number of objects, if all are of one class and begin with the same values.

use super::{lexer, parser};
use crate::lang::Diagnostic;
use crate::program::Span;

/// The text with so many objects.
pub fn instances(text: &str, number: usize) -> Result<String, Vec<Diagnostic>> {
    let mut errors = Vec::new();
    let tokens = lexer::tokens(text, &mut errors);
    let model = tokens.and_then(|tokens| parser::model(text, &tokens, &mut errors));
    let Some(model) = model.filter(|_| errors.is_empty()) else { return Err(errors) };
    let (Some(first), Some(last)) = (model.objects.first(), model.objects.last()) else {
        return Err(vec![Diagnostic::error(model.name.span, "there is no object to have instances of")]);
    };
    // What is behind the name: the class and the values.
    let what = |name: Span, all: Span| &text[name.end..all.end];
    let of_first = what(first.name.span, first.span);
    if let Some(other) = model.objects.iter().find(|other| what(other.name.span, other.span) != of_first) {
        let why = "this object is not written as the first one is: it is not clear what there are to be instances of";
        return Err(vec![
            Diagnostic::error(other.span, why).with_help("give all objects one class and the same values"),
        ]);
    }
    let name = first.name.text.trim_end_matches(|c: char| c.is_ascii_digit());
    let objects: Vec<String> = (1..=number).map(|object| format!("{name}{object}{of_first}")).collect();
    Ok(format!("{}{}{}", &text[..first.span.start], objects.join(", "), &text[last.span.end..]))
}
