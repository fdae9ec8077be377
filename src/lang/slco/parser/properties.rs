//! Properties behind the objects: `never NAME: CONDITION`.

use super::super::syntax::{Name, Never};
use super::{Parse, Parser};
use crate::lang::Diagnostic;

impl Parser<'_> {
    /// Properties, up to a brace or what is none.
    pub(super) fn nevers(&mut self) -> Vec<Never> {
        let mut nevers = Vec::new();
        while self.eat("never") {
            match self.never() {
                Ok(never) => nevers.push(never),
                Err(_) => self.skip_until(|parser| parser.at("never")),
            }
        }
        nevers
    }

    fn never(&mut self) -> Parse<Never> {
        let name = self.property_name()?;
        let start = self.position;
        let condition = self.expression("a condition")?;
        let text = self.said_since(start);
        if !self.at("never") && !self.at("}") {
            return Err(self.expected("an operator, `never` or `}`"));
        }
        Ok(Never { name, condition, text })
    }

    /// `NAME:`
    fn property_name(&mut self) -> Parse<Name> {
        const HELP: &str = "a property has a name: `never NAME: CONDITION`";
        // Words are paths here.
        if !self.is_name(0) || self.peek(0).contains(['.', '\'', '@']) {
            let error = Diagnostic::error(self.span(), "expected the name of the property");
            return Err(self.report(error.with_help(HELP)));
        }
        let name = self.name("the name of the property")?;
        if !self.eat(":") {
            let error = Diagnostic::error(self.span(), format!("expected `:` behind `never {}`", name.text));
            return Err(self.report(error.with_help(HELP)));
        }
        Ok(name)
    }

    /// What was passed since the token at `start`, on one line and without comments.
    pub(super) fn said_since(&self, start: usize) -> String {
        let mut said = String::new();
        for position in start..self.position {
            if position > start && self.token_at(position - 1).span.end < self.token_at(position).span.start {
                said.push(' ');
            }
            said.push_str(self.text_at(position));
        }
        said
    }
}
