//! State spaces that do not show everything: refused conditions that are no self-loops, waits that are internal
//! steps. What is missing there must not be missing in the answer.

use crate::support::analyse::{Told, facts_of_text, tell};
use crate::support::corpus::corpus_dir;
use crate::support::mini::state_space;
use crate::support::random::random_cases;
use crate::support::random_mini::{Shape, random_program};
use rand::Rng;
use rand::rngs::StdRng;
use seqcon::aeg::Profile;
use seqcon::analysis::{Analysis, ModelOutcome};
use seqcon::cycles::Atomicity;
use seqcon::facts::{Facts, Presumed, file};
use seqcon::ids::VertexId;
use seqcon::lts::dialect::Dialect;
use seqcon::lts::label::Label;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

const MODELS: [&str; 3] = ["tso", "pso", "armv7"];

/// The transitions of an `.aut` text.
#[derive(Clone)]
struct Space {
    states: u64,
    transitions: Vec<(u64, String, u64)>,
}

impl Space {
    fn read(text: &str) -> Space {
        let mut lines = text.lines();
        let header = lines.next().expect("a header").trim_end().trim_end_matches(')');
        let states = header.rsplit(',').next().and_then(|count| count.trim().parse().ok()).expect("a number of states");
        let transition = |line: &str| {
            let line = line.trim().strip_prefix('(')?.strip_suffix(')')?;
            let (from, rest) = line.split_once(',')?;
            let (label, to) = rest.rsplit_once(',')?;
            Some((from.trim().parse().ok()?, label.trim().trim_matches('"').to_owned(), to.trim().parse().ok()?))
        };
        let lines = lines.filter(|line| !line.trim().is_empty());
        Space { states, transitions: lines.map(|line| transition(line).expect(line)).collect() }
    }

    fn text(&self) -> String {
        let lines = self.transitions.iter().map(|(from, label, to)| format!("({from},\"{label}\",{to})\n"));
        format!("des (0,{},{})\n{}", self.transitions.len(), self.states, lines.collect::<String>())
    }

    fn facts(&self) -> Facts {
        facts_of_text(&self.text())
    }

    /// Without the blocked evaluations of these labels.
    fn without_refusals(&self, of: impl Fn(&Label) -> bool) -> Space {
        let is_kept = |(from, text, to): &(u64, String, u64)| {
            let label = parse(text);
            from != to || !label.is_some_and(|label| label.is_only_a_condition() && of(&label))
        };
        Space { transitions: self.transitions.iter().filter(|step| is_kept(step)).cloned().collect(), ..*self }
    }

    /// The instructions that some step is of.
    fn taken(&self) -> BTreeSet<(String, String)> {
        let steps = self.transitions.iter().filter_map(|(from, text, to)| Some((from != to, parse(text)?)));
        let steps = steps.filter(|(moves, label)| *moves || !label.is_only_a_condition());
        steps.filter(|(_, label)| !label.refused).map(|(_, label)| instruction(&label)).collect()
    }
}

fn parse(text: &str) -> Option<Label> {
    if text == "tau" {
        return None;
    }
    Some(Dialect::detect(text).and_then(|dialect| dialect.parse(text).ok()).expect("a label"))
}

fn instruction(label: &Label) -> (String, String) {
    (label.thread.clone(), label.instr.clone())
}

/// The bundled state spaces, and those of the corpus.
fn state_spaces() -> Vec<PathBuf> {
    let mut directories = vec![Path::new(env!("CARGO_MANIFEST_DIR")).join("lts")];
    directories.extend(corpus_dir().map(|corpus| corpus.join("aut")));
    let files = directories.iter().flat_map(|directory| std::fs::read_dir(directory).expect("a directory"));
    let mut files: Vec<PathBuf> = files.map(|file| file.expect("a file").path()).collect();
    files.retain(|file| file.extension().is_some_and(|extension| extension == "aut"));
    files.sort();
    files
}

/// An access by names: its thread, its instruction, and `W x`.
type Named = (String, String, String);

fn named(analysis: &Analysis, vertex: VertexId) -> Named {
    let vertex = analysis.graph.vertex(vertex);
    let (_, name) = analysis.graph.names_of(vertex.instr);
    let access = format!("{} {}", vertex.kind, analysis.graph.locations[vertex.location.index()]);
    (analysis.graph.threads[vertex.thread.index()].clone(), name.to_owned(), access)
}

fn named_delays(Told { analysis, outcome }: &Told) -> BTreeSet<(Named, Named)> {
    outcome.findings.delays.iter().map(|delay| (named(analysis, delay.from), named(analysis, delay.to))).collect()
}

fn locked(Told { analysis, outcome }: &Told) -> BTreeSet<(String, String)> {
    let name = |instr: &seqcon::ids::InstrId| {
        let (thread, name) = analysis.graph.names_of(*instr);
        (thread.to_owned(), name.to_owned())
    };
    outcome.findings.in_place.locked.iter().map(name).collect()
}

/// Every delay of `more` is one of `less`, which shows less of the same program; unless an instruction that `less`
/// does not know made one of its accesses: another one of the thread that waits there stands for it. What is locked
/// needs no fence.
fn assert_nothing_is_lost(less: &Told, more: &Told, of: &str) {
    let (found, torn) = (named_delays(less), locked(less));
    let known: BTreeSet<Named> =
        (0..less.analysis.graph.vertices.len()).map(|vertex| named(&less.analysis, VertexId::new(vertex))).collect();
    let matches = |a: &Named, b: &Named| a == b || !known.contains(b) && a.0 == b.0 && a.2 == b.2;
    for (from, to) in named_delays(more) {
        let is_locked = |access: &Named| torn.contains(&(access.0.clone(), access.1.clone()));
        let is_there = found.iter().any(|(a, b)| matches(a, &from) && matches(b, &to));
        assert!(
            is_there || is_locked(&from) || is_locked(&to),
            "{of}: {from:?} -> {to:?} is lost; there are {found:?}"
        );
    }
}

fn numbers(outcome: &ModelOutcome) -> (usize, usize) {
    (outcome.fences.len(), outcome.locks.len())
}

#[test]
fn without_self_loops_nothing_is_lost() {
    for path in state_spaces() {
        let whole = Space::read(&std::fs::read_to_string(&path).expect("a text"));
        let part = whole.without_refusals(|_| true);
        let (whole, part) = (whole.facts(), part.facts());
        for model in MODELS {
            for atomicity in [Atomicity::Split, Atomicity::Presumed, Atomicity::Full] {
                let of = format!("{} {model} {atomicity:?}", path.display());
                let more = tell(whole.clone(), Profile::Sound, model, atomicity);
                let less = tell(part.clone(), Profile::Sound, model, atomicity);
                assert_nothing_is_lost(&less, &more, &of);
                let (less, more) = (numbers(&less.outcome), numbers(&more.outcome));
                assert!(less.0 >= more.0 || less.1 > more.1, "{of}: {less:?} fences and locks, not {more:?}");
            }
        }
    }
}

#[test]
fn a_wait_of_which_nothing_is_shown_is_found_by_what_it_waits_for() {
    let Some(corpus) = corpus_dir() else { return };
    for (name, tso, pso) in [("peterson.1", 2, 4), ("peterson.2", 3, 6), ("peterson.3", 4, 8)] {
        let path = corpus.join("aut").join(format!("{name}.aut"));
        let space = Space::read(&std::fs::read_to_string(path).expect(name)).without_refusals(|_| true);
        let told = |model| tell(space.facts(), Profile::Sound, model, Atomicity::Split);
        assert_eq!([told("tso"), told("pso")].map(|told| told.outcome.fences.len()), [tso, pso], "{name}");
        let said = &told("tso").analysis.caveats;
        assert!(
            said.iter()
                .any(|caveat| caveat.sentence.contains("presumed are waits that read all that other threads write")),
            "{said:?}"
        );
        assert!(said.iter().all(|caveat| !caveat.sentence.contains("-wait")), "{said:?}");
    }
}

#[test]
fn where_every_condition_is_seen_refused_nothing_is_presumed() {
    let name = |path: &Path| path.file_stem().expect("a name").to_string_lossy().into_owned();
    let (mut presumed, mut more) = (Vec::new(), Vec::new());
    for path in state_spaces() {
        let facts = Space::read(&std::fs::read_to_string(&path).expect("a text")).facts();
        if facts.presumed == Presumed::Nothing {
            continue;
        }
        presumed.push(name(&path));
        for model in MODELS {
            let fences =
                |facts: &Facts| tell(facts.clone(), Profile::Sound, model, Atomicity::Split).outcome.fences.len();
            let (with, without) = (fences(&facts), fences(&Facts { presumed: Presumed::Nothing, ..facts.clone() }));
            if with != without {
                more.push(format!("{} {model} {without} {with}", name(&path)));
            }
        }
    }
    if corpus_dir().is_some() {
        // One condition of each is never refused, and the thread ends: it may as well wait for it.
        assert_eq!(presumed, ["dekker.1", "dekker.2", "dekker.3"]);
        assert_eq!(more, ["dekker.2 pso 10 11", "dekker.3 tso 6 7", "dekker.3 pso 14 15"]);
    } else {
        assert_eq!(presumed, [""; 0]);
    }
}

#[test]
fn self_loops_of_some_instructions_are_not_those_of_all() {
    for name in ["peterson", "dekker", "handshake", "example1-different", "mp"] {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("lts/{name}.aut"));
        let whole = Space::read(&std::fs::read_to_string(path).expect(name));
        let refused = whole.transitions.iter().filter_map(|(_, text, _)| parse(text)).filter(|label| label.refused);
        let refused: BTreeSet<(String, String)> = refused.map(|label| instruction(&label)).collect();
        for of in refused {
            let part = whole.without_refusals(|label| instruction(label) == of).facts();
            let thread = whole.without_refusals(|label| label.thread == of.0).facts();
            for model in MODELS {
                let more = tell(whole.facts(), Profile::Sound, model, Atomicity::Split);
                for part in [&part, &thread] {
                    let less = tell(part.clone(), Profile::Sound, model, Atomicity::Split);
                    assert_nothing_is_lost(&less, &more, &format!("{name} without {of:?} {model}"));
                }
            }
        }
    }
}

#[test]
fn a_self_loop_that_is_taken_is_no_refusal() {
    // T0 spins while y is 0, which is a step, and goes on where z is set; that neither holds in between is not shown.
    // x and y are store buffering.
    let spin = "des (0,6,5)\n(0,\"T0.0: x :=\",1)\n(1,\"T0.1: ? y\",1)\n(1,\"T1.0: y :=\",2)\n(2,\"T1.1: ~r := x\",3)\n\
                (3,\"T1.2: z :=\",4)\n(4,\"T0.2: ? z\",4)\n";
    let told = tell(facts_of_text(spin), Profile::Sound, "tso", Atomicity::Split);
    assert!(told.delays().contains(&"T0.0 W x -> T0.1 R y".to_owned()), "{:?}", told.delays());
}

#[test]
fn an_array_element_that_only_a_refused_condition_reads() {
    // T0 waits for v[i]; it is taken with v[1] only, and refused with v[0], which is not shown.
    let program = "des (0,6,6)\n(0,\"T0.0: x :=\",1)\n(1,\"T1.0: v[0] :=\",2)\n(2,\"T1.1: ~r := x\",3)\n(3,\"T1.2: v[1] :=\",4)\n\
                   (4,\"T0.1: ? v[1]@(~i)\",5)\n(5,\"T0.2: ~i :=\",5)\n";
    let told = tell(facts_of_text(program), Profile::Sound, "tso", Atomicity::Split);
    assert!(told.delays().contains(&"T0.0 W x -> T0.1 R v[0]".to_owned()), "{:?}", told.delays());
}

/// `lts/handshake.aut` with the wait of T0 as an internal step.
fn handshake_with_tau() -> Space {
    let mut space = Space::read(include_str!("../../lts/handshake.aut"));
    for (_, label, _) in space.transitions.iter_mut().filter(|(_, label, _)| label.starts_with("T0.1")) {
        *label = "tau".to_owned();
    }
    space
}

#[test]
fn program_order_goes_through_a_wait_that_is_an_internal_step() {
    let told = tell(handshake_with_tau().facts(), Profile::Sound, "tso", Atomicity::Split);
    assert_eq!(told.delays(), ["T0.0 W x -> T0.2 R y", "T2.0 W y -> T2.1 R x"]);
    assert_eq!(told.outcome.fences.len(), 2);
    let said: Vec<&str> = told.analysis.caveats.iter().map(|caveat| caveat.sentence.as_str()).collect();
    assert!(said.len() == 1 && said[0].starts_with("an internal step may be waited for by T0:"), "{said:?}");
    // A wait without a label is not needed for that, nor are refused conditions of others.
    let told = tell(handshake_with_tau().without_refusals(|_| true).facts(), Profile::Sound, "tso", Atomicity::Split);
    assert!(told.delays().contains(&"T0.0 W x -> T0.2 R y".to_owned()), "{:?}", told.delays());
}

#[test]
fn an_internal_step_that_is_possible_at_once_is_no_wait() {
    // T0: x := 1; tau; r := y.   T1: y := 1.
    let text = "des (0,10,8)\n(0,\"T0.0: x :=\",1)\n(1,\"tau\",2)\n(2,\"T0.1: ~r := y\",3)\n\
                (4,\"T0.0: x :=\",5)\n(5,\"tau\",6)\n(6,\"T0.1: ~r := y\",7)\n\
                (0,\"T1.0: y :=\",4)\n(1,\"T1.0: y :=\",5)\n(2,\"T1.0: y :=\",6)\n(3,\"T1.0: y :=\",7)\n";
    assert_eq!(facts_of_text(text).presumed, Presumed::Nothing);
}

/// Programs with waits, branches and loops.
fn random_space(rng: &mut StdRng) -> Space {
    let shape = Shape {
        most_threads: 3,
        most_instrs: 4,
        loops: rng.random_bool(0.5),
        composite: rng.random_bool(0.3),
        waits: true,
    };
    Space::read(&state_space(&random_program(rng, &shape)))
}

/// What the transitions themselves show, with nothing presumed.
fn shown(space: &Space) -> Facts {
    Facts { presumed: Presumed::Nothing, ..space.facts() }
}

#[test]
fn random_programs_lose_nothing_without_self_loops() {
    random_cases(400, |rng| {
        let space = random_space(rng);
        // What is never taken is not in the state space at all, if it is not there refused.
        let taken = space.taken();
        let whole = space.without_refusals(|label| !taken.contains(&instruction(label)));
        let hidden: BTreeSet<(String, String)> = taken.into_iter().filter(|_| rng.random_bool(0.7)).collect();
        let part = whole.without_refusals(|label| hidden.contains(&instruction(label)));
        for model in MODELS {
            let more = tell(shown(&whole), Profile::Sound, model, Atomicity::Split);
            let less = tell(part.facts(), Profile::Sound, model, Atomicity::Split);
            assert_nothing_is_lost(&less, &more, &format!("{}\nwithout {hidden:?}, {model}", space.text()));
        }
    });
}

#[test]
fn random_programs_lose_nothing_with_internal_steps() {
    random_cases(400, |rng| {
        let mut named = random_space(rng);
        let hidden: BTreeSet<(String, String)> = named.taken().into_iter().filter(|_| rng.random_bool(0.3)).collect();
        let is_hidden = |text: &str| parse(text).is_some_and(|label| hidden.contains(&instruction(&label)));
        // Steps that access nothing: once with the name of their instruction, once internal.
        named.transitions.retain(|(from, text, to)| from != to || !is_hidden(text));
        let mut internal = named.clone();
        for (step, other) in named.transitions.iter_mut().zip(&mut internal.transitions) {
            if is_hidden(&step.1) {
                let (thread, instr) = instruction(&parse(&step.1).expect("a label"));
                step.1 = format!("{thread}.{instr}");
                other.1 = "tau".to_owned();
            }
        }
        for model in MODELS {
            let more = tell(shown(&named), Profile::Sound, model, Atomicity::Split);
            let less = tell(internal.facts(), Profile::Sound, model, Atomicity::Split);
            assert_nothing_is_lost(&less, &more, &format!("{}\nwithout {hidden:?}, {model}", named.text()));
        }
    });
}

#[test]
fn facts_files_keep_what_is_presumed() {
    let facts = handshake_with_tau().without_refusals(|_| true).facts();
    assert!(matches!(facts.presumed, Presumed::More(_)));
    let mut text = Vec::new();
    file::write(&facts, &mut text).expect("writing to memory");
    assert_eq!(file::read(&text, "again").expect("what was written"), facts);
    assert_eq!(Facts::merge(&[facts.clone(), facts.clone()]).with_presumed().labels, facts.with_presumed().labels);
}

#[test]
fn facts_files_of_an_earlier_version_are_read_and_not_trusted() {
    let text = "seqcon-facts 1\nstates 2\ntransitions 1\ncut_off 0\nlabels 1\nT0.0: x :=\nfollows 0\nwaits 0\nbegin 1\n0\nlapse 0\nend 0\nconcurrent 0\n";
    let hash = text
        .bytes()
        .fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3));
    let facts = file::read(format!("{text}checksum {hash:016x}\n").as_bytes(), "old").expect("an old file");
    assert_eq!(facts.presumed, Presumed::Unknown);
    let told = tell(facts, Profile::Sound, "tso", Atomicity::Split);
    assert!(!told.outcome.complete);
    assert!(told.analysis.caveats[0].sentence.contains("written by an earlier seqcon"));
}
