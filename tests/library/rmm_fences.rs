//! Programs in the language of Memorax: those of the corpus, and how fences and numbers of processes are put into
//! texts.

use crate::rmm_parsing::{explored, never, parse, parsed, said};
use crate::support::corpus::corpus_dir;
use crate::support::mutation::{Guard, mutate};
use crate::support::random::random_cases;
use rand::Rng;
use seqcon::explore::Stop;
use seqcon::ids::{ControlAt, ThreadAt};
use seqcon::lang::edit::{CannotWrite, Change, edited};
use seqcon::lang::{self, Parsed};
use seqcon::outline::{Outline, Site};
use seqcon::program::{At, Instruction, InstructionKind, Program};
use seqcon::repair::Repair;
use std::fs;

/// Programs of the corpus that have an end, and those that have none.
const FINITE: [&str; 9] =
    ["bakery.bound2", "burns", "clh", "dekker.2", "dekker", "dijkstra", "lamport_fast", "peterson", "sense_rev_bar"];
const INFINITE: [&str; 3] = ["bakery", "ticket_spin_lock", "ticket_spin_lock.2"];

/// The programs of the corpus; none if it is absent.
fn corpus(names: &[&str]) -> Vec<(String, String)> {
    let Some(corpus) = corpus_dir() else { return Vec::new() };
    let read = |name: &&str| {
        let path = corpus.join(format!("rmm/{name}.rmm"));
        ((*name).to_owned(), fs::read_to_string(path).expect("a program of the corpus"))
    };
    names.iter().map(read).collect()
}

#[test]
fn programs_of_the_corpus_are_right_under_sequential_consistency() {
    for (name, text) in corpus(&FINITE) {
        let read = parsed(&text);
        assert_eq!(read.warnings, [], "{name}");
        assert_eq!(explored(&read.program, &never(&read)).0, Stop::Complete, "{name}");
        // Each of the vector's labels is reached.
        for place in never(&read).replace(['(', ')'], "").split(' ').filter(|word| word.contains('@')) {
            assert_eq!(explored(&read.program, place).0, Stop::Violated, "{name} {place}");
        }
    }
    for (name, text) in corpus(&INFINITE) {
        let read = parsed(&text);
        assert_eq!(explored(&read.program, &never(&read)).0, Stop::States, "{name}");
    }
}

#[test]
fn broken_variants_are_found() {
    let broken = [
        ("peterson", "$r0 = 1 && $r1 = 1", "$r0 = 1 && $r1 = 0"),
        ("burns", "read: flag[0] = 0;\n  CS", "read: flag[0] = 1;\n  CS"),
        ("dekker.2", "read: flag[0] = 0;\n  CS: write: turn := 1", "read: flag[0] = 1;\n  CS: write: turn := 1"),
        ("clh", "read: [$p] = 0", "nop"),
    ];
    for (name, text) in corpus(&broken.map(|(name, ..)| name)) {
        let (_, right, wrong) = broken.iter().find(|(known, ..)| *known == name).expect("one of them");
        assert!(text.contains(right), "{name}");
        let read = parsed(&text.replacen(right, wrong, 1));
        assert_eq!(explored(&read.program, &never(&read)).0, Stop::Violated, "{name}");
    }
}

/// Where something is put.
fn changed(text: &str, change: impl Fn(At, &Instruction) -> Option<Change>) -> Result<String, CannotWrite> {
    let program = parsed(text).program;
    let changes: Vec<Change> = program.instructions_at().filter_map(|(at, known)| change(at, known)).collect();
    assert!(!changes.is_empty(), "{text}");
    edited("test.rmm", text, &program, &changes)
}

/// A process with a fence at each instruction of this name.
fn fenced(statements: &str, name: &str, change: fn(At) -> Change) -> String {
    let text = format!("data x = 0 process registers $r = 0 text {statements}");
    let result = changed(&text, |at, known| (known.name == name).then(|| change(at))).expect("it can be written");
    parsed(&result);
    result.rsplit_once("text ").unwrap().1.to_owned()
}

#[test]
fn fences_are_statements() {
    let after = |statements: &str, name: &str| fenced(statements, name, Change::FenceAfter);
    assert_eq!(after("L: write: x := 1; nop", "L-L_1"), "L: write: x := 1; fence; nop");
    assert_eq!(after("L: nop; write: x := 1 /* a */", "L_1-end"), "L: nop; write: x := 1; fence /* a */");
    assert_eq!(after("L: if $r = 1 then M: nop; nop", "M-M_1"), "L: if $r = 1 then M: { nop; fence }; nop");
    assert_eq!(after("L: if $r = 1 then M: nop", "L-M"), "L: if $r = 1 then { fence; M: nop }");
    assert_eq!(after("L: if $r = 1 then {nop}", "L-L_1"), "L: if $r = 1 then { fence;nop}");
    assert_eq!(after("L: if $r = 1 then nop", "L-end"), "L: if $r = 1 then nop else fence");
    assert_eq!(
        after("L: if $r = 1 then if $r = 2 then nop", "L-end"),
        "L: if $r = 1 then { if $r = 2 then nop } else fence"
    );
    assert_eq!(
        after("L: if $r = 1 then M: if $r = 2 then nop; nop", "M-M_2"),
        "L: if $r = 1 then M: if $r = 2 then nop else fence; nop"
    );
    assert_eq!(after("L: if $r = 1 then nop else nop", "L-L_2"), "L: if $r = 1 then nop else { fence; nop }");
    // Words stay words.
    let text = "L: either{nop or$r := 1or nop}";
    assert_eq!(fenced(text, "L-end-2", Change::FenceAfter), "L: either{nop or$r := 1; fence or nop}");
    assert_eq!(
        fenced("L: nop; either{M:nop or{N:nop}}", "L_1-N", Change::FenceAfter),
        "L: nop; either{M:nop or{fence; N:nop}}"
    );
    // Each pair of braces is a pair of its own.
    let text = "process registers $r = 0 text L: if $r = 1 then if $r = 2 then nop";
    let all = changed(text, |at, _| Some(Change::FenceAfter(at))).expect("it can be written");
    assert_eq!(
        all.rsplit_once("text ").unwrap().1,
        "L: if $r = 1 then { fence; { if $r = 2 then { fence; { nop; fence } } else fence } } else fence"
    );
    assert_eq!(after("L: while $r = 1 do nop", "L-L_1"), "L: while $r = 1 do { fence; nop }");
    assert_eq!(after("L: while $r = 1 do nop", "L-end"), "L: while $r = 1 do nop; fence");
    assert_eq!(after("L: while $r = 1 do nop", "L_1-L"), "L: while $r = 1 do { nop; fence }");
    assert_eq!(after("L: either{ goto L or nop }", "L-L"), "L: either{ fence; goto L or nop }");
    assert_eq!(after("L: either{ M: nop or nop }", "L-M"), "L: either{ fence; M: nop or nop }");
    // Which variable is meant is known before it is read.
    let read = "data x = 0 y = 0 process registers $r = 0 : [0:1] text L: read: [$r] = 0";
    for (name, expected) in [("L-L_1", "L: fence; read: [$r] = 0"), ("L_2-end", "L: read: [$r] = 0; fence")] {
        let result = changed(read, |at, known| (known.name == name).then_some(Change::FenceAfter(at)));
        assert_eq!(result.map(|text| text.rsplit_once("text ").unwrap().1.to_owned()).as_deref(), Ok(expected));
    }
}

#[test]
fn fences_at_states_are_on_every_way_there() {
    let before = |statements: &str, name: &str| fenced(statements, name, Change::FenceBefore);
    let at = |statements: &str, name: &str| fenced(statements, name, Change::FenceAtTarget);
    // One, if nothing jumps there: the label is behind it.
    assert_eq!(before("L: write: x := 1; M: nop", "M-end"), "L: write: x := 1; fence; M: nop");
    assert_eq!(at("L: if $r = 1 then nop; M: nop", "L-M"), "L: if $r = 1 then nop; fence; M: nop");
    // A fence in an alternative would choose it.
    assert_eq!(
        before("L: nop; either{ read: x = 1 or nop }", "L_1-end"),
        "L: nop; fence; either{ read: x = 1 or nop }"
    );
    assert_eq!(
        at("L: nop; M: nop; if $r = 1 then goto M; goto M", "L-M"),
        "L: nop; fence; M: nop; if $r = 1 then { fence; goto M } else fence; goto M"
    );
    assert_eq!(before("L: nop; while $r = 1 do nop", "L_1-L_2"), "L: nop; fence; while $r = 1 do { nop; fence }");
    // Before the first statement there is nothing.
    assert_eq!(before("L: nop", "L-end"), "L: nop");
}

#[test]
fn what_cannot_be_written_is_refused() {
    let text = "data x = 0 macro one() 1 endmacro process text write: x := one(); nop";
    let change = |at, known: &Instruction| (known.name == "start-start_1").then_some(Change::FenceAfter(at));
    assert!(matches!(changed(text, change), Err(CannotWrite::At(_))));
    // In a macro that gives all of it, and in `process(2)`, one text is that of several processes.
    let text = "data x = 0 macro m(v) write: x := v; nop endmacro process(2) text m(1); m(2)";
    let change =
        |at: At, _: &Instruction| (at.thread == ThreadAt(0) && at.instruction.0 == 0).then_some(Change::FenceAfter(at));
    let result = changed(text, change).expect("it can be written");
    assert!(result.contains("write: x := v; fence; nop endmacro"), "{result}");
    assert_eq!(num_of_fences(&parsed(&result).program), 4);
    let text = "data x = 0 process text write: x := 1; read: x = 1";
    let lock =
        |only: usize| move |at: At, _: &Instruction| (at.instruction.index() == only).then_some(Change::Atomic(at));
    assert_eq!(changed(text, lock(0)).as_deref(), Ok("data x = 0 process text locked write: x := 1; read: x = 1"));
    assert_eq!(changed(text, lock(1)), Err(CannotWrite::Atomic));
}

fn num_of_fences(program: &Program) -> usize {
    program.instructions_at().filter(|(_, known)| known.kind == InstructionKind::Fence).count()
}

/// Everything of the language in one text, and every instruction the only one of its statement.
const ALL: &str = "forbidden CS CS data x = * : [0:2] y = 0 : [0:2] process data f = 0 : [0:1] registers $r = * : [0:2] \
     text A: write: f[my] := 1; while $r = 1 do { read: $r := y; if $r = 2 then goto A else if $r = 0 then nop };\n\
     B: either{ read: x = 1; CS: cas(y, $r, 1) or while $r < 2 do $r := 2; goto A or C: { D: read: f[0] = 1 } };\n\
     if $r = 2 then locked{ read: y = 1; write: y := 0 } else E: fence; if not $r = 1 then { locked write: x := 0 };\n\
     goto A process data f = 0 : [0:1] text CS: write: f[my] := 1; read: f[0] = 1";

/// A fence after an instruction does in the text what it does in the program.
#[test]
fn fences_after_instructions_are_those_of_the_program() {
    let mut texts = vec![("all".to_owned(), ALL.to_owned())];
    texts.extend(corpus(&["burns", "dekker", "dekker.2", "peterson", "lamport_fast"]));
    for (name, text) in texts {
        let program = parsed(&text).program;
        let outline = Outline::of_program(&program);
        let states = |program: &Program| explored(program, "false").1;
        for (at, known) in program.instructions_at().filter(|(_, known)| !program_starts(known, &program)) {
            let changes = [Change::FenceAfter(at)];
            let result = edited("test.rmm", &text, &program, &changes).expect("it can be written");
            let read =
                parse(&result).unwrap_or_else(|errors| panic!("{name} {}: {errors}\n{result}", known.name)).program;
            let thread = &program.thread(at.thread).name;
            let instr = outline.find_shown(thread, &known.name).expect("it is there");
            let repair = Repair::full([Site::after(instr)]);
            assert_eq!(num_of_fences(&read), num_of_fences(&program) + 1, "{name} {thread}.{}\n{result}", known.name);
            // A step into a label or a loop in an alternative is not needed behind a fence.
            let is_step =
                known.condition.is_none() && known.assignments.is_empty() && known.kind == InstructionKind::Plain;
            if !is_step {
                let repaired = repair.put_into(&program);
                assert_eq!(states(&read), states(&repaired), "{name} {thread}.{}\n{result}", known.name);
            }
        }
    }
}

/// Whether an instruction only chooses values at the start.
fn program_starts(instruction: &Instruction, program: &Program) -> bool {
    program.threads.iter().any(|thread| {
        thread.instructions.iter().any(|own| std::ptr::eq(own, instruction))
            && thread.states[instruction.from.index()].starts_with("init")
    })
}

/// A fence at a label is on every way there, and not behind it.
#[test]
fn fences_at_labels_are_before_them() {
    let mut texts = vec![("all".to_owned(), ALL.to_owned())];
    texts.extend(corpus(&FINITE));
    for (name, text) in texts {
        let program = parsed(&text).program;
        for (at, known) in program.instructions_at().filter(|(_, known)| !program_starts(known, &program)) {
            let state = &program.thread(at.thread).states[known.to.index()];
            let result = edited("test.rmm", &text, &program, &[Change::FenceAtTarget(at)]).expect("it can be written");
            let read = parse(&result).unwrap_or_else(|errors| panic!("{name} {state}: {errors}\n{result}"));
            assert!(num_of_fences(&read.program) > num_of_fences(&program), "{name} {state}");
            let is_label = text.contains(&format!("{state}:"));
            let thread = read.program.thread(at.thread);
            let Some(position) = thread.states.iter().position(|known| is_label && known == state) else { continue };
            for way in thread.ways_into(ControlAt::new(position)) {
                let way = thread.instruction(way);
                let is_start = thread.states[way.from.index()].starts_with("init");
                assert!(is_start || way.kind == InstructionKind::Fence, "{name} {state} {}\n{result}", way.name);
            }
            // What is forbidden is as far away as before.
            if name != "all" {
                assert_eq!(explored(&read.program, &never(&read)).0, Stop::Complete, "{name}");
            }
        }
    }
}

#[test]
fn another_number_of_processes() {
    let instances = lang::Language::of("a.rmm").and_then(|language| language.instances).expect("it has them");
    let text = "/* a */ forbidden CS CS data l = 0 process(2) text CS: nop";
    assert_eq!(
        instances(text, 3).as_deref(),
        Ok("/* a */ forbidden * CS CS; CS * CS; CS CS * data l = 0 process(3) text CS: nop")
    );
    assert_eq!(instances(text, 1).as_deref(), Ok("/* a */  data l = 0 process(1) text CS: nop"));
    for number in 1..5 {
        parsed(&instances(text, number).unwrap());
    }
    for (text, expected) in [
        ("process text nop", "1:1: the process has no number of instances (`process(2)` are two processes)"),
        (
            "process(2) text nop process text nop",
            "1:21: there are several processes: it is not clear what there are to be instances of (the number of a process changes where there is no other: `process(2)`)",
        ),
    ] {
        assert_eq!(said(text, &instances(text, 3).unwrap_err()[0]), expected);
    }
}

/// Every prefix of a right text, and every text with a few random edits, is read or refused, and errors are in the
/// text; and so is what fences are put into.
#[test]
fn mutilated_texts_are_read_or_refused() {
    let macros = "forbidden A * macro m(a, b) process(2) data v = a : [0:1] registers $r = * : [0:1] text A: write: [$r] := b; \
        read: v[0] = 1 endmacro data x = -1 : [-1:1], y = 0 m(1, me + 0) /* end */";
    let guard = Guard::new("Memorax");
    let check = |text: &str| match guard.watched(text, parse) {
        Err(found) => {
            assert!(found.errors().iter().all(|error| error.span.start <= error.span.end), "{text}");
            assert!(found.errors().iter().all(|error| error.span.end <= text.len()), "{text}");
        }
        Ok(Parsed { program, .. }) => {
            let after = program.instructions_at().map(|(at, _)| Change::FenceAfter(at));
            let changes: Vec<Change> =
                after.chain(program.instructions_at().map(|(at, _)| Change::FenceAtTarget(at))).collect();
            if let Ok(result) = edited("test.rmm", text, &program, &changes) {
                assert!(parse(&result).is_ok(), "{text}\n{result}\n{}", parse(&result).unwrap_err());
            }
        }
    };
    let texts = [ALL, macros];
    for text in texts {
        parsed(text);
        text.char_indices().for_each(|(at, _)| check(&text[..at]));
    }
    let fragments = [
        "either{",
        "or",
        "}",
        "{",
        ";",
        ":",
        "[",
        "]",
        "[$r]",
        "if $r = 1 then",
        "else",
        "while true do",
        "goto A",
        "A:",
        "locked",
        "macro m(",
        "endmacro",
        "m(1, 2)",
        "$r",
        "*",
        "99999999999999999999",
        "é",
        "\0",
        "/*",
        "process(1000)",
        "fence",
    ];
    random_cases(1000, |rng| check(&mutate(texts[rng.random_range(0..texts.len())], &fragments, rng)));
}
