//! Text to syntax, with the precedences of mCRL2's grammar.

/// A data expression.
#[derive(Clone, Debug)]
pub enum Expr {
    Number(i128),
    /// A name alone, or a function with its arguments.
    Apply(String, Vec<Expr>),
    List(Vec<Expr>),
    /// An operator by its sign; a unary minus is `-` with one operand.
    Operator(String, Vec<Expr>),
}

/// A sort.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Sort {
    Named(String),
    List(Box<Sort>),
}

#[derive(Debug)]
pub struct Equation {
    pub variables: Vec<(String, Sort)>,
    pub condition: Option<Expr>,
    pub left: Expr,
    pub right: Expr,
}

/// `(condition) -> action(arguments) . Process(changes)`
#[derive(Debug)]
pub struct Summand {
    pub condition: Expr,
    pub action: String,
    pub arguments: Vec<Expr>,
    pub process: String,
    pub changes: Vec<(String, Expr)>,
}

/// A constructor with the sorts of its arguments.
pub type Constructor = (String, Vec<Sort>);

/// All sections of a specification.
#[derive(Debug, Default)]
pub struct Syntax {
    /// Structured sorts with their constructors.
    pub sorts: Vec<(String, Vec<Constructor>)>,
    pub maps: Vec<(String, Vec<Sort>, Sort)>,
    pub equations: Vec<Equation>,
    pub actions: Vec<(String, Vec<Sort>)>,
    pub process: String,
    pub parameters: Vec<(String, Sort)>,
    pub summands: Vec<Summand>,
    pub initial: Vec<Expr>,
}

/// Words that cannot be identifiers.
const KEYWORDS: [&str; 47] = [
    "sort", "cons", "map", "var", "eqn", "act", "proc", "init", "glob", "struct", "Bool", "Pos", "Nat", "Int", "Real",
    "List", "Set", "Bag", "FSet", "FBag", "true", "false", "whr", "end", "lambda", "forall", "exists", "div", "mod",
    "in", "delta", "tau", "sum", "dist", "block", "allow", "hide", "rename", "comm", "val", "mu", "nu", "delay",
    "yaled", "nil", "pbes", "bes",
];
const SECTIONS: [&str; 7] = ["sort", "map", "var", "eqn", "act", "proc", "init"];
const SIGNS: [&str; 10] = ["|>", "<|", "++", "==", "!=", "<=", ">=", "->", "&&", "||"];

/// Operators by increasing strength, with whether they associate to the right.
const LEVELS: [(&[&str], bool); 10] = [
    (&["||"], true),
    (&["&&"], true),
    (&["==", "!="], false),
    (&["<", "<=", ">=", ">", "in"], false),
    (&["|>"], true),
    (&["<|"], false),
    (&["++"], false),
    (&["+", "-"], false),
    (&["div", "mod"], false),
    (&["*"], false),
];

pub fn parse(text: &str) -> Syntax {
    let mut parser = Parser { tokens: tokens(text), at: 0 };
    let mut syntax = Syntax::default();
    let mut inits = 0;
    while !parser.is_at_end() {
        let section = parser.next();
        match section.as_str() {
            "sort" => parser.sorts(&mut syntax),
            "map" => parser.maps(&mut syntax),
            "var" => {
                let variables = parser.variables();
                parser.expect("eqn");
                parser.equations(&variables, &mut syntax);
            }
            "eqn" => parser.equations(&[], &mut syntax),
            "act" => parser.actions(&mut syntax),
            "proc" => parser.process(&mut syntax),
            "init" => {
                inits += 1;
                parser.expect(&syntax.process.clone());
                if parser.takes("(") {
                    syntax.initial = parser.expressions(")");
                }
                parser.expect(";");
            }
            other => panic!("no section begins with {other:?}"),
        }
    }
    assert_eq!(inits, 1, "there is one initial process");
    syntax
}

fn tokens(text: &str) -> Vec<String> {
    let mut tokens = Vec::new();
    for line in text.lines() {
        let mut rest = line.split('%').next().unwrap_or("").trim_start();
        while let Some(first) = rest.chars().next() {
            let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '\'';
            let length = if first.is_ascii_digit() {
                rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len())
            } else if first.is_ascii_alphabetic() || first == '_' {
                rest.find(|c| !is_word(c)).unwrap_or(rest.len())
            } else {
                SIGNS.iter().find(|sign| rest.starts_with(**sign)).map_or(first.len_utf8(), |sign| sign.len())
            };
            assert!(
                is_word(first) || "()[]|,;:=<>+-*!#.&".contains(first),
                "{first:?} is no token of mCRL2 in {line:?}"
            );
            tokens.push(rest[..length].to_owned());
            rest = rest[length..].trim_start();
        }
    }
    tokens
}

struct Parser {
    tokens: Vec<String>,
    at: usize,
}

impl Parser {
    fn is_at_end(&self) -> bool {
        self.at == self.tokens.len()
    }

    fn peek(&self) -> &str {
        self.tokens.get(self.at).map_or("", String::as_str)
    }

    fn next(&mut self) -> String {
        self.at += 1;
        self.tokens.get(self.at - 1).expect("the text goes on").clone()
    }

    fn takes(&mut self, token: &str) -> bool {
        let found = self.peek() == token;
        self.at += usize::from(found);
        found
    }

    fn expect(&mut self, token: &str) {
        let around = &self.tokens[self.at.saturating_sub(8)..self.tokens.len().min(self.at + 4)];
        assert!(self.peek() == token, "{token:?} is expected, {:?} was found, in {around:?}", self.peek());
        self.at += 1;
    }

    fn identifier(&mut self) -> String {
        let word = self.next();
        let first = word.chars().next().expect("no token is empty");
        assert!(first.is_ascii_alphabetic() || first == '_', "an identifier is expected, {word:?} was found");
        assert!(!KEYWORDS.contains(&word.as_str()), "the keyword {word:?} stands for an identifier");
        word
    }

    fn is_in_section(&self) -> bool {
        !self.is_at_end() && !SECTIONS.contains(&self.peek())
    }

    fn sort(&mut self) -> Sort {
        match self.next().as_str() {
            "List" => {
                self.expect("(");
                let element = self.sort();
                self.expect(")");
                Sort::List(Box::new(element))
            }
            basic @ ("Bool" | "Pos" | "Nat" | "Int") => Sort::Named(basic.to_owned()),
            _ => {
                self.at -= 1;
                Sort::Named(self.identifier())
            }
        }
    }

    fn sort_product(&mut self) -> Vec<Sort> {
        let mut sorts = vec![self.sort()];
        while self.takes("#") {
            sorts.push(self.sort());
        }
        sorts
    }

    fn sorts(&mut self, syntax: &mut Syntax) {
        while self.is_in_section() {
            let name = self.identifier();
            self.expect("=");
            self.expect("struct");
            let mut constructors = Vec::new();
            loop {
                let constructor = self.identifier();
                let mut arguments = Vec::new();
                if self.takes("(") {
                    loop {
                        arguments.push(self.sort());
                        if !self.takes(",") {
                            break;
                        }
                    }
                    self.expect(")");
                }
                constructors.push((constructor, arguments));
                if !self.takes("|") {
                    break;
                }
            }
            self.expect(";");
            syntax.sorts.push((name, constructors));
        }
    }

    fn maps(&mut self, syntax: &mut Syntax) {
        while self.is_in_section() {
            let name = self.identifier();
            self.expect(":");
            let mut arguments = self.sort_product();
            let result = if self.takes("->") { self.sort() } else { arguments.pop().expect("a sort was read") };
            self.expect(";");
            syntax.maps.push((name, arguments, result));
        }
    }

    /// `x, y: S`
    fn typed_names(&mut self, into: &mut Vec<(String, Sort)>) {
        let mut names = vec![self.identifier()];
        while self.takes(",") {
            names.push(self.identifier());
        }
        self.expect(":");
        let sort = self.sort();
        into.extend(names.into_iter().map(|name| (name, sort.clone())));
    }

    fn variables(&mut self) -> Vec<(String, Sort)> {
        let mut variables = Vec::new();
        while self.is_in_section() {
            self.typed_names(&mut variables);
            self.expect(";");
        }
        variables
    }

    fn equations(&mut self, variables: &[(String, Sort)], syntax: &mut Syntax) {
        while self.is_in_section() {
            let mut left = self.expression();
            let mut condition = None;
            if self.takes("->") {
                condition = Some(left);
                left = self.expression();
            }
            self.expect("=");
            let right = self.expression();
            self.expect(";");
            syntax.equations.push(Equation { variables: variables.to_vec(), condition, left, right });
        }
    }

    fn actions(&mut self, syntax: &mut Syntax) {
        while self.is_in_section() {
            let name = self.identifier();
            let arguments = if self.takes(":") { self.sort_product() } else { Vec::new() };
            self.expect(";");
            syntax.actions.push((name, arguments));
        }
    }

    fn process(&mut self, syntax: &mut Syntax) {
        assert!(syntax.process.is_empty(), "there is one process");
        syntax.process = self.identifier();
        if self.takes("(") {
            loop {
                self.typed_names(&mut syntax.parameters);
                if !self.takes(",") {
                    break;
                }
            }
            self.expect(")");
        }
        self.expect("=");
        if !self.takes("delta") {
            loop {
                let summand = self.summand();
                syntax.summands.push(summand);
                if !self.takes("+") {
                    break;
                }
            }
        }
        self.expect(";");
    }

    fn summand(&mut self) -> Summand {
        // A condition is a unit: in parentheses.
        self.expect("(");
        let condition = self.expression();
        self.expect(")");
        self.expect("->");
        let action = self.identifier();
        self.expect("(");
        let arguments = self.expressions(")");
        self.expect(".");
        let process = self.identifier();
        let mut changes = Vec::new();
        self.expect("(");
        if !self.takes(")") {
            loop {
                let parameter = self.identifier();
                self.expect("=");
                changes.push((parameter, self.expression()));
                if !self.takes(",") {
                    break;
                }
            }
            self.expect(")");
        }
        Summand { condition, action, arguments, process, changes }
    }

    /// At least one expression, up to `end`.
    fn expressions(&mut self, end: &str) -> Vec<Expr> {
        let mut found = vec![self.expression()];
        while self.takes(",") {
            found.push(self.expression());
        }
        self.expect(end);
        found
    }

    fn expression(&mut self) -> Expr {
        self.level(0)
    }

    fn level(&mut self, level: usize) -> Expr {
        let Some((signs, to_the_right)) = LEVELS.get(level) else { return self.unary() };
        let mut left = self.level(level + 1);
        while signs.contains(&self.peek()) {
            let sign = self.next();
            let right = self.level(if *to_the_right { level } else { level + 1 });
            left = Expr::Operator(sign, vec![left, right]);
        }
        left
    }

    fn unary(&mut self) -> Expr {
        if matches!(self.peek(), "!" | "-") {
            let sign = self.next();
            return Expr::Operator(sign, vec![self.unary()]);
        }
        self.primary()
    }

    fn primary(&mut self) -> Expr {
        let token = self.next();
        match token.as_str() {
            "(" => {
                let inner = self.expression();
                self.expect(")");
                inner
            }
            "[" if self.takes("]") => Expr::List(Vec::new()),
            "[" => Expr::List(self.expressions("]")),
            "true" | "false" => Expr::Apply(token, Vec::new()),
            number if number.starts_with(|first: char| first.is_ascii_digit()) => {
                assert!(number == "0" || !number.starts_with('0'), "{number} is no number of mCRL2");
                Expr::Number(number.parse().expect("it has digits only"))
            }
            _ => {
                self.at -= 1;
                let name = self.identifier();
                let arguments = if self.takes("(") { self.expressions(")") } else { Vec::new() };
                Expr::Apply(name, arguments)
            }
        }
    }
}
