//! Reading what the command line names: state spaces and facts files, memory models.

use super::arguments::{EscapesArgument, InputArguments, Verbosity};
use super::failure::Failure;
use super::progress::ByteBar;
use super::specification::Specification;
use crate::facts::extract::{Escapes, Options};
use crate::facts::{self, Facts};
use crate::lang::excerpt::printable;
use crate::lts::dialect::Dialect;
use crate::lts::dialect::generic::Description;
use crate::lts::source::Source;
use crate::memory::MemoryModel;
use crate::provenance::sha256;
use crate::tell;
use std::fs;
use std::path::{Path, PathBuf};

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
        })
    }

    /// The facts of all inputs, merged. Warnings go to standard error.
    pub fn load(&self, verbosity: Verbosity) -> Result<Facts, Failure> {
        let options = self.options()?;
        let mut parts = Vec::with_capacity(self.inputs.len());
        for path in &self.inputs {
            if Specification::is_one(path) {
                parts.push(self.specification(path)?.facts(&self.limits)?);
                continue;
            }
            let bar = ByteBar::new(&format!("reading {}", path.display()));
            let source = Source::open(path)?;
            self.hashes.note(path, || source.sha256());
            let extraction = facts::read(&source, &options, &bar)?;
            bar.finish();
            for warning in &extraction.warnings {
                tell!("seqcon: warning: {}: {warning}", path.display());
            }
            if verbosity == Verbosity::Verbose {
                let facts = &extraction.facts;
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
            parts.push(extraction.facts);
        }
        Ok(if parts.len() == 1 { parts.swap_remove(0) } else { Facts::merge(&parts) })
    }

    /// An input that is a specification.
    pub fn specification(&self, path: &Path) -> Result<Specification, Failure> {
        let specification = Specification::read(path)?;
        self.hashes.note(path, || path.is_file().then(|| sha256(specification.text.as_bytes())));
        Ok(specification)
    }

    /// All files that are read for it.
    pub fn files(&self) -> impl Iterator<Item = &Path> {
        self.inputs.iter().chain(&self.dialect).map(PathBuf::as_path)
    }

    /// The program's name: the first file's name without its extensions.
    pub fn model_name(&self) -> String {
        let path = &self.inputs[0];
        let name = path.file_name().map_or_else(|| path.to_string_lossy(), |name| name.to_string_lossy());
        let mut name = name.as_ref();
        for extension in [".gz", ".aut", ".facts", ".slco", ".litmus", ".txt", ".trench"] {
            name = name.strip_suffix(extension).unwrap_or(name);
        }
        if name == "-" { "stdin".to_owned() } else { name.to_owned() }
    }
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

/// The memory model of that name, or from that file.
pub fn memory_model(argument: &str) -> Result<MemoryModel, Failure> {
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
