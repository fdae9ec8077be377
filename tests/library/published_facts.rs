//! Three ways to the facts of a model of the corpus: on the fly, from the `.aut` that seqcon writes, and from the
//! `.aut` that mCRL2 generated from the published translation.
//!
//! The first two are equal to the letter. The third names things differently and says less, so both `.aut` files are
//! rewritten to a common form before facts are taken from them: a label is its thread, the rank of its instruction in
//! the source, and the sets of what it reads and writes. That leaves out
//!
//! - the dependencies of addresses, which the translation has only in part (it lists what an address needs among the
//!   reads, and a read that an earlier step of the instruction made not again);
//! - whether a condition held, which the translation does not tell;
//! - of an instruction with lower priority, the reads of the conditions that it negates, which the translation leaves
//!   out. They are looked up in the program, and that they are in our labels is checked.
//!
//! The state spaces then have the same facts, silences and waits included.

use crate::support::corpus::corpus_dir;
use seqcon::explore::observe::{AutObserver, FactsObserver, facts};
use seqcon::explore::{Limits, explore};
use seqcon::facts::Facts;
use seqcon::facts::extract::{self, NoProgress};
use seqcon::lang;
use seqcon::lts::aut::Counts;
use seqcon::lts::dialect::Dialect;
use seqcon::lts::label::{Access, Label, LabelKind, Step};
use seqcon::lts::source::Bytes;
use seqcon::lts::writer;
use seqcon::program::compiled::Compiled;
use seqcon::program::{Expression, Program, Scope};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;

/// Models whose state spaces differ, and why; `specifications.rs` has their counts.
const DIFFERENT: [(&str, &str); 2] = [
    (
        "bakery.1",
        "the translation leaves out the self-loop of a refused instruction where one of its indices is out of range",
    ),
    ("leader_filters.2", "the translation drops all but the first statement of a transition"),
];

/// Names of variables and elements, and whether they are a thread's own.
type Names = BTreeSet<(String, bool)>;

fn facts_of(name: &str, text: String) -> Facts {
    let source = Bytes::from_bytes(name, text.into_bytes()).unwrap();
    extract::extract(&source, &extract::Options::default(), &NoProgress).unwrap_or_else(|e| panic!("{e}")).facts
}

fn explored(program: &Program) -> (String, Facts) {
    let compiled = Compiled::new(program).expect("few indices");
    let mut observer = AutObserver::new(program, Vec::new());
    let (exploration, _) = explore(&compiled, &Limits::default(), &mut observer).expect("no model goes wrong");
    let counts = Counts { initial: 0, transitions: observer.transitions(), states: exploration.states.len() as u64 };
    let mut text = Vec::new();
    writer::header(&mut text, counts).unwrap();
    text.extend(observer.into_inner());
    let (exploration, watchers) =
        explore(&compiled, &Limits::default(), &mut FactsObserver).expect("no model goes wrong");
    let on_the_fly = facts(program, &watchers, (exploration.states.len() as u64, exploration.transitions));
    (String::from_utf8(text).unwrap(), on_the_fly)
}

/// The same state space with other labels.
fn relabelled(text: &str, mut relabel: impl FnMut(&str) -> Label) -> String {
    let mut lines = text.lines();
    let mut rewritten = format!("{}\n", lines.next().unwrap().trim_end());
    let mut known: BTreeMap<&str, String> = BTreeMap::new();
    for line in lines {
        let (from, rest) = line.split_once(",\"").unwrap();
        let (label, to) = rest.rsplit_once("\",").unwrap();
        let label = known.entry(label).or_insert_with(|| relabel(label).to_string());
        rewritten.push_str(&format!("{from},\"{label}\",{to}\n"));
    }
    rewritten
}

/// The rank of each instruction that occurs, thread by thread.
fn ranks(text: &str, dialect: &Dialect, number: impl Fn(&str) -> usize) -> BTreeMap<(String, usize), usize> {
    let mut instructions: BTreeSet<(String, usize)> = BTreeSet::new();
    for line in text.lines().skip(1) {
        let label = line.split_once(",\"").unwrap().1.rsplit_once("\",").unwrap().0;
        let label = dialect.parse(label).unwrap();
        instructions.insert((last(&label.thread), number(&label.instr)));
    }
    let mut ranks = BTreeMap::new();
    let mut next: BTreeMap<String, usize> = BTreeMap::new();
    for (thread, number) in instructions {
        let rank = next.entry(thread.clone()).or_default();
        ranks.insert((thread, number), *rank);
        *rank += 1;
    }
    ranks
}

/// The last part of a name: without the object, and without the thread of a local.
fn last(name: &str) -> String {
    name.rsplit('\'').next().unwrap().to_owned()
}

/// All that is read, also for addresses, and all that is written.
fn accesses(label: &Label) -> (Names, Names) {
    fn add(access: &Access, into: &mut Names, reads: &mut Names) {
        into.insert((last(&access.name), access.local));
        add_address(access, reads);
    }
    fn add_address(access: &Access, reads: &mut Names) {
        for needed in &access.address {
            reads.insert((last(&needed.name), needed.local));
            add_address(needed, reads);
        }
    }
    let (mut reads, mut writes) = (BTreeSet::new(), BTreeSet::new());
    for step in &label.steps {
        let (read, written): (&[Access], &[Access]) = match step {
            Step::Condition { reads } => (reads, &[]),
            Step::Assignment { writes, reads } => (reads, writes),
        };
        for access in read {
            let mut own = BTreeSet::new();
            add(access, &mut own, &mut reads);
            reads.extend(own);
        }
        for access in written {
            add(access, &mut writes, &mut reads);
        }
    }
    (reads, writes)
}

fn common(thread: String, rank: usize, reads: Names, writes: Names) -> Label {
    let accesses = |names: Names| -> Vec<Access> {
        names.into_iter().map(|(name, local)| Access { name, local, address: Vec::new() }).collect()
    };
    let (reads, writes) = (accesses(reads), accesses(writes));
    let step = if writes.is_empty() { Step::Condition { reads } } else { Step::Assignment { writes, reads } };
    Label { thread, instr: rank.to_string(), kind: LabelKind::Plain, refused: false, steps: vec![step] }
}

/// Our label without the reads of the conditions that its instruction negates.
fn without_negated(program: &Program, label: &Label) -> Label {
    let position = program.threads.iter().position(|thread| thread.name == label.thread).unwrap();
    let thread = &program.threads[position];
    let own = thread.instructions.iter().find(|instruction| instruction.name == label.instr).unwrap();
    let negated = thread.instructions.iter().filter(|other| other.from == own.from && other.priority < own.priority);
    let negated: Vec<_> = negated.filter_map(|other| other.condition.as_ref()).collect();
    if negated.is_empty() {
        return label.clone();
    }
    let mut label = label.clone();
    let Some(Step::Condition { reads }) = label.steps.first_mut() else { panic!("{label} has no condition") };
    let is_array = |name: &str| {
        let mut known = program.shared.iter().chain(&thread.locals);
        known.any(|variable| variable.name == name && variable.is_array)
    };
    for condition in negated {
        // An element out of range is no access.
        for name in variables(program, position, condition).into_iter().filter(|name| !is_array(name)) {
            assert!(reads.iter().any(|read| reads_variable(read, &name)), "{name} is read by a negated condition");
        }
    }
    let kept = own.condition.as_ref().map(|condition| variables(program, position, condition)).unwrap_or_default();
    reads.retain(|read| kept.contains(read.name.split('[').next().unwrap()));
    label
}

fn reads_variable(access: &Access, name: &str) -> bool {
    access.name.split('[').next() == Some(name) || access.address.iter().any(|needed| reads_variable(needed, name))
}

fn variables(program: &Program, thread: usize, expression: &Expression) -> BTreeSet<String> {
    match expression {
        Expression::Constant(_) => BTreeSet::new(),
        Expression::Read(reference) => {
            let variable = match reference.scope {
                Scope::Shared => &program.shared[reference.variable],
                Scope::Local => &program.threads[thread].locals[reference.variable],
            };
            let mut names = BTreeSet::from([variable.name.clone()]);
            if let Some(index) = &reference.index {
                names.extend(variables(program, thread, index));
            }
            names
        }
        Expression::Unary(_, operand) => variables(program, thread, operand),
        Expression::Binary(_, left, right, _) => {
            variables(program, thread, left).into_iter().chain(variables(program, thread, right)).collect()
        }
    }
}

#[test]
fn facts_on_the_fly_of_our_state_space_and_of_the_published_one_agree() {
    let Some(corpus) = corpus_dir() else { return };
    let mut compared = 0;
    let mut paths: Vec<_> = fs::read_dir(corpus.join("aut")).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    for path in paths {
        let name = path.file_stem().unwrap().to_str().unwrap();
        let text = fs::read_to_string(corpus.join(format!("slco/{name}.slco"))).unwrap();
        let program = lang::parse("model.slco", &text).unwrap_or_else(|errors| panic!("{errors}")).program;
        let (ours, on_the_fly) = explored(&program);
        // A file has no control states.
        let on_the_fly = Facts { outline: None, ..on_the_fly };
        assert_eq!(on_the_fly, facts_of(name, ours.clone()), "{name}: on the fly and from the file");
        let theirs = fs::read_to_string(&path).unwrap();
        let ranks_ours = ranks(&ours, &Dialect::Native, |instr| instr.parse().unwrap());
        let number = |instr: &str| last(instr).parse().unwrap();
        let ranks_theirs = ranks(&theirs, &Dialect::Rw, number);
        let ours = relabelled(&ours, |label| {
            let label = Dialect::Native.parse(label).unwrap();
            let rank = ranks_ours[&(label.thread.clone(), label.instr.parse().unwrap())];
            let (reads, writes) = accesses(&without_negated(&program, &label));
            common(label.thread, rank, reads, writes)
        });
        let theirs = relabelled(&theirs, |label| {
            let label = Dialect::Rw.parse(label).unwrap();
            let thread = last(&label.thread);
            let rank = ranks_theirs[&(thread.clone(), number(&label.instr))];
            let (reads, writes) = accesses(&label);
            common(thread, rank, reads, writes)
        });
        let (ours, theirs) = (facts_of(name, ours), facts_of(name, theirs));
        if let Some((_, why)) = DIFFERENT.iter().find(|(different, _)| *different == name) {
            assert_ne!(ours, theirs, "{name} agrees now: {why}");
            continue;
        }
        let texts = |facts: &Facts| facts.labels.iter().map(Label::to_string).collect::<Vec<_>>();
        assert_eq!(texts(&ours), texts(&theirs), "{name}: labels");
        assert_eq!(ours, theirs, "{name}");
        compared += 1;
    }
    assert!(compared >= 9, "only {compared} models were compared");
}
