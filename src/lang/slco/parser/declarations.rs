//! Models, classes, variables, state machines, objects.

use super::super::lexer::TokenKind;
use super::super::syntax::{
    BaseType, Class, Declaration, DeclaredType, Initial, InitialForm, Machine, Model, Name, Object, Transition, Value,
};
use super::{Parse, Parser};
use crate::lang::Diagnostic;
use crate::program::Span;

/// Longer arrays are taken for a slip: each element is a part of every state.
const MAX_ARRAY_SIZE: u64 = 65_536;

/// Words of other languages that people take for types.
const TYPE_LOOKALIKES: [(&str, &str); 7] = [
    ("Int", "Integer"),
    ("int", "Integer"),
    ("integer", "Integer"),
    ("Bool", "Boolean"),
    ("bool", "Boolean"),
    ("boolean", "Boolean"),
    ("byte", "Byte"),
];

/// Words of ours that SLCO has as names: among variables they get advice.
const OUR_WORDS: [&str; 4] = ["fence", "atomic", "assert", "never"];

impl Parser<'_> {
    pub(super) fn model(&mut self) -> Parse<Model> {
        self.expect("model")?;
        let name = self.name("the name of the model")?;
        self.expect("{")?;
        if self.at("actions") {
            self.unsupported("actions");
            self.skip_until(|parser| parser.at("classes"));
        }
        self.expect("classes")?;
        let mut classes = Vec::new();
        while self.is_name(0) {
            match self.class() {
                Ok(class) => classes.push(class),
                Err(_) => {
                    // Behind the body of the class, if it has one.
                    self.skip_until(|parser| parser.at("{") || parser.at("objects"));
                    self.skip_block();
                }
            }
        }
        if self.at("ports") || self.at("channels") {
            return Err(self.unsupported("channels and ports"));
        }
        if !self.at("objects") {
            return Err(self.expected("a class or `objects`"));
        }
        self.advance();
        let objects = self.comma_separated(Self::object)?;
        if self.at("channels") {
            return Err(self.unsupported("channels and ports"));
        }
        let nevers = self.nevers();
        if !self.at("}") {
            let others = if nevers.is_empty() { "`,` and another object, or `}`" } else { "`never` or `}`" };
            return Err(self.expected(others));
        }
        self.advance();
        if !self.at_end() {
            return Err(self.expected("the end of the file behind the model"));
        }
        Ok(Model { name, classes, objects, nevers })
    }

    /// Passes `{ … }`, if the next token opens it.
    fn skip_block(&mut self) {
        if self.eat("{") {
            self.skip_until(|_| false);
            self.eat("}");
        }
    }

    fn comma_separated<T>(&mut self, mut element: impl FnMut(&mut Self) -> Parse<T>) -> Parse<Vec<T>> {
        let mut elements = vec![element(self)?];
        while self.eat(",") {
            elements.push(element(self)?);
        }
        Ok(elements)
    }

    fn class(&mut self) -> Parse<Class> {
        let name = self.name("the name of a class")?;
        self.expect("{")?;
        let mut class = Class { name, variables: Vec::new(), machines: Vec::new() };
        loop {
            if self.eat("variables") {
                self.declarations(&mut class.variables);
            } else if self.at("ports") || self.at("channels") {
                self.unsupported("channels and ports");
                self.advance();
                self.skip_until(Self::at_class_section);
            } else if self.at("state") {
                self.advance();
                if self.expect("machines").is_ok() {
                    self.machines(&mut class.machines);
                } else {
                    self.skip_until(Self::at_class_section);
                }
            } else if self.at_run_together() {
                let error =
                    Diagnostic::error(self.span(), format!("expected `state machines`, found `{}`", self.peek(0)));
                self.report(error.with_help("these are two words"));
                self.advance();
                self.machines(&mut class.machines);
            } else if self.at("}") || self.at_end() || self.at("objects") {
                self.close_with("`variables`, `state machines` or `}`");
                return Ok(class);
            } else {
                self.expected("`variables`, `state machines` or `}`");
                self.skip_until(Self::at_class_section);
            }
        }
    }

    fn at_class_section(&self) -> bool {
        ["variables", "state", "objects"].iter().any(|word| self.at(word)) || self.at_run_together()
    }

    /// Whether this is `state machines` in one word: a state machine begins behind it.
    fn at_run_together(&self) -> bool {
        let is_it =
            ["statemachines", "state_machines", "statemachine", "stateMachines"].iter().any(|word| self.at(word));
        is_it && self.is_name(1) && self.kind(2) == TokenKind::Symbol && self.peek(2) == "{"
    }

    /// Passes a closing brace; if it is missing, says what could stand here and goes on as if it were there.
    pub(super) fn close_with(&mut self, expected: &str) {
        if !self.eat("}") {
            self.expected(expected);
        }
    }

    /// Variables, up to a keyword or a brace.
    fn declarations(&mut self, declarations: &mut Vec<Declaration>) {
        let mut last_type = None;
        loop {
            if self.at(",") || self.at(";") {
                let error = Diagnostic::error(self.span(), format!("expected a variable, found `{}`", self.peek(0)));
                self.report(error.with_help("variables are separated by spaces: `Byte x y`"));
                self.advance();
            } else if self.at_run_together() {
                return;
            } else if self.at_type() || self.is_name(0) || OUR_WORDS.iter().any(|word| self.at(word)) {
                if let Ok(declaration) = self.declaration(&mut last_type) {
                    declarations.push(declaration);
                } else {
                    self.skip_until(Self::at_declaration_or_section);
                }
            } else {
                return;
            }
        }
    }

    fn at_type(&self) -> bool {
        ["Integer", "Boolean", "Byte"].iter().any(|word| self.at(word))
    }

    fn at_declaration_or_section(&self) -> bool {
        self.at_type() || self.at_machine_section() || self.at_class_section()
    }

    fn declaration(&mut self, last_type: &mut Option<DeclaredType>) -> Parse<Declaration> {
        if self.at_type() {
            *last_type = Some(self.declared_type()?);
        } else if let Some((_, meant)) = TYPE_LOOKALIKES.iter().find(|(word, _)| self.at(word)) {
            // Before a name or a bracket it is meant as a type; alone it may be the name of a variable.
            if self.is_name(1) || self.kind(1) == TokenKind::Symbol && self.peek(1) == "[" {
                let error = Diagnostic::error(self.span(), format!("there is no type `{}`", self.peek(0)));
                let help = format!("the types are `Integer`, `Boolean` and `Byte`; did you mean `{meant}`?");
                return Err(self.report(error.with_help(help)));
            }
        }
        let Some(ty) = *last_type else {
            let error = Diagnostic::error(self.span(), format!("expected a type, found `{}`", self.peek(0)));
            return Err(self.report(error.with_help("the types are `Integer`, `Boolean` and `Byte`")));
        };
        let name = self.name("the name of a variable")?;
        if self.at("[") {
            let error = Diagnostic::error(self.span(), "expected a variable or its initial value, found `[`");
            return Err(self.report(error.with_help("the size of an array belongs to its type: `Byte[2] x`")));
        }
        if self.at("=") {
            let error = Diagnostic::error(self.span(), "expected `:=` before an initial value, found `=`");
            self.report(error.with_help("`:=` gives a value; `=` compares"));
            self.advance();
            return Ok(Declaration { ty, name, initial: Some(self.initial()?) });
        }
        let initial = if self.eat(":=") { Some(self.initial()?) } else { None };
        Ok(Declaration { ty, name, initial })
    }

    fn declared_type(&mut self) -> Parse<DeclaredType> {
        let base = match self.peek(0) {
            "Boolean" => BaseType::Boolean,
            "Byte" => BaseType::Byte,
            _ => BaseType::Integer,
        };
        self.advance();
        let size = if self.eat("[") { Some(self.array_size()?) } else { None };
        Ok(DeclaredType { base, size })
    }

    fn array_size(&mut self) -> Parse<usize> {
        let start = self.position;
        let minus = self.eat("-");
        if self.kind(0) != TokenKind::Number {
            return Err(self.expected("the size of the array"));
        }
        let digits = self.peek(0);
        self.advance();
        let span = self.span_since(start);
        let size = if minus { 0 } else { digits.parse::<u64>().unwrap_or(u64::MAX) };
        self.expect("]")?;
        // A wrong size does not make what follows any less readable.
        if size == 0 {
            let sign = if minus { "-" } else { "" };
            let message = format!("an array has at least 1 element, not {sign}{}", super::shortened(digits));
            self.errors.push(Diagnostic::error(span, message));
        } else if size > MAX_ARRAY_SIZE {
            let message = format!("an array has at most {MAX_ARRAY_SIZE} elements, not {}", super::shortened(digits));
            self.errors.push(Diagnostic::error(span, message).with_help("every element is a part of every state"));
        }
        Ok(usize::try_from(size.clamp(1, MAX_ARRAY_SIZE)).unwrap_or(1))
    }

    fn initial(&mut self) -> Parse<Initial> {
        let start = self.position;
        if !self.eat("[") {
            let value = self.value()?;
            return Ok(Initial { form: InitialForm::Single, values: vec![value], span: self.span_since(start) });
        }
        let values = self.comma_separated(Self::value)?;
        if !self.at("]") {
            return Err(self.expected("`,` or `]`"));
        }
        self.advance();
        Ok(Initial { form: InitialForm::List, values, span: self.span_since(start) })
    }

    fn value(&mut self) -> Parse<(Value, Span)> {
        let start = self.position;
        let value = match self.peek(0) {
            "true" => Value::Boolean(true),
            "false" => Value::Boolean(false),
            _ => return self.signed_integer("a value: an integer, `true` or `false`"),
        };
        self.advance();
        Ok((value, self.span_since(start)))
    }

    fn machines(&mut self, machines: &mut Vec<Machine>) {
        while self.is_name(0) {
            match self.machine() {
                Ok(Some(machine)) => machines.push(machine),
                Ok(None) => {}
                Err(_) => {
                    self.skip_until(|parser| parser.at("{") || parser.at_class_section());
                    self.skip_block();
                }
            }
        }
    }

    fn at_machine_section(&self) -> bool {
        ["variables", "initial", "states", "transitions"].iter().any(|word| self.at(word))
    }

    /// A state machine; none if it was left open or incomplete, which is reported.
    fn machine(&mut self) -> Parse<Option<Machine>> {
        const SECTIONS: &str = "`variables`, `initial`, `states`, `transitions` or `}`";
        let name = self.name("the name of a state machine")?;
        self.expect("{")?;
        let (mut variables, mut initial, mut states): (_, Option<Name>, _) = (Vec::new(), None, Vec::new());
        let mut transitions: Vec<Transition> = Vec::new();
        loop {
            if self.eat("variables") {
                self.declarations(&mut variables);
            } else if self.at("initial") {
                if initial.is_some() {
                    let error = Diagnostic::error(self.span(), format!("`{}` has two initial states", name.text));
                    self.report(error);
                }
                self.advance();
                if let Ok(state) = self.name("the name of the initial state") {
                    initial = Some(state);
                } else {
                    self.skip_until(Self::at_machine_section);
                    // Any name does, now that there is an error: it must not be reported as missing, too.
                    initial = Some(name.clone());
                }
            } else if self.eat("states") {
                while let Some(state) = self.is_name(0).then(|| self.name("a state").ok()).flatten() {
                    states.push(state);
                }
            } else if self.eat("transitions") {
                self.transitions(&mut transitions);
                if !self.at("}") && !self.at_machine_section() {
                    self.expected("a transition or `}`");
                }
                if self.at_block() {
                    // The next machine begins: this one's brace is missing.
                    return Ok(None);
                }
            } else if self.at("}") || self.at_end() || self.at("objects") {
                self.close_with(SECTIONS);
                break;
            } else {
                self.expected(SECTIONS);
                self.skip_until(|parser| parser.at_machine_section() || parser.at("objects"));
            }
        }
        let Some(initial) = initial else {
            let message = format!("the state machine `{}` has no initial state", name.text);
            self.errors.push(Diagnostic::error(name.span, message).with_help("write `initial STATE` before `states`"));
            return Ok(None);
        };
        Ok(Some(Machine { name, variables, initial, states, transitions }))
    }

    /// Whether `NAME {` comes.
    pub(super) fn at_block(&self) -> bool {
        self.is_name(0) && self.kind(1) == TokenKind::Symbol && self.peek(1) == "{"
    }

    fn object(&mut self) -> Parse<Object> {
        let name = self.name("the name of an object")?;
        self.expect(":")?;
        let class = self.name("the name of a class")?;
        self.expect("(")?;
        let mut initialisations = Vec::new();
        if !self.at(")") {
            initialisations = self.comma_separated(|parser| {
                let variable = parser.name("the name of a variable or `)`")?;
                parser.expect(":=")?;
                Ok((variable, parser.initial()?))
            })?;
        }
        if !self.at(")") {
            return Err(self.expected("`,` or `)`"));
        }
        let end = self.span().end;
        self.advance();
        let span = Span { start: name.span.start, end };
        Ok(Object { name, class, initialisations, span })
    }
}
