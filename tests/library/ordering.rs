//! What orders memory besides full fences, in programs, labels and repairs: marks, partial fences, and atomic
//! instructions that are no fences.

use crate::support::analyse::{model, models};
use crate::support::engines::{named, placed};
use seqcon::analysis::{Confirming, Options};
use seqcon::budget::Budget;
use seqcon::engines::{Examined, Settings, Subject, Task, Trouble};
use seqcon::explore::Limits;
use seqcon::explore::explore;
use seqcon::explore::observe::{FactsObserver, facts};
use seqcon::facts::{Facts, file};
use seqcon::lang;
use seqcon::lts::dialect::generic::Description;
use seqcon::lts::dialect::{native, rw};
use seqcon::lts::label::{Access, Label, LabelKind, Step};
use seqcon::memory::FenceStrength;
use seqcon::outline::{Outline, Place, Site};
use seqcon::program::{Accesses, InstructionKind, Marks, PartialFence, Program};
use seqcon::property::Property;
use seqcon::repair::Repair;
use seqcon::specification::Specification;

fn text(first: &str, second: &str) -> String {
    let thread = |name: &str, steps: &str| {
        format!("{name} {{ variables Integer r initial A states B transitions A -> B {{ {steps} }} }}")
    };
    format!(
        "model m {{ classes C {{ variables Integer x y z acquire Integer[2] release Boolean seq_cst state machines {} {} }} objects o : C() }}",
        thread("t", first),
        thread("u", second)
    )
}

fn parsed(first: &str, second: &str) -> Program {
    lang::parse("m.slco", &text(first, second)).unwrap_or_else(|errors| panic!("{errors}")).program
}

fn specification(first: &str, second: &str) -> Specification {
    Specification::parse("m.slco".to_owned(), text(first, second)).unwrap().0
}

fn kinds(statements: &str) -> Vec<InstructionKind> {
    parsed(statements, "true").threads[0].instructions.iter().map(|known| known.kind).collect()
}

fn facts_of(program: &Program) -> Facts {
    let compiled = seqcon::program::compiled::Compiled::new(program).unwrap();
    let (exploration, watchers) =
        explore(&compiled, &Limits::default(), &mut FactsObserver).map_err(|_| "fails").unwrap();
    facts(program, &watchers, (exploration.states.len() as u64, exploration.transitions))
}

const ACQUIRE: Marks = Marks::RELAXED.and(Marks::ACQUIRE);
const RELEASE: Marks = Marks::RELAXED.and(Marks::RELEASE);
const BOTH: Marks = ACQUIRE.and(RELEASE);

#[test]
fn slco_has_words_for_marks_and_they_are_still_names() {
    use InstructionKind::{Atomic, Marked, Plain, Rmw};
    let cases = [
        ("acquire r := x", Marked(ACQUIRE)),
        ("acquire acquire := acquire", Marked(ACQUIRE)),
        ("acquire_pc r := x", Marked(Marks::RELAXED.and(Marks::ACQUIRE_PC))),
        ("release x := 1", Marked(RELEASE)),
        ("relaxed x := 1", Marked(Marks::RELAXED)),
        ("seq_cst x := 1", Marked(Marks::RELAXED.and(Marks::SC))),
        ("acquire x = 1", Marked(ACQUIRE)),
        ("acquire not (x = 1)", Marked(ACQUIRE)),
        ("acquire (x) = 1", Marked(ACQUIRE)),
        ("acquire 1 = x", Marked(ACQUIRE)),
        ("acq_rel [x = 0; y := 1]", Marked(BOTH)),
        ("acquire release [x = 0; y := 1]", Marked(BOTH)),
        ("acquire [r := release[0]]", Marked(ACQUIRE)),
        ("acquire [x = 1;]", Marked(ACQUIRE)),
        ("atomic [x := x + 1]", Atomic),
        ("atomic relaxed [x := x + 1]", Rmw(Marks::RELAXED)),
        ("atomic acquire [x := x + 1]", Rmw(ACQUIRE)),
        ("atomic release [x := x + 1]", Rmw(RELEASE)),
        ("atomic acq_rel [x := x + 1]", Rmw(BOTH)),
        ("atomic seq_cst [x := x + 1]", Rmw(Marks::RELAXED.and(Marks::SC))),
        ("atomic [acquire r := x]", Atomic),
        ("atomic [acquire[x = 0; y := 1]]", Atomic),
        ("atomic [atomic acquire [x := x + 1]]", Atomic),
        // Variables.
        ("acquire := 1", Plain),
        ("acquire = 1", Plain),
        ("acquire - 1 = 0", Plain),
        ("release[0] := 1", Plain),
        ("release[release[0]] = 1", Plain),
        ("seq_cst", Plain),
        ("seq_cst and seq_cst", Plain),
        ("atomic [release[0] := 1]", Atomic),
        ("atomic [seq_cst; x := 1]", Atomic),
    ];
    for (statement, kind) in cases {
        assert_eq!(kinds(statement), [kind], "{statement}");
    }
    assert_eq!(kinds("acquire assert x = 0"), [Marked(ACQUIRE); 2], "both instructions of an assertion");
}

#[test]
fn slco_has_words_for_all_fences() {
    let sets = [Accesses::Reads, Accesses::Writes, Accesses::All];
    for (before, after) in sets.into_iter().flat_map(|before| sets.map(|after| (before, after))) {
        let partial = PartialFence::between(before, after);
        let kind = partial.map_or(InstructionKind::Fence, InstructionKind::PartialFence);
        assert_eq!(kinds(&format!("fence {before},{after}; x := 1"))[0], kind);
        partial.into_iter().for_each(|partial| assert_eq!(kinds(&format!("fence {partial}")), [kind]));
    }
    for name in ["lightweight", "stores", "loads", "control", "acquire", "release", "acq_rel"] {
        let kind = PartialFence::named(name).map(InstructionKind::PartialFence);
        assert_eq!(Some(kinds(&format!("fence {name}"))[0]), kind, "{name}");
    }
}

#[test]
fn marks_that_no_access_can_carry_are_errors() {
    let cases = [
        ("acquire x := 1", "is marked `acquire`, and reads nothing shared"),
        ("release r := x", "is marked `release`, and writes nothing shared"),
        ("acq_rel x := 1", "is marked `acquire`, and reads nothing shared"),
        ("acq_rel r := x", "is marked `release`, and writes nothing shared"),
        ("relaxed r := 1", "accesses nothing that is shared"),
        ("atomic release [r := x]", "is marked `release`, and writes nothing shared"),
        ("fence heavy", "expected `;`, `}` or a kind of fence (`lightweight`, "),
        ("fence rw", "expected `,`"),
        ("fence rw,x", "expected `r`, `w` or `rw`"),
        ("atomic x := 1", "expected `[` behind `atomic`, found"),
        ("atomic relaxed x := 1", "expected `[` behind `atomic`, found"),
    ];
    for (statement, problem) in cases {
        let errors = lang::parse("m.slco", &text(statement, "true")).expect_err(statement).to_string();
        assert!(errors.contains(problem), "{statement}: {errors}");
    }
    // Deep nesting ends with an error.
    let deep = "atomic [".repeat(100_000);
    assert!(lang::parse("m.slco", &text(&deep, "true")).is_err());
}

#[test]
fn a_repair_puts_marks_into_program_and_text_alike() {
    let (first, second) = ("x := 1; r := y; atomic relaxed [z := z + 1]; atomic [x := 2]; fence", "r := x");
    let program = parsed(first, second);
    let outline = Outline::of_program(&program);
    let instr = |name: &str| outline.find("t", name).unwrap();
    let repair = Repair {
        fences: [
            (Site::after(instr("0")), FenceStrength::Lightweight),
            (Site::after(instr("1")), FenceStrength::Loads),
        ]
        .into(),
        marks: [("0", RELEASE), ("1", ACQUIRE), ("2", BOTH), ("3", BOTH), ("3f", ACQUIRE)]
            .map(|(name, marks)| (instr(name), marks))
            .into(),
        ..Repair::default()
    };
    let kinds = |program: &Program| -> Vec<String> {
        let mut kinds: Vec<String> =
            program.threads[0].instructions.iter().map(|known| format!("{:?}", known.kind)).collect();
        kinds.sort();
        kinds
    };
    let changes = repair.changes(&outline);
    let fixed = lang::edit::edited("m.slco", &text(first, second), &program, &changes).unwrap();
    let expected = text(
        "release x := 1; fence lightweight; acquire r := y; fence loads; atomic acq_rel relaxed [z := z + 1]; atomic [x := 2]; fence",
        second,
    );
    assert_eq!(fixed, expected);
    assert_eq!(kinds(&lang::parse("m.slco", &fixed).unwrap().program), kinds(&repair.put_into(&program)));
    // Two fences of which neither does what the other does.
    let both = [
        (Site::after(instr("0")), FenceStrength::Stores),
        (outline.site_behind(instr("0")).unwrap(), FenceStrength::Loads),
    ];
    let repaired = Repair { fences: both.into(), ..Repair::default() }.put_into(&program);
    let partial: Vec<&InstructionKind> = repaired.threads[0]
        .instructions
        .iter()
        .map(|known| &known.kind)
        .filter(|kind| matches!(kind, InstructionKind::PartialFence(_)))
        .collect();
    assert_eq!(partial.len(), 2, "{partial:?}");
}

/// A label of every kind.
fn labels() -> Vec<Label> {
    let x = || Access { name: "o'x".to_owned(), local: false, address: Vec::new() };
    let fences = ["lightweight", "stores", "loads", "control", "acquire", "release", "acq_rel", "rw,w", "r,w", "w,rw"];
    let fences = fences.map(|name| LabelKind::PartialFence(PartialFence::named(name).unwrap()));
    let marks = [Marks::NONE, Marks::RELAXED, ACQUIRE, BOTH, Marks::ACQUIRE_PC, Marks::SC, Marks::EXCLUSIVE];
    let atomic = marks.map(LabelKind::Rmw);
    let marked = marks.into_iter().filter(|marks| !marks.is_empty()).map(LabelKind::Marked);
    let of = |kind, refused, steps| Label { thread: "o't".to_owned(), instr: "0".to_owned(), kind, refused, steps };
    let fences = fences.into_iter().map(|kind| of(kind, false, Vec::new()));
    let accesses = atomic.into_iter().chain(marked).flat_map(|kind| {
        let both = vec![Step::Condition { reads: vec![x()] }, Step::Assignment { writes: vec![x()], reads: vec![x()] }];
        [of(kind, false, both), of(kind, true, vec![Step::Condition { reads: vec![x()] }])]
    });
    fences.chain(accesses).collect()
}

#[test]
fn labels_of_all_kinds_are_read_as_they_are_written() {
    for label in labels() {
        assert_eq!(native::parse(&label.to_string()).as_ref(), Ok(&label), "{label}");
        let items = label.steps.iter().map(|step| match step {
            Step::Condition { .. } => "A'([lc'(var_o'x)], [])",
            Step::Assignment { .. } => "A'([lc'(var_o'x)], [lc'(var_o'x)])",
        });
        let refused = label.refused.then(|| "refused'".to_owned());
        let words: Vec<String> =
            rw::words(label.kind).into_iter().chain(refused).chain(items.map(str::to_owned)).collect();
        let text = format!("rw(o, t, 0, [{}])", words.join(", "));
        assert_eq!(rw::parse(&text).as_ref(), Ok(&label), "{text}");
    }
    for wrong in [
        "rw(o, t, 0, [fence_heavy'])",
        "rw(o, t, 0, [acquire', acquire', A'([], [])])",
        "rw(o, t, 0, [fence', acquire'])",
    ] {
        assert!(rw::parse(wrong).is_err(), "{wrong}");
    }
}

#[test]
fn other_tools_can_say_kinds_of_fences_and_marks() {
    let description = Description::from_toml(
        r"label = '^(?<thread>\w+) (?<instr>\d+) (?:(?<fence>F)(?<fence_kind>[a-z,_]*)|(?<atomic>A)?(?:<(?<marks>[a-z,_]*)>)?(?<writes>\w*)=(?<reads>\w*))$'",
    )
    .unwrap();
    let kind = |text: &str| description.parse(text).map(|label| label.kind).map_err(|error| error.expected);
    let partial = |name| Ok(LabelKind::PartialFence(PartialFence::named(name).unwrap()));
    assert_eq!(kind("t 0 F"), Ok(LabelKind::Fence));
    assert_eq!(kind("t 0 Fstores"), partial("stores"));
    assert_eq!(kind("t 0 Frw,w"), partial("rw,w"));
    assert_eq!(kind("t 0 Ax=x"), Ok(LabelKind::Atomic));
    assert_eq!(kind("t 0 A<>x=x"), Ok(LabelKind::Rmw(Marks::NONE)));
    assert_eq!(kind("t 0 A<relaxed,acquire>x=x"), Ok(LabelKind::Rmw(ACQUIRE)));
    assert_eq!(kind("t 0 <acquire>=x"), Ok(LabelKind::Marked(Marks::ACQUIRE)));
    assert_eq!(kind("t 0 <>=x"), Ok(LabelKind::Plain));
    assert!(kind("t 0 Fheavy").unwrap_err().contains("`fence_kind`"));
    assert!(kind("t 0 <strong>=x").unwrap_err().contains("`marks`"));
}

const FIRST: &str =
    "release x := 1; fence lightweight; acquire r := y; atomic relaxed [z := z + 1]; fence rw,w; y := 1";
const SECOND: &str =
    "y := 1; atomic acq_rel [x = 1; z := 2]; fence stores; acquire_pc r := x; seq_cst x := 2; atomic [z := 1]";

#[test]
fn facts_files_keep_kinds() {
    let facts = facts_of(&parsed(FIRST, SECOND));
    assert!(facts.labels.iter().any(|label| label.kind == LabelKind::Rmw(Marks::RELAXED)));
    assert!(facts.labels.iter().any(|label| label.kind == LabelKind::Marked(RELEASE)));
    let mut bytes = Vec::new();
    file::write(&facts, &mut bytes).unwrap();
    assert_eq!(file::read(&bytes, "m.facts").unwrap(), Facts { outline: None, ..facts });
}

/// What an engine makes of a specification.
fn with<T>(
    specification: &Specification,
    engine: &str,
    property: &Property,
    settings: &Settings,
    work: impl FnOnce(&dyn Examined) -> T,
) -> T {
    let (subject, limits, rest) = (Subject::Program(specification), &Limits::default(), &Budget::default);
    let task = Task { subject, property, models: &[], limits, rest, settings };
    let examined = named(engine).examine(&task).unwrap_or_else(|trouble| panic!("{trouble:?}"));
    work(&*examined)
}

/// The fences of the event graph.
fn fences(first: &str, second: &str, memory_model: &str) -> Vec<(Site, FenceStrength)> {
    let specification = specification(first, second);
    let settings = Settings { confirm: seqcon::engines::Confirm::Off, ..Settings::default() };
    with(&specification, "cycles", &Property::Robust, &settings, |examined| {
        let outcome = placed(examined, memory_model, &Options::default());
        assert!(outcome.findings.torn.is_empty(), "{first} | {second}");
        outcome.fences.iter().map(|fence| (fence.site, fence.strength)).collect()
    })
}

#[test]
fn in_the_event_graph_marks_are_nothing_and_atomic_instructions_without_order_are_whole() {
    let plain = fences("x := 1; r := y", "y := 1; r := x", "tso");
    assert_eq!(plain.len(), 2);
    assert_eq!(fences("release x := 1; acquire r := y", "seq_cst y := 1; seq_cst r := x", "tso"), plain);
    // It is no fence.
    assert_eq!(fences("x := 1; atomic relaxed [z := z + 1]; r := y", "y := 1; fence; r := x", "tso").len(), 1);
    assert_eq!(fences("x := 1; atomic [z := z + 1]; r := y", "y := 1; fence; r := x", "tso").len(), 0);
    // Nothing is torn, and nothing stands inside.
    for known in models() {
        for (first, second) in [
            ("atomic relaxed [z := z + 1]", "atomic relaxed [z := z + 1]"),
            ("atomic relaxed [x := 1; r := x; y := x]", "atomic relaxed [y := 1; r := y; x := y]"),
            ("x := 1; atomic relaxed [y := y + 1]; r := z", "z := 1; atomic relaxed [y := y + 1]; r := x"),
            ("atomic acq_rel [x := x + 1; z := 1]; r := y", "y := 1; atomic relaxed [r := x; x := z]; r := z"),
        ] {
            let found = fences(first, second, &known.name);
            let inside = found.iter().filter(|(site, _)| matches!(site.place, Place::Inside(_)));
            assert_eq!(inside.count(), 0, "{} {first} | {second}", known.name);
        }
    }
    assert_eq!(fences("atomic relaxed [x := 1; r := y]", "atomic relaxed [y := 1; r := x]", "power"), []);
}

#[test]
fn machines_take_them_on_tso_for_full_fences_and_refuse_them_on_pso() {
    let (first, second) =
        ("x := 1; atomic relaxed [z := z + 1]; r := y", "y := 1; atomic relaxed [z := z + 1]; r := x");
    let specification = specification(first, second);
    with(&specification, "cycles", &Property::Robust, &Settings::default(), |examined| {
        let on_tso = placed(examined, "tso", &Options::default());
        assert!(on_tso.fences.is_empty() && on_tso.confirming == Confirming::Done, "{:?}", on_tso.confirming);
        let on_pso = placed(examined, "pso", &Options::default());
        // Before it, as its write may overtake that of x, and behind it.
        assert_eq!((on_pso.fences.len(), on_pso.confirming), (4, Confirming::Unperformed));
    });
    let (never, _) = specification.never("--never", "t@B and t.r = 5").unwrap();
    for (engine, property) in [
        ("store-buffers", &Property::Robust),
        ("auto", &never),
        ("single-buffer", &never),
        ("partial-coherence", &never),
        ("buffer-automata", &never),
    ] {
        with(&specification, engine, property, &Settings::default(), |examined| {
            let check = |name| examined.checker(model(name)).unwrap().check(&Repair::default());
            assert!(check("tso").is_ok(), "{engine}");
            let Err(Trouble::Unsupported(problem)) = check("pso") else { panic!("{engine} does not refuse") };
            assert!(
                problem.contains("t.1 is atomic and no full fence") && problem.contains("`atomic [ … ]`"),
                "{problem}"
            );
        });
    }
}

#[test]
fn only_axioms_know_pairs_of_exclusive_accesses() {
    let mut specification = specification("r := x; x := 1", "x := 2");
    let kind = InstructionKind::Marked(Marks::EXCLUSIVE);
    specification.program.threads[0].instructions.iter_mut().for_each(|known| known.kind = kind);
    let limits = Limits::default();
    let settings = Settings::default();
    let (never, _) = specification.never("--never", "x = 5").unwrap();
    for engine in seqcon::engines::all() {
        let name = engine.description().name;
        let property = match name {
            "cycles" | "store-buffers" | "axioms" => &Property::Robust,
            "persistence" => &Property::Persistent,
            _ => &never,
        };
        let task = Task {
            subject: Subject::Program(&specification),
            property,
            models: &[],
            limits: &limits,
            rest: &Budget::default,
            settings: &settings,
        };
        let memory_model = if name == "axioms" { "power" } else { "tso" };
        let checked = engine
            .examine(&task)
            .and_then(|examined| examined.checker(model(memory_model))?.check(&Repair::default()).map(|_| ()));
        match checked {
            Ok(()) => assert_eq!(name, "axioms"),
            Err(Trouble::Unsupported(problem)) => {
                assert!(problem.contains("t.0 is one of a pair of a load and a store exclusive"), "{name}: {problem}");
            }
            Err(other) => panic!("{name}: {other:?}"),
        }
    }
}
