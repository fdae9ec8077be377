//! Programs as automata, right and wrong: what they become, and what is said about them.

use crate::support::corpus::corpus_dir;
use seqcon::explore::observe::Nobody;
use seqcon::explore::{Limits, explore};
use seqcon::ids::ControlAt;
use seqcon::lang::{self, Diagnostic, Diagnostics, Parsed};
use seqcon::program::compiled::Compiled;
use seqcon::program::labels::{Decision, label};
use seqcon::program::{InstructionKind, Program};
use std::fs;
use std::path::{Path, PathBuf};

fn parse(text: &str) -> Result<Parsed, Diagnostics> {
    lang::parse("folder/test.txt", text)
}

fn parsed(text: &str) -> Parsed {
    parse(text).unwrap_or_else(|errors| panic!("this should be accepted:\n{text}\n{errors}"))
}

/// `line:column: message` and, if there is some, ` (help)`.
fn said(text: &str, diagnostic: &Diagnostic) -> String {
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

/// The labels of all instructions, which compute no address, and where they lead from and to.
fn shown(program: &Program) -> Vec<String> {
    let mut shown = Vec::new();
    for (at, instruction) in program.instructions_at() {
        let label = label(program, at, Decision::Taken, 0);
        let state = |control: ControlAt| &program.thread(at.thread).states[control.index()];
        shown.push(format!("{} to {} {label}", state(instruction.from), state(instruction.to)));
    }
    shown
}

/// A thread whose first transition stands on line 3.
fn thread(transitions: &str) -> String {
    format!("thread t\ninitial a\n{transitions}\nend\n")
}

/// A process whose first instruction stands on line 4.
fn process(instructions: &str) -> String {
    format!("program p vars x y procs\nprocess t regs r s\ninit a begin\n{instructions}\nend\n")
}

#[test]
fn every_instruction_becomes_one() {
    let text = thread(
        "transition a b write + r 1 3\ntransition b c read r 0\ntransition c d local s == r 2\n\
         transition d e check && r ! s\ntransition e f mfence\ntransition f a noop\ntransition b a check 1",
    );
    let program = parsed(&text).program;
    assert_eq!(program.name, "test");
    assert_eq!((program.shared[0].name.as_str(), program.shared[0].initial.len()), ("m", 4));
    assert_eq!(
        shown(&program),
        [
            "a to b t.a-b: m[3] := ~r",
            "b to c t.b-c: ~r := m[0]",
            "c to d t.c-d: ~s := ~r",
            "d to e t.d-e: ? ~r, ~s",
            "e to f t.e-f: fence",
            "f to a t.f-a",
            "b to a t.b-a: ?",
        ]
    );
    let spans = program.threads[0].instructions.iter().map(|instruction| instruction.span);
    let lines: Vec<&str> = spans.map(|span| &text[span.start..span.end]).collect();
    assert_eq!(lines[0], "transition a b write + r 1 3");
    assert_eq!(lines[5], "transition f a noop");
}

#[test]
fn words_are_separated_by_blanks_alone() {
    let text = "# by lines\r\nmemory_size 2\r\nthread t 2 initial a # here too\r\n\
                transition a b\r\n  read flag_i+1 0\r\ntransition a c read flag_i-1 1 end\r\n";
    let program = parsed(text).program;
    let names: Vec<&str> = program.threads.iter().map(|thread| thread.name.as_str()).collect();
    assert_eq!(names, ["t_1", "t_2"]);
    let locals: Vec<&str> = program.threads[1].locals.iter().map(|local| local.name.as_str()).collect();
    assert_eq!(locals, ["flag_i_plus_1", "flag_i_minus_1"]);
}

#[test]
fn the_paper_has_its_own_words() {
    let text = process(
        "a : x = r + 1 ; goto b\nb : r = y ; goto c;\nb : s := -r * 2 ; goto c\nc : arw(x, 1, r & 3) ; goto d\n\
         d : fence ; goto e\ne : skip ; goto f\nf : assume !(r == 0 || s < 2) ; goto a",
    );
    let program = parsed(&text).program;
    assert_eq!(program.name, "p");
    assert_eq!(
        shown(&program),
        [
            "a to b t.a-b: x := ~r",
            "b to c t.b-c: ~r := y",
            "b to c t.b-c-2: ~s := ~r",
            "c to d t.c-d: atomic ? x; x := ~r",
            "d to e t.d-e: fence",
            "e to f t.e-f",
            "f to a t.f-a: ? ~r, ~s",
        ]
    );
}

#[test]
fn the_memory_is_as_large_as_the_text_says_or_needs() {
    let size = |text: &str| parsed(text).program.shared[0].initial.len();
    assert_eq!(size(&thread("transition a b write 1 0")), 1);
    assert_eq!(size(&thread("transition a b write 1 6")), 7);
    // What Trencher takes.
    assert_eq!(size(&thread("transition a b read r 2\ntransition b c write 1 r")), 10);
    assert_eq!(size(&thread("transition a b read r 12\ntransition b c write 1 r")), 13);
    assert_eq!(size(&format!("memory_size 3 {}", thread("transition a b read r 2\ntransition b c write 1 r"))), 3);
}

#[test]
fn a_computed_address_outside_of_the_memory_is_a_fault() {
    let text = format!(
        "memory_size 2 {}",
        thread("transition a b local r 1\ntransition b c read s r\ntransition c d write 7 + r 1")
    );
    let compiled = Compiled::new(&parsed(&text).program).unwrap();
    let Err(failure) = explore(&compiled, &Limits::default(), &mut Nobody) else { panic!("address 2 of 0 and 1") };
    let failure = format!("{failure:?}");
    assert!(failure.contains("OutsideOfMemory"), "{failure}");
}

#[test]
fn each_way_through_a_region_is_one_atomic_instruction() {
    // Compare and swap: what was read decides.
    let text = thread(
        "transition a b lock\ntransition b c read r 0\ntransition c d check == r s\ntransition d e write 1 0\n\
         transition e f unlock\ntransition c g check != r s\ntransition g a unlock",
    );
    let program = parsed(&text).program;
    assert_eq!(
        shown(&program),
        ["a to f t.a-f: atomic ? m[0], ~s; ~r := m[0]; m[0] :=", "a to a t.a-a: atomic ? m[0], ~s; ~r := m[0]"]
    );
    assert_eq!(program.threads[0].states, ["a", "f"]);
    assert_eq!(parsed(&text).warnings.len(), 1, "s is never assigned");
    let spans =
        program.threads[0].instructions.iter().map(|instruction| &text[instruction.span.start..instruction.span.end]);
    assert!(spans.clone().all(|span| span.starts_with("transition a b lock")), "{:?}", spans.collect::<Vec<_>>());
}

#[test]
fn a_region_sees_its_own_writes() {
    // The check is about what the region itself wrote: it holds always, or never.
    let written = |check: &str| {
        thread(&format!(
            "transition a b lock\ntransition b c write 5 0\ntransition c d read r 0\ntransition d e check {check}\n\
             transition e f unlock"
        ))
    };
    assert_eq!(shown(&parsed(&written("== r 5")).program), ["a to f t.a-f: atomic m[0] :=; ~r := m[0]"]);
    assert_eq!(
        warnings(&written("== r 4")),
        [
            "3:1: this region is never left: all that follows is left out",
            "7:12: state `e` is never reached: what leads from there is left out"
        ]
    );
}

#[test]
fn loops_in_regions_end_where_nothing_changes() {
    let text = thread(
        "transition a b lock\ntransition b c read r 0\ntransition c b check != r 0\ntransition c d check == r 0\n\
         transition d e write 1 0\ntransition e f unlock",
    );
    assert_eq!(shown(&parsed(&text).program), ["a to f t.a-f: atomic ? m[0]; ~r := m[0]; m[0] :="]);
    let counted = thread(
        "transition a b lock\ntransition b c local i 0\ntransition c d check < i 3\ntransition d c local i + i 1\n\
         transition c e check >= i 3\ntransition e f unlock",
    );
    assert_eq!(shown(&parsed(&counted).program), ["a to f t.a-f: atomic ~i :=; ~i := ~i; ~i := ~i; ~i := ~i"]);
    let endless = thread(
        "transition a b lock\ntransition b c read i 0\ntransition c d check < i 3\ntransition d c local i + i 1\n\
         transition c e check >= i 3\ntransition e f unlock",
    );
    let found = errors(&endless);
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(found[0].starts_with("3:1: "), "{found:?}");
    assert!(found[0].contains("each way through it"), "{found:?}");
}

#[test]
fn a_region_without_accesses_is_a_fence() {
    let text = thread("transition a b lock\ntransition b c mfence\ntransition c d unlock");
    assert_eq!(parsed(&text).program.threads[0].instructions[0].kind, InstructionKind::Fence);
}

#[test]
fn doubtful_texts_get_warnings() {
    let cases = [
        (
            thread("transition a b noop\ntransition c a noop"),
            "4:12: state `c` is never reached: what leads from there is left out",
        ),
        (
            thread("transition a b read flag 0\ntransition b c check == falg 0"),
            "4:25: register `falg` is never assigned: it is always 0 (did you mean `flag`?)",
        ),
        (
            thread("transition a b unlock"),
            "3:1: nothing is locked here: this is never taken (`unlock` ends what `lock` has begun)",
        ),
    ];
    for (text, expected) in cases {
        assert_eq!(warnings(&text), [expected], "{text}");
    }
    assert_eq!(
        warnings(&thread("transition a b lock\ntransition b c lock")),
        [
            "3:1: this region is never left: all that follows is left out",
            "4:1: this waits for ever if the thread has the lock already, and it can (locks do not nest)",
        ]
    );
    assert_eq!(
        warnings(&thread("transition a b lock\ntransition b c write 1 0")),
        [
            "3:1: the thread ends in `c` and has the lock for ever: nobody sees what it did (`unlock` gives the lock back)",
            "3:1: this region is never left: all that follows is left out",
        ]
    );
}

#[test]
fn wrong_texts_are_refused_where_they_are_wrong() {
    let cases: Vec<(String, Vec<&str>)> = vec![
        (thread("transition a b wirte 1 0"), vec!["3:16: there is no instruction `wirte` (did you mean `write`?)"]),
        (
            thread("transition a b cas 1 0"),
            vec![
                "3:16: there is no instruction `cas` (the instructions are `write`, `read`, `local`, `check`, `mfence`, `lock`, `unlock`, `noop`)",
            ],
        ),
        (
            thread("transition a b write 1"),
            vec!["3:23: expected the address that is written, found the end of the line"],
        ),
        (thread("transition a b"), vec!["3:15: expected an instruction, found the end of the line"]),
        (
            thread("transition a"),
            vec!["3:13: expected the state that the transition leads to, found the end of the line"],
        ),
        (
            thread("transition a b read 1 r"),
            vec![
                "3:21: expected a register, found `1` (the register comes first: `read REGISTER ADDRESS`, `local REGISTER VALUE`)",
            ],
        ),
        (
            thread("transition a b check == r"),
            vec!["3:26: expected the second operand of `==`, found the end of the line"],
        ),
        (
            thread("transition a b check = r 1"),
            vec!["3:22: expected the value that is checked, found `=` (equality is `==`)"],
        ),
        (
            thread("transition a b check | r 1"),
            vec![
                "3:22: expected the value that is checked, found `|` (the operators are `==`, `!=`, `<`, `<=`, `>`, `>=`, `&&`, `||`, `+`, `-`, `*`, `&`, `!`)",
            ],
        ),
        (thread("transition a b noop 1"), vec!["3:21: expected `initial`, `transition` or `end`, found `1`"]),
        (thread("transition a b write 1 -1"), vec!["3:24: the memory has no address -1 (addresses begin with 0)"]),
        (
            format!("memory_size 2\n{}", thread("transition a b write 1 2")),
            vec!["4:24: the memory has no address 2 (`memory_size 2` gives the addresses 0 to 1)"],
        ),
        (
            format!("memory_size 2\nmemory_size 3\n{}", thread("transition a b noop")),
            vec!["2:1: there are two `memory_size` (the first one says 2; keep one)"],
        ),
        (
            format!("memory_size 0\n{}", thread("transition a b noop")),
            vec!["1:13: expected a number of addresses from 1 to 65536, found `0`"],
        ),
        (thread("transition a b local r 99999999999999999999"), vec!["3:24: this integer does not fit into 64 bits"]),
        (
            thread("transition a b noop\ninitial b"),
            vec!["4:1: the thread has an initial state already (a thread starts in one state; keep one `initial`)"],
        ),
        (
            thread("transitoin a b noop"),
            vec!["3:1: expected `initial`, `transition` or `end`, found `transitoin` (did you mean `transition`?)"],
        ),
        (
            "thread t\ntransition a b noop\nend".to_owned(),
            vec!["1:1: thread `t` has no initial state (add `initial STATE`)"],
        ),
        (
            "thread t\ninitial a\n".to_owned(),
            vec![
                "2:10: expected `initial`, `transition` or `end`, found the end of the file (a thread ends with `end`)",
            ],
        ),
        (
            "thread t\ninitial a\nthread u\ninitial a\nend".to_owned(),
            vec!["3:1: expected `end` before `thread` (a thread ends with `end`)"],
        ),
        (
            format!("{}{}", thread(""), thread("")),
            vec!["5:8: there are two threads `t` (every thread has a name of its own)"],
        ),
        (
            "thread t_2\ninitial a\nend\nthread t 2\ninitial a\nend".to_owned(),
            vec!["4:8: there are two threads `t_2` (the copies of a thread `NAME` are called `NAME_1`, `NAME_2`, …)"],
        ),
        ("thread t 0\ninitial a\nend".to_owned(), vec!["1:10: expected a number of copies from 1 to 1000, found `0`"]),
        (
            "initial a".to_owned(),
            vec![
                "1:1: this is no program: expected `memory_size`, `thread` or `program`, found `initial` (`initial` belongs between `thread` and `end`)",
            ],
        ),
        (
            "# nothing\n".to_owned(),
            vec![
                "2:1: there is no thread (a program is `thread NAME`, `initial STATE`, transitions `transition FROM TO INSTRUCTION`, `end`, for each thread)",
            ],
        ),
        (
            "int x = 0;\nproctype p {".to_owned(),
            vec![
                "1:1: this is no program: expected `memory_size`, `thread` or `program`, found `int` (a program is `thread NAME`, `initial STATE`, transitions `transition FROM TO INSTRUCTION`, `end`, for each thread)",
            ],
        ),
        (
            "des (0, 1, 2)\n(0,\"a\",1)\n".to_owned(),
            vec![
                "1:1: this is a state space in the Aldebaran format, not a program (give it a name that ends in `.aut`; `.txt` is for programs)",
            ],
        ),
        (
            "seqcon-facts 1\nstates 14\n".to_owned(),
            vec![
                "1:1: this is a facts file, not a program (give it a name that ends in `.facts`; `.txt` is for programs)",
            ],
        ),
        // Several errors at once, each in its place.
        (
            thread("transition a b wirte 1 0\ntransition b c read r\ntransition c d write 1 0"),
            vec![
                "3:16: there is no instruction `wirte` (did you mean `write`?)",
                "4:22: expected the address that is read, found the end of the line",
            ],
        ),
    ];
    for (text, expected) in cases {
        assert_eq!(errors(&text), expected, "{text}");
    }
}

#[test]
fn wrong_texts_of_the_paper_are_refused_where_they_are_wrong() {
    let instruction = "(an instruction is `LABEL : statement ; goto LABEL`)";
    let cases: Vec<(String, Vec<String>)> = vec![
        (process("a : z = 1 ; goto b"), vec!["4:5: there is no variable or register `z` (variables are declared behind `vars`, registers behind `regs`)".to_owned()]),
        (
            process("a : x = y ; goto b"),
            vec!["4:9: `y` is a shared variable, and expressions are over registers (read it first, in an instruction of its own: `REG = y`)".to_owned()],
        ),
        (process("a : r = q ; goto b"), vec!["4:9: there is no register `q` (variables are declared behind `vars`, registers behind `regs`)".to_owned()]),
        (process("a : arw(r, 1, 2) ; goto b"), vec!["4:9: there is no shared variable `r` (`r` is a register)".to_owned()]),
        (process("a : x = 1 goto b"), vec![format!("4:11: expected `; goto LABEL`, found `goto` {instruction}")]),
        (process("a : x = 1 ; gotto b"), vec!["4:13: expected `goto`, found `gotto` (did you mean `goto`?)".to_owned()]),
        (process("a x = 1 ; goto b"), vec![format!("4:3: expected `:` behind the label, found `x` {instruction}")]),
        (process("a : fense ; goto b"), vec!["4:11: expected `=`, found `;` (did you mean `fence`?)".to_owned()]),
        (process("a : assume (r == 1 ; goto b"), vec!["4:20: expected `)`, found `;` (every `(` has a `)`)".to_owned()]),
        (process("a : x = 1 ; goto end"), vec!["4:18: expected a label, found `end` (`end` is a word of the language and no name)".to_owned()]),
        (process("a : x = 1 ? 2 ; goto b"), vec!["4:11: `?` means nothing here".to_owned(), format!("4:13: expected `; goto LABEL`, found `2` {instruction}")]),
        (
            "program p vars x x procs\nprocess t regs x init a begin end".to_owned(),
            vec!["1:18: there are two variables `x`".to_owned(), "2:16: `x` is a shared variable already (a register needs a name of its own)".to_owned()],
        ),
        (
            format!("{}process t regs init a begin end", process("")),
            vec!["6:9: there are two threads `t` (every thread has a name of its own)".to_owned()],
        ),
        ("program p vars x procs\nprocess t regs init a begin\na : x = 1 ; goto b".to_owned(), vec!["3:19: expected an instruction or `end`, found the end of the file (a process ends with `end`)".to_owned()]),
        ("program p vars x procs".to_owned(), vec!["1:23: there is no process (a program is `program NAME vars x y procs`, then for each process `process NAME regs r init LABEL begin … end`)".to_owned()]),
        // Several errors at once.
        (
            process("a : z = 1 ; goto b\nb : r = 1 ; goto c\nc : skip goto d\nd : assume q ; goto a"),
            vec![
                "4:5: there is no variable or register `z` (variables are declared behind `vars`, registers behind `regs`)".to_owned(),
                format!("6:10: expected `; goto LABEL`, found `goto` {instruction}"),
                "7:12: there is no register `q` (variables are declared behind `vars`, registers behind `regs`)".to_owned(),
            ],
        ),
    ];
    for (text, expected) in cases {
        assert_eq!(errors(&text), expected, "{text}");
    }
}

#[test]
fn deep_expressions_are_refused() {
    let deep = |operator: &str| thread(&format!("transition a b check {}1", format!("{operator} ").repeat(100_000)));
    assert_eq!(errors(&deep("!")).len(), 1);
    assert!(errors(&deep("+"))[0].contains("more than 100 operators deep"));
    let deep = process(&format!("a : assume {}1 ; goto b", "!(".repeat(100_000)));
    assert!(errors(&deep)[0].contains("more than 100 operators deep"));
    let long = process(&format!("a : assume r{} ; goto b", " + 1".repeat(100_000)));
    assert!(errors(&long)[0].contains("more than 100 operators deep"));
}

/// Every prefix of a right text, and every text with one word left out, is read or refused, and errors are in the text.
#[test]
fn mutilated_texts_are_read_or_refused() {
    let texts = [
        "memory_size 3\nthread t 2\ninitial a\ntransition a b write + r 1 2\ntransition b c lock\ntransition c d read r * 2 r\n\
         transition d e check && == r 0 ! s\ntransition e a unlock\nend\n"
            .to_owned(),
        process("a : x = r + 1 ; goto b\nb : arw(x, (1), r & 3) ; goto d\nd : assume !(r == 0 || s < 2) ; goto a"),
    ];
    for text in texts {
        parsed(&text);
        let prefixes = text.char_indices().map(|(at, _)| text[..at].to_owned());
        let words: Vec<&str> = text.split_whitespace().collect();
        let without = (0..words.len()).map(|left_out| {
            let kept = words.iter().enumerate().filter(|(position, _)| *position != left_out);
            kept.map(|(_, word)| *word).collect::<Vec<_>>().join(" ")
        });
        for mutilated in prefixes.chain(without) {
            if let Err(found) = parse(&mutilated) {
                assert!(found.errors().iter().all(|error| error.span.end <= mutilated.len()), "{mutilated}");
            }
        }
    }
}

fn corpus_programs(corpus: &Path) -> Vec<PathBuf> {
    let mut open = vec![corpus.join("persist"), corpus.join("trencher")];
    let mut programs = Vec::new();
    while let Some(directory) = open.pop() {
        for entry in fs::read_dir(directory).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                open.push(path);
            } else if path.extension().is_some_and(|extension| extension == "txt") {
                programs.push(path);
            }
        }
    }
    programs.sort();
    programs
}

#[test]
fn programs_of_the_corpus_are_read_and_explored() {
    let Some(corpus) = corpus_dir() else { return };
    let (mut complete, mut cut_off, mut other) = (0, 0, 0);
    for path in corpus_programs(&corpus) {
        let text = fs::read_to_string(&path).unwrap();
        let name = path.display().to_string();
        // Inputs of another tool stand beside them under the same extension.
        if name.ends_with("_Remmex.txt") {
            let refused = lang::parse(&name, &text).expect_err("this is another language");
            assert!(refused.to_string().contains("this is no program"), "{refused}");
            other += 1;
            continue;
        }
        let parsed = lang::parse(&name, &text).unwrap_or_else(|errors| panic!("{errors}"));
        let threads = text.lines().filter(|line| line.split_whitespace().next() == Some("thread")).count();
        assert_eq!(parsed.program.threads.len(), threads, "{name}");
        let accesses_of_plain = |program: &Program| {
            let instructions = program.threads.iter().flat_map(|thread| &thread.instructions);
            instructions
                .filter(|instruction| instruction.kind == InstructionKind::Plain)
                .all(|instruction| instruction.condition.is_none() || instruction.assignments.is_empty())
        };
        assert!(accesses_of_plain(&parsed.program), "{name}: a plain instruction is one transition");
        let limits = Limits { states: Some(30_000), ..Limits::default() };
        let compiled = Compiled::new(&parsed.program).expect("few indices");
        let (exploration, _) =
            explore(&compiled, &limits, &mut Nobody).unwrap_or_else(|failure| panic!("{name}: {failure:?}"));
        match exploration.stop {
            seqcon::explore::Stop::Complete => complete += 1,
            _ => cut_off += 1,
        }
    }
    println!("{complete} explored, {cut_off} larger than 30,000 states, {other} of another tool");
    assert!(complete + cut_off >= 140 && complete >= 50, "{complete} {cut_off}");
}
