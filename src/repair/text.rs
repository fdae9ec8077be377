//! Suggestions in the text of a specification.
