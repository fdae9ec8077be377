//! Names that mCRL2 takes: the program's own where possible.

use super::terms::has_nested_addresses;
use crate::program::{Program, Thread, Variable};
use std::collections::{HashMap, HashSet};

/// Keywords of mCRL2's grammar, of specifications and of formulas in any version, and the names of its sorts and
/// functions. A name too many does no harm.
const RESERVED: &str = "
    act allow bes block comm cons delay delta dist div end eqn eqinf eqninf exists false forall form glob hide
    if in inf init lambda map mod mu nil nu pbes pres proc prod rename sort struct sum sup tau true val var
    whr yaled condeq condsm minus not and or Bool Pos Nat Int Real List Set Bag FSet FBag max min succ pred
    abs exp sqrt floor ceil round head tail rhead rtail count pick union intersection Pos2Nat Pos2Int Pos2Real
    Nat2Pos Nat2Int Nat2Real Int2Pos Int2Nat Int2Real Real2Pos Real2Nat Real2Int Set2Bag Bag2Set rw
";

/// What every specification here has itself.
const OURS: &str = "
    x' l' i' n' A' lc' lcdp' fence' atomic' refused' no_location' Name' Location' Access' Item' Program' at' atBool'
    put' putBool' inside' element' mark' quotient' remainder' power'
    rmw' relaxed' acquire' acquire_pc' release' seq_cst' exclusive'
    fence_lightweight' fence_stores' fence_loads' fence_control' fence_acquire' fence_release' fence_acq_rel'
    fence_r_r' fence_r_w' fence_w_r' fence_w_rw' fence_rw_r' fence_rw_w'
";

/// The two names of a variable.
pub(super) struct VariableNames {
    /// As a parameter of the process.
    pub parameter: String,
    /// As a location in labels.
    pub location: String,
}

/// The names of a thread.
pub(super) struct ThreadNames {
    /// Its object in labels.
    pub object: String,
    /// Its name in labels.
    pub thread: String,
    /// The names of its instructions in labels.
    pub instructions: Vec<String>,
    /// The parameter that has its control state.
    pub control: String,
    /// The sort of its control states.
    pub sort: String,
    /// Its control states.
    pub states: Vec<String>,
    /// Its own variables.
    pub locals: Vec<VariableNames>,
}

/// The names of a program.
pub(super) struct Names {
    /// The objects, threads and instructions of labels, each once.
    pub labels: Vec<String>,
    /// The shared variables.
    pub shared: Vec<VariableNames>,
    /// The threads.
    pub threads: Vec<ThreadNames>,
    /// Whether some address needs an address itself, so that addresses are accesses and not variables.
    pub has_nested_addresses: bool,
}

impl Names {
    /// Names for a program: those in labels come first, as they are seen by others.
    pub(super) fn of(program: &Program) -> Names {
        let mut registry = Registry::new();
        let mut threads: Vec<ThreadNames> = Vec::new();
        for thread in &program.threads {
            let (object, name) = split(&thread.name, &program.name);
            threads.push(ThreadNames {
                object: registry.label(object, ""),
                thread: registry.label(name, ""),
                instructions: thread.instructions.iter().map(|i| registry.label(&i.name, "ST'")).collect(),
                control: String::new(),
                sort: String::new(),
                states: Vec::new(),
                locals: Vec::new(),
            });
        }
        let shared_objects: Vec<(String, &str)> = program
            .shared
            .iter()
            .map(|variable| {
                (registry.label(split(&variable.name, &program.name).0, ""), split(&variable.name, &program.name).1)
            })
            .collect();
        let shared_locations: Vec<String> = shared_objects
            .iter()
            .map(|(object, name)| registry.unique(&format!("var_{object}'{}", identifier_part(name))))
            .collect();
        let shared = program.shared.iter().zip(shared_locations).map(|(variable, location)| VariableNames {
            parameter: registry.unique(&dotted(&variable.name)),
            location,
        });
        let shared = shared.collect();
        for (thread, names) in program.threads.iter().zip(&mut threads) {
            name_inside(&mut registry, thread, names);
        }
        if registry.labels.is_empty() {
            // A structured sort needs a constructor.
            registry.label(&program.name, "");
        }
        let has_nested_addresses = has_nested_addresses(program);
        Names { labels: registry.labels, shared, threads, has_nested_addresses }
    }
}

/// The names that only a thread uses.
fn name_inside(registry: &mut Registry, thread: &Thread, names: &mut ThreadNames) {
    let prefix = dotted(&thread.name);
    names.control = registry.unique(&format!("{prefix}'at"));
    names.sort = registry.unique(&format!("{prefix}'State"));
    names.states =
        thread.states.iter().map(|state| registry.unique(&format!("{prefix}'{}", identifier_part(state)))).collect();
    let local = |registry: &mut Registry, variable: &Variable| {
        let name = identifier_part(&variable.name);
        VariableNames {
            parameter: registry.unique(&format!("{prefix}'{name}")),
            location: registry.unique(&format!("var_{}'{}'{name}", names.object, names.thread)),
        }
    };
    names.locals = thread.locals.iter().map(|variable| local(registry, variable)).collect();
}

/// Object and name: `object'name`, or the program's name and the name.
fn split<'a>(name: &'a str, program: &'a str) -> (&'a str, &'a str) {
    name.split_once('\'').unwrap_or((program, name))
}

/// The name with an underscore for whatever no identifier has; no apostrophe either, which separates names from each
/// other.
fn identifier_part(name: &str) -> String {
    let name = name.replace("->", "_to_");
    name.chars().map(|character| if character.is_ascii_alphanumeric() { character } else { '_' }).collect()
}

/// The same, with the apostrophe between object and name kept.
fn dotted(name: &str) -> String {
    let parts: Vec<String> = name.split('\'').map(identifier_part).collect();
    let name = parts.join("'");
    if name.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_') { name } else { format!("_{name}") }
}

/// Names that are taken from the start.
fn reserved() -> impl Iterator<Item = &'static str> {
    RESERVED.split_whitespace().chain(OURS.split_whitespace())
}

/// Gives every name once.
struct Registry {
    used: HashSet<String>,
    /// What the names in labels became, by prefix and name.
    known: HashMap<(&'static str, String), String>,
    labels: Vec<String>,
}

impl Registry {
    fn new() -> Registry {
        Registry { used: reserved().map(str::to_owned).collect(), known: HashMap::new(), labels: Vec::new() }
    }

    /// The name itself, or a variant that nothing else has.
    fn unique(&mut self, name: &str) -> String {
        let mut candidate = name.to_owned();
        let mut number = 1;
        while !self.used.insert(candidate.clone()) {
            candidate = if number == 1 { format!("{name}_") } else { format!("{name}_{number}") };
            number += 1;
        }
        candidate
    }

    /// A name in labels: equal names become equal names, whatever they name.
    fn label(&mut self, name: &str, prefix: &'static str) -> String {
        if let Some(known) = self.known.get(&(prefix, name.to_owned())) {
            return known.clone();
        }
        let part = identifier_part(name);
        let starts_well =
            !prefix.is_empty() || part.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_');
        let candidate = if starts_well { format!("{prefix}{part}") } else { format!("_{part}") };
        let label = self.unique(&candidate);
        self.known.insert((prefix, name.to_owned()), label.clone());
        self.labels.push(label.clone());
        label
    }
}

#[cfg(test)]
mod tests {
    use super::{Registry, dotted, reserved};

    #[test]
    fn reserved_and_taken_names_get_an_underscore_or_a_number() {
        let mut registry = Registry::new();
        assert_eq!(registry.label("end", ""), "end_");
        assert_eq!(registry.label("end", ""), "end_");
        assert_eq!(registry.unique("end_"), "end__");
        assert_eq!(registry.unique("end"), "end_2");
        assert_eq!(registry.label("7", ""), "_7");
        assert_eq!(registry.label("7", "ST'"), "ST'7");
        assert_eq!(registry.labels, ["end_", "_7", "ST'7"]);
        assert_eq!(dotted("o'a->b.3"), "o'a_to_b_3");
    }

    #[test]
    fn no_word_is_reserved_twice() {
        let mut words: Vec<&str> = reserved().collect();
        let number = words.len();
        words.sort_unstable();
        words.dedup();
        assert_eq!(words.len(), number);
    }
}
