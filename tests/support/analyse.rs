//! The analysis in words: runs the library and says its result in short sentences that tests compare.

use super::mini::{Program, state_space};
use seqcon::aeg::Profile;
use seqcon::analysis::{Analysis, ModelOutcome, Options};
use seqcon::cycles::Atomicity;
use seqcon::facts::extract::{self, NoProgress, Refusals};
use seqcon::facts::{self, Facts};
use seqcon::ids::{InstrId, VertexId};
use seqcon::lts::source::Bytes;
use seqcon::memory::MemoryModel;
use seqcon::placement::cost::place_name;
use std::path::Path;
use std::sync::OnceLock;

/// The built-in memory models; their tables are read once.
pub fn models() -> &'static [MemoryModel] {
    static MODELS: OnceLock<Vec<MemoryModel>> = OnceLock::new();
    MODELS.get_or_init(MemoryModel::builtin)
}

/// The memory model of that name.
pub fn model(name: &str) -> &'static MemoryModel {
    models().iter().find(|model| model.name == name).unwrap_or_else(|| panic!("{name} is built in"))
}

/// The facts of `lts/<name>.aut`.
pub fn bundled_facts(name: &str) -> Facts {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("lts/{name}.aut"));
    let loaded = facts::load(&path, &extract::Options::default(), &NoProgress);
    loaded.unwrap_or_else(|error| panic!("{name}: {error}")).facts
}

/// The facts of a program, by way of its state space.
pub fn facts_of(program: &Program) -> Facts {
    // These state spaces have a self-loop for every refused condition.
    extracted(&state_space(program), Refusals::Shown)
}

/// The facts of an `.aut` text.
pub fn facts_of_text(text: &str) -> Facts {
    extracted(text, Refusals::Unknown)
}

fn extracted(text: &str, refusals: Refusals) -> Facts {
    let source = Bytes::from_bytes("a test program", text.as_bytes().to_vec()).expect("the text is not empty");
    let options = extract::Options { refusals, ..extract::Options::default() };
    let extracted = extract::extract(&source, &options, &NoProgress);
    extracted.unwrap_or_else(|error| panic!("{error}\n{text}")).facts
}

/// An analysis and its result under one memory model.
pub struct Told {
    pub analysis: Analysis,
    pub outcome: ModelOutcome,
}

/// Analyses with the default options but for these.
pub fn tell(facts: Facts, profile: Profile, model_name: &str, atomicity: Atomicity) -> Told {
    let analysis = Analysis::new(facts, profile);
    let outcome = analysis.run(model(model_name), &Options { atomicity, ..Options::default() });
    Told { analysis, outcome }
}

impl Told {
    /// `plain after T0.0`, in the order of the program.
    pub fn fences(&self) -> Vec<String> {
        let words = |fence: &seqcon::analysis::Fence| {
            let place = place_name(fence.site.place);
            format!("{} {place} {}", fence.strength, self.instr(fence.site.instr))
        };
        self.outcome.fences.iter().map(words).collect()
    }

    /// `T0.0`.
    pub fn torn(&self) -> Vec<String> {
        self.outcome.findings.torn.iter().map(|torn| self.instr(torn.instr)).collect()
    }

    /// `T0.0 torn-update`, lock by lock.
    pub fn locks(&self) -> Vec<Vec<String>> {
        let users = |lock: &seqcon::placement::locks::Lock| {
            lock.users.iter().map(|(&instr, role)| format!("{} {}", self.instr(instr), role.name())).collect()
        };
        self.outcome.locks.iter().map(users).collect()
    }

    /// `T0.0 W x -> T0.1 R y` for every unsafe pair on a critical cycle.
    pub fn delays(&self) -> Vec<String> {
        let unsafe_ones = self.outcome.findings.delays.iter().filter(|delay| delay.is_unsafe);
        unsafe_ones.map(|delay| format!("{} -> {}", self.vertex(delay.from), self.vertex(delay.to))).collect()
    }

    fn instr(&self, instr: InstrId) -> String {
        let (thread, name) = self.analysis.graph.names_of(instr);
        format!("{thread}.{name}")
    }

    fn vertex(&self, id: VertexId) -> String {
        let vertex = self.analysis.graph.vertex(id);
        let location = &self.analysis.graph.locations[vertex.location.index()];
        format!("{} {} {location}", self.instr(vertex.instr), vertex.kind)
    }
}
