//! Threads as finite automata over the values that shared locations can have.
//!
//! For methods that know no registers: a state of an automaton is a configuration of the thread, control state and
//! locals, and what it reads and writes are values from finite domains. The domains are the least ones that are closed:
//! the values at the start, and whatever a thread can write that reads any value of the domains. So a variable needs no
//! declared range; if the domains do not become stable, the variable or the thread that has no bound is named.
//!
//! States from which the same can be done, for ever, and that what is asked does not tell apart, are merged (strong
//! bisimulation, by refinement of partitions). That forgets more than locals which are dead: values that make no
//! difference any more.
//!
//! Steps that change nothing, such as refused conditions, are left out.
//!
//! | part | holds |
//! |---|---|
//! | [`closure`] | all that a thread can do, and all values that a location can have |
//! | [`leaving`] | when a thread is not stuck |
//! | [`observed`] | what can be told of a thread where states are judged |
//! | [`replay`] | steps of the automata as a run on store buffers |
//! | [`values`] | values that have no bound, given up |

mod closure;
pub mod leaving;
pub mod observed;
pub mod replay;
pub mod values;

use crate::budget::{Budget, Exhausted};
use crate::ids::LocationAt;
use crate::program::{At, Program};
use crate::property::ConditionFault;
use crate::trial::Trouble;
use crate::weak::forbidden::Forbidden;
use crate::weak::split::SplitProgram;
use crate::weak::threads::{ConfigId, Configurations};
use crate::weak::visited::LimitReached;
use closure::{Raw, RawOperation, closed};
use fixedbitset::FixedBitSet;
use leaving::Leaving;
use observed::Observed;
use rustc_hash::{FxHashMap, FxHashSet};

/// Why there is no verdict.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Stop {
    /// A limit was reached.
    Limit(LimitReached),
    /// The program is too large for the search: why.
    TooLarge(String),
    /// A location, by its position in memory, has too many values, or no bound: in words.
    ManyValues(usize, String),
    /// A thread is too large for the search, or has no bound that it can find.
    ThreadTooLarge {
        /// Its position.
        thread: usize,
        /// Its locals that have the most values.
        locals: Vec<usize>,
        /// Why, without its name.
        problem: String,
    },
    /// The condition cannot be evaluated.
    Fault(ConditionFault),
    /// An instruction goes wrong.
    GoesWrong(At),
}

impl Stop {
    /// The limit that was reached, if it is one that may be raised.
    ///
    /// # Errors
    /// Why the program cannot be judged, if it is not.
    pub fn limit(self, program: &Program) -> Result<LimitReached, Trouble> {
        match self {
            Stop::Limit(limit) => Ok(limit),
            Stop::TooLarge(problem) | Stop::ManyValues(_, problem) => Err(Trouble::Unbounded(problem)),
            Stop::ThreadTooLarge { thread, problem, .. } => {
                Err(Trouble::Unbounded(format!("thread {} {problem}", program.threads[thread].name)))
            }
            Stop::Fault(fault) => Err(Trouble::Condition(fault)),
            Stop::GoesWrong(at) => Err(Trouble::GoesWrong(at)),
        }
    }
}

impl From<LimitReached> for Stop {
    fn from(limit: LimitReached) -> Stop {
        Stop::Limit(limit)
    }
}

impl From<Exhausted> for Stop {
    fn from(limit: Exhausted) -> Stop {
        Stop::Limit(LimitReached::Budget(limit))
    }
}

/// The number of a state of an automaton.
pub type StateAt = u32;
/// The position of a location in memory.
pub type Location = u8;
/// A value, by its position in the domain of its location, or [`ANY`].
pub type Value = u8;

/// Any value: it makes no difference which.
pub const ANY: Value = u8::MAX;

/// The most values of a location.
pub const MOST_VALUES: usize = 100;
/// The most locations.
const MOST_LOCATIONS: usize = 100;

/// What a transition does.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Operation {
    /// Nothing that others see; a fence, if it is drained.
    Silent,
    /// Reads this value.
    Read(Location, Value),
    /// Writes this value.
    Write(Location, Value),
    /// Reads these values from memory and writes those, as one step.
    Whole(Vec<(Location, Value)>, Vec<(Location, Value)>),
}

/// A step that writes something that is in no domain, of an automaton [within](Automata::within) given domains: it
/// leads nowhere.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Outside {
    /// Where it begins.
    pub from: StateAt,
    /// The thread's buffer must be empty.
    pub drained: bool,
    /// What it reads from memory, as one step.
    pub reads: Vec<(Location, Value)>,
    /// What it writes: locations, by position, and values.
    pub writes: Vec<(usize, i64)>,
}

/// A transition.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Transition {
    /// Where it begins.
    pub from: StateAt,
    /// Where it leads.
    pub to: StateAt,
    /// The thread's buffer must be empty.
    pub drained: bool,
    /// The position of its instruction in the thread, if instructions are told apart; else 0.
    pub label: u32,
    /// What it does.
    pub operation: Operation,
}

/// A thread.
#[derive(Clone, Debug)]
pub struct Automaton {
    /// The transitions.
    pub transitions: Vec<Transition>,
    /// What would lead out of the domains, if these were given.
    pub outside: Vec<Outside>,
    /// For each state the transitions that lead there.
    pub into: Vec<Vec<u32>>,
    /// Where it starts.
    pub initial: StateAt,
    /// The state of each configuration; of those that are not reached by whatever values are read, none.
    pub states: Vec<Option<StateAt>>,
    /// For each state one of its configurations.
    pub examples: Vec<ConfigId>,
    /// For each state the values, by their number among all, that may have been written before, one by one.
    pub written: Vec<FixedBitSet>,
    /// The same for values written by steps that are one.
    pub written_whole: Vec<FixedBitSet>,
    /// For each state when the thread is not stuck there, if it is between two instructions of the program; only where
    /// deadlocks are asked for.
    pub leaving: Vec<Option<Leaving>>,
}

/// The threads of a program.
pub struct Automata<'p> {
    /// By position.
    pub threads: Vec<Automaton>,
    /// The configurations that the automata were made of.
    pub configurations: Vec<Configurations<'p>>,
    /// The values that each location can have, sorted.
    pub domains: Vec<Vec<i64>>,
    /// The first number of the values of each location, and behind them how many there are.
    offsets: Vec<usize>,
    /// The memory at the start.
    pub memory: Vec<Value>,
}

/// What is told apart of a thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Detail {
    /// What can be told by what it does and by what is forbidden; locals that are dead are forgotten.
    Merged,
    /// All configurations, as the program is written.
    Literal(Labels),
}

/// The values that locations have.
#[derive(Clone, Copy, Debug)]
pub enum Domains<'d> {
    /// All that threads write which read any of them; if a location has more than so many, that is taken for no bound.
    Closed(usize),
    /// These; what writes others leads nowhere.
    Given(&'d [Vec<i64>]),
}

/// Whether transitions of different instructions are told apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Labels {
    /// They are not.
    None,
    /// They are.
    Instructions,
}

impl<'p> Automata<'p> {
    /// The threads of a program, as far as what is forbidden tells their states apart.
    ///
    /// # Errors
    /// If something has no bound, or the program is too large.
    pub fn of(split: &'p SplitProgram, forbidden: Forbidden<'_>) -> Result<Automata<'p>, Stop> {
        Automata::within(split, forbidden, Detail::Merged, Domains::Closed(MOST_VALUES))
    }

    /// The threads of a program, in some detail.
    ///
    /// # Errors
    /// If something has no bound, or the program is too large.
    pub fn within(
        split: &'p SplitProgram,
        forbidden: Forbidden<'_>,
        detail: Detail,
        domains: Domains<'_>,
    ) -> Result<Automata<'p>, Stop> {
        match detail {
            Detail::Merged => {
                let told = Observed::of(split, forbidden);
                let observed = |thread: usize, known: &Configurations<'_>, id: ConfigId| told.key(thread, known, id);
                Automata::new(split, forbidden, forbidden.configurations(split), (Labels::None, domains), observed)
            }
            Detail::Literal(labels) => {
                let configurations = split.threads.iter().map(Configurations::new).collect();
                let observed = |_: usize, _: &Configurations<'_>, id: ConfigId| Some(vec![i64::from(id)]);
                Automata::new(split, forbidden, configurations, (labels, domains), observed)
            }
        }
    }

    /// The threads of a program; states are told apart at least by what is observed of their configurations.
    fn new(
        program: &SplitProgram,
        forbidden: Forbidden<'_>,
        mut configurations: Vec<Configurations<'p>>,
        (labels, domains): (Labels, Domains<'_>),
        observed: impl Fn(usize, &Configurations<'p>, ConfigId) -> Option<Vec<i64>>,
    ) -> Result<Automata<'p>, Stop> {
        if program.memory.len() > MOST_LOCATIONS {
            return Err(Stop::TooLarge(format!("it has more than {MOST_LOCATIONS} shared locations")));
        }
        let (raw, domains) = closed(program, &mut configurations, labels, domains)?;
        let mut offsets = vec![0];
        for domain in &domains {
            offsets.push(offsets[offsets.len() - 1] + domain.len());
        }
        let memory = program.memory.iter().zip(&domains).map(|(value, domain)| position(domain, *value)).collect();
        let mut automata = Automata { threads: Vec::new(), configurations, domains, offsets, memory };
        for (number, raw) in raw.iter().enumerate() {
            let known = &automata.configurations[number];
            let observed = |id: ConfigId| observed(number, known, id);
            let is_judged = |id: ConfigId| known.is_judged(id) && matches!(forbidden, Forbidden::Deadlock);
            let thread = automata.automaton(raw, &observed, &is_judged, &program.budget)?;
            automata.threads.push(thread);
        }
        Ok(automata)
    }

    /// How many values there are, of all locations.
    pub fn num_of_values(&self) -> usize {
        self.offsets[self.offsets.len() - 1]
    }

    /// The number of a value among those of all locations.
    pub fn number(&self, location: Location, value: Value) -> usize {
        self.offsets[location as usize] + value as usize
    }

    /// The numbers of the values of a location.
    pub fn numbers(&self, location: Location) -> std::ops::Range<usize> {
        self.offsets[location as usize]..self.offsets[location as usize + 1]
    }

    fn automaton(
        &self,
        raw: &FxHashSet<Raw>,
        observed: &dyn Fn(ConfigId) -> Option<Vec<i64>>,
        may_be_stuck: &dyn Fn(ConfigId) -> bool,
        budget: &Budget,
    ) -> Result<Automaton, Exhausted> {
        let small = |list: &[(LocationAt, i64)]| {
            let one = |&(location, value): &(LocationAt, i64)| {
                (location.index() as Location, position(&self.domains[location.index()], value))
            };
            list.iter().map(one).collect::<Vec<_>>()
        };
        let operation = |operation: &RawOperation| match operation {
            RawOperation::Silent => Operation::Silent,
            RawOperation::Read(location, value) => {
                let [(location, value)] = small(&[(*location, *value)])[..] else { unreachable!("one access") };
                Operation::Read(location, value)
            }
            RawOperation::Write(location, value) => {
                let [(location, value)] = small(&[(*location, *value)])[..] else { unreachable!("one access") };
                Operation::Write(location, value)
            }
            RawOperation::Whole(reads, writes) => Operation::Whole(small(reads), small(writes)),
            RawOperation::Outside(..) => unreachable!("it leads nowhere"),
        };
        let mut outside: Vec<Outside> = Vec::new();
        for (from, _, drained, _, operation) in raw {
            let RawOperation::Outside(reads, writes) = operation else { continue };
            let writes = writes.iter().map(|&(location, value)| (location.index(), value)).collect();
            outside.push(Outside { from: *from, drained: *drained, reads: small(reads), writes });
        }
        outside.sort_unstable();
        let mut transitions: Vec<Transition> = raw
            .iter()
            .filter(|(.., operation)| !matches!(operation, RawOperation::Outside(..)))
            .map(|(from, to, drained, label, raw)| Transition {
                from: *from,
                to: *to,
                drained: *drained,
                label: *label,
                operation: operation(raw),
            })
            .collect();
        transitions.sort_unstable();
        let mut configs: Vec<ConfigId> =
            std::iter::once(0).chain(transitions.iter().flat_map(|known| [known.from, known.to])).collect();
        configs.sort_unstable();
        configs.dedup();
        let mut leaving = leaving::of(&configs, (&transitions, &outside), &self.domains, may_be_stuck, budget)?;
        // States from which something leads out of the domains are like no others.
        let leads_out: FxHashSet<ConfigId> = outside.iter().map(|known| known.from).collect();
        let observed = |id: ConfigId| match leads_out.contains(&id) {
            true => Some(vec![i64::MIN, i64::from(id)]),
            false => observed(id).map(|mut told| {
                leaving.get(&id).iter().for_each(|leaving| told.extend(leaving.code()));
                told
            }),
        };
        let classes = bisimilar(&configs, &transitions, &observed, budget)?;
        let mut states = vec![None; configs.last().map_or(0, |&last| last as usize + 1)];
        let mut examples = Vec::new();
        for &config in &configs {
            let class = classes[&config];
            states[config as usize] = Some(class);
            if class as usize == examples.len() {
                examples.push(config);
            }
        }
        let state = |config: ConfigId| classes[&config];
        for known in &mut transitions {
            (known.from, known.to) = (state(known.from), state(known.to));
        }
        outside.iter_mut().for_each(|known| known.from = state(known.from));
        transitions.sort_unstable();
        transitions.dedup();
        // Merged states may have become one: a step between them that does nothing does nothing.
        transitions.retain(|known| {
            let is_quiet = match &known.operation {
                Operation::Silent | Operation::Read(..) => true,
                Operation::Write(..) => false,
                Operation::Whole(_, writes) => writes.is_empty(),
            };
            known.from != known.to || !is_quiet
        });
        let mut into = vec![Vec::new(); examples.len()];
        for (number, known) in transitions.iter().enumerate() {
            into[known.to as usize].push(number as u32);
        }
        let initial = state(0);
        let one_by_one = |operation: &Operation| match operation {
            Operation::Write(location, value) => vec![(*location, *value)],
            _ => Vec::new(),
        };
        let whole = |operation: &Operation| match operation {
            Operation::Whole(_, writes) => writes.clone(),
            _ => Vec::new(),
        };
        let written = self.written(&transitions, examples.len(), &one_by_one);
        let written_whole = self.written(&transitions, examples.len(), &whole);
        let leaving = examples.iter().map(|example| leaving.remove(example)).collect();
        Ok(Automaton { transitions, outside, into, initial, states, examples, written, written_whole, leaving })
    }

    /// For each state the values that may have been written on a way there.
    fn written(
        &self,
        transitions: &[Transition],
        states: usize,
        writes: &dyn Fn(&Operation) -> Vec<(Location, Value)>,
    ) -> Vec<FixedBitSet> {
        let mut written = vec![FixedBitSet::with_capacity(self.num_of_values()); states];
        let mut changed = true;
        while changed {
            changed = false;
            for known in transitions {
                let mut before = written[known.from as usize].clone();
                for (location, value) in writes(&known.operation) {
                    before.insert(self.number(location, value));
                }
                let behind = &mut written[known.to as usize];
                if !before.is_subset(behind) {
                    behind.union_with(&before);
                    changed = true;
                }
            }
        }
        written
    }
}

/// The position of a value in a domain that has it.
fn position(domain: &[i64], value: i64) -> Value {
    domain.binary_search(&value).expect("the domain is closed") as Value
}

/// What can be seen of a step: whether it is drained, its label, what it does, and the class that it leads to.
type Seen<'t> = (bool, u32, &'t Operation, u32);

/// The classes of configurations that are strongly bisimilar, numbered in the order of the configurations.
fn bisimilar(
    configs: &[ConfigId],
    transitions: &[Transition],
    observed: &dyn Fn(ConfigId) -> Option<Vec<i64>>,
    budget: &Budget,
) -> Result<FxHashMap<ConfigId, u32>, Exhausted> {
    let mut outgoing: FxHashMap<ConfigId, Vec<&Transition>> = FxHashMap::default();
    for known in transitions {
        outgoing.entry(known.from).or_default().push(known);
    }
    let mut classes: FxHashMap<ConfigId, u32> = FxHashMap::default();
    let mut keys: FxHashMap<Option<Vec<i64>>, u32> = FxHashMap::default();
    for &config in configs {
        let next = keys.len() as u32;
        classes.insert(config, *keys.entry(observed(config)).or_insert(next));
    }
    let mut count = keys.len();
    loop {
        let mut keys: FxHashMap<(u32, Vec<Seen<'_>>), u32> = FxHashMap::default();
        let mut refined: FxHashMap<ConfigId, u32> = FxHashMap::default();
        for &config in configs {
            budget.check()?;
            let steps = outgoing.get(&config).into_iter().flatten();
            let mut steps: Vec<Seen<'_>> =
                steps.map(|known| (known.drained, known.label, &known.operation, classes[&known.to])).collect();
            steps.sort_unstable();
            steps.dedup();
            let next = keys.len() as u32;
            refined.insert(config, *keys.entry((classes[&config], steps)).or_insert(next));
        }
        classes = refined;
        if keys.len() == count {
            return Ok(classes);
        }
        count = keys.len();
    }
}
