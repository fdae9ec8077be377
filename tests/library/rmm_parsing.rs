//! Programs in the language of Memorax, right and wrong: what they become, and what is said about them. How fences are
//! put into them is in `rmm_fences.rs`.

use seqcon::explore::observe::Nobody;
use seqcon::explore::{Limits, Stop, explore};
use seqcon::ids::{ControlAt, ThreadAt};
use seqcon::lang::{self, Diagnostic, Diagnostics, Parsed};
use seqcon::program::Program;
use seqcon::program::compiled::Compiled;
use seqcon::program::labels::{Decision, label};
use seqcon::property::Property;

pub fn parse(text: &str) -> Result<Parsed, Diagnostics> {
    lang::parse("folder/test.rmm", text)
}

pub fn parsed(text: &str) -> Parsed {
    parse(text).unwrap_or_else(|errors| panic!("this should be accepted:\n{text}\n{errors}"))
}

/// `line:column: message` and, if there is some, ` (help)`.
pub fn said(text: &str, diagnostic: &Diagnostic) -> String {
    let place = seqcon::text::LineColumn::of(text, diagnostic.span.start);
    let help = diagnostic.help.as_ref().map_or(String::new(), |help| format!(" ({help})"));
    format!("{}:{}: {}{help}", place.line, place.column, diagnostic.message)
}

fn errors(text: &str) -> Vec<String> {
    match parse(text) {
        Ok(parsed) => panic!("this should be refused:\n{text}\n{:?}", parsed.program),
        Err(found) => found.errors().iter().map(|error| said(text, error)).collect(),
    }
}

fn warnings(text: &str) -> Vec<String> {
    parsed(text).warnings.iter().map(|warning| said(text, warning)).collect()
}

/// The instructions of a thread: where they lead from and to, and their labels.
fn shown(program: &Program, thread: u32) -> Vec<String> {
    let mut shown = Vec::new();
    for (at, instruction) in program.instructions_at().filter(|(at, _)| at.thread == ThreadAt(thread)) {
        let state = |control: ControlAt| &program.thread(at.thread).states[control.index()];
        let label = label(program, at, Decision::Taken, 0).to_string();
        let what = label.split_once(": ").map_or("", |(_, what)| what);
        shown.push(format!("{} to {}: {what}", state(instruction.from), state(instruction.to)));
    }
    shown
}

/// A process with two variables, two registers and an other process; its first statement stands on line 6.
fn process(statements: &str) -> String {
    format!(
        "data x = 0 : [0:1] y = 0 : [0:3]\nprocess\ndata own = 0 : [0:1]\nregisters $r = 0 : [0:1] $s = 0 : [0:3]\n\
         text\n{statements}\nprocess data own = 0 : [0:1] text nop\n"
    )
}

fn instructions(statements: &str) -> Vec<String> {
    shown(&parsed(&process(statements)).program, 0)
}

/// How the exploration ends, and how many states it has, if this never holds.
pub fn explored(program: &Program, never: &str) -> (Stop, usize) {
    let condition = lang::parse_condition("test", &format!("not ({never})"), program).expect("a condition").condition;
    let compiled = Compiled::new(program).expect("few indices");
    let limits = Limits { states: Some(100_000), invariants: &[condition], ..Limits::default() };
    let (exploration, _) = explore(&compiled, &limits, &mut Nobody).expect("nothing goes wrong");
    (exploration.stop, exploration.states.len())
}

/// Whether the condition can hold.
fn is_reachable(text: &str, condition: &str) -> bool {
    match explored(&parsed(text).program, condition).0 {
        Stop::Complete => false,
        Stop::Violated => true,
        other => panic!("{other:?}"),
    }
}

/// What is never to hold.
pub fn never(parsed: &Parsed) -> String {
    match &parsed.properties[..] {
        [Property::Never(condition)] => condition.text.clone(),
        other => panic!("{other:?}"),
    }
}

#[test]
fn every_statement_becomes_one_instruction() {
    assert_eq!(
        instructions(
            "A: nop; read: x = $r + 1; read: $r := x; write: y := $s - 1;\n B: locked write: x := 1; syncwr: y := 2;\
             cas(y, $s, 3); fence; $s := $r; assume: not $r = 1 || true && [$s >= 2]; goto A"
        ),
        [
            "A to A_1: ",
            "A_1 to A_2: ? x, ~r",
            "A_2 to A_3: ~r := x",
            "A_3 to B: ? ~s; y := ~s",
            "B to B_1: atomic x :=",
            "B_1 to B_2: atomic y :=",
            "B_2 to fence_B_3: atomic ? y, ~s; y :=",
            "fence_B_3 to B_3: fence",
            "B_3 to B_4: ~s := ~r",
            "B_4 to A: ? ~r, ~s",
        ]
    );
    let text = process("write: x := 1; if $r = 1 then\n nop");
    let spans: Vec<&str> = {
        let program = parsed(&text).program;
        program.threads[0].instructions.iter().map(|known| &text[known.span.start..known.span.end]).collect()
    };
    assert_eq!(spans, ["write: x := 1", "if $r = 1", "if $r = 1", "nop"]);
}

#[test]
fn branches_meet_behind_them() {
    assert_eq!(
        instructions("if $r = 0 then A: $r := 1 else { nop; nop }; fence"),
        [
            "start to A: ? ~r",
            "start to A_1: ? ~r",
            "A to fence_A_3: ~r :=",
            "A_1 to A_2: ",
            "A_2 to fence_A_3: ",
            "fence_A_3 to end: fence"
        ]
    );
}

#[test]
fn loops_and_jumps_cost_no_steps() {
    assert_eq!(
        instructions("L: while $r = 0 do read: $r := x; if $r = 1 then goto L; write: x := 1; goto L"),
        [
            "L to L_1: ? ~r",
            "L to L_2: ? ~r",
            "L_1 to L: ~r := x",
            "L_2 to L: ? ~r",
            "L_2 to L_3: ? ~r",
            "L_3 to L: x :="
        ]
    );
    // The first instruction decides; a label, a loop or a jump that is one of several has a step.
    assert_eq!(
        instructions("L: either{ read: x = 1; nop or M: nop or while $r = 0 do nop or goto L }"),
        [
            "L to L_1: ? x",
            "L_1 to end: ",
            "L to M: ",
            "M to end: ",
            "L to M_1: ",
            "M_1 to M_2: ? ~r",
            "M_1 to end: ? ~r",
            "M_2 to M_1: ",
            "L to L: "
        ]
    );
    // A state has one name.
    assert_eq!(instructions("A: { B: nop }; C: goto A"), ["A to B: ", "B to C: ", "C to A: "]);
    assert_eq!(instructions("goto A; A: nop"), ["A to end: "]);
}

#[test]
fn variables_are_those_of_the_right_process() {
    let text = "process(3) data v = 0 : [0:9] text read: v[my] = 0; read: v[0] = 1; read: v[1] = other 1; \
                read: v[0] = me; read: v[1] = @2";
    let program = parsed(text).program;
    let reads = |thread: u32| -> Vec<String> {
        let all = shown(&program, thread);
        all.iter().map(|line| line.rsplit_once("_").unwrap().1.to_owned()).collect()
    };
    assert_eq!(reads(0), ["P0", "P1", "P2", "P1", "P2"]);
    assert_eq!(reads(1), ["P1", "P0", "P2", "P0", "P2"]);
    assert_eq!(reads(2), ["P2", "P0", "P1", "P0", "P1"]);
    let names: Vec<&str> = program.shared.iter().map(|variable| variable.name.as_str()).collect();
    assert_eq!(names, ["v_P0", "v_P1", "v_P2"]);
    // `other 1` is 2, 2 and 1; `me` and `@2` are what they say.
    let text =
        "process(3) data v = 0 : [0:9] registers $a = 0 $b = 0 $c = 0 text $a := other 1; $b := me; $c := @2; L: nop";
    assert!(is_reachable(text, "P2@L and P2.a = 1 and P2.b = 2 and P2.c = 2 and P0@L and P0.a = 2 and P0.b = 0"));
}

#[test]
fn computed_places_are_alternatives() {
    assert_eq!(
        instructions("write: [$r] := 1; read: $r := [$s - 2]; write: [1] := 0"),
        [
            "start to start_1: ? ~r; x :=",
            "start to start_1: ? ~r; y :=",
            "start_1 to start_4: ? ~s; ~r := x",
            "start_1 to start_2: ? ~s",
            "start_2 to start_4: ? y; ~r :=",
            "start_1 to start_3: ? ~s",
            "start_3 to start_4: ? y; ~r :=",
            "start_4 to end: y :=",
        ]
    );
    // What waits for a value reads no variable that is not meant.
    assert_eq!(
        instructions("read: [$r] = 0; cas([$r], 0, 1)"),
        [
            "start to start_1: ? ~r",
            "start_1 to start_3: ? x",
            "start to start_2: ? ~r",
            "start_2 to start_3: ? y",
            "start_3 to start_4: ? ~r",
            "start_4 to end: atomic ? x; x :=",
            "start_3 to start_5: ? ~r",
            "start_5 to end: atomic ? y; y :=",
        ]
    );
    let text = process("$s := 1; read: $r := x; write: [$s] := 3; L: nop");
    assert!(is_reachable(&text, "P0@L and y = 3") && !is_reachable(&text, "P0@L and y = 0"));
}

#[test]
fn values_outside_of_ranges_are_waited_for() {
    // Left out where the ranges of registers show that it cannot happen.
    assert_eq!(instructions("write: y := $s"), ["start to end: y := ~s"]);
    assert_eq!(instructions("write: y := $r + $r + 1"), ["start to end: y := ~r, ~r"]);
    assert_eq!(instructions("$s := 3 - $s"), ["start to end: ~s := ~s"]);
    assert_eq!(instructions("write: x := $s"), ["start to end: ? ~s; x := ~s"]);
    assert_eq!(instructions("$r := -(-$s)"), ["start to end: ? ~s; ~r := ~s"]);
    assert_eq!(instructions("locked write: x := $s"), ["start to end: atomic ? ~s; x := ~s"]);
    // One way for each value, as a condition would read the variable once more.
    assert_eq!(instructions("read: $r := y"), ["start to end: ? y; ~r :=", "start to end: ? y; ~r :="]);
    let text = "data x = 0 : [0:3] process registers $r = 0 : [0:1] text read: $r := x; L: nop \
                process text write: x := 2; M: write: x := 1; N: nop";
    assert!(is_reachable(text, "P0@L and P0.r = 1 and P1@N"));
    assert!(!is_reachable(text, "P0@L and P0.r = 2"));
    let text = "process registers $r = 0 : [0:2] text L: $r := $r + 1; goto L";
    assert!(is_reachable(text, "P0.r = 2") && !is_reachable(text, "P0.r = 3"));
    assert_eq!(
        warnings(&process("A: write: x := 2")),
        [
            "6:4: this is never taken: the value is not in the range of `x` (`x` has values from 0 to 1, and others are not assigned)"
        ]
    );
}

#[test]
fn locked_blocks_are_one_step() {
    assert_eq!(
        instructions("locked{ read: $s := y; $s := $s - 1; assume: $s > 0; write: y := $s or read: y = 0 }"),
        ["start to end: atomic ? y, y; ~s := y; ~s := ~s; y := ~s", "start to end: ? y"]
    );
    // What was written is what is read.
    let text = process("locked{ write: y := 2; read: y = 2; read: $s := y; write: y := $s + 1 }; L: nop");
    assert!(is_reachable(&text, "P0@L and y = 3 and P0.s = 2"));
    assert!(!is_reachable(&process("locked{ write: y := 2; read: y = 1 }; L: nop"), "P0@L"));
    // A block waits as a whole.
    let text = process("locked{ write: y := 2; read: x = 1 }; L: nop");
    assert!(!is_reachable(&text, "y = 2"));
    assert_eq!(
        warnings(&process("locked{ read: x = 0; read: y = 0 }")),
        [
            "6:1: this block reads more than once and writes nothing (it is taken for atomic, and so for a fence, which it is not in Memorax)"
        ]
    );
    let help = "(a locked block is one instruction: reads, writes, `cas`, assignments, `assume` and `nop`)";
    for (inside, message) in [
        ("fence", "6:8: a fence stands in a locked block"),
        ("goto A", "6:8: `goto` stands in a locked block"),
        ("A: nop", "6:8: a label stands in a locked block"),
        ("if $r = 1 then nop", "6:8: `if` stands in a locked block"),
        ("nop; while $r = 1 do nop", "6:13: `while` stands in a locked block"),
        ("either{ nop }", "6:8: `either` stands in a locked block; write `locked{ … or … }`"),
    ] {
        assert_eq!(errors(&process(&format!("locked{{{inside}}}"))), [format!("{message} {help}")]);
    }
}

#[test]
fn a_cas_waits_for_its_value() {
    let text = "data lock = 0 : [0:1] process(2) text L: cas(lock, 0, 1); CS: write: lock := 0; goto L";
    assert!(is_reachable(text, "P0@CS") && !is_reachable(text, "P0@CS and P1@CS"));
    let program = parsed(text).program;
    assert_eq!(shown(&program, 0), ["L to CS: atomic ? lock; lock :=", "CS to L: lock :="]);
}

#[test]
fn values_at_the_start_may_be_any() {
    let text =
        "data a = * : [1:2] b = * : [0:1] started = 5 process registers $r = * : [0:1] $t = * $u = * : [7:8] text
        read: $t := a; L: $u := $u + $r process text L: nop";
    let program = parsed(text).program;
    assert_eq!(
        shown(&program, 0),
        [
            "init to init_2: atomic a :=",
            "init to init_2: atomic a :=",
            "init_2 to init_3: atomic b :=",
            "init_2 to init_3: atomic b :=",
            "init_3 to init_4: atomic started_2 :=",
            "init_4 to init_5: ~r :=",
            "init_4 to init_5: ~r :=",
            "init_5 to start: ~u :=",
            "init_5 to start: ~u :=",
            "start to L: ~t := a",
            "L to end: ? ~u, ~r; ~u := ~u, ~r",
        ]
    );
    assert_eq!(shown(&program, 1), ["init to L: atomic ? started_2", "L to end: "]);
    for (a, b, r, u) in [(1, 0, 0, 7), (2, 1, 1, 8), (1, 1, 0, 8)] {
        assert!(is_reachable(text, &format!("P0@L and P1@L and a = {a} and b = {b} and P0.r = {r} and P0.u = {u}")));
    }
    assert!(!is_reachable(text, "P1@L and not P0@start and not P0@L and P0@init"));
    assert!(!is_reachable(text, "P0@L and a = 0"));
    // Alone, nobody waits.
    let text = "data a = * : [1:2] process text L: nop";
    assert_eq!(parsed(text).program.shared.len(), 1);
    assert_eq!(
        errors("data a = * process text nop"),
        [
            "1:6: `a` starts with any integer: that is too many (give it a range, as `a = * : [0:1]`, or one value, as `a = 0`)"
        ]
    );
    assert_eq!(
        errors("process registers $r = * : Z text assume: $r = 1"),
        [
            "1:19: `$r` starts with any integer: that is too many (give it a range, as `$r = * : [0:1]`, or one value, as `$r = 0`)"
        ]
    );
    assert_eq!(
        errors("data a = * : [0:1000] process text nop"),
        ["1:6: `a` starts with more than 1000 values (give it a smaller range, as `a = * : [0:1]`, or one value)"]
    );
}

#[test]
fn macros_stand_for_their_words() {
    let text = "forbidden A B data x = 0 : [0:9] macro set(where, what) write: where := what endmacro\n\
        macro all(l, n) process text set(x, n); l: set(x, (n + 1)) endmacro all(A, 1) all(B, 4)";
    let read = parsed(text);
    assert_eq!(never(&read), "P0@A and P1@B");
    assert_eq!(shown(&read.program, 1), ["start to B: x :=", "B to end: x :="]);
    assert!(is_reachable(text, "x = 5 and P1@end") && !is_reachable(text, "x = 3"));
    let cases = [
        ("macro m() nop", "1:7: the macro `m` has no end"),
        ("macro m() nop endmacro macro m() nop endmacro", "1:30: there are two macros `m`"),
        ("macro m(a, a) nop endmacro", "1:12: there are two parameters `a`"),
        ("macro m(a) nop endmacro process text m()", "1:38: `m` has 1 parameter, found 0"),
        ("macro m(a) nop endmacro process text m(,)", "1:38: argument 1 of `m` is empty"),
        ("macro m() m() endmacro process text m()", "1:11: calls of macros nest more than 100 deep"),
        ("macro m() macro endmacro", "1:11: a macro is defined in a macro"),
        ("endmacro", "1:1: there is no macro that ends here"),
        ("macro m(a) nop endmacro process text m(1", "1:41: expected `)`, found the end of the file"),
    ];
    for (text, expected) in cases {
        let found = errors(text);
        assert!(found.len() == 1 && found[0].starts_with(expected), "{text}: {found:?}");
    }
    // Words that double with every macro.
    let mut bomb = "macro m0() nop; nop endmacro ".to_owned();
    (1..60).for_each(|n| bomb += &format!("macro m{n}() m{}(); m{}() endmacro ", n - 1, n - 1));
    bomb += "process text m59()";
    assert!(errors(&bomb)[0].contains("more than 200000 words"));
}

#[test]
fn forbidden_states_are_a_property() {
    let text = "forbidden A B; B * process text A: nop; B: nop process text A: nop; B: nop";
    let read = parsed(text);
    assert_eq!(never(&read), "(P0@A and P1@B) or P0@B");
    assert!(is_reachable(text, &never(&read)));
    assert_eq!(
        warnings("forbidden A predicates $r = 1; $s < 2 process text A: nop"),
        ["1:13: predicates are ignored (they only guide the abstraction of Memorax)"]
    );
    assert!(parsed("process text nop").properties.is_empty());
    let labels = "process text A: nop; B: nop process text A: nop";
    let vector = "(a forbidden vector has a label for each process, or `*` for any; `;` stands between vectors)";
    for (forbidden, expected) in [
        ("A", format!("1:11: this vector has 1 label for 2 processes {vector}")),
        ("A A; A A A", format!("1:16: this vector has 3 labels for 2 processes {vector}")),
        ("* *", "1:11: this forbids every state (at least one process has a label)".to_owned()),
        ("C A", "1:11: process 0 has no label `C` (its labels are `A`, `B`)".to_owned()),
        ("A; B", format!("1:11: this vector has 1 label for 2 processes {vector}|1:14: this vector has 1 label for 2 processes {vector}")),
        ("A B", "1:13: process 1 has no label `B` (its only label is `A`)".to_owned()),
        ("", "1:11: expected a label or `*`, found `process` (a forbidden vector has a label for each process, or `*` for any)".to_owned()),
    ] {
        assert_eq!(errors(&format!("forbidden {forbidden}{}{labels}", if forbidden.is_empty() { "" } else { " " })).join("|"), expected, "{forbidden}");
    }
}

#[test]
fn doubtful_texts_get_warnings() {
    assert_eq!(warnings(&process("L: nop; goto L; nop; nop")), ["6:17: this is never reached, and is left out"]);
    assert_eq!(
        warnings("data x = 0 : [0:1] process registers $r = 2 : [2:3] text read: $r := x"),
        ["1:58: this is never taken: no value of `x` is in the range of `$r`"]
    );
}

#[test]
fn wrong_texts_are_refused_where_they_are_wrong() {
    let read = "(a read is `read: x = 0`, which waits for the value, or `read: $r := x`)";
    let cases: Vec<(String, Vec<String>)> = vec![
        (process("wirte: x := 1"), vec!["6:8: expected a statement, found `x` (XX)".to_owned()]),
        (process("read x = 1"), vec![format!("6:6: expected `:`, found `x` {read}")]),
        (process("read: z = 1"), vec!["6:7: there is no global variable `z` (global variables are declared behind `data`, before the first `process`)".to_owned()]),
        (process("read: own = 1"), vec!["6:7: there is no global variable `own` (`own` belongs to a process: `own[my]` is its own, `own[0]` that of the first other one)".to_owned()]),
        (process("read: x[my] = 1"), vec!["6:7: process 0 has no variable `x` (`x` is global and stands without `[ ]`)".to_owned()]),
        (process("read: own[1] = 1"), vec!["6:7: process 0 has no other process 1 (there is one other process, with number 0)".to_owned()]),
        (process("read: x = @2"), vec!["6:11: there is no process 2 (processes are numbered in the order of the text, from 0)".to_owned()]),
        (process("write: [7] := 1"), vec!["6:8: no global variable has this number (they are numbered in the order of their declarations, from 0 to 1)".to_owned()]),
        (process("$q := 1; $r := $ss"), vec!["6:1: there is no register `$q` (registers are declared behind `registers`)".to_owned(), "6:16: there is no register `$ss` (registers are declared behind `registers`)".to_owned()]),
        (process("L: nop; L: nop"), vec!["6:9: there are two labels `L` (a label stands once in a process)".to_owned()]),
        (process("LOOP: nop; goto LOPO"), vec!["6:17: this process has no label `LOPO` (did you mean `LOOP`? its only label is `LOOP`)".to_owned()]),
        (process("goto L"), vec!["6:6: this process has no label `L` (it has no labels)".to_owned()]),
        (process("if $r then nop"), vec!["6:7: expected a comparison, found `then` (a condition compares expressions with `=`, `!=`, `<`, `>`, `<=` or `>=`; `[ … ]` are its parentheses)".to_owned()]),
        (process("if $r = 1 nop"), vec!["6:11: expected `then`, found `nop` (`if $r = 0 then … else …`)".to_owned()]),
        (process("either{ nop or nop"), vec!["7:1: expected `;`, `or` or `}`, found `process` (alternatives are `{ … or … }`, statements are separated by `;`)".to_owned()]),
        (process("x := 1"), vec!["6:1: expected a statement, found `x` (variables are written by `write: x := 1`, registers begin with `$`)".to_owned()]),
        (process("$r := 99999999999999999999"), vec!["6:7: this integer does not fit into 64 bits (the largest number is 9223372036854775807)".to_owned()]),
        (process("nop // no"), vec!["6:5: `/` means nothing here (comments are written `/* … */`)".to_owned(), "6:6: `/` means nothing here (comments are written `/* … */`)".to_owned(), "6:8: expected `;` or `process`, found `no` (OUTLINE)".to_owned()]),
        (process("nop /* no"), vec!["6:5: this comment has no end (a comment that begins with `/*` ends with `*/`; comments do not nest)".to_owned()]),
        ("data x = 2 : [0:1] process text nop".to_owned(), vec!["1:6: the value at the start, 2, is not in the range (a declaration is `x = 0 : [0:1]`: a name, the value at the start (`*` is any) and the range)".to_owned()]),
        ("data x = 0 : [1:0] process text nop".to_owned(), vec!["1:14: no value is from 1 to 0 (the smaller end comes first: `[0:1]`)".to_owned()]),
        ("data x = 0 x = 1 process text nop".to_owned(), vec!["1:12: there are two variables `x`".to_owned()]),
        ("process(0) text nop".to_owned(), vec!["1:9: expected a number of processes from 1 to 1000 (`process(2)` are two processes with one text)".to_owned()]),
        ("process(1000) text nop process text nop".to_owned(), vec!["1:24: there are more than 1000 processes".to_owned()]),
        ("process data a = 0 data b = 0 text nop".to_owned(), vec!["1:20: there are two `data` (put all of them into one)".to_owned()]),
        ("process txt nop".to_owned(), vec!["1:9: expected `data`, `registers` or `text`, found `txt` (did you mean `text`?)".to_owned()]),
        ("".to_owned(), vec!["1:1: there is no process (OUTLINE)".to_owned()]),
        ("thread t".to_owned(), vec!["1:1: expected `process`, found `thread` (OUTLINE)".to_owned()]),
        // Several errors at once, each in its place.
        (
            process("read: z = 1; wirte: x := 1; read x = 2; { nop; goto }; write: x = 1"),
            vec![
                "6:21: expected a statement, found `x` (XX)".to_owned(),
                format!("6:34: expected `:`, found `x` {read}"),
                "6:53: expected a label, found `}` (`goto LABEL`)".to_owned(),
                "6:65: expected `:=`, found `=` (a write is `write: x := 1`)".to_owned(),
            ],
        ),
    ];
    let (mut all_found, mut all_expected) = (Vec::new(), Vec::new());
    for (text, expected) in cases {
        let found: Vec<String> = errors(&text)
            .into_iter()
            .map(|error| {
                let error = error.replace("a program is `forbidden`, labels of all processes, `data`, global variables, and for each process `process`, its `data`, `registers` and `text`", "OUTLINE");
                match error.split_once(" (a statement is ") {
                    Some((message, _)) => format!("{message} (XX)"),
                    None => error,
                }
            })
            .collect();
        all_found.push((text.clone(), found));
        all_expected.push((text, expected));
    }
    assert_eq!(all_found, all_expected);
}

#[test]
fn deep_and_large_texts_are_refused() {
    let deep = |text: &str| errors(&process(text)).remove(0);
    assert!(deep(&format!("{}nop", "{".repeat(100_000))).contains("more than 100 levels deep"));
    assert!(deep(&format!("{}nop", "if $r = 1 then ".repeat(100_000))).contains("more than 100 levels deep"));
    assert!(deep(&format!("$r := {}1", "-(".repeat(100_000))).contains("more than 100 levels deep"));
    assert!(deep(&format!("assume: {}", "[".repeat(100_000))).contains("more than 100 levels deep"));
    assert!(deep(&format!("$r := 1{}", " + 1".repeat(100_000))).contains("more than 100 operators deep"));
    assert!(deep(&format!("assume: true{}", " || true".repeat(100_000))).contains("more than 100 operators deep"));
    let doublings = "$s := $s + $s; ".repeat(20);
    let text = "data x = 0 process registers $s = 1 text ";
    assert!(
        errors(&format!("{text}locked{{ {doublings} write: x := $s }}"))[0].contains("too large for one instruction")
    );
    let many: String = (0..300).map(|n| format!("v{n} = * : [0:999] ")).collect();
    assert!(errors(&format!("data {many} process text nop"))[0].contains("too many instructions"));
    let body = "nop; ".repeat(1000);
    assert!(errors(&format!("process(1000) text {body} nop"))[0].contains("too many instructions"));
}
