//! The engine partial-coherence: its abstraction against all states on store buffers, its verdicts against two other
//! searches, its fences against all sets of sites. The engine auto against those that decide the same.

use super::single_buffer::{Counts, SIZE, question, random_condition, random_loops, weak_condition};
use crate::support::engines::{asked, named, never_of};
use crate::support::random::{cases, random_cases};
use crate::support::random_program::{Size, show};
use rand::Rng;
use rand::rngs::StdRng;
use rand::seq::IndexedRandom;
use seqcon::Minimality;
use seqcon::analysis::{Inserted, ModelOutcome, Options};
use seqcon::engines::partial_coherence::{
    Abstracting, Coherence, Inference, Judgement, Proof, Reduction, Stop, View, drained_states, judge,
};
use seqcon::engines::single_buffer::{Rules, backwards};
use seqcon::engines::{Settings, Trouble};
use seqcon::ids::{ControlAt, LocationAt, ThreadAt};
use seqcon::lang::parse_condition;
use seqcon::outline::{Outline, Site};
use seqcon::program::{
    Assignment, BinaryOperator, Expression, Instruction, InstructionKind, Program, Reference, Scope, Span,
};
use seqcon::property::{FinalCondition, Observed, Property, Proposition, Quantifier, StateCondition};
use seqcon::repair::Repair;
use seqcon::specification::Specification;
use seqcon::trial;
use seqcon::weak::buffers::Buffers;
use seqcon::weak::forbidden::{Forbidden, Unjudged, search};
use seqcon::weak::split::SplitProgram;
use seqcon::weak::system::{State, System};
use seqcon::weak::threads::{Config, ConfigId, Configurations};
use seqcon::weak::verify::{Question, Verdict};
use seqcon::weak::visited::Visited;
use seqcon::weak::{Granularity, Machine};
use std::collections::{BTreeMap, BTreeSet};

const MACHINES: [Machine; 2] = [Machine::Tso, Machine::Pso];

const COHERENCES: [Coherence; 7] = [
    Coherence::Set,
    Coherence::Full(0),
    Coherence::Full(1),
    Coherence::Full(2),
    Coherence::Partial(0),
    Coherence::Partial(1),
    Coherence::Partial(2),
];

/// The most states of an abstract program.
const MOST: usize = 100_000;

fn view(machine: Machine, coherence: Coherence, reduction: Reduction) -> View {
    View { machine, coherence, reduction, most: MOST }
}

fn name_of(machine: Machine) -> &'static str {
    match machine {
        Machine::Tso => "tso",
        Machine::Pso => "pso",
    }
}

/// The program with some fences in it.
fn repaired(specification: &Specification, fences: &[Site]) -> SplitProgram {
    let mut split = SplitProgram::new(&specification.program).unwrap();
    let repair = Repair::full(fences.iter().copied());
    repair.apply(&specification.outline, &mut split);
    split
}

/// A few places for fences, often none.
fn random_fences(rng: &mut StdRng, outline: &Outline) -> Vec<Site> {
    let instructions: Vec<_> = outline.instrs().collect();
    let many = [0, 0, 1, 2][rng.random_range(0..4)];
    instructions.choose_multiple(rng, many).map(|&instr| Site::after(instr)).collect()
}

fn reference(scope: Scope, variable: usize) -> Reference {
    Reference { scope, variable, index: None, span: Span::default() }
}

/// Values up to 2, also at the start, so that an index may be out of range, and sometimes a division by what may be 0.
fn with_more_values(rng: &mut StdRng, mut program: Program) -> Program {
    program.shared.iter_mut().for_each(|variable| variable.modulus = Some(3));
    for local in program.threads.iter_mut().flat_map(|thread| &mut thread.locals) {
        local.modulus = Some(3);
        local.initial = vec![[0, 0, 1, 2][rng.random_range(0..4)]];
    }
    for assignment in assignments_of(&mut program).filter(|_| rng.random_ratio(1, 10)) {
        let divisor = Box::new(Expression::Read(reference(Scope::Local, 0)));
        let whole = Box::new(Expression::Constant(1));
        assignment.value = Expression::Binary(BinaryOperator::Divide, whole, divisor, Span::default());
    }
    program
}

fn assignments_of(program: &mut Program) -> impl Iterator<Item = &mut Assignment> {
    let instructions = program.threads.iter_mut().flat_map(|thread| &mut thread.instructions);
    instructions.flat_map(|instruction| &mut instruction.assignments)
}

/// A random program with loops in which two threads write and read, somewhere between what else they do, so that store
/// buffers do often what sequential consistency does not: as in the litmus test SB, or MP.
fn random_races(rng: &mut StdRng) -> Program {
    let size = Size { most_threads: 3, most_instructions: rng.random_range(3..=5) };
    let mut program = random_loops(rng, size);
    let write = |variable| (reference(Scope::Shared, variable), Expression::Constant(1));
    let read = |into, variable| (reference(Scope::Local, into), Expression::Read(reference(Scope::Shared, variable)));
    let shapes = match rng.random_ratio(2, 3) {
        true => [[write(0), read(0, 1)], [write(1), read(0, 0)]],
        false => [[write(0), write(1)], [read(0, 1), read(1, 0)]],
    };
    for (thread, shape) in program.threads.iter_mut().zip(shapes) {
        let is_plain = |known: &Instruction| known.condition.is_none() && known.kind == InstructionKind::Plain;
        let plain = (0..thread.instructions.len()).filter(|&at| is_plain(&thread.instructions[at]));
        let plain: Vec<usize> = plain.collect();
        let first = rng.random_range(0..plain.len().max(2) - 1);
        for (&at, (target, value)) in plain[first.min(plain.len())..].iter().zip(shape) {
            thread.instructions[at].assignments = vec![Assignment { target, value }];
        }
    }
    program
}

/// Where threads are, and what memory holds, when nothing waits.
type Drained = BTreeSet<(Vec<String>, Vec<i64>)>;

/// What the machine does.
struct Concrete {
    drained: Drained,
    /// The most writes that wait in a buffer, on PSO in one for a location.
    longest: usize,
    /// Nothing was cut off.
    is_whole: bool,
}

fn on_store_buffers(split: &SplitProgram, machine: Machine, bound: usize) -> Concrete {
    let mut buffers = Buffers::new(split, machine, bound);
    let mut visited = Visited::new(6_000);
    visited.start(buffers.initial()).unwrap();
    let (mut drained, mut longest, mut is_whole) = (Drained::new(), 0, true);
    let mut at = 0;
    while (at as usize) < visited.len() {
        let state = visited.get(at);
        if state.buffers.iter().all(Vec::is_empty) {
            let config = |thread: ThreadAt| buffers.system.thread(thread).config(state.shared.config(thread));
            let threads = split.threads_at().map(|thread| format!("{:?}", config(thread)));
            drained.insert((threads.collect(), state.shared.memory.to_vec()));
        }
        for buffer in &state.buffers {
            let of_location = |location: LocationAt| buffer.iter().filter(|(other, _)| *other == location).count();
            longest = longest.max(match machine {
                Machine::Tso => buffer.len(),
                Machine::Pso => buffer.iter().map(|(location, _)| of_location(*location)).max().unwrap_or(0),
            });
        }
        for (_, next) in buffers.steps(&state) {
            is_whole &= visited.insert(next, at).is_ok();
        }
        at += 1;
    }
    Concrete { drained, longest, is_whole: is_whole && !buffers.is_cut_off }
}

/// What forbids nothing.
fn nothing(program: &Program) -> StateCondition {
    parse_condition("test", "x < 0", program).unwrap_or_else(|wrong| panic!("{wrong}")).condition
}

/// Whatever the machine reaches the abstraction has; and no more, as long as heads are never too short.
#[test]
fn the_abstraction_has_all_that_store_buffers_reach() {
    let [compared, exact, wider] = [Counts::<14>::new(), Counts::<14>::new(), Counts::<14>::new()];
    random_cases(cases(2000), |rng| {
        let program = random_loops(rng, SIZE);
        let program = if rng.random_ratio(1, 4) { with_more_values(rng, program) } else { program };
        let specification = Specification::of_program(program).unwrap();
        let split = repaired(&specification, &random_fences(rng, &specification.outline));
        let condition = nothing(&specification.program);
        let (machine, coherence) = (rng.random_range(0..2), rng.random_range(0..7));
        let kind = 7 * machine + coherence;
        let (machine, coherence) = (MACHINES[machine], COHERENCES[coherence]);
        let found = drained_states(&split, Forbidden::State(&condition), view(machine, coherence, Reduction::Off));
        let abstract_states = match found {
            Ok(states) => states,
            Err(Stop::Limit(_)) => return,
            Err(stop) => panic!("{stop:?}\n{}", show(&specification.program)),
        };
        let Concrete { drained, longest, is_whole } = on_store_buffers(&split, machine, rng.random_range(3..=4));
        let told = |state| format!("{machine:?} {coherence}: {state:?}\n{}", show(&specification.program));
        if let Some(missing) = drained.difference(&abstract_states).next() {
            panic!("not in the abstraction: {}", told(missing));
        }
        compared.add(kind);
        if is_whole && longest <= coherence.head() && coherence != Coherence::Set {
            if let Some(more) = abstract_states.difference(&drained).next() {
                panic!("only in the abstraction: {}", told(more));
            }
            exact.add(kind);
        } else if is_whole && abstract_states != drained {
            wider.add(kind);
        }
    });
    let mut wider_without_head = 0;
    for kind in 0..14 {
        let [compared, exact, wider] = [&compared, &exact, &wider].map(|counts| counts.get(kind));
        let (machine, coherence) = (MACHINES[kind / 7], COHERENCES[kind % 7]);
        println!("{machine:?} {coherence}: {compared} compared, {exact} exact, {wider} with more states");
        assert!(compared > 50, "hardly anything was compared");
        assert!(coherence.head() == 0 || exact > 10, "hardly anything was exact");
        wider_without_head += if coherence.head() == 0 { wider } else { 0 };
    }
    assert!(wider_without_head > 20, "the abstraction is never coarser");
}

/// An abstraction that keeps more has no states that one has not that keeps less.
#[test]
fn what_keeps_more_of_buffers_reaches_less() {
    let fewer = Counts::<6>::new();
    random_cases(cases(2000) / 4, |rng| {
        let program = random_loops(rng, SIZE);
        let condition = nothing(&program);
        let split = SplitProgram::new(&program).unwrap();
        let machine = *MACHINES.choose(rng).unwrap();
        let states = |coherence: Coherence| {
            drained_states(&split, Forbidden::State(&condition), view(machine, coherence, Reduction::Off)).ok()
        };
        let pairs = [
            (Coherence::Full(0), Coherence::Set),
            (Coherence::Full(1), Coherence::Full(0)),
            (Coherence::Full(2), Coherence::Full(1)),
            (Coherence::Partial(1), Coherence::Partial(0)),
            (Coherence::Full(0), Coherence::Partial(0)),
            (Coherence::Full(1), Coherence::Partial(1)),
        ];
        for (kind, (more, less)) in pairs.into_iter().enumerate() {
            let (Some(of_more), Some(of_less)) = (states(more), states(less)) else { continue };
            assert!(of_more.is_subset(&of_less), "{machine:?}: {more} {less}\n{}", show(&program));
            if of_more != of_less {
                fewer.add(kind);
            }
        }
    });
    let fewer = [0, 1, 2, 3, 4, 5].map(|kind| fewer.get(kind));
    println!("fewer states: {fewer:?}");
    assert!(fewer[..4].iter().all(|&count| count > 0), "this test shows nothing");
}

/// A state that the abstraction reaches and store buffers do not, as a condition.
fn spurious_condition(
    rng: &mut StdRng,
    specification: &Specification,
    (machine, coherence): (Machine, Coherence),
) -> Option<StateCondition> {
    let program = &specification.program;
    let split = SplitProgram::new(program).unwrap();
    let Concrete { drained, is_whole: true, .. } = on_store_buffers(&split, machine, 4) else { return None };
    let view = view(machine, coherence, Reduction::Off);
    let found = drained_states(&split, Forbidden::State(&nothing(program)), view).ok()?;
    // Configurations between two instructions, in words: by what is printed of them.
    let in_words = program.threads.iter().map(|thread| {
        let values: usize = thread.locals.iter().map(|local| local.modulus.unwrap() as usize).product();
        let all = (0..thread.states.len()).flat_map(|control| (0..values).map(move |values| (control, values)));
        let one = |(control, mut values): (usize, usize)| {
            let mut parts = vec![format!("{}@{}", thread.name, thread.states[control])];
            let frame = thread.locals.iter().map(|local| {
                let many = local.modulus.unwrap() as usize;
                let value = values % many;
                values /= many;
                parts.push(format!("{}.{} = {value}", thread.name, local.name));
                value as i64
            });
            let (frame, control) = (frame.collect(), ControlAt::new(control));
            let config = Config { control, running: None, frame, presumed: Vec::new(), is_faulty: false };
            (format!("{config:?}"), parts.join(" and "))
        };
        all.map(one).collect::<BTreeMap<String, String>>()
    });
    let in_words: Vec<BTreeMap<String, String>> = in_words.collect();
    let only = found.difference(&drained).filter_map(|(threads, memory)| {
        let threads = threads.iter().zip(&in_words).map(|(config, words)| words.get(config).cloned());
        let memory = split.locations.iter().zip(memory).map(|(location, value)| Some(format!("{location} = {value}")));
        Some(threads.chain(memory).collect::<Option<Vec<String>>>()?.join(" and "))
    });
    let only: Vec<String> = only.collect();
    let text = only.choose(rng)?;
    Some(parse_condition("test", text, program).unwrap_or_else(|wrong| panic!("{wrong}")).condition)
}

/// The same condition with less said, so that more steps are nobody's business, if the program with these fences still
/// never comes to it.
fn weakened(
    rng: &mut StdRng,
    specification: &Specification,
    (machine, fences): (Machine, &[Site]),
    condition: StateCondition,
) -> StateCondition {
    for _ in 0..3 {
        let parts: Vec<&str> = condition.text.split(" and ").filter(|_| rng.random()).collect();
        if parts.is_empty() {
            continue;
        }
        let weaker = parse_condition("test", &parts.join(" and "), &specification.program).unwrap().condition;
        let split = repaired(specification, fences);
        if let Ok(Verdict::Verified(_)) = search(&split, &question(machine), Forbidden::State(&weaker)) {
            return weaker;
        }
    }
    condition
}

/// A state that needs fences, or none but those that the abstraction needs, as a condition that says as little as may
/// be.
fn condition_for_fences(
    rng: &mut StdRng,
    specification: &Specification,
    (machine, coherence): (Machine, Coherence),
    is_weak: bool,
) -> Option<StateCondition> {
    let everywhere: Vec<Site> = specification.outline.instrs().map(Site::after).collect();
    let (condition, fences) = match is_weak {
        true => (weak_condition(rng, specification, machine)?, &everywhere[..]),
        false => (spurious_condition(rng, specification, (machine, coherence))?, &[][..]),
    };
    Some(weakened(rng, specification, (machine, fences), condition))
}

/// A condition with which a fence, or the abstraction, may make a difference.
fn condition_for(
    rng: &mut StdRng,
    specification: &Specification,
    (machine, coherence): (Machine, Coherence),
) -> StateCondition {
    let found = match rng.random_range(0..3) {
        2 => None,
        kind => condition_for_fences(rng, specification, (machine, coherence), kind == 0),
    };
    found.unwrap_or_else(|| random_condition(rng, &specification.program))
}

/// What a judgement is, in a word.
fn in_a_word(judged: &Result<Judgement, Stop>) -> &'static str {
    match judged {
        Ok(Judgement::Proved(_)) => "proved",
        Ok(Judgement::Violated(_)) => "violated",
        Ok(Judgement::GoesWrong(_)) => "goes wrong",
        Ok(Judgement::Suspected(_)) => "suspected",
        Ok(Judgement::Doubtful) => "doubtful",
        Err(_) => "stopped",
    }
}

/// What two other searches say of a program, and whether a judgement contradicts them.
struct Others {
    forwards: Result<Verdict, Unjudged>,
    backwards: Option<Verdict>,
}

impl Others {
    fn of(split: &SplitProgram, machine: Machine, condition: &StateCondition) -> Others {
        let forwards = search(split, &question(machine), Forbidden::State(condition));
        // It takes for granted that nothing goes wrong.
        let goes_wrong = matches!(forwards, Err(Unjudged::GoesWrong(_)));
        let backwards = match goes_wrong {
            true => None,
            false => backwards(split, machine, Forbidden::State(condition), 2_000, Rules::ALL).ok(),
        };
        Others { forwards, backwards }
    }

    fn is_violated(&self) -> bool {
        matches!(self.forwards, Ok(Verdict::Violated(_))) || matches!(self.backwards, Some(Verdict::Violated(_)))
    }

    fn is_verified(&self) -> bool {
        matches!(self.forwards, Ok(Verdict::Verified(_))) || matches!(self.backwards, Some(Verdict::Verified(_)))
    }

    fn contradict(&self, judged: &Result<Judgement, Stop>) -> bool {
        let goes_wrong = matches!(self.forwards, Err(Unjudged::GoesWrong(_)));
        match judged {
            Ok(Judgement::Proved(_)) => self.is_violated() || goes_wrong,
            Ok(Judgement::Violated(_)) => self.is_verified(),
            Ok(Judgement::GoesWrong(_)) => matches!(self.forwards, Ok(Verdict::Verified(_))),
            Ok(Judgement::Doubtful) => true,
            Ok(Judgement::Suspected(_)) | Err(_) => false,
        }
    }
}

/// Verdicts against store buffers with a bound, and against the search backwards, which has none.
#[test]
fn verdicts_agree_with_other_searches() {
    // Both with the reduction and without.
    let kinds = ["proved", "violated", "goes wrong", "suspected", "stopped"];
    let [with, without] = [Counts::<5>::new(), Counts::<5>::new()];
    let needless = Counts::<2>::new();
    let [lost, won] = [Counts::<7>::new(), Counts::<7>::new()];
    random_cases(cases(2000), |rng| {
        let program = random_races(rng);
        let program = if rng.random_ratio(1, 6) { with_more_values(rng, program) } else { program };
        let specification = Specification::of_program(program).unwrap();
        let machine = *MACHINES.choose(rng).unwrap();
        let coherence = rng.random_range(0..7);
        let condition = condition_for(rng, &specification, (machine, COHERENCES[coherence]));
        let fences = random_fences(rng, &specification.outline);
        let split = repaired(&specification, &fences);
        let others = Others::of(&split, machine, &condition);
        let forbidden = Forbidden::State(&condition);
        let judged = [Reduction::Private, Reduction::Off].map(|reduction| {
            judge(&split, &specification.outline, forbidden, view(machine, COHERENCES[coherence], reduction))
        });
        for (judged, counts) in judged.iter().zip([&with, &without]) {
            let word = in_a_word(judged);
            assert!(
                !others.contradict(judged),
                "{machine:?} {}: {word}; {condition}; {fences:?}\n{:?}\n{:?}\n{}",
                COHERENCES[coherence],
                others.forwards,
                others.backwards,
                show(&specification.program),
            );
            counts.add(kinds.iter().position(|kind| *kind == word).unwrap());
        }
        let is_proved = judged.each_ref().map(|judged| matches!(judged, Ok(Judgement::Proved(_))));
        let differs = judged.iter().all(Result::is_ok) && is_proved[0] != is_proved[1];
        if differs {
            if is_proved[0] { won.add(coherence) } else { lost.add(coherence) }
        }
        // Who makes steps at once makes runs of the same abstract program; and of each run one is left that is as bad,
        // with more in the sets. Only where these are united it may matter with what.
        let is_united = matches!(COHERENCES[coherence], Coherence::Partial(_));
        assert!(
            is_united || !differs,
            "{machine:?} {}: {is_proved:?}; {condition}; {fences:?}\n{}",
            COHERENCES[coherence],
            show(&specification.program)
        );
        for (number, judged) in judged.iter().enumerate() {
            if matches!(judged, Ok(Judgement::Suspected(_))) && others.is_verified() {
                needless.add(number);
            }
        }
    });
    for (what, counts) in [("with the reduction", &with), ("without", &without)] {
        let counts: Vec<String> =
            kinds.iter().enumerate().map(|(kind, word)| format!("{word} {}", counts.get(kind))).collect();
        println!("{what}: {}", counts.join(", "));
    }
    println!("suspected for nothing: {} with the reduction, {} without", needless.get(0), needless.get(1));
    for (kind, coherence) in COHERENCES.iter().enumerate() {
        println!("{coherence}: {} lost by the reduction, {} won", lost.get(kind), won.get(kind));
    }
    for counts in [&with, &without] {
        assert!(counts.get(0).min(counts.get(1)) > 100, "hardly anything was decided");
        assert!(counts.get(2).min(counts.get(3)) > 0, "something never came about");
        assert!(counts.get(4) * 20 < counts.get(0), "most are decided");
    }
}

fn subsets(of: &[Site], size: usize) -> Vec<Vec<Site>> {
    match (size, of.split_first()) {
        (0, _) => vec![Vec::new()],
        (_, None) => Vec::new(),
        (_, Some((&first, rest))) => {
            let with = subsets(rest, size - 1).into_iter().map(|set| [vec![first], set].concat());
            with.chain(subsets(rest, size)).collect()
        }
    }
}

/// What an engine says, and the sites that fences can have; nothing if it cannot be asked.
fn outcome(
    engine: &str,
    specification: &Specification,
    property: &Property,
    machine: Machine,
    settings: &Settings,
) -> Result<(ModelOutcome, Vec<Site>), String> {
    let model = seqcon::memory::MemoryModel::named(name_of(machine)).unwrap();
    let examined = asked(named(engine), specification, property, settings, |examined| {
        let sites = examined.accesses().sites().into_iter().collect();
        examined.place(&model, &Options::default()).map(|outcome| (outcome, sites))
    });
    match examined.and_then(|placed| placed) {
        Ok(found) => Ok(found),
        Err(Trouble::Unsupported(problem)) => Err(problem),
        Err(trouble) => panic!("{engine}: {trouble:?}\n{}", show(&specification.program)),
    }
}

fn sites_of(outcome: &ModelOutcome) -> Vec<Site> {
    outcome.fences.iter().map(|fence| fence.site).collect()
}

fn settings(coherence: Coherence, inference: Inference) -> Settings {
    Settings {
        abstracting: Abstracting { coherence, inference, ..Abstracting::default() },
        searches: trial::Limits { states: MOST, buffer: 4, unroll: 2 },
        ..Settings::default()
    }
}

/// The fences are enough for the abstraction, and no smaller set is; where it says that none are, all together are not.
#[test]
fn the_fences_are_the_fewest_for_the_abstraction() {
    const NONE: usize = 0;
    const FOR_ABSTRACTION: usize = 1;
    const FOR_PROGRAM: usize = 2;
    const SEVERAL: usize = 3;
    const NOT_ABSTRACTLY: usize = 4;
    const UNFIXABLE: usize = 5;
    const OPEN: usize = 6;
    let counts = Counts::<7>::new();
    random_cases(cases(2000), |rng| {
        let specification = Specification::of_program(random_races(rng)).unwrap();
        let machine = *MACHINES.choose(rng).unwrap();
        let coherence = *COHERENCES.choose(rng).unwrap();
        let is_weak = rng.random_ratio(2, 3);
        let condition = condition_for_fences(rng, &specification, (machine, coherence), is_weak);
        let Some(condition) = condition else { return counts.add(NONE) };
        let property = Property::Never(condition.clone());
        let settings = settings(coherence, Inference::Sites);
        let (outcome, sites) = outcome("partial-coherence", &specification, &property, machine, &settings).unwrap();
        let is_proved = |fences: &[Site]| {
            let split = repaired(&specification, fences);
            let view = view(machine, coherence, Reduction::Private);
            let judged = judge(&split, &specification.outline, Forbidden::State(&condition), view);
            matches!(judged, Ok(Judgement::Proved(_)))
        };
        let fences = sites_of(&outcome);
        let told = || format!("{machine:?} {coherence}: {condition}\n{fences:?}\n{}", show(&specification.program));
        match &outcome.inserted {
            Inserted::Enough => {
                assert!(is_proved(&fences), "not enough: {}", told());
                assert!(!is_weak || !fences.is_empty(), "the program violates it: {}", told());
                counts.add(match outcome.placement.minimality {
                    Minimality::Abstraction => FOR_ABSTRACTION,
                    Minimality::Program => FOR_PROGRAM,
                    // Of united sets nothing is claimed but that they are enough.
                    Minimality::AtLeast(0) if matches!(coherence, Coherence::Partial(_)) => return,
                    _ => panic!("{:?}: {}", outcome.placement.minimality, told()),
                });
                if fences.len() > 3 || (fences.len() == 3 && sites.len() > 14) {
                    return;
                }
                if fences.len() > 1 {
                    counts.add(SEVERAL);
                }
                for size in 0..fences.len() {
                    for fewer in subsets(&sites, size) {
                        assert!(!is_proved(&fewer), "{fewer:?} are enough: {}", told());
                    }
                }
            }
            Inserted::NotAbstractly(_) => {
                counts.add(NOT_ABSTRACTLY);
                assert!(!is_proved(&sites), "all are enough: {}", told());
            }
            // Sequential consistency does not come to the condition.
            Inserted::Unfixable | Inserted::NotAtSites => {
                counts.add(UNFIXABLE);
                panic!("{:?} {}", outcome.inserted, told());
            }
            Inserted::Undecided(..) => counts.add(OPEN),
        }
    });
    let [none, abstraction, program, several, not, _, open] = [0, 1, 2, 3, 4, 5, 6].map(|kind| counts.get(kind));
    println!(
        "{abstraction} fewest for the abstraction, {program} for the program, {several} with several fences; {not} not abstractly; {open} open; {none} without a condition"
    );
    assert!(abstraction.min(program).min(several) > 5 && not > 0, "something hardly came about");
    assert!(abstraction + program > 10 * open, "most are decided");
}

/// How often each way has proved that the fences of auto are enough: by what is told of it.
const WAYS: [&str; 5] = [
    "all runs on store buffers",
    "partial coherence",
    "that a thread can reorder",
    "an exact search backwards",
    "symbolic states",
];

/// What two engines say of the same must not be a contradiction.
fn is_compatible(one: &Inserted, one_fences: usize, other: &Inserted, other_fences: usize) -> bool {
    match (one, other) {
        (Inserted::Enough, Inserted::Enough) => one_fences == other_fences,
        (Inserted::Undecided(least, _), Inserted::Enough) => *least <= other_fences,
        (Inserted::Enough, Inserted::Undecided(least, _)) => *least <= one_fences,
        (Inserted::Undecided(..), _) | (_, Inserted::Undecided(..)) => true,
        (one, other) => one == other,
    }
}

/// The engine auto says what the engines say that each have one way, however short the buffers are that it looks at
/// first.
#[test]
fn auto_agrees_with_the_engines_that_have_one_way() {
    const ENOUGH: usize = 0;
    const UNFIXABLE: usize = 1;
    const OPEN: usize = 2;
    const REFUSED: usize = 3;
    const BOUNDED: usize = 4;
    const OF_FEW: usize = 5;
    let [counts, ways] = [Counts::<6>::new(), Counts::<6>::new()];
    random_cases(cases(2000), |rng| {
        let specification = Specification::of_program(random_races(rng)).unwrap();
        let machine = *MACHINES.choose(rng).unwrap();
        let coherence = *COHERENCES.choose(rng).unwrap();
        let condition = condition_for(rng, &specification, (machine, coherence));
        let property = Property::Never(condition.clone());
        let told = || format!("{machine:?}: {condition}\n{}", show(&specification.program));
        let settings = |states, buffer| {
            let searches = trial::Limits { states, buffer, unroll: 2 };
            Settings { searches, ..Settings::default() }
        };
        let of = |engine: &str, settings: &Settings| {
            let found = outcome(engine, &specification, &property, machine, settings);
            found.map(|(outcome, _)| outcome)
        };
        // With few states it is often left open, and bounds are said.
        let has_many = rng.random_ratio(3, 4);
        let states = if has_many { 5_000 } else { rng.random_range(10..200) };
        let Ok(auto) = of("auto", &settings(states, rng.random_range(0..=2))) else { return counts.add(REFUSED) };
        counts.add(match auto.inserted {
            Inserted::Enough => ENOUGH,
            Inserted::Undecided(..) if has_many => OPEN,
            Inserted::Undecided(..) => OF_FEW,
            Inserted::Unfixable => UNFIXABLE,
            Inserted::NotAtSites | Inserted::NotAbstractly(_) => panic!("{:?} {}", auto.inserted, told()),
        });
        if auto.inserted == Inserted::Enough {
            let ground = auto.ground.clone().unwrap();
            ways.add(WAYS.iter().position(|way| ground.contains(way)).unwrap_or_else(|| panic!("{ground}")));
            assert_eq!(auto.placement.minimality, Minimality::Program, "{}", told());
            let split = repaired(&specification, &sites_of(&auto));
            let others = Others::of(&split, machine, &condition);
            assert!(!others.is_violated(), "not enough: {:?} {}", sites_of(&auto), told());
        }
        for engine in ["single-buffer", "store-buffers"] {
            let Ok(other) = of(engine, &settings(5_000, 4)) else { continue };
            let (fences, other_fences) = (auto.fences.len(), other.fences.len());
            assert!(
                is_compatible(&auto.inserted, fences, &other.inserted, other_fences),
                "auto: {:?} {fences}, {engine}: {:?} {other_fences}; {}",
                auto.inserted,
                other.inserted,
                told()
            );
            if let (Some(upper), Inserted::Enough) = (&auto.upper, &other.inserted) {
                counts.add(BOUNDED);
                assert!(other_fences <= upper.fences.len(), "{engine}: {other_fences}; {}", told());
            }
        }
    });
    let [enough, unfixable, open, refused, bounded, of_few] = [0, 1, 2, 3, 4, 5].map(|kind| counts.get(kind));
    println!(
        "{enough} enough, {unfixable} unfixable, {open} open, and {of_few} with few states, {refused} refused; {bounded} upper bounds compared"
    );
    WAYS.iter().enumerate().for_each(|(kind, way)| println!("{way}: {}", ways.get(kind)));
    assert!(enough.min(unfixable) > 100 * open.max(refused).max(1), "hardly any is left open");
    assert!(ways.get(0).min(ways.get(1)) > 20 && of_few > 0, "the ways are used");
}

/// A final state of the machine that sequential consistency does not end in, as the outcome of a litmus test.
fn weak_end(rng: &mut StdRng, program: &Program, machine: Machine) -> Option<FinalCondition> {
    let split = SplitProgram::new(program).unwrap();
    let mut buffers = Buffers::new(&split, machine, 4);
    let mut visited = Visited::new(6_000);
    visited.start(buffers.initial()).ok()?;
    let (mut ends, mut at) = (BTreeSet::new(), 0);
    let consistent = ends_under_consistency(&split)?;
    while (at as usize) < visited.len() {
        let state = visited.get(at);
        let steps = buffers.steps(&state);
        let system = &buffers.system;
        if state.buffers.iter().all(Vec::is_empty) {
            ends.extend(end(system, &state.shared).filter(|end| !consistent.contains(end)));
        }
        for (_, next) in steps {
            visited.insert(next, at).ok()?;
        }
        at += 1;
    }
    let ends: Vec<End> = ends.into_iter().collect();
    let (memory, locals) = ends.choose(rng)?;
    let shared = memory.iter().enumerate().map(|(at, &value)| (Observed::Shared(LocationAt::new(at)), value));
    let own = locals.iter().enumerate().flat_map(|(thread, values)| {
        let of_thread = move |local| Observed::Local(ThreadAt::new(thread), local);
        values.iter().enumerate().map(move |(local, &value)| (of_thread(local), value))
    });
    let parts = shared.chain(own).map(|(observed, value)| Proposition::Is(observed, value));
    // Some of what is known of it: that may be too little, and sequential consistency have it, too.
    let parts: Vec<Proposition> = parts.filter(|_| rng.random_ratio(9, 10)).collect();
    let proposition = Proposition::All(parts);
    Some(match rng.random() {
        true => FinalCondition { quantifier: Quantifier::Exists, proposition },
        false => {
            FinalCondition { quantifier: Quantifier::Forall, proposition: Proposition::Not(Box::new(proposition)) }
        }
    })
}

/// The memory and the locals of all threads.
type End = (Vec<i64>, Vec<Vec<i64>>);

fn end(system: &System<'_>, state: &State) -> Option<End> {
    let configs = || system.program.threads_at().map(|thread| (system.thread(thread), state.config(thread)));
    let has_ended = |(thread, id): (&Configurations<'_>, ConfigId)| {
        let config = thread.config(id);
        config.running.is_none() && thread.steps(id).is_empty()
    };
    let locals = configs().map(|(thread, id)| thread.config(id).frame.to_vec());
    configs().all(has_ended).then(|| (state.memory.to_vec(), locals.collect()))
}

fn ends_under_consistency(split: &SplitProgram) -> Option<BTreeSet<End>> {
    let mut system = System::new(split, Granularity::Accesses);
    let states = system.reach(6_000).ok()?;
    Some((0..states.len() as u32).filter_map(|number| end(&system, &states.get(number))).collect())
}

/// Outcomes of tests whose threads end, by auto, by partial coherence, and by all states on store buffers.
#[test]
fn outcomes_are_judged_alike() {
    let counts = Counts::<5>::new();
    random_cases(cases(2000) / 2, |rng| {
        let mut program = random_races(rng);
        // What led back leads on: threads end.
        for thread in &mut program.threads {
            for instruction in &mut thread.instructions {
                let next = instruction.from.index() + 1;
                instruction.to = ControlAt::new(instruction.to.index().max(next));
            }
        }
        let specification = Specification::of_program(program).unwrap();
        let machine = *MACHINES.choose(rng).unwrap();
        let Some(condition) = weak_end(rng, &specification.program, machine) else { return counts.add(0) };
        let property = Property::Final(condition.clone());
        let told = || format!("{machine:?}: {condition:?}\n{}", show(&specification.program));
        let of = |engine: &str, buffer: usize, coherence| {
            let searches = trial::Limits { states: MOST, buffer, unroll: 2 };
            let settings = Settings { searches, ..settings(coherence, Inference::Sites) };
            let found = outcome(engine, &specification, &property, machine, &settings);
            found.unwrap_or_else(|trouble| panic!("{trouble} {}", told())).0
        };
        let right = of("store-buffers", 10, Coherence::Full(1));
        let auto = of("auto", rng.random_range(0..=3), Coherence::Full(1));
        let told = || format!("{:?}, {:?}; {}", auto.inserted, right.inserted, told());
        assert!(is_compatible(&auto.inserted, auto.fences.len(), &right.inserted, right.fences.len()), "{}", told());
        counts.add(match auto.inserted {
            Inserted::Enough => 1,
            Inserted::Undecided(..) => 2,
            _ => 3,
        });
        // An abstraction may ask for more, and never for less.
        let abstracted = of("partial-coherence", 4, *COHERENCES.choose(rng).unwrap());
        match (&abstracted.inserted, &right.inserted) {
            (Inserted::Enough, Inserted::Enough) => {
                assert!(abstracted.fences.len() >= right.fences.len(), "{}", told());
                let split = repaired(&specification, &sites_of(&abstracted));
                let question = Question { bound: 10, ..question(machine) };
                let verdict = search(&split, &question, Forbidden::End(&condition));
                assert!(matches!(verdict, Ok(Verdict::Verified(_))), "{verdict:?} {}", told());
            }
            (Inserted::NotAbstractly(_), _) | (Inserted::Unfixable, Inserted::Unfixable) => {}
            // There are too many states, where nothing is done at once.
            (Inserted::Undecided(..), _) => counts.add(4),
            // All that would help is inside an instruction, and does not there.
            (_, Inserted::Undecided(..)) => counts.add(4),
            (other, _) => panic!("{other:?}; {}", told()),
        }
    });
    let [none, enough, open, unfixable, open_abstractly] = [0, 1, 2, 3, 4].map(|kind| counts.get(kind));
    println!(
        "{enough} enough, {unfixable} unfixable, {open} open, {open_abstractly} abstractly; {none} without an outcome"
    );
    assert!(enough > 50 && unfixable > 5 && enough > 20 * (open + open_abstractly), "hardly anything was decided");
}

/// The fences of the paper's formula are enough for the program, and never fewer than those that runs demand.
#[test]
fn the_fences_of_the_formula_are_enough() {
    const REFUSED: usize = 0;
    const ENOUGH: usize = 1;
    const MORE: usize = 2;
    const NOT: usize = 3;
    const OPEN: usize = 4;
    let counts = Counts::<5>::new();
    random_cases(cases(2000) * 2, |rng| {
        let specification = Specification::of_program(random_races(rng)).unwrap();
        let split = SplitProgram::new(&specification.program).unwrap();
        let has_composites = !split.composites().is_empty();
        let machine = *MACHINES.choose(rng).unwrap();
        if has_composites && rng.random_ratio(9, 10) {
            return;
        }
        let Some(condition) = weak_condition(rng, &specification, machine) else { return };
        let coherence = *COHERENCES.choose(rng).unwrap();
        let property = Property::Never(condition.clone());
        let told = || format!("{machine:?} {coherence}: {condition}\n{}", show(&specification.program));
        let of = |inference| {
            let settings = settings(coherence, inference);
            outcome("partial-coherence", &specification, &property, machine, &settings)
        };
        let by_formula = match of(Inference::Constraints) {
            Ok((outcome, _)) => outcome,
            Err(problem) => {
                assert!(has_composites && problem.contains("--inference sites"), "{problem} {}", told());
                return counts.add(REFUSED);
            }
        };
        assert!(!has_composites, "{}", told());
        let (by_sites, _) = of(Inference::Sites).unwrap();
        let fences = sites_of(&by_formula);
        match (&by_formula.inserted, &by_sites.inserted) {
            (Inserted::Enough, Inserted::Enough) => {
                counts.add(ENOUGH);
                if fences.len() > by_sites.fences.len() {
                    counts.add(MORE);
                }
                assert!(fences.len() >= by_sites.fences.len(), "{fences:?} {}", told());
                let others = Others::of(&repaired(&specification, &fences), machine, &condition);
                assert!(!others.is_violated(), "{fences:?} {}", told());
                assert!(others.is_verified() || others.backwards.is_none(), "{fences:?} {}", told());
            }
            (Inserted::NotAbstractly(_), _) => counts.add(NOT),
            (Inserted::Undecided(..), _) | (_, Inserted::Undecided(..)) => counts.add(OPEN),
            (one, other) => panic!("{one:?} {other:?} {}", told()),
        }
    });
    let [refused, enough, more, not, open] = [0, 1, 2, 3, 4].map(|kind| counts.get(kind));
    println!("{enough} enough, {more} with more fences; {not} not abstractly, {open} open, {refused} refused");
    assert!(enough > 50 && refused > 5 && enough > 20 * open, "hardly anything was decided");
}

/// The formula asks for a fence on every way between two instructions, also on those that no bad run takes; so it can
/// ask for more fences than the abstraction needs.
#[test]
fn the_formula_can_ask_for_more() {
    let text = "model more { classes C { variables Integer x Integer y Integer z Integer w state machines
        t { variables Integer r := 2 Integer s Integer n initial i states p q m k l e f
            transitions i -> p { x := 1 } p -> m { n := 1 } i -> q { z := 1 } q -> m { n := 2 }
              m -> k { n = 1; s := 1 } m -> l { n = 2; s := 2 } p -> k q -> l k -> e { r := y } l -> f { r := w } }
        u { variables Integer r := 2 initial a states b c transitions a -> b { y := 1 } b -> c { r := x } }
        v { variables Integer r := 2 initial a states b c transitions a -> b { w := 1 } b -> c { r := z } } }
        objects o : C()
        never one: t@e and t.s = 1 and t.r = 0 and u@c and u.r = 0
        never other: t@f and t.s = 2 and t.r = 0 and v@c and v.r = 0 }";
    let (specification, _) = Specification::parse("test.slco".to_owned(), text.to_owned()).unwrap();
    let property = never_of(&specification).unwrap();
    for machine in MACHINES {
        let [by_sites, by_formula] = [Inference::Sites, Inference::Constraints].map(|inference| {
            let settings = settings(Coherence::Full(1), inference);
            outcome("partial-coherence", &specification, &property, machine, &settings).unwrap().0
        });
        assert_eq!((&by_sites.inserted, by_sites.fences.len()), (&Inserted::Enough, 3), "{machine:?}");
        assert_eq!((&by_formula.inserted, by_formula.fences.len()), (&Inserted::Enough, 4), "{machine:?}");
        assert_eq!(by_sites.placement.minimality, Minimality::Program, "{machine:?}");
        assert_eq!(by_formula.placement.minimality, Minimality::AtLeast(0), "{machine:?}: nothing is claimed");
    }
}

/// What the engine finds for a text with its own property.
fn found(text: &str, machine: Machine, coherence: Coherence) -> (usize, Minimality) {
    let (specification, _) = Specification::parse("test.slco".to_owned(), text.to_owned()).unwrap();
    let property = never_of(&specification).unwrap();
    let settings = settings(coherence, Inference::Sites);
    let (outcome, _) = outcome("partial-coherence", &specification, &property, machine, &settings).unwrap();
    assert_eq!(outcome.inserted, Inserted::Enough, "{machine:?} {coherence}");
    (outcome.fences.len(), outcome.placement.minimality)
}

/// A fence on one way to a state keeps a write out of the set that a run on another way to it is bad by: what that run
/// passes is not what is needed, one fence is enough, and no fences are not the answer.
#[test]
fn of_sets_that_are_united_nothing_is_claimed() {
    let text = |first: &str| {
        format!(
            "model united {{ classes C {{ variables Integer x state machines
               t {{ initial i states s0 a b c e
                    transitions i -> s0 {{ {first} }} s0 -> a {{ x := 1 }} a -> e {{ x := 3 }} s0 -> c {{ x := 1 }}
                      c -> e {{ x := 3 }} s0 -> b {{ x := 2 }} b -> e {{ x := 3 }} }}
               u {{ variables Integer p Integer q initial s0 states s1 s2 transitions s0 -> s1 {{ p := x }} s1 -> s2 {{ q := x }} }} }}
               objects o : C() never bad: u@s2 and u.p = 1 and u.q = 2 }}"
        )
    };
    for machine in MACHINES {
        assert_eq!(found(&text("x := 0"), machine, Coherence::Partial(1)).1, Minimality::AtLeast(0), "{machine:?}");
        assert_eq!(found(&text("true"), machine, Coherence::Partial(0)), (1, Minimality::AtLeast(0)), "{machine:?}");
        assert_eq!(found(&text("true"), machine, Coherence::Full(1)), (0, Minimality::Program), "{machine:?}");
    }
}

/// With a fence a counter is never reached, and then nothing is given up: what is asked for without it is not needed.
#[test]
fn of_values_that_are_given_up_nothing_is_claimed() {
    let text = "model up { classes C { variables Integer x Integer y Integer z Integer n state machines
        t { variables Integer p initial s0 states s1 s2 s3 loop
            transitions s0 -> s1 { x := 1 } s1 -> s2 { p := y } s2 -> s3 { p = 0 } s3 -> loop { z = 1 }
              loop -> loop { atomic [n := n + 1] } }
        u { variables Integer q initial s0 states s1 s2 s3 s4
            transitions s0 -> s1 { y := 1; fence } s1 -> s2 { q := x } s2 -> s3 { q = 0 } s3 -> s4 { z := 1 } }
        v { initial s0 states bad transitions s0 -> bad { n = 70 } } }
        objects o : C() never bad: v@bad }";
    for machine in MACHINES {
        assert_eq!(found(text, machine, Coherence::Full(1)), (1, Minimality::AtLeast(0)), "{machine:?}");
    }
}

/// A division by what is given up could go wrong, and then its thread would stop.
#[test]
fn what_can_go_wrong_is_not_given_up() {
    let text = "model wrong { classes C { variables Integer n Integer z state machines
        t { initial a states b transitions a -> a { atomic [n := n + 1] } }
        u { initial a states b transitions a -> b { z := 1 / (n - 70) } } }
        objects o : C() never bad: t@b }";
    for machine in MACHINES {
        let (_, judged) = judged(text, machine, Coherence::Full(1));
        assert!(!matches!(judged, Ok(Judgement::Proved(_))), "{machine:?}: {}", in_a_word(&judged));
    }
}

/// Judges a text, with its own property.
fn judged(text: &str, machine: Machine, coherence: Coherence) -> (Specification, Result<Judgement, Stop>) {
    let parsed = Specification::parse("test.slco".to_owned(), text.to_owned());
    let (specification, _) = parsed.unwrap_or_else(|wrong| panic!("{wrong}\n{text}"));
    let split = SplitProgram::new(&specification.program).unwrap();
    let condition = specification.properties[0].condition().unwrap();
    let view = view(machine, coherence, Reduction::Private);
    let judged = judge(&split, &specification.outline, Forbidden::State(condition), view);
    (specification, judged)
}

/// Two threads that exclude each other, with fences, and count how often they were there: what they do with the
/// counter besides, and what must never be.
fn counting(inside: &str, never: &str) -> String {
    let thread = |name: &str, own: &str, other: &str| {
        format!(
            "{name} {{ variables Integer r Integer n initial a states b c CS d
               transitions a -> b {{ {own} := 1 }} b -> c {{ fence }} c -> CS {{ {other} = 0 }}
                 CS -> d {{ {inside} }} d -> a {{ {own} := 0 }} }}"
        )
    };
    format!(
        "model counting {{ classes C {{ variables Integer x Integer y Integer count state machines {} {} }}
           objects o : C() never bad: {never} }}",
        thread("t", "x", "y"),
        thread("u", "y", "x"),
    )
}

/// A counter that has no bound, and makes no difference.
#[test]
fn a_counter_without_bound_is_given_up() {
    for machine in MACHINES {
        for inside in ["count := count + 1", "n := n + 1", "count := count + n + 1; n := count"] {
            let text = counting(inside, "t@CS and u@CS");
            let (specification, judged) = judged(&text, machine, Coherence::Full(1));
            let Ok(Judgement::Proved(Proof { given_up, .. })) = judged else {
                panic!("{machine:?} {inside}: {}", in_a_word(&judged))
            };
            let location = usize::from(inside.contains("count"));
            let locals = if inside.contains('n') { 0..2 } else { 0..0 };
            assert_eq!(given_up.locations.len(), location, "{inside}");
            if inside.contains("n :=") {
                assert_eq!(given_up.locals, locals.map(|thread| (thread, 1)).collect(), "{inside}");
            }
            // The engine names them.
            let property = &specification.properties[0];
            let searches = settings(Coherence::Full(1), Inference::Sites);
            let (outcome, _) = outcome("partial-coherence", &specification, property, machine, &searches).unwrap();
            assert_eq!((&outcome.inserted, outcome.fences.len()), (&Inserted::Enough, 0));
            let ground = outcome.ground.unwrap();
            let named = match inside {
                "count := count + 1" => "the values of count are not told apart",
                "n := n + 1" => "the values of t.n, u.n are not told apart",
                _ => "the values of count, t.n, u.n are not told apart",
            };
            assert!(ground.contains(named), "{inside}: {ground}");
        }
        // Without the fences the fences are found, through the counter.
        let text = counting("count := count + 1", "t@CS and u@CS").replace("{ fence }", "");
        let (specification, _) = judged(&text, machine, Coherence::Full(1));
        let searches = settings(Coherence::Full(1), Inference::Sites);
        let (outcome, _) =
            outcome("partial-coherence", &specification, &specification.properties[0], machine, &searches).unwrap();
        // Their runs are found before it has counted far.
        assert_eq!((&outcome.inserted, outcome.fences.len()), (&Inserted::Enough, 2));
        assert_eq!(outcome.placement.minimality, Minimality::Program);
    }
}

/// Where a counter decides, or is asked for, nothing is proved wrongly.
#[test]
fn a_counter_without_bound_that_decides_is_no_proof() {
    for machine in MACHINES {
        // Who has counted to 3 does not ask: then both may be there.
        let text = counting("count := count + 1", "t@CS and u@CS")
            .replace("CS { x = 0 }", "CS { x = 0 } c -> CS { count >= 3 }");
        let (specification, judged_here) = judged(&text, machine, Coherence::Full(1));
        assert_eq!(in_a_word(&judged_here), "violated", "{machine:?}");
        let condition = specification.properties[0].condition().unwrap();
        let split = SplitProgram::new(&specification.program).unwrap();
        let verdict = search(&split, &Question { limit: 200_000, ..question(machine) }, Forbidden::State(condition));
        assert!(matches!(verdict, Ok(Verdict::Violated(_))), "{verdict:?}");
        // Asked for: it cannot be given up, but it is seen how far it gets.
        let (_, judged_here) = judged(&counting("count := count + 1", "count = 2"), machine, Coherence::Full(1));
        assert_eq!(in_a_word(&judged_here), "violated", "{machine:?}");
        for never in ["t@CS and u@CS and count > 5", "t@CS and u@CS and v[0] = 1"] {
            let inside =
                if never.contains("v[0]") { "v[count] := 1; count := count + 1" } else { "count := count + 1" };
            let text = counting(inside, never).replace("Integer count", "Integer count Integer[2] v");
            let (_, judged) = judged(&text, machine, Coherence::Full(1));
            let is_named = |location: usize| location == 2;
            // Or it is not seen how far it gets.
            let is_refused = match judged {
                Err(Stop::ManyValues(at, _)) => is_named(at),
                Err(Stop::Limit(_)) => true,
                _ => false,
            };
            assert!(is_refused, "{never}: {}", in_a_word(&judged));
        }
    }
}

/// Programs in which a variable has no bound, against what store buffers reach with a bound.
#[test]
fn giving_values_up_proves_nothing_wrong() {
    const PROVED: usize = 0;
    const WITHOUT_BOUND: usize = 1;
    const REFUSED: usize = 2;
    const SUSPECTED: usize = 3;
    const OTHER: usize = 4;
    const WITH_FENCES: usize = 5;
    let counts = Counts::<6>::new();
    // It takes long to see that there is no bound.
    random_cases(cases(2000) / 4, |rng| {
        let mut program = random_races(rng);
        // One variable has no bound; it is counted up somewhere.
        let unbounded = rng.random_range(0..3);
        program.shared[unbounded].modulus = None;
        for thread in &mut program.threads {
            thread.locals.iter_mut().filter(|_| rng.random_ratio(1, 3)).for_each(|local| local.modulus = None);
        }
        let many = assignments_of(&mut program).count();
        if many > 0 {
            let at = rng.random_range(0..many);
            let assignment = assignments_of(&mut program).nth(at).unwrap();
            let variable = reference(Scope::Shared, unbounded);
            let read = Box::new(Expression::Read(variable.clone()));
            let one = Box::new(Expression::Constant(1));
            let value = Expression::Binary(BinaryOperator::Add, read, one, Span::default());
            *assignment = Assignment { target: variable.clone(), value: value.clone() };
            // And goes round, so that no bound is found in the states that are reached either.
            let thread = rng.random_range(0..program.threads.len());
            let thread = &mut program.threads[thread];
            let at = rng.random_range(0..thread.instructions.len());
            if thread.instructions[at].kind == InstructionKind::Plain && rng.random_ratio(2, 3) {
                let known = thread.instructions[at].clone();
                let name = thread.instructions.len().to_string();
                let (to, assignments) = (known.from, vec![Assignment { target: variable, value }]);
                thread.instructions.push(Instruction { name, to, condition: None, assignments, ..known });
            }
        }
        // And where it has some value, a thread does something; else, sometimes by priority, another thing.
        let thread = rng.random_range(0..program.threads.len());
        let thread = &mut program.threads[thread];
        let at = rng.random_range(0..thread.instructions.len());
        if thread.instructions[at].kind != InstructionKind::Fence && rng.random_ratio(2, 3) {
            let read = Box::new(Expression::Read(reference(Scope::Shared, unbounded)));
            let value = Box::new(Expression::Constant(rng.random_range(0..=2)));
            let condition = Expression::Binary(BinaryOperator::Equal, read, value, Span::default());
            let instruction = &mut thread.instructions[at];
            instruction.condition = Some(condition);
            if rng.random() {
                let to = ControlAt::new(rng.random_range(0..thread.states.len()));
                let name = thread.instructions.len().to_string();
                let known = thread.instructions[at].clone();
                let priority = known.priority + 1;
                let else_there = Instruction { name, to, priority, condition: None, assignments: vec![], ..known };
                thread.instructions.push(else_there);
            }
        }
        let specification = Specification::of_program(program).unwrap();
        let (machine, coherence) = (*MACHINES.choose(rng).unwrap(), *COHERENCES.choose(rng).unwrap());
        let condition = random_condition(rng, &specification.program);
        let fences = random_fences(rng, &specification.outline);
        let split = repaired(&specification, &fences);
        let view = view(machine, coherence, Reduction::Private);
        let judged = judge(&split, &specification.outline, Forbidden::State(&condition), view);
        let question = Question { limit: 5_000, ..question(machine) };
        let verdict = |split: &SplitProgram| search(split, &question, Forbidden::State(&condition));
        let told =
            |fences| format!("{machine:?} {coherence}: {condition}; {fences:?}\n{}", show(&specification.program));
        // What the engines say of the program with their own fences is no less true.
        if rng.random_ratio(1, 25) {
            let engine = ["partial-coherence", "auto"][rng.random_range(0..2)];
            let property = Property::Never(condition.clone());
            let few = trial::Limits { states: 5_000, buffer: 2, unroll: 2 };
            let settings = Settings { searches: few, ..settings(coherence, Inference::Sites) };
            if let Ok((found, _)) = outcome(engine, &specification, &property, machine, &settings)
                && found.inserted == Inserted::Enough
            {
                counts.add(WITH_FENCES);
                let fences = sites_of(&found);
                let verdict = verdict(&repaired(&specification, &fences));
                assert!(!matches!(verdict, Ok(Verdict::Violated(_))), "{engine}: {verdict:?} {}", told(&fences));
            }
        }
        let Ok(Judgement::Proved(proof)) = &judged else {
            return counts.add(match judged {
                Err(Stop::ManyValues(..) | Stop::ThreadTooLarge { .. }) => REFUSED,
                Ok(Judgement::Suspected(_)) => SUSPECTED,
                _ => OTHER,
            });
        };
        counts.add(PROVED);
        if proof.given_up.locations.len() + proof.given_up.locals.len() > 0 {
            counts.add(WITHOUT_BOUND);
        }
        let verdict = verdict(&split);
        assert!(!matches!(verdict, Ok(Verdict::Violated(_))), "{verdict:?} {}", told(&fences));
    });
    let [proved, without, refused, suspected, other, fenced] = [0, 1, 2, 3, 4, 5].map(|kind| counts.get(kind));
    println!(
        "{proved} proved, {without} with values given up; {suspected} suspected, {refused} refused, {other} else; {fenced} with fences of engines"
    );
    assert!(without > 5 && suspected > 5 && refused > 0 && fenced > 0, "this test shows nothing");
}
