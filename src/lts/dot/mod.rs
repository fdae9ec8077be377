//! State spaces as graphs in the DOT language, as TLC, umaudemc (Maude), tla-checker and mCRL2 write them.
//!
//! Nodes are states, edges are transitions, the `label` of an edge is the transition's. A graph is translated to the
//! text of an [`.aut`](super::aut) file in memory, which is then read as all others are; [`Graph::placed`] moves what
//! is wrong with a label there to its place in the graph.
//!
//! # What is read
//!
//! `digraph`, `strict` or not, with subgraphs (TLC's clusters and ranks), chains `a -> b -> c`, attributes, ports and
//! comments. Of attributes only these mean anything:
//!
//! - `label` of an edge. Without one, or with an empty one, an edge is an error, but for a loop (a state that
//!   stutters), which is left out. Labels of nodes are what a tool prints of a state, and are not looked at.
//! - `style=filled` without `fillcolor` (TLC) and `peripheries=2` (mCRL2) of a node: it is an initial state. If no
//!   node has it, the first node of the text that an edge touches is the initial state. Several initial states get one
//!   before them, with an internal step to each.
//!
//! States are the nodes that edges touch, numbered in the order of their edges; so nodes of a legend are none.
//! Refused: edges to subgraphs, undirected graphs, labels in HTML, a default label for edges.
//!
//! # What a graph may not show
//!
//! Some tools write only one of several steps between the same two states. umaudemc writes as many edges as there are
//! steps, but each with the label of the first; so the same edge twice means that a label is lost, and is an error
//! (`lenient`: a warning, and the graph is only a part). In a `strict` graph it means nothing: TLC writes a step for
//! each way in which an action can be taken. tla-checker writes one edge, and nothing shows that another is missing:
//! where a graph that is not `strict` has no two edges between the same two states, that is said.
//!
//! # Cost
//!
//! One pass; memory in proportion to the text.

#![forbid(unsafe_code)]

mod tokens;

use super::error::{BytePosition, Error};
use rustc_hash::{FxHashMap, FxHashSet};
use std::borrow::Cow;
use std::io::Write as _;
use tokens::{Fault, Quotes, Token, Tokens};

/// Deepest nesting of subgraphs that is not taken for a damaged file.
const MAX_DEPTH: usize = 1000;

/// A graph as `.aut`.
#[derive(Debug)]
pub struct Graph<'a> {
    /// The text of the state space.
    pub aut: Vec<u8>,
    /// What the user should know: sentences, without the file's name.
    pub warnings: Vec<String>,
    /// Whether labels are known to be lost.
    pub is_part: bool,
    source: &'a [u8],
    /// By transition, in the order of `aut`: where in the graph its label stands.
    places: Vec<usize>,
}

/// How a graph is read.
#[derive(Clone, Copy, Debug)]
pub struct Options<'o> {
    /// The label of internal steps, if there is one; several initial states need it.
    pub internal: Option<&'o str>,
    /// Takes a graph in which labels are lost.
    pub lenient: bool,
}

/// Whether a text is a graph, by its first word.
#[must_use]
pub fn is_graph(bytes: &[u8]) -> bool {
    match Tokens::new(bytes).next() {
        Ok((Token::Name(word, Quotes::Without), _)) => {
            is_keyword(&word, "digraph") || is_keyword(&word, "strict") || is_keyword(&word, "graph")
        }
        _ => false,
    }
}

/// Reads a graph; `name` is for messages.
///
/// # Errors
/// If it is not in the language, or not a state space: an edge has no label, or labels are lost.
pub fn read<'a>(bytes: &'a [u8], name: &str, options: Options<'_>) -> Result<Graph<'a>, Error> {
    let mut reader = Reader::new(bytes);
    reader.graph().map_err(|fault| {
        let remedy = if fault.offset >= bytes.len() {
            "the file may be cut off: let the tool that writes it come to its end"
        } else {
            "what is read of DOT is in docs/formats.md"
        };
        match fault.wrong {
            Wrong::Text(expected) => Error::unexpected(name, bytes, fault.offset, expected, remedy),
            Wrong::Edge { expected, found, remedy } => {
                Error::contents(name, BytePosition::of(bytes, fault.offset), expected, found, remedy)
            }
        }
    })?;
    reader.finish(name, options)
}

/// What is wrong, and where.
struct Refused {
    offset: usize,
    wrong: Wrong,
}

enum Wrong {
    /// The text is not as expected.
    Text(&'static str),
    /// An edge is no transition.
    Edge { expected: &'static str, found: &'static str, remedy: &'static str },
}

impl From<Fault> for Refused {
    fn from(fault: Fault) -> Refused {
        Refused { offset: fault.offset, wrong: Wrong::Text(fault.expected) }
    }
}

/// Attributes that mean something.
#[derive(Default)]
struct Attributes<'a> {
    /// The text, and where it stands.
    label: Option<(Cow<'a, [u8]>, usize)>,
    is_filled: bool,
    has_fill_colour: bool,
    is_doubled: bool,
}

impl Attributes<'_> {
    fn mark_initial(&self) -> bool {
        self.is_filled && !self.has_fill_colour || self.is_doubled
    }
}

struct Edge {
    from: u32,
    to: u32,
    label: u32,
    /// Where the label stands.
    place: usize,
}

struct Reader<'a> {
    source: &'a [u8],
    tokens: Tokens<'a>,
    ahead: Option<(Token<'a>, usize)>,
    is_strict: bool,
    /// Names of nodes by number, in the order of the text.
    nodes: FxHashMap<Cow<'a, [u8]>, u32>,
    initial: Vec<u32>,
    labels: FxHashMap<Vec<u8>, u32>,
    edges: Vec<Edge>,
}

impl<'a> Reader<'a> {
    fn new(source: &'a [u8]) -> Self {
        Reader {
            source,
            tokens: Tokens::new(source),
            ahead: None,
            is_strict: false,
            nodes: FxHashMap::default(),
            initial: Vec::new(),
            labels: FxHashMap::default(),
            edges: Vec::new(),
        }
    }

    fn next(&mut self) -> Result<(Token<'a>, usize), Fault> {
        match self.ahead.take() {
            Some(token) => Ok(token),
            None => self.tokens.next(),
        }
    }

    /// Takes the sign, if it is the next token.
    fn takes(&mut self, sign: &Token<'_>) -> Result<bool, Fault> {
        let token = self.next()?;
        let is_it = token.0 == *sign;
        if !is_it {
            self.ahead = Some(token);
        }
        Ok(is_it)
    }

    fn name(&mut self, expected: &'static str) -> Result<(Cow<'a, [u8]>, usize), Fault> {
        match self.next()? {
            (Token::Name(name, _), at) => Ok((name, at)),
            (_, offset) => Err(Fault { offset, expected }),
        }
    }

    /// `["strict"] "digraph" [name] "{" statements "}"`.
    fn graph(&mut self) -> Result<(), Refused> {
        let (mut word, mut at) = self.name("`digraph`")?;
        if is_keyword(&word, "strict") {
            self.is_strict = true;
            (word, at) = self.name("`digraph`")?;
        }
        if !is_keyword(&word, "digraph") {
            return Err(Fault { offset: at, expected: "`digraph`: transitions have a direction" }.into());
        }
        let opening = Token::Sign(b'{');
        if !self.takes(&opening)? {
            self.name("`{`, or the name of the graph")?;
            let (token, at) = self.next()?;
            if token != opening {
                return Err(Fault { offset: at, expected: "`{`" }.into());
            }
        }
        let mut depth = 1;
        while depth > 0 {
            let (token, at) = self.next()?;
            match token {
                Token::Sign(b';' | b',') => {}
                Token::Sign(b'{') if depth < MAX_DEPTH => depth += 1,
                Token::Sign(b'}') => {
                    depth -= 1;
                    if depth > 0 {
                        self.refuse_arrow()?;
                    }
                }
                Token::Name(name, quotes) => self.statement(name, quotes, at)?,
                _ => return Err(Fault { offset: at, expected: "a node, an edge, or `}`" }.into()),
            }
        }
        match self.next()? {
            (Token::End, _) => Ok(()),
            (_, offset) => Err(Fault { offset, expected: "the end of the file after the graph" }.into()),
        }
    }

    /// An edge from all nodes of a subgraph is not read.
    fn refuse_arrow(&mut self) -> Result<(), Fault> {
        let token = self.next()?;
        match token {
            (Token::Arrow, offset) => {
                Err(Fault { offset, expected: "no edge from a subgraph: write one for each node" })
            }
            _ => {
                self.ahead = Some(token);
                Ok(())
            }
        }
    }

    /// A statement that begins with a name.
    fn statement(&mut self, name: Cow<'a, [u8]>, quotes: Quotes, at: usize) -> Result<(), Refused> {
        if quotes == Quotes::Without {
            if is_keyword(&name, "subgraph") {
                if !self.takes(&Token::Sign(b'{'))? {
                    return self.name("the name of the subgraph, or `{`").map(|_| ()).map_err(Refused::from);
                }
                self.ahead = Some((Token::Sign(b'{'), at));
                return Ok(());
            }
            if ["node", "edge", "graph"].iter().any(|word| is_keyword(&name, word)) {
                let defaults = self.attributes()?;
                return match defaults.label {
                    Some((_, offset)) if is_keyword(&name, "edge") => {
                        Err(Fault { offset, expected: "no default label: each edge has its own" }.into())
                    }
                    _ => Ok(()),
                };
            }
        }
        if self.takes(&Token::Sign(b'='))? {
            self.name("the value of the attribute")?;
            return Ok(());
        }
        self.edges_or_node(name, at)
    }

    /// A node, or a chain of edges, behind its first name.
    fn edges_or_node(&mut self, name: Cow<'a, [u8]>, at: usize) -> Result<(), Refused> {
        self.skip_port()?;
        let mut chain = vec![self.node(name)];
        loop {
            let token = self.next()?;
            match token {
                (Token::Arrow, _) => {}
                (Token::Line, offset) => return Err(Fault { offset, expected: "`->`" }.into()),
                other => {
                    self.ahead = Some(other);
                    break;
                }
            }
            let (name, _) = self.name("the node to which the edge leads")?;
            self.skip_port()?;
            chain.push(self.node(name));
        }
        let attributes = self.attributes()?;
        if chain.len() == 1 {
            if attributes.mark_initial() {
                self.initial.push(chain[0]);
            }
            return Ok(());
        }
        let label = attributes.label.filter(|(text, _)| !text.is_empty());
        for ends in chain.windows(2) {
            match &label {
                Some((text, place)) => self.edge(ends[0], ends[1], text, *place),
                None if ends[0] == ends[1] => {}
                None => {
                    let wrong = Wrong::Edge {
                        expected: "an edge with a label, which tells the instruction",
                        found: "one without",
                        remedy: "TLC writes labels with -dump dot,actionlabels",
                    };
                    return Err(Refused { offset: at, wrong });
                }
            }
        }
        Ok(())
    }

    fn edge(&mut self, from: u32, to: u32, text: &[u8], place: usize) {
        let next = number(self.labels.len());
        let label = match self.labels.get(text) {
            Some(&label) => label,
            None => *self.labels.entry(text.to_vec()).or_insert(next),
        };
        self.edges.push(Edge { from, to, label, place });
    }

    fn node(&mut self, name: Cow<'a, [u8]>) -> u32 {
        let next = number(self.nodes.len());
        *self.nodes.entry(name).or_insert(next)
    }

    /// `[":" name [":" name]]`.
    fn skip_port(&mut self) -> Result<(), Fault> {
        while self.takes(&Token::Sign(b':'))? {
            self.name("the name of a port")?;
        }
        Ok(())
    }

    /// Lists of attributes, if there are any.
    fn attributes(&mut self) -> Result<Attributes<'a>, Fault> {
        let mut attributes = Attributes::default();
        while self.takes(&Token::Sign(b'['))? {
            loop {
                let (name, at) = match self.next()? {
                    (Token::Sign(b']'), _) => break,
                    (Token::Sign(b';' | b','), _) => continue,
                    (Token::Name(name, _), at) => (name, at),
                    (_, offset) => return Err(Fault { offset, expected: "an attribute, or `]`" }),
                };
                // `[bold]` is `[bold=true]`.
                let (value, place) = if self.takes(&Token::Sign(b'='))? {
                    self.name("the value of the attribute")?
                } else {
                    (Cow::Borrowed(&b"true"[..]), at)
                };
                match &*name {
                    b"label" => attributes.label = Some((value, place)),
                    b"style" => {
                        attributes.is_filled =
                            value.split(|&byte| byte == b',').any(|style| style.trim_ascii() == b"filled");
                    }
                    b"fillcolor" => attributes.has_fill_colour = true,
                    b"peripheries" => attributes.is_doubled = &*value == b"2",
                    _ => {}
                }
            }
        }
        Ok(attributes)
    }

    /// The graph as `.aut`.
    fn finish(self, name: &str, options: Options<'_>) -> Result<Graph<'a>, Error> {
        let mut seen = FxHashSet::default();
        let mut pairs = FxHashSet::default();
        let mut repeated = None;
        let mut has_parallel_steps = false;
        for edge in &self.edges {
            if seen.insert((edge.from, edge.to, edge.label)) {
                has_parallel_steps |= edge.from != edge.to && !pairs.insert((edge.from, edge.to));
            } else {
                repeated = repeated.or(Some(edge.place));
            }
        }
        let repeated = repeated.filter(|_| !self.is_strict);
        if let Some(place) = repeated.filter(|_| !options.lenient) {
            let place = BytePosition::of(self.source, place);
            let remedy = "umaudemc writes the label of the first rule for every rule between the same two states, so another label is lost: let the rules lead to different states, or say --lenient, and the answer is not complete";
            return Err(Error::contents(
                name,
                place,
                "every edge once",
                "the same edge with the same label again",
                remedy,
            ));
        }
        let mut warnings = Vec::new();
        if repeated.is_some() {
            warnings
                .push("the graph has an edge twice with the same label, so another label is probably lost".to_owned());
        } else if !self.is_strict && !has_parallel_steps && !self.edges.is_empty() {
            warnings.push("the graph has no two edges from one state to the same other state, and some tools (tla-checker) write only one of them: if two instructions of the program can do the same somewhere, one is missing here".to_owned());
        }
        let is_part = repeated.is_some();
        let source = self.source;
        let (aut, places) = self.translated(name, options)?;
        Ok(Graph { aut, warnings, is_part, source, places })
    }

    fn translated(self, name: &str, options: Options<'_>) -> Result<(Vec<u8>, Vec<usize>), Error> {
        let mut states: FxHashMap<u32, usize> = FxHashMap::default();
        // A node that no edge touches is none, unless it says of itself that it is an initial state.
        for node in self.edges.iter().flat_map(|edge| [edge.from, edge.to]).chain(self.initial.iter().copied()) {
            let next = states.len();
            states.entry(node).or_insert(next);
        }
        let mut initial: Vec<usize> = self.initial.iter().filter_map(|node| states.get(node).copied()).collect();
        initial.sort_unstable();
        initial.dedup();
        if initial.is_empty() {
            // Nodes are numbered in the order of the text.
            initial.extend(states.iter().min_by_key(|(node, _)| **node).map(|(_, state)| *state));
        }
        let (first, starts) = match (initial.as_slice(), options.internal) {
            ([], _) => (0, &[][..]),
            ([only], _) => (*only, &[][..]),
            (several, Some(_)) => (states.len(), several),
            (several, None) => {
                let found = format!("{} of them", several.len());
                let remedy =
                    "an internal step leads to each from a state before them: --tau says how internal steps are called";
                return Err(Error::contents(
                    name,
                    BytePosition { line: 1, column: 1 },
                    "one initial state",
                    found,
                    remedy,
                ));
            }
        };
        let num_of_states = (states.len() + usize::from(!starts.is_empty())).max(1);
        let mut texts = vec![&b""[..]; self.labels.len()];
        self.labels.iter().for_each(|(text, label)| texts[*label as usize] = text);
        let mut aut = Vec::with_capacity(32 * (self.edges.len() + 1));
        let mut places = Vec::with_capacity(starts.len() + self.edges.len());
        let mut line = |from: usize, label: &[u8], to: usize| {
            aut.extend_from_slice(b"(");
            // Writing to memory cannot fail.
            let _ = write!(aut, "{from},\"");
            aut.extend_from_slice(label);
            let _ = writeln!(aut, "\",{to})");
        };
        let internal = options.internal.unwrap_or_default().as_bytes();
        for start in starts {
            line(first, internal, *start);
            places.push(0);
        }
        for edge in &self.edges {
            line(states[&edge.from], texts[edge.label as usize], states[&edge.to]);
            places.push(edge.place);
        }
        let header = format!("des ({first},{},{num_of_states})\n", places.len());
        aut.splice(..0, header.into_bytes());
        Ok((aut, places))
    }
}

impl Graph<'_> {
    /// An error at a place in `aut`, the text of the state space, at the place in the graph that it comes from.
    #[must_use]
    pub fn placed(&self, aut: &[u8], error: Error) -> Error {
        error.at_place(|place| {
            // The header is the first line.
            let transition = usize::try_from(place.line).ok()?.checked_sub(2)?;
            let label = *self.places.get(transition)?;
            let line = aut.split(|&byte| byte == b'\n').nth(transition + 1)?;
            let quote = memchr::memchr(b'"', line)? as u64;
            // Columns count from 1, and the label begins behind the quotation mark.
            let within = usize::try_from(place.column.saturating_sub(quote + 2)).ok()?;
            Some(BytePosition::of(self.source, label + within))
        })
    }
}

fn is_keyword(name: &[u8], word: &str) -> bool {
    name.eq_ignore_ascii_case(word.as_bytes())
}

fn number(count: usize) -> u32 {
    u32::try_from(count).expect("memory ends before 2^32 nodes and labels")
}
