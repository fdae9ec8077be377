//! A model's text, read: its axioms, and what can be said of them without an execution.

use super::compile::Compiler;
use super::error::{CatError, Place, Source};
use super::evaluate::{self, Prepared};
use super::execution::{Communication, Structure};
use super::graph::{Axiom, Graph, Id, Op};
use super::lexer::{Word, words};
use super::names::{Base, OF_C11, SETS};
use super::parser::parse;
use super::syntax::Statement;
use crate::text::Span;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

/// How many files a text may be made of.
const MOST_FILES: usize = 100;
/// What herd's files include and the prelude has: these names mean nothing more, unless there is such a file.
const IN_PRELUDE: [&str; 7] =
    ["stdlib.cat", "cos.cat", "fences.cat", "x86fences.cat", "ppcfences.cat", "armfences.cat", "riscvfences.cat"];
const PRELUDE: &str = include_str!("models/prelude.cat");

/// The axioms of a memory model.
#[derive(Clone, Debug)]
pub struct Axioms {
    name: String,
    title: String,
    graph: Graph,
    axioms: Vec<Axiom>,
    communication: [Option<Id>; 3],
    /// What the axioms have to do with atomicity.
    knows_atomic: bool,
    knows_amo: bool,
    knows_lxsx: bool,
    has_initial_writes: bool,
}

/// The text does not say what an instruction does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// Indivisible instructions.
    #[error(
        "the program has an indivisible instruction, of which the model says nothing; give it an axiom on `rmw`, such \
         as `empty rmw & (fre; coe)`, or on `atomic`"
    )]
    Indivisible,
    /// Those that access several locations.
    #[error(
        "the program has an indivisible instruction that accesses several locations, and the model speaks only of \
         `rmw`, which is at one; give it an axiom on `atomic`, such as `irreflexive torn(r)` for an order r"
    )]
    Wide,
    /// Load exclusive and store exclusive.
    #[error(
        "the program has a load exclusive and a store exclusive, of which the model says nothing; give it an axiom on \
         `rmw`, such as `empty rmw & (fre; coe)`"
    )]
    Exclusive,
}

impl Axioms {
    /// Of a text that includes nothing but what every text may. The name is the one that errors show.
    ///
    /// # Errors
    /// The first thing that is wrong with it.
    pub fn from_text(name: &str, text: &str) -> Result<Axioms, CatError> {
        Ok(Axioms { has_initial_writes: true, ..Axioms::embedded(name, text)? })
    }

    /// The same of a text of ours: it needs no initial writes unless it names them, since it does not ask which write a
    /// read of an initial value reads from. Of `fr` the initial ones have their part.
    ///
    /// # Errors
    /// The first thing that is wrong with it.
    pub(super) fn embedded(name: &str, text: &str) -> Result<Axioms, CatError> {
        let source = Arc::new(Source { name: name.to_owned(), text: text.to_owned() });
        Loader { directory: None, open: Vec::new(), files: 0, statements: Vec::new(), is_of_c11: false }.axioms(&source)
    }

    /// Of a file, with what it includes, relative to the including file.
    ///
    /// # Errors
    /// If a file cannot be read, or the first thing that is wrong with it.
    pub fn from_file(path: &Path) -> Result<Axioms, CatError> {
        let name = path.display().to_string();
        let unreadable = |error: std::io::Error| {
            let source = Arc::new(Source { name: name.clone(), text: String::new() });
            CatError::new(&Place { source, span: Span::default() }, format!("the file cannot be read: {error}"))
        };
        let text = fs::read_to_string(path).map_err(unreadable)?;
        let source = Arc::new(Source { name: name.clone(), text });
        let directory = path.parent().map(Path::to_owned);
        let open = vec![canonical(path)];
        let loader = Loader { directory, open, files: 0, statements: Vec::new(), is_of_c11: false };
        Ok(Axioms { has_initial_writes: true, ..loader.axioms(&source)? })
    }

    /// The name of its file, without directory and extension.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Its title; the name if it has none.
    #[must_use]
    pub fn title(&self) -> &str {
        &self.title
    }

    /// Whether the model allows the execution.
    ///
    /// # Errors
    /// If the text does not say what an instruction of the structure does.
    pub fn allows(&self, structure: &Structure, communication: &Communication) -> Result<bool, Refusal> {
        Ok(Prepared::new(self, structure, false)?.allows(communication))
    }

    /// The relations that the axioms are about.
    #[must_use]
    pub fn graph(&self) -> &Graph {
        &self.graph
    }

    /// The axioms and flags, in the order of the text.
    #[must_use]
    pub fn axioms(&self) -> &[Axiom] {
        &self.axioms
    }

    /// The nodes of `rf`, `co` and `fr`, where the axioms need them.
    #[must_use]
    pub fn communication(&self) -> [Option<Id>; 3] {
        self.communication
    }

    /// Whether an axiom says SC-per-location, so that only such executions need be looked at.
    #[must_use]
    pub fn is_coherent(&self) -> bool {
        self.axioms.iter().any(|axiom| axiom.says_sc_per_location)
    }

    /// Whether initial writes must be events: the text may speak of them, or ask where reads read from.
    #[must_use]
    pub fn has_initial_writes(&self) -> bool {
        self.has_initial_writes
    }

    /// Whether there are flags.
    #[must_use]
    pub fn has_flags(&self) -> bool {
        self.axioms.iter().any(|axiom| axiom.is_flag)
    }

    /// Refuses structures with instructions of which the text says nothing.
    ///
    /// # Errors
    /// If it has one.
    pub fn refuse(&self, structure: &Structure) -> Result<(), Refusal> {
        if !structure.lxsx.is_empty() && !self.knows_lxsx {
            return Err(Refusal::Exclusive);
        }
        if structure.atomic.is_empty() || self.knows_atomic {
            return Ok(());
        }
        match (self.knows_amo, structure.is_wide()) {
            (false, _) => Err(Refusal::Indivisible),
            (true, true) => Err(Refusal::Wide),
            (true, false) => Ok(()),
        }
    }
}

/// The statements of the prelude, which are read once.
fn prelude() -> Result<&'static [Statement], CatError> {
    static READ: OnceLock<Result<Vec<Statement>, CatError>> = OnceLock::new();
    let source = || Arc::new(Source { name: "prelude.cat".to_owned(), text: PRELUDE.to_owned() });
    let read = READ.get_or_init(|| parse(&source()).map(|parsed| parsed.statements));
    read.as_deref().map_err(Clone::clone)
}

fn canonical(path: &Path) -> PathBuf {
    fs::canonicalize(path).unwrap_or_else(|_| path.to_owned())
}

/// Reads a text and what it includes.
struct Loader {
    /// Where includes are looked for; nowhere for an embedded text.
    directory: Option<PathBuf>,
    /// The files that are being read, one for the other.
    open: Vec<PathBuf>,
    files: usize,
    statements: Vec<Statement>,
    is_of_c11: bool,
}

impl Loader {
    fn axioms(mut self, source: &Arc<Source>) -> Result<Axioms, CatError> {
        let title = self.load(source)?;
        let mut compiler = Compiler::new(self.is_of_c11);
        prelude()?.iter().try_for_each(|statement| compiler.statement(statement))?;
        compiler.end_prelude();
        self.statements.iter().try_for_each(|statement| compiler.statement(statement))?;
        let (graph, axioms) = compiler.finish();
        if axioms.iter().all(|axiom| axiom.is_flag) {
            let place = Place { source: Arc::clone(source), span: Span::default() };
            return Err(CatError::new(&place, "the text has no axiom, so it would allow everything")
                .with_help("a model says what is `acyclic`, `irreflexive` or `empty`"));
        }
        let has = |op: &dyn Fn(&Op) -> bool| graph.nodes.iter().any(|node| op(&node.op));
        let has_base = |base: Base| has(&|op| *op == Op::Base(base));
        let has_set = |name: &str| has(&|op| matches!(op, Op::BaseSet(set) if SETS[*set].names.contains(&name)));
        let stem = Path::new(&source.name).file_stem().map(|stem| stem.to_string_lossy().into_owned());
        let name = stem.unwrap_or_else(|| source.name.clone());
        Ok(Axioms {
            title: title.unwrap_or_else(|| name.clone()),
            name,
            knows_atomic: has_base(Base::Atomic),
            knows_amo: has_base(Base::Amo) || has_set("RMW"),
            knows_lxsx: has_base(Base::Lxsx) || has_set("RMW"),
            has_initial_writes: has_set("IW"),
            communication: evaluate::communication(&graph),
            graph,
            axioms,
        })
    }

    /// Takes the statements of a text, and of what it includes; gives its title.
    fn load(&mut self, source: &Arc<Source>) -> Result<Option<String>, CatError> {
        let is_of_c11 = |word: &Word| matches!(word, Word::Name(name) if OF_C11.contains(&name.as_str()));
        self.is_of_c11 |= words(source)?.iter().any(|token| is_of_c11(&token.word));
        let parsed = parse(source)?;
        for statement in parsed.statements {
            match statement {
                Statement::Include { place, file } => self.include(&place, &file)?,
                statement => self.statements.push(statement),
            }
        }
        Ok(parsed.title)
    }

    fn include(&mut self, place: &Place, file: &str) -> Result<(), CatError> {
        self.files += 1;
        if self.files > MOST_FILES {
            return Err(CatError::new(place, format!("more than {MOST_FILES} files are included")));
        }
        let path = self.directory.as_ref().map(|directory| directory.join(file));
        let read = path.as_ref().map(|path| (path, fs::read_to_string(path)));
        let (path, text) = match read {
            Some((path, Ok(text))) => (path.clone(), text),
            _ if IN_PRELUDE.contains(&file) => return Ok(()),
            Some((path, Err(error))) => {
                return Err(CatError::new(place, format!("{} cannot be read: {error}", path.display()))
                    .with_help("names of files are relative to the file that includes them"));
            }
            None => return Err(CatError::new(place, "only files can include files")),
        };
        let known = canonical(&path);
        if self.open.contains(&known) {
            return Err(CatError::new(place, format!("{file:?} includes itself, directly or not"))
                .with_help("take one of the includes out"));
        }
        let source = Arc::new(Source { name: path.display().to_string(), text });
        let parent = path.parent().map(Path::to_owned);
        let directory = std::mem::replace(&mut self.directory, parent);
        self.open.push(known);
        self.load(&source)?;
        self.open.pop();
        self.directory = directory;
        Ok(())
    }
}
