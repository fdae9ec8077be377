//! Reading what the command line names: specifications, state spaces and facts files, as models; memory models.
//!
//! Every file is a model of its own, unless `--merge` says that all are explorations of one program, or `--shards` that
//! they are parts of one state space, which are then read and checked before anything is done with one of them.

use super::arguments::{EscapesArgument, InputArguments, LimitArguments, MergeArguments, Verbosity};
use super::failure::Failure;
use super::progress::ByteBar;
use crate::budget::Budget;
use crate::caveat::{Caveat, Topic};
use crate::engines::Subject;
use crate::facts::agreement::contradiction;
use crate::facts::extract::{Escapes, Options, Refusals};
use crate::facts::quotient::table::is_table;
use crate::facts::{self, Facts};
use crate::lang::Language;
use crate::lts::dialect::Dialect;
use crate::lts::dialect::generic::Description;
use crate::lts::dot;
use crate::lts::error::Error;
use crate::lts::is_facts;
use crate::lts::parquet::is_parquet;
use crate::lts::source::Bytes;
use crate::memory::MemoryModel;
use crate::memory::cat::Axioms;
use crate::provenance::sha256;
use crate::specification::Specification;
use crate::tell;
use crate::text::excerpt::printable;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// A model that was read.
pub struct Model {
    /// Its name in reports.
    pub name: String,
    /// The files that it was read from: one, unless they were merged.
    pub paths: Vec<PathBuf>,
    /// What it is.
    pub content: Content,
    /// What was odd.
    pub caveats: Vec<Caveat>,
    /// How long reading took.
    pub read_in: Duration,
}

/// A model that is to be read.
pub struct Named<'a> {
    /// Its files: one, unless they are to be merged.
    paths: &'a [PathBuf],
    /// Its name in reports.
    name: String,
}

/// What was read.
pub enum Content {
    /// A specification, not explored.
    Specification(Box<Specification>),
    /// The facts of a state space.
    StateSpace(Box<Facts>),
}

impl Model {
    /// How an engine begins with it.
    pub fn begins(&self) -> &'static str {
        match &self.content {
            Content::Specification(_) => "exploring",
            Content::StateSpace(_) => "analysing",
        }
    }

    /// What an engine looks at.
    pub fn subject(&self) -> Subject<'_> {
        match &self.content {
            Content::Specification(specification) => Subject::Program(specification),
            Content::StateSpace(facts) => Subject::StateSpace(facts),
        }
    }

    /// The facts of its state space; a specification is explored for them.
    pub fn facts(&self, limits: &LimitArguments) -> Result<Facts, Failure> {
        match &self.content {
            Content::Specification(specification) => specification.facts(limits),
            Content::StateSpace(facts) => Ok((**facts).clone()),
        }
    }
}

impl InputArguments {
    /// How state spaces are read.
    pub fn options(&self) -> Result<Options, Failure> {
        let internal = self.internal.as_deref().map(regex::Regex::new).transpose();
        Ok(Options {
            dialect: self.dialect.as_deref().map(dialect).transpose()?,
            tau: self.tau.clone(),
            internal: internal.map_err(|error| Failure::Usage(format!("--internal: {error}")))?,
            lenient: self.lenient,
            recover: self.recover,
            escapes: match self.escapes {
                EscapesArgument::None => Escapes::None,
                EscapesArgument::Ltsmin => Escapes::Ltsmin,
            },
            budget: self.limits.budget.budget(),
            refusals: if self.refusals_shown { Refusals::Shown } else { Refusals::Unknown },
            whole: self.whole,
        })
    }

    /// The models that the inputs are, not read yet.
    pub fn named(&self, merging: &MergeArguments) -> Result<Vec<Named<'_>>, Failure> {
        self.refuse_repetitions()?;
        self.language.refuse_for(&self.inputs)?;
        if self.shards && merging.merge {
            return Err(Failure::Usage(
                "--shards says that the inputs are parts of one state space, --merge that each is a whole one; leave out one of them"
                    .to_owned(),
            ));
        }
        let files = if merging.merge || self.shards { vec![&self.inputs[..]] } else { self.inputs.chunks(1).collect() };
        let named = |(paths, name)| Named { paths, name };
        Ok(files.into_iter().zip(self.model_names(merging)).map(named).collect())
    }

    /// Reads a model.
    pub fn read(&self, named: &Named<'_>, options: &Options, verbosity: Verbosity) -> Result<Model, Failure> {
        if self.shards {
            return Ok(Model { name: named.name.clone(), ..self.model_of_shards(verbosity)? });
        }
        let read = |path: &PathBuf| self.model(path, options, verbosity);
        let mut parts = named.paths.iter().map(read).collect::<Result<Vec<Model>, Failure>>()?;
        let model = if parts.len() > 1 { merged(parts, &self.limits)? } else { parts.swap_remove(0) };
        Ok(Model { name: named.name.clone(), ..model })
    }

    /// Whether all inputs are specifications.
    pub fn are_specifications(&self) -> bool {
        self.inputs.iter().all(|path| self.language.is_specification(path))
    }

    /// An input that is a specification.
    fn specification(&self, path: &Path) -> Result<Specification, Failure> {
        let specification = self.language.read(path)?;
        self.hashes.note(path, || path.is_file().then(|| sha256(specification.text.as_bytes())));
        Ok(specification)
    }

    /// All files that are read for the inputs.
    pub fn files(&self) -> impl Iterator<Item = &Path> {
        self.inputs.iter().chain(&self.dialect).map(PathBuf::as_path)
    }

    /// A file as a model, without its name.
    fn model(&self, path: &PathBuf, options: &Options, verbosity: Verbosity) -> Result<Model, Failure> {
        let started = Instant::now();
        if !self.language.is_specification(path) {
            return self.state_space(std::slice::from_ref(path), options, verbosity);
        }
        Ok(Model {
            name: String::new(),
            paths: vec![path.to_owned()],
            content: Content::Specification(Box::new(self.specification(path)?)),
            caveats: Vec::new(),
            read_in: started.elapsed(),
        })
    }

    /// The inputs as one state space in parts, without its name.
    pub fn model_of_shards(&self, verbosity: Verbosity) -> Result<Model, Failure> {
        self.refuse_repetitions()?;
        self.refuse_specifications("is no part of a state space")?;
        self.state_space(&self.inputs, &self.options()?, verbosity)
    }

    /// For what is about state spaces only.
    pub fn refuse_specifications(&self, what: &str) -> Result<(), Failure> {
        match self.inputs.iter().find(|path| self.language.is_specification(path)) {
            None => Ok(()),
            Some(path) => {
                let remedy = "seqcon explore SPEC -o FILE.aut writes its state space";
                Err(Failure::in_file(path, format!("a specification {what}; {remedy}")))
            }
        }
    }

    /// The files that a state space is in, open.
    pub fn sources(&self, paths: &[PathBuf], options: &Options) -> Result<Vec<Bytes>, Failure> {
        let open = |path: &PathBuf| {
            let source = if self.shards { open_shard(path, &options.budget)? } else { open(path, &options.budget)? };
            self.hashes.note(path, || source.sha256());
            Ok(source)
        };
        paths.iter().map(open).collect()
    }

    /// A state space in one file or several, as a model without its name.
    fn state_space(&self, paths: &[PathBuf], options: &Options, verbosity: Verbosity) -> Result<Model, Failure> {
        let started = Instant::now();
        let path = &paths[0];
        let bar = ByteBar::new(&format!("reading {}", path.display()));
        let sources = self.sources(paths, options)?;
        let extraction = facts::read(&sources, options, &bar)?;
        bar.finish();
        let facts = extraction.facts;
        if verbosity == Verbosity::Verbose {
            tell!(
                "seqcon: {}: states={} transitions={} labels={} follows={} concurrent={} dialect={}",
                path.display(),
                facts.states,
                facts.transitions,
                facts.labels.len(),
                facts.follows.len(),
                facts.concurrent.len(),
                extraction.dialect
            );
        }
        if facts.labels.is_empty() && facts.transitions > 0 {
            return Err(Failure::in_file(path, self.all_internal(facts.transitions)));
        }
        let mut warnings = extraction.warnings;
        match extraction.part {
            Some(reason) if !self.lenient && !self.recover => return Err(Failure::in_file(path, part(&reason))),
            part => warnings.extend(part),
        }
        let mut caveats: Vec<Caveat> = warnings.into_iter().map(|warning| Caveat::new(Topic::Input, warning)).collect();
        if self.refusals_shown {
            let sentence =
                "every refused condition is taken to be a self-loop of the state space, as --refusals-shown says";
            caveats.push(Caveat::new(Topic::RefusalsShown, sentence));
        }
        Ok(Model {
            name: String::new(),
            paths: paths.to_owned(),
            content: Content::StateSpace(Box::new(facts)),
            caveats,
            read_in: started.elapsed(),
        })
    }

    /// There is nothing to analyse.
    pub fn all_internal(&self, transitions: u64) -> String {
        let all = if transitions == 1 { "the only transition is" } else { "all transitions are" };
        let pattern = self.internal.as_ref().map_or(String::new(), |pattern| format!(" or match {pattern:?}"));
        format!(
            "{all} internal, so there is nothing to analyse; internal are labels that are {}{pattern}: \
             --tau NAMES and --internal PATTERN say which are, --dialect how the others are read",
            self.tau.join(", ")
        )
    }

    /// A file that is named twice is a slip.
    fn refuse_repetitions(&self) -> Result<(), Failure> {
        let place = |path: &PathBuf| fs::canonicalize(path).unwrap_or_else(|_| path.clone());
        let places: Vec<PathBuf> = self.inputs.iter().map(place).collect();
        for (position, path) in self.inputs.iter().enumerate() {
            if places[..position].contains(&places[position]) {
                return Err(Failure::in_file(path, "this input is named twice; name it once"));
            }
        }
        Ok(())
    }

    /// The names of the models: the files' names without their extensions, with their directories and then with their
    /// extensions where that is needed to tell them apart. Of merged files, the first one's.
    pub fn model_names(&self, merging: &MergeArguments) -> Vec<String> {
        let inputs = if merging.merge || self.shards { &self.inputs[..1] } else { &self.inputs[..] };
        let forms: [fn(&Path) -> String; 3] =
            [stem, |path| stripped(&path.to_string_lossy()), |path| path.display().to_string()];
        let taken = |form: fn(&Path) -> String, name: &str| inputs.iter().filter(|other| form(other) == name).count();
        let name = |path: &PathBuf| {
            let unique = forms.iter().map(|form| (form, form(path))).find(|(form, name)| taken(**form, name) == 1);
            unique.map_or_else(|| path.display().to_string(), |(_, name)| name)
        };
        inputs.iter().map(name).collect()
    }
}

/// The name of an input in messages: as given, or the one of standard input.
pub fn name_of_input(path: &Path) -> String {
    if path.as_os_str() == "-" { "stdin".to_owned() } else { path.display().to_string() }
}

/// Whether the name of a file, without what compresses it, is that of a state space or of facts.
pub fn is_state_space(path: &Path) -> bool {
    let name = path.to_string_lossy().to_ascii_lowercase();
    let name = name.strip_suffix(".gz").or_else(|| name.strip_suffix(".zst")).unwrap_or(&name);
    name.rsplit_once('.').is_some_and(|(_, extension)| ["aut", "facts", "parquet", "dot"].contains(&extension))
}

/// A file's name without its directory and extensions.
pub fn stem(path: &Path) -> String {
    let name = path.file_name().map_or_else(|| path.to_string_lossy(), |name| name.to_string_lossy());
    let name = stripped(&name);
    if name == "-" { "stdin".to_owned() } else { name }
}

/// A name without the extensions of what can be read.
fn stripped(name: &str) -> String {
    let mut name = name;
    for extension in
        ["gz", "zst", "aut", "parquet", "facts", "dot", "gv", "steps"].into_iter().chain(Language::extensions())
    {
        let stem = name.strip_suffix(extension).and_then(|stem| stem.strip_suffix('.'));
        name = stem.unwrap_or(name);
    }
    name.to_owned()
}

/// Why a part of a state space is not read.
pub fn part(reason: &str) -> String {
    format!(
        "{reason}: this is a part of a state space, such as a shard, and facts would be lost at its borders: --shards takes all parts together. \
         --lenient takes the part for what it is, and the answer is not complete"
    )
}

/// Explorations of one program as one model.
fn merged(models: Vec<Model>, limits: &LimitArguments) -> Result<Model, Failure> {
    let parts = models.iter().map(|model| model.facts(limits)).collect::<Result<Vec<Facts>, Failure>>()?;
    if let Some(contradiction) = contradiction(&parts.iter().collect::<Vec<_>>()) {
        let (first, second) = contradiction.explorations;
        return Err(Failure::Usage(format!(
            "--merge: {} and {} are not explorations of one program, the same instruction is {contradiction}; without --merge each is analysed by itself",
            models[first].paths[0].display(),
            models[second].paths[0].display(),
        )));
    }
    let about = |model: &Model, caveat: &Caveat| Caveat {
        sentence: format!("{}: {}", model.paths[0].display(), caveat.sentence),
        ..caveat.clone()
    };
    Ok(Model {
        name: String::new(),
        content: Content::StateSpace(Box::new(Facts::merge(&parts))),
        read_in: models.iter().map(|model| model.read_in).sum(),
        caveats: models.iter().flat_map(|model| model.caveats.iter().map(|caveat| about(model, caveat))).collect(),
        paths: models.into_iter().flat_map(|model| model.paths).collect(),
    })
}

/// What other tools call their files, and how they come to a format that is read.
const OTHER_TOOLS: [(&[&str], &str); 5] = [
    (&["pml", "prom", "promela"], "scripts/spin2aut makes an .aut of a Promela model (docs/howto/spin.md)"),
    (&["tla", "cfg"], "TLC writes a graph with -dump dot,actionlabels FILE.dot (docs/howto/dot.md)"),
    (&["maude"], "umaudemc graph FILE TERM --format dot writes a graph (docs/howto/dot.md)"),
    (&["mcrl2", "lps", "lts", "fsm"], "lps2lts and ltsconvert write .aut (docs/howto/mcrl2.md)"),
    (&["bcg", "lnt", "lotos"], "bcg_io writes .aut (docs/howto/cadp.md)"),
];

/// Opens a state space or a facts file. What has the name and the contents of neither gets a message of its own: a
/// complaint about a missing header would be about a format that nobody meant.
pub fn open(path: &Path, budget: &Budget) -> Result<Bytes, Failure> {
    known(path, Bytes::open_within(path, budget)?)
}

/// The same of a shard, which need have no header.
pub fn open_shard(path: &Path, budget: &Budget) -> Result<Bytes, Failure> {
    let source = Bytes::open_within(path, budget)?;
    let has_lines = source.bytes().trim_ascii_start().starts_with(b"(");
    if has_lines { Ok(source) } else { known(path, source) }
}

fn known(path: &Path, source: Bytes) -> Result<Bytes, Failure> {
    let name = path.to_string_lossy().to_ascii_lowercase();
    let name = name.strip_suffix(".gz").or_else(|| name.strip_suffix(".zst")).unwrap_or(&name);
    let extension = name.rsplit_once('.').map(|(_, extension)| extension);
    let bytes = source.bytes();
    let start = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes).trim_ascii_start();
    let is_state_space = start.starts_with(b"des") || dot::is_graph(bytes) || is_parquet(bytes) || is_table(bytes);
    if is_state_space || is_facts(bytes) || name == "-" || matches!(extension, Some("aut" | "facts" | "parquet")) {
        return Ok(source);
    }
    let specifications: Vec<String> = Language::extensions().map(|extension| format!(".{extension}")).collect();
    let expected = format!(
        "a format that is read: a specification ({}), a state space (.aut, .dot, also with .gz or .zst; .parquet), or a facts file (.facts)",
        specifications.join(", ")
    );
    let other = OTHER_TOOLS.iter().find(|(extensions, _)| extension.is_some_and(|own| extensions.contains(&own)));
    let remedy = other.map_or("the formats are told by 'seqcon help formats'", |(_, remedy)| remedy);
    Err(Error::unexpected(source.name(), bytes, 0, expected, remedy).into())
}

fn dialect(argument: &Path) -> Result<Dialect, Failure> {
    match argument.to_str() {
        Some("native") => return Ok(Dialect::Native),
        Some("rw") => return Ok(Dialect::Rw),
        _ => {}
    }
    let text = fs::read_to_string(argument).map_err(|error| {
        Failure::Usage(format!(
            "--dialect {}: neither native nor rw, and not a readable file: {error}",
            argument.display()
        ))
    })?;
    Description::from_toml(&text).map(Dialect::Generic).map_err(|error| Failure::in_file(argument, error))
}

/// The memory model of that name, or from that file, which may have axioms instead of a table.
pub fn memory_model_or_axioms(argument: &str) -> Result<MemoryModel, Failure> {
    if !has_axioms(argument) {
        return memory_model(argument);
    }
    let axioms = Axioms::from_file(Path::new(argument)).map_err(|error| Failure::Usage(error.to_string()))?;
    let model = MemoryModel::from_axioms(axioms);
    match MemoryModel::named(&model.name) {
        Some(builtin) if builtin.name == model.name => Ok(MemoryModel { name: argument.to_owned(), ..model }),
        _ => Ok(model),
    }
}

/// Whether the argument is a file with axioms.
pub fn has_axioms(argument: &str) -> bool {
    Path::new(argument).extension().is_some_and(|extension| extension.eq_ignore_ascii_case("cat"))
}

/// The memory model of that name, or from that file.
pub fn memory_model(argument: &str) -> Result<MemoryModel, Failure> {
    if has_axioms(argument) {
        return Err(Failure::Usage(format!(
            "--mm {argument}: axioms (.cat) are for 'seqcon litmus' and 'seqcon verify --as-is'; here a table is needed: a name from 'seqcon models', or a TOML file"
        )));
    }
    if let Some(model) = MemoryModel::named(argument) {
        return Ok(model);
    }
    let path = Path::new(argument);
    if !path.is_file() {
        let known: Vec<String> = MemoryModel::builtin().into_iter().map(|model| model.name).collect();
        return Err(Failure::Usage(format!(
            "there is no memory model {argument:?}: expected one of {}, or a TOML file with a table",
            known.join(", ")
        )));
    }
    let text = fs::read_to_string(path).map_err(|error| Failure::in_file(path, error))?;
    let model = MemoryModel::from_toml(&text).map_err(|error| Failure::in_file(path, error))?;
    let mnemonics = model.fences.iter().map(|fence| &fence.mnemonic);
    let texts: Vec<&String> = [&model.name, &model.title].into_iter().chain(&model.aliases).chain(mnemonics).collect();
    match texts.into_iter().find(|text| printable(text) != **text) {
        None => Ok(model),
        Some(text) => {
            let problem = format!("the text {text:?} has characters that a terminal would not show; take them out");
            Err(Failure::in_file(path, problem))
        }
    }
}

/// Two models of one name could not be told apart in what is written.
pub fn refuse_repeated_models(models: &[MemoryModel]) -> Result<(), Failure> {
    let repeated =
        models.iter().enumerate().find(|(position, model)| models[..*position].iter().any(|m| m.name == model.name));
    match repeated {
        Some((_, model)) => {
            Err(Failure::Usage(format!("--mm names the memory model {} twice; name it once", model.name)))
        }
        None => Ok(()),
    }
}
