//! Memory models as texts: the built-in ones against the code that they were, and what is refused.

use crate::support::coded_models;
use crate::support::command::run;
use crate::support::litmus::axioms;
use crate::support::random::random_cases;
use rand::Rng;
use rand::rngs::StdRng;
use seqcon::lang::litmus::read;
use seqcon::memory::cat::execution::{Atomicity, Communication, Edges, Event, Structure};
use seqcon::program::PartialFence;
use seqcon::weak::axiomatic::{Failure, Model, outcomes};
use std::cell::Cell;
use std::fs;

/// A few events of up to three threads, with dependencies from reads, fences of all kinds, and indivisible
/// instructions.
fn random_structure(rng: &mut StdRng) -> Structure {
    const PARTIAL: [PartialFence; 3] = [PartialFence::Lightweight, PartialFence::Stores, PartialFence::Control];
    let mut events = Vec::new();
    for thread in 0..rng.random_range(2..=3) {
        for instruction in 0..rng.random_range(1..=4) {
            let access = |rng: &mut StdRng| {
                let location = rng.random_range(0..2);
                if rng.random() { Event::read(thread, location) } else { Event::write(thread, location) }
            };
            match rng.random_range(0..10) {
                0 => events.push(Event::fence(thread, None)),
                1 | 2 => events.push(Event::fence(thread, Some(PARTIAL[rng.random_range(0..3)]))),
                3 => {
                    let parts = [access(rng), access(rng)].map(|part| part.atomic(instruction, Atomicity::Fenced));
                    let fence = Event::fence(thread, None);
                    events.extend([fence, parts[0], fence, parts[1], fence]);
                }
                _ => events.push(access(rng)),
            }
        }
    }
    let mut edges = Edges::default();
    for a in 0..events.len() {
        for b in a + 1..events.len() {
            if !events[a].is_read() || events[a].thread != events[b].thread {
                continue;
            }
            match rng.random_range(0..6) {
                0 if !events[b].is_fence() => edges.addr.push((a, b)),
                1 if events[b].is_write() => edges.data.push((a, b)),
                // All that is behind the branch.
                2 => edges
                    .ctrl
                    .extend((b..events.len()).filter(|c| events[*c].thread == events[a].thread).map(|c| (a, c))),
                _ => {}
            }
        }
    }
    Structure::build(&events, &edges)
}

/// Any write for each read, and any order of the writes.
fn random_communication(rng: &mut StdRng, structure: &Structure) -> Communication {
    let (mut rf, mut co) = (Vec::new(), Vec::new());
    for location in 0..2 {
        let here = |event: &usize| structure.events[*event].location == Some(location);
        let mut writes = Vec::new();
        for write in (0..structure.size()).filter(here).filter(|event| structure.events[*event].is_write()) {
            writes.insert(rng.random_range(0..=writes.len()), write);
        }
        co.extend(writes.windows(2).map(|pair| (pair[0], pair[1])));
        for read in (0..structure.size()).filter(here).filter(|event| structure.events[*event].is_read()) {
            let choice = rng.random_range(0..=writes.len());
            rf.extend(writes.get(choice).map(|write| (*write, read)));
        }
    }
    Communication::build(structure, &rf, &co)
}

#[test]
fn texts_say_what_the_code_said() {
    let counts = Cell::new([0; 5]);
    random_cases(20_000, |rng| {
        let structure = random_structure(rng);
        for _ in 0..5 {
            let communication = random_communication(rng, &structure);
            for (number, (coded, name)) in coded_models::Model::ALL.into_iter().enumerate() {
                let allowed = coded.allows(&structure, &communication);
                let by_text = axioms(name).allows(&structure, &communication);
                assert_eq!(by_text, allowed, "{name}: {structure:#?} {communication:#?}");
                let mut counted = counts.get();
                counted[number] += usize::from(allowed);
                counts.set(counted);
            }
        }
    });
    let [sc, tso, pso, armv7, power] = counts.get();
    println!("allowed: sc {sc}, tso {tso}, pso {pso}, armv7 {armv7}, power {power}");
    assert!(0 < sc && sc < tso && tso < pso && pso < power.min(armv7));
}

const STORE_BUFFERING: &str =
    "X86 sb\n{}\nP0 | P1 ;\nMOV [x],$1 | MOV [y],$1 ;\nMOV EAX,[y] | MOV EAX,[x] ;\nexists (0:EAX=0 /\\ 1:EAX=0)\n";

/// Every read reads from a write of the program: known only when all communication is.
#[test]
fn what_is_not_monotone_is_asked_at_the_end() {
    let program = read("sb.litmus", STORE_BUFFERING).unwrap().program;
    let coherence = "acyclic po-loc | rf | co | fr\n";
    let ends = |text: &str| {
        let model = Model::from_text("t.cat", text).unwrap_or_else(|error| panic!("{error}"));
        let found = outcomes(&program, &model, 1).unwrap();
        found.ends.into_iter().map(|end| end.locals).collect::<Vec<_>>()
    };
    let all = ends(coherence);
    assert_eq!(all.len(), 4);
    assert_eq!(ends(&format!("{coherence}empty [R] \\ [range(rf)]")).len(), 4);
    let both = ends(&format!("{coherence}empty [R] \\ [range([W \\ IW]; rf)]"));
    assert_eq!(both.len(), 1, "{both:?}");
    assert_eq!(ends(&format!("{coherence}~empty ([W \\ IW]; rf) & ext ; ext")).len(), 3);
    // Without SC-per-location all sources of a read are tried.
    assert_eq!(ends("empty 0").len(), 4);
}

/// Without SC-per-location a thread may read what it has overwritten.
#[test]
fn a_text_without_coherence_allows_what_coherence_forbids() {
    let text = "X86 t\n{}\nP0 ;\nMOV [x],$1 ;\nMOV EAX,[x] ;\nexists (0:EAX=0)\n";
    let program = read("t.litmus", text).unwrap().program;
    let ends = |text: &str| outcomes(&program, &Model::from_text("t.cat", text).unwrap(), 1).unwrap().ends.len();
    assert_eq!(ends("empty 0"), 2);
    assert_eq!(ends("acyclic po-loc | rf | co | fr"), 1);
    assert_eq!(ends("acyclic po | rf | fr | co"), 1);
}

#[test]
fn what_a_text_says_nothing_of_is_refused() {
    let text = "X86 t\n{}\nP0 | P1 ;\nLOCK INC [x] | LOCK INC [x] ;\nforall (x=2)\n";
    let program = read("t.litmus", text).unwrap().program;
    let judged = |text: &str| outcomes(&program, &Model::from_text("t.cat", text).unwrap(), 1);
    assert!(matches!(judged("acyclic po | rf | co | fr"), Err(Failure::Refused { .. })));
    let found = judged("acyclic po | rf | co | fr\nempty rmw & (fre; coe)").unwrap();
    assert_eq!(found.ends.len(), 1);
}

#[test]
fn a_file_is_a_model_for_litmus_and_for_verify_as_it_is() {
    let directory = tempfile::tempdir().unwrap();
    let path = |name: &str| directory.path().join(name).display().to_string();
    fs::write(path("sb.litmus"), STORE_BUFFERING).unwrap();
    fs::write(path("mine.cat"), "include \"part.cat\"\nacyclic order as mine\n").unwrap();
    fs::write(path("part.cat"), "let order = po | rf | co | fr\n").unwrap();
    fs::write(path("round.cat"), "include \"again.cat\"\n").unwrap();
    fs::write(path("again.cat"), "include \"round.cat\"\n").unwrap();
    let told = |arguments: &[&str]| {
        let (status, out, error) = run(arguments);
        (out, error, Some(status))
    };
    let (out, _, status) = told(&["litmus", &path("sb.litmus"), "--mm", &path("mine.cat")]);
    assert!(out.contains("mine: exists: does not hold (3 executions") && status == Some(0), "{out}");
    let (_, error, status) = told(&["litmus", &path("sb.litmus"), "--mm", &path("round.cat")]);
    assert!(error.contains("again.cat:1:9: error: \"round.cat\" includes itself") && status == Some(2), "{error}");
    let (_, error, status) = told(&["analyse", &path("sb.litmus"), "--mm", &path("mine.cat")]);
    assert!(error.contains("here a table is needed") && status == Some(2), "{error}");
    let sb = "model sb { classes C { variables Integer x := 0 Integer y := 0
        state machines a { variables Integer r := 0 initial A states B C transitions A -> B { x := 1 } B -> C { r := y } }
                       b { variables Integer r := 0 initial A states B C transitions A -> B { y := 1 } B -> C { r := x } } }
        objects o : C() }";
    fs::write(path("sb.slco"), sb).unwrap();
    let (_, error, status) = told(&["verify", &path("sb.slco"), "--mm", &path("mine.cat")]);
    assert!(error.contains("give --as-is") && status == Some(2), "{error}");
    let (out, error, status) = told(&["verify", &path("sb.slco"), "--as-is", "--mm", &path("mine.cat")]);
    assert_eq!(status, Some(0), "{out}{error}");
    fs::write(path("weak.cat"), "acyclic po-loc | rf | co | fr\n").unwrap();
    let (out, error, status) = told(&["verify", &path("sb.slco"), "--as-is", "--mm", &path("weak.cat")]);
    assert_eq!(status, Some(1), "{out}{error}");
}

/// Message passing with plain data and a flag: racy if the flag is relaxed.
#[test]
fn a_race_is_told() {
    let message_passing = |marks: &str| {
        let marks = seqcon::program::Marks::named(marks).unwrap();
        let events =
            [Event::write(0, 0), Event::write(0, 1).marked(marks), Event::read(1, 1).marked(marks), Event::read(1, 0)];
        let structure = Structure::build(&events, &Edges::default());
        let communication = Communication::build(&structure, &[(1, 2), (0, 3)], &[]);
        let model = axioms("rc11");
        let mut prepared =
            seqcon::memory::cat::evaluate::Prepared::new(model.axioms(), &structure, false).expect("no atomics");
        assert!(prepared.allows(&communication));
        prepared.flags().len()
    };
    assert_eq!(message_passing("relaxed"), 1);
    assert_eq!(message_passing("acquire, release"), 0);
}

/// What reads of initial values read from, and what comes behind them, is there for every text.
#[test]
fn texts_of_users_have_initial_writes() {
    let sb = read("sb", "AArch64 SB\n{ 0:X1=x; 0:X3=y; 1:X1=y; 1:X3=x; }\n P0 | P1 ;\n MOV W0,#1 | MOV W0,#1 ;\n STR W0,[X1] | STR W0,[X1] ;\n LDR W2,[X3] | LDR W2,[X3] ;\nexists (0:X2=0 /\\ 1:X2=0)\n").unwrap();
    let allowed = |text: &str| {
        let model = Model::from_text("t.cat", text).unwrap();
        outcomes(&sb.program, &model, 2).unwrap().executions
    };
    let sc = outcomes(&sb.program, &Model::sc(), 2).unwrap().executions;
    assert_eq!(allowed("\"SCx\"\nlet myfr = rf^-1;co\nacyclic po|rf|co|myfr as sc"), sc);
    assert_eq!(allowed("\"SC\"\nacyclic po|rf|co|fr as sc"), sc);
    assert_eq!(allowed("\"any\"\nacyclic po-loc|rf|co|fr as sc"), sc + 1);
}

/// Two reads of one initial value read from the same write, which a text can ask; herd7 finds the same.
#[test]
fn reads_of_initial_values_read_from_one_write() {
    let text = "\"neg\"\nacyclic po-loc | rf | co | fr as u\nlet rsw = rf^-1; rf\nlet order = ([R]; po-loc; [R]) \\ rsw | fence.rw.rw | addr | rfe | co | fr\nacyclic order as o\n";
    let test = read("rsw", "RISCV rsw\n{ 0:x20=x; 0:x21=y; 1:x20=x; 1:x21=y; 1:x22=z; }\n P0 | P1 ;\n ori x8,x0,1 | lw x9,0(x21) ;\n sw x8,0(x20) | xor x10,x9,x9 ;\n fence rw,rw | add x11,x22,x10 ;\n sw x8,0(x21) | lw x12,0(x11) ;\n | lw x13,0(x22) ;\n | xor x14,x13,x13 ;\n | add x15,x20,x14 ;\n | lw x16,0(x15) ;\nexists (1:x9=1 /\\ 1:x16=0)\n").unwrap();
    let outcomes = outcomes(&test.program, &Model::from_text("neg.cat", text).unwrap(), 2).unwrap();
    assert_eq!(outcomes.executions, 4);
}

#[test]
fn a_text_without_axioms_is_no_model() {
    for text in ["", "X", "\"nothing\"\nlet a = po", "\"flags\"\nflag ~empty po as f"] {
        let refused = Model::from_text("t.cat", text).expect_err("no axiom").to_string();
        assert!(refused.contains("t.cat") && (refused.contains("no axiom") || text == "X"), "{text}: {refused}");
    }
}
