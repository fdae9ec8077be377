//! Exported mCRL2 specifications against our own exploration: a small interpreter of that part of mCRL2
//! (`support/mcrl2`) generates their state spaces, and these must be ours.
//!
//! Both are deterministic (in a state, every instruction has one transition), so walking through both at once decides
//! whether they are the same, transition by transition and label by label.

use crate::support::command::{command_in, stderr, stdout};
use crate::support::corpus::corpus_dir;
use crate::support::mcrl2::{StateSpace, state_space};
use crate::support::random::random_cases;
use crate::support::random_programs::random_program;
use crate::support::{facts_of, with_threads};
use seqcon::explore::observe::{AutObserver, Nobody};
use seqcon::explore::{Limits, Stop, explore};
use seqcon::export::{Origin, mcrl2};
use seqcon::lang;
use seqcon::lts::dialect::{native, rw};
use seqcon::lts::label::{Access, Label, LabelKind, Step};
use seqcon::program::Program;
use seqcon::program::compiled::Compiled;
use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};

/// Larger state spaces are left out: the interpreter is slow.
const MAX_STATES: usize = 20_000;

/// How names are changed by the export: the object of names that have none, and what other label names become.
struct Renaming<'a> {
    object: &'a str,
    others: &'a [(&'a str, &'a str)],
}

impl Renaming<'_> {
    fn of(program: &Program) -> Renaming<'_> {
        Renaming { object: &program.name, others: &[] }
    }

    fn part(&self, name: &str) -> String {
        self.others.iter().find(|(from, _)| *from == name).map_or(name, |(_, to)| to).to_owned()
    }

    /// `object'thread`
    fn thread(&self, name: &str) -> String {
        let (object, name) = name.split_once('\'').unwrap_or((self.object, name));
        format!("{}'{}", self.part(object), self.part(name))
    }

    /// `object'name`, or `object'thread'name` of a local.
    fn access(&self, access: &Access, thread: &str) -> Access {
        let name = if access.local {
            format!("{}'{}", self.thread(thread), access.name)
        } else {
            let (object, name) = access.name.split_once('\'').unwrap_or((self.object, &access.name));
            format!("{}'{name}", self.part(object))
        };
        Access { name, local: access.local, address: self.accesses(&access.address, thread) }
    }

    fn accesses(&self, accesses: &[Access], thread: &str) -> Vec<Access> {
        accesses.iter().map(|access| self.access(access, thread)).collect()
    }

    /// What `rw` can say of a label of ours.
    fn label(&self, label: &Label) -> Label {
        let all = |accesses: &[Access]| self.accesses(accesses, &label.thread);
        let mut steps: Vec<Step> = label
            .steps
            .iter()
            .map(|step| match step {
                Step::Condition { reads } => Step::Condition { reads: all(reads) },
                Step::Assignment { writes, reads } => Step::Assignment { writes: all(writes), reads: all(reads) },
            })
            .collect();
        if matches!(steps.first(), Some(Step::Assignment { writes, .. }) if writes.is_empty()) {
            steps.insert(0, Step::Condition { reads: Vec::new() });
        }
        let (thread, instr) = (self.thread(&label.thread), format!("ST'{}", label.instr.replace('-', "_")));
        Label { thread, instr, kind: label.kind, refused: label.refused, steps }
    }
}

/// Our own state space; nothing if it is too large.
fn explored(program: &Program) -> Option<StateSpace> {
    let compiled = Compiled::new(program).expect("few indices");
    let limits = Limits { states: Some(MAX_STATES), ..Limits::default() };
    let (exploration, _) = explore(&compiled, &limits, &mut Nobody).expect("no program here goes wrong");
    if exploration.stop != Stop::Complete {
        return None;
    }
    let mut observer = AutObserver::new(program, Vec::new());
    explore(&compiled, &Limits::default(), &mut observer).expect("it did not go wrong before");
    let text = String::from_utf8(observer.into_inner()).unwrap();
    let transitions: Vec<(usize, String, usize)> = text
        .lines()
        .map(|line| {
            let (from, rest) = line.strip_prefix('(').unwrap().split_once(",\"").unwrap();
            let (label, to) = rest.strip_suffix(')').unwrap().rsplit_once("\",").unwrap();
            (from.parse().unwrap(), label.to_owned(), to.parse().unwrap())
        })
        .collect();
    assert_eq!(transitions.len() as u64, exploration.transitions);
    Some(StateSpace { states: exploration.states.len(), transitions })
}

/// The transitions of each state: label and target by thread and instruction.
type Outgoing = Vec<HashMap<(String, String), (Label, usize)>>;

fn outgoing(space: &StateSpace, read: impl Fn(&str) -> Label) -> Outgoing {
    let mut labels: HashMap<&str, Label> = HashMap::new();
    let mut outgoing: Outgoing = vec![HashMap::new(); space.states];
    for (from, text, to) in &space.transitions {
        let label = labels.entry(text).or_insert_with(|| read(text)).clone();
        let key = (label.thread.clone(), label.instr.clone());
        let before = outgoing[*from].insert(key, (label, *to));
        assert!(before.is_none(), "{text} is the second step of its instruction in state {from}");
    }
    outgoing
}

/// Exports a program and compares the state spaces; says how many states they have.
fn check(program: &Program, origin: Origin<'_>, renaming: &Renaming<'_>) -> Option<usize> {
    let ours = explored(program)?;
    let text = mcrl2::specification(program, origin).unwrap();
    let theirs = state_space(&text);
    assert_eq!(
        (theirs.states, theirs.transitions.len()),
        (ours.states, ours.transitions.len()),
        "states and transitions of\n{text}"
    );
    let our_steps = outgoing(&ours, |text| renaming.label(&native::parse(text).unwrap()));
    let their_steps = outgoing(&theirs, |text| rw::parse(text).unwrap());
    let mut partner = vec![usize::MAX; ours.states];
    partner[0] = 0;
    let mut waiting = vec![0];
    while let Some(state) = waiting.pop() {
        let (own, other) = (&our_steps[state], &their_steps[partner[state]]);
        assert_eq!(own.len(), other.len(), "transitions of state {state} of\n{text}");
        for (key, (label, target)) in own {
            let (their_label, their_target) = other.get(key).unwrap_or_else(|| panic!("no step of {key:?} in\n{text}"));
            assert_eq!(their_label, label, "in\n{text}");
            if partner[*target] == usize::MAX {
                partner[*target] = *their_target;
                waiting.push(*target);
            }
            assert_eq!(partner[*target], *their_target, "the target of {label} from state {state} of\n{text}");
        }
    }
    assert!(!partner.contains(&usize::MAX), "all states were visited");
    check_facts(&ours, &theirs, renaming);
    Some(ours.states)
}

/// The facts are the same, as far as `rw` can say them.
fn check_facts(ours: &StateSpace, theirs: &StateSpace, renaming: &Renaming<'_>) {
    if ours.transitions.is_empty() {
        return;
    }
    let transitions = ours.transitions.iter().map(|(from, label, to)| {
        let label = renaming.label(&native::parse(label).unwrap());
        (*from, label.to_string(), *to)
    });
    let renamed = StateSpace { states: ours.states, transitions: transitions.collect() };
    let facts = |space: &StateSpace| facts_of(space.aut(), &Default::default()).unwrap();
    let (expected, found) = (facts(&renamed), facts(theirs));
    assert_eq!((expected.dialect.as_str(), found.dialect.as_str()), ("native", "rw"));
    assert_eq!(found.facts, expected.facts);
}

fn read(path: &Path) -> (String, Program) {
    let text = fs::read_to_string(path).expect("the specification is readable");
    let parsed = lang::parse(&path.display().to_string(), &text).unwrap_or_else(|errors| panic!("{errors}"));
    (text, parsed.program)
}

/// Checks all specifications of a directory; says how many were small enough.
fn check_directory(directory: &Path) -> usize {
    let mut paths: Vec<PathBuf> = fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.retain(|path| lang::Language::of(&path.display().to_string()).is_some());
    paths.sort();
    let mut checked = 0;
    for path in paths {
        let (text, program) = read(&path);
        let origin = Origin { name: "test", text: &text };
        if let Some(states) = check(&program, origin, &Renaming::of(&program)) {
            println!("{}: {states} states", path.display());
            checked += 1;
        }
    }
    checked
}

#[test]
fn bundled_specifications_keep_their_state_space() {
    let checked = check_directory(&Path::new(env!("CARGO_MANIFEST_DIR")).join("specs"));
    assert!(checked >= 20, "only {checked} were small enough");
    // These have assertions.
    let checked = check_directory(&Path::new(env!("CARGO_MANIFEST_DIR")).join("specs/properties"));
    assert!(checked >= 15, "only {checked} with properties were small enough");
    let checked = check_directory(&Path::new(env!("CARGO_MANIFEST_DIR")).join("specs/partial-coherence"));
    assert_eq!(checked, 15, "all of partial coherence are small enough");
}

#[test]
fn specifications_of_the_corpus_keep_their_state_space() {
    let Some(corpus) = corpus_dir() else { return };
    let checked = check_directory(&corpus.join("slco"));
    assert!(checked >= 15, "only {checked} were small enough");
}

#[test]
fn random_programs_keep_their_state_space() {
    random_cases(1500, |rng| {
        let program = random_program(rng);
        with_threads(1, || check(&program, Origin::default(), &Renaming::of(&program)));
    });
}

/// Everything that needs a new name, and every kind of expression, in a specification of two objects.
const AWKWARD: &str = "
model tau {
  classes
    end {
      variables
        Byte act := 254
        Integer[3] list := [2, 0, 1]
        Boolean[2] tail := [true, false]
        Integer x
        Integer n
      state machines
        init {
          variables Integer at Integer State Byte delay
          initial at states sum val var_x
          transitions
            at -> sum { act := act + 1; delay := 0 - act }
            sum -> val { [x := list[list[at]]; list[x] := x - 1; tail[list[x]] := not tail[x]] }
            1: val -> at { list[0] < 0 }
            2: val -> var_x { tail[x] or tail[0] <> true }
            3: val -> sum { [n := (x - 5) / (0 - 2) + x % 2; at := (at + 1) % 5] }
            var_x -> var_x { [n < 3; n := n + 2 ** n] }
        }
        P {
          initial State
          transitions
            State -> State { fence }
            1: State -> State { atomic [act = 255; act := x] }
        }
    }
  objects map : end(x := 1), P : end()
}
";

#[test]
fn awkward_names_and_expressions_keep_their_state_space() {
    let program = lang::parse("awkward.slco", AWKWARD).unwrap_or_else(|errors| panic!("{errors}")).program;
    let origin = Origin { name: "awkward.slco", text: AWKWARD };
    // Two objects are many states; one of each, and then what both have in common.
    let renaming = Renaming { object: "tau_", others: &[("map", "map_"), ("init", "init_"), ("tau", "tau_")] };
    let mut one = program.clone();
    one.threads.truncate(2);
    assert!(check(&one, origin, &renaming).is_some_and(|states| states > 100));
    let text = mcrl2::specification(&program, origin).unwrap();
    // The interpreter refuses keywords and clashes as identifiers.
    crate::support::mcrl2::check::check(&crate::support::mcrl2::syntax::parse(&text));
    for expected in [
        "Name' = struct map_ | init_ | ",
        "    map'act: Int,\n",
        "rw(map_, init_, ST'0, [A'([lc'(var_map_'act)], [lc'(var_map_'act)])]) .",
        "rw(P, P, ST'f, [fence']) .",
        "    % map'init.0, line 16: act := act + 1\n",
        "map'act = (map'act + 1) mod 256",
    ] {
        assert!(text.contains(expected), "{expected:?} is not in\n{text}");
    }
}

#[test]
fn a_program_without_threads_does_nothing() {
    let program = Program { name: "if".to_owned(), shared: Vec::new(), threads: Vec::new() };
    let space = state_space(&mcrl2::specification(&program, Origin::default()).unwrap());
    assert_eq!((space.states, space.transitions.len()), (1, 0));
}

#[test]
fn fences_and_atomic_instructions_are_read_back() {
    let kinds = [
        ("rw(o, t, ST'1, [fence'])", LabelKind::Fence, 0),
        ("rw(o, t, ST'1, [ atomic' ])", LabelKind::Atomic, 0),
        ("rw(o, t, ST'1, [atomic', A'([], [lc'(var_o'x)]), A'([], [])])", LabelKind::Atomic, 2),
        ("rw(o, t, ST'1, [])", LabelKind::Plain, 0),
    ];
    for (text, kind, steps) in kinds {
        let label = rw::parse(text).unwrap();
        assert_eq!((label.kind, label.steps.len()), (kind, steps), "{text}");
    }
    let refused = rw::parse("rw(o, t, ST'1, [refused', A'([lc'(var_o'x)], [])])").unwrap();
    assert_eq!(refused.to_string(), "o't.ST'1: ?! o'x");
    let refused = rw::parse("rw(o, t, ST'1, [atomic', refused', A'([lc'(var_o'x)], [])])").unwrap();
    assert_eq!(refused.to_string(), "o't.ST'1: atomic ?! o'x");
    for text in [
        "rw(o, t, ST'1, [refused'])",
        "rw(o, t, ST'1, [refused', A'([], [lc'(var_o'x)])])",
        "rw(o, t, ST'1, [refused', A'([], []), A'([], [])])",
        "rw(o, t, ST'1, [refused', atomic', A'([], [])])",
        "rw(o, t, ST'1, [fence', atomic'])",
    ] {
        assert!(rw::parse(text).is_err(), "{text}");
    }
    for text in ["rw(o, t, ST'1, [fence',])", "rw(o, t, ST'1, [A'([], []), fence'])", "rw(o, t, ST'1, [fence'2])"] {
        assert!(rw::parse(text).is_err(), "{text}");
    }
}

/// Runs `seqcon` with a specification in a temporary directory; gives exit status, standard output and messages.
fn run_on(specification: &str, arguments: &[&str]) -> (Option<i32>, String, String) {
    let directory = tempfile::TempDir::new().expect("a temporary directory");
    fs::write(directory.path().join("m.slco"), specification).unwrap();
    let output = command_in(&directory, arguments).output().expect("seqcon runs");
    let written = fs::read_to_string(directory.path().join("m.mcrl2")).unwrap_or_default();
    (output.status.code(), stdout(&output) + &written, stderr(&output))
}

#[test]
fn the_command_writes_the_same_text_to_a_file_and_to_standard_output() {
    let (status, printed, errors) = run_on(AWKWARD, &["export", "m.slco", "--to", "mcrl2"]);
    assert_eq!((status, errors.as_str()), (Some(0), ""));
    let (status, written, errors) = run_on(AWKWARD, &["export", "m.slco", "--to", "mcrl2", "-o", "m.mcrl2"]);
    assert_eq!((status, errors.as_str()), (Some(0), ""));
    assert_eq!(printed, written);
}

#[test]
fn what_grows_too_large_is_refused_with_its_place() {
    let doublings = "x := x + x; ".repeat(30);
    let text = format!(
        "model m {{ classes C {{ variables Integer x state machines t {{ initial a transitions\n a -> a {{ [{}] }} }} }} objects o : C() }}",
        doublings.trim_end_matches("; ")
    );
    let (status, output, errors) = run_on(&text, &["export", "m.slco", "--to", "mcrl2", "-o", "m.mcrl2"]);
    assert_eq!((status, output.as_str()), (Some(2), ""));
    let expected = "seqcon: m.slco:2:11: the assignments of this instruction, put into one another, grow over 65536 bytes; split the instruction\n";
    assert_eq!(errors, expected);
    let (status, _, errors) = run_on(&text, &["export", "m.slco"]);
    assert_eq!(status, Some(2));
    assert!(errors.contains("--to <LANGUAGE>"), "{errors}");
}
