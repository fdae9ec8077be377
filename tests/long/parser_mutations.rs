//! Random edits of whatever seqcon reads but SLCO (which has a file of its own): each text is read or refused, at
//! once and without much memory.
//!
//! Refused means with an error whose place is inside the text.

use crate::support::facts_of;
use crate::support::mutation::{Guard, mutate};
use crate::support::random::random_cases;
use rand::Rng;
use seqcon::compare::Report;
use seqcon::facts::extract::Options;
use seqcon::lang::{self, Diagnostics};
use seqcon::lts::dialect::{generic, native, rw};
use seqcon::memory::MemoryModel;
use std::cell::Cell;
use std::fs;
use std::path::Path;

fn file(path: &str) -> String {
    fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(path)).unwrap()
}

/// Reads mutated texts. `read` tells where a text is wrong, if it is; errors without a place are at 0.
fn all_are_read_or_refused(
    parser: &'static str,
    texts: &[String],
    fragments: &[&str],
    read: impl Fn(&str) -> Result<(), usize>,
) {
    for text in texts {
        assert_eq!(read(text), Ok(()), "{parser}: this is right before it is changed:\n{text}");
    }
    let guard = Guard::new(parser);
    let (accepted, refused) = (Cell::new(0), Cell::new(0));
    random_cases(3000, |rng| {
        let text = mutate(&texts[rng.random_range(0..texts.len())], fragments, rng);
        match guard.watched(&text, &read) {
            Ok(()) => accepted.set(accepted.get() + 1),
            Err(place) => {
                assert!(text.is_char_boundary(place), "{parser}: {place} is no place in\n{text}");
                refused.set(refused.get() + 1);
            }
        }
    });
    assert!(accepted.get() > 0 && refused.get() > 0, "{parser}: {accepted:?} accepted, {refused:?} refused");
}

/// The place of the first error.
fn place<T>(result: Result<T, Diagnostics>) -> Result<(), usize> {
    match result {
        Ok(_) => Ok(()),
        Err(errors) => {
            assert!(errors.to_string().contains("error: "));
            Err(errors.errors().first().map(|error| error.span.start).unwrap())
        }
    }
}

const PAPER: [&str; 31] = [
    "program",
    "vars",
    "procs",
    "process",
    "regs",
    "init",
    "begin",
    "end",
    "goto",
    "arw",
    "fence",
    "skip",
    "assume",
    "0:",
    "q0",
    ":",
    ";",
    "; goto",
    "(",
    ")",
    ",",
    "=",
    ":=",
    "==",
    "-1",
    "99999999999999999999",
    "/*",
    "#",
    "é",
    "\0",
    "x y z",
];

#[test]
fn the_language_of_the_paper_on_persistence() {
    let second = "program p vars x, y procs /* two */ process a regs r s init q begin q: r = x; goto w
w: x = 2 * (r + 1) - s; goto v; v: fence; goto u u: skip; goto q end // one
process b regs init q begin q: arw (y, 0, -1 & 3); goto q q: assume 1 < 2 || !(1 == 1) && 3 >= 2; goto q end";
    let texts = [file("specs/mp-arw.txt"), second.to_owned()];
    all_are_read_or_refused("the paper's automata", &texts, &PAPER, |text| place(lang::parse("p.txt", text)));
}

/// What once was read for ever: an instruction that fails at its first word, where the next one seems to begin.
#[test]
fn a_wrong_label_is_reported_once() {
    let guard = Guard::new("the paper's automata");
    for wrong in ["0", "goto", "(", "==", "begin"] {
        let text = format!("program p vars procs process a regs init q begin {wrong}:");
        let errors = guard.watched(&text, |text| lang::parse("p.txt", text)).unwrap_err();
        assert!(errors.errors().len() <= 3, "{errors}");
        assert!(errors.to_string().contains("expected a label or `end`"), "{errors}");
    }
    // The instructions behind it are still read.
    let text = "program p vars procs process a regs init q begin 0: skip; goto q q: sip; goto q end";
    let errors = guard.watched(text, |text| lang::parse("p.txt", text)).unwrap_err().to_string();
    assert!(errors.contains("expected a label or `end`") && errors.contains("did you mean `skip`?"), "{errors}");
}

#[test]
fn the_language_of_the_tools() {
    let fragments = [
        "memory_size",
        "thread",
        "initial",
        "transition",
        "end",
        "\nthread t 1000\n",
        "write",
        "read",
        "local",
        "check",
        "mfence",
        "lock",
        "unlock",
        "noop",
        "== r",
        "!",
        "&&",
        "+ r r",
        "0",
        "-1",
        "65536",
        "99999999999999999999",
        "#",
        "\n",
        "é",
        "\0",
        "idle",
    ];
    let texts = [file("specs/test-and-set.txt"), file("specs/dekker-automata.txt")];
    all_are_read_or_refused("automata", &texts, &fragments, |text| place(lang::parse("p.txt", text)));
}

#[test]
fn the_language_of_memorax() {
    let fragments = [
        "forbidden",
        "predicates",
        "data",
        "registers",
        "text",
        "process(1000)",
        "macro m(a)",
        "endmacro",
        "m(1)",
        "either{",
        "locked{",
        "or",
        "}",
        "if $r = 0 then",
        "else",
        "while true do",
        "goto CS",
        "CS:",
        "read: [$r] =",
        "write: x[my] :=",
        "cas(",
        "*",
        "[0:999]",
        ": Z",
        "99999999999999999999",
        "-",
        ";",
        "/*",
        "é",
        "\0",
    ];
    let second =
        "forbidden A *; * A predicates $r = 1 data x = -1 : [-1:1], y = * : [0:1] process(2) data v = 0 : [0:1]
registers $r = * : [0:1] text A: locked{ read: v[0] = 1; cas([$r], 0, me) or assume: not [$r >= 1 || true] };
while $r < 1 do read: $r := x; if $r = other 0 then B: syncwr: y := 1 else { fence; nop }; goto A";
    let texts = [file("specs/dekker-memorax.rmm"), second.to_owned()];
    all_are_read_or_refused("Memorax", &texts, &fragments, |text| place(lang::parse("p.rmm", text)));
}

#[test]
fn the_language_of_remmex() {
    let fragments = [
        "int",
        "bool",
        "proctype P {",
        "never 2 6 6;",
        "do",
        "od",
        "if",
        "fi",
        "::",
        "->",
        "MFENCE",
        "SFENCE",
        "LOCK",
        "UNLOCK",
        "break;",
        "skip;",
        "cs:",
        "store(x, 1);",
        "r = loadval(x);",
        "load(x, r)",
        "!",
        "&&",
        "||",
        "[1]",
        "{",
        "}",
        "(",
        ")",
        "99999999999999999999",
        "-",
        ";",
        "//",
        "/*",
        "é",
        "\0",
    ];
    let second = "int x, a[2][2] = {{1, 2}, {3, 4}}; bool b = true; never 1 l; proctype P { int r, v[2]; bool f;
l: do :: load(x, 1) || load(x, 2) && r < 3 -> store(a[r][1], v[0]); MFENCE :: !load(b, f) -> LOCK if :: load(x, r) -> store(x, 1);
UNLOCK break; :: !load(x, r) -> UNLOCK fi; od; v[r] = loadVal(a[1][0]); SFENCE; end: }";
    let texts = [file("specs/remmex/fast-mutex.rmx"), second.to_owned()];
    all_are_read_or_refused("Remmex", &texts, &fragments, |text| place(lang::parse("p.rmx", text)));
}

/// So many copies of so many threads are refused, not made; and each of two equal names is reported once.
#[test]
fn copies_of_threads_are_bounded() {
    let guard = Guard::new("automata");
    let thread = |name: &str| format!("thread {name} 1000\n initial q\nend\n");
    let many: String = (0..3000).map(|number| thread(&format!("t{number}"))).collect();
    let errors = guard.watched(&many, |text| lang::parse("p.txt", text)).unwrap_err();
    assert!(errors.to_string().contains("there are more than 10000 threads"), "{errors}");
    let same = thread("t").repeat(3000);
    let errors = guard.watched(&same, |text| lang::parse("p.txt", text)).unwrap_err();
    assert_eq!(errors.errors().len(), 2999);
}

/// What is assigned in a region is put into what follows: a register of some size, mentioned a thousand times in one
/// expression, is refused before that is written down.
#[test]
fn expressions_in_regions_are_bounded() {
    let doublings: String = (0..9).map(|n| format!(" transition s{n} s{} local r + r r\n", n + 1)).collect();
    // A balanced sum, as expressions may not be deep.
    let sum = (0..15).fold("r".to_owned(), |sum, _| format!("+ {sum} {sum}"));
    let text = format!(
        "thread t\n initial a\n transition a s0 lock\n{doublings} transition s9 s10 local r {sum}\n transition s10 b unlock\nend\n"
    );
    let errors = Guard::new("automata").watched(&text, |text| lang::parse("p.txt", text)).unwrap_err();
    assert!(errors.to_string().contains("become too large"), "{errors}");
}

const LITMUS: [&str; 57] = [
    "P0",
    "P1",
    "|",
    ";",
    "{",
    "}",
    "0:",
    "r1",
    "r2=x",
    "(*",
    "*)",
    "exists",
    "~exists",
    "forall",
    "locations [x;]",
    "/\\",
    "\\/",
    "(",
    ")",
    "~",
    "not",
    "L0:",
    "lwz r1,0(r2)",
    "stw r1,0(r2)",
    "bne L0",
    "sync",
    "MOV EAX,[y]",
    "MFENCE",
    "0x7fffffffffffffffff",
    "-",
    "<<",
    "\"",
    "é\0",
    "%x0",
    "&x",
    "int x[2]={1,2};",
    "uint64_t",
    "filter (x=1)",
    "=>",
    "x[1]",
    "STXR W1,W2,[X3]",
    "CASAL W1,W2,[X3]",
    "LDR W1,[X2,#4]",
    "CBNZ W1,L0",
    "amoadd.w.aq.rl x5,x6,(x7)",
    "sc.w x5,x6,(x7)",
    "fence rw,w",
    "xchgl (x),%eax",
    "if (",
    "else",
    "while (1)",
    "do",
    "int r9 =",
    "*x",
    "((((((((",
    "atomic_load_explicit(x, memory_order_acquire)",
    "//",
];

#[test]
fn litmus_tests() {
    let arm = "ARM MP\n{ 0:R2=x; 0:R4=y; 1:R2=y; 1:R4=x; x=0; }\n P0 | P1 ;\n MOV R1,#1 | L0: LDR R1,[R2] ;\n STR R1,[R2] | CMP R1,#1 ;
 DMB ISH | BNE L0 ;\n STR R1,[R4] | EOR R3,R1,R1 ;\n | LDR R5,[R3,R4] ;\nlocations [x; y;]\nforall (1:R1=1 \\/ ~ (1:R5=0 /\\ not [x]=2))";
    let own = ["sb.litmus", "mp+lwsync+addr.litmus"].map(|name| file(&format!("litmus/{name}")));
    let languages = [
        "mp-stlr-ldar.aarch64.litmus",
        "cas-spinlock.aarch64.litmus",
        "mp-fences.riscv.litmus",
        "lrsc-increments.riscv.litmus",
        "mp-release-acquire.c.litmus",
        "cas-or-else.c.litmus",
        "lwarx-increments.ppc.litmus",
        "sb-xchg.x86_64.litmus",
    ];
    let languages = languages.map(|name| file(&format!("litmus-languages/{name}")));
    let texts: Vec<String> = own.into_iter().chain(languages).chain([arm.to_owned()]).collect();
    all_are_read_or_refused("litmus tests", &texts, &LITMUS, |text| place(lang::parse("p.litmus", text)));
}

/// Comments in comments cost one look at each character.
#[test]
fn comments_may_be_nested_deeply() {
    let depth = 200_000;
    let text = file("litmus/sb.litmus").replace("{ }", &format!("{}{}{{ }}", "(* ".repeat(depth), "*) ".repeat(depth)));
    Guard::new("litmus tests").watched(&text, |text| place(lang::parse("p.litmus", text))).unwrap();
}

#[test]
fn invariants() {
    let program = lang::parse("peterson.slco", &file("specs/peterson.slco")).unwrap().program;
    let property = "not (P0@NCS and turn = 1) or 2 ** 3 > 1 % 2 xor wants[turn]".to_owned();
    let fragments = ["(", ")", "[", "]", "not", "and", "xor", "@", ".", "-", "99999999999999999999", "é", "true", "="];
    all_are_read_or_refused("invariants", &[property], &fragments, |text| {
        place(lang::parse_condition("--invariant", text, &program))
    });
}

#[test]
fn state_spaces() {
    let fragments = [
        "des",
        "(",
        ")",
        "\"",
        ",",
        "0",
        "18446744073709551615",
        "4000000000",
        "\n",
        "T9.1: x :=",
        "tau",
        "\u{4}",
        "\0",
    ];
    let texts = [file("lts/sb.aut"), file("lts/handshake.aut")];
    for options in [Options::default(), Options { lenient: true, recover: true, ..Options::default() }] {
        all_are_read_or_refused("state spaces", &texts, &fragments, |text| match facts_of(text, &options) {
            Ok(_) => Ok(()),
            Err(error) => {
                assert!(error.to_string().starts_with("test.aut:"), "{error}");
                Err(0)
            }
        });
    }
}

#[test]
fn facts_files() {
    let mut written = Vec::new();
    seqcon::facts::file::write(&facts_of(file("lts/handshake.aut"), &Options::default()).unwrap().facts, &mut written)
        .unwrap();
    let whole = String::from_utf8(written).unwrap();
    let fragments =
        ["labels 99999999999", "follows", "0 1 new", "waits", "concurrent", "checksum", "0", "\n", "T0.0: x :="];
    all_are_read_or_refused("facts files", &[whole], &fragments, |text| {
        // With the right checksum, so that more than the checksum is tried.
        let body = text.rsplit_once("checksum ").map_or(text, |(body, _)| body);
        let sum = body
            .bytes()
            .fold(0xcbf2_9ce4_8422_2325, |sum: u64, byte| (sum ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3));
        let text = format!("{body}checksum {sum:016x}\n");
        seqcon::facts::file::read(text.as_bytes(), "test.facts").map(drop).map_err(|_| 0)
    });
}

#[test]
fn labels() {
    let fragments =
        ["@", "(", ")", "[", "]", ",", ";", ":=", "?", "?!", "~", "atomic", "fence", "'", "A'(", "lc'(", "lcdp'(", "é"];
    let natives = ["T0.3: ? x, ~y; v[0]@(~x, w[1]@(z)) := v[0]@(~x)", "a.b.1: atomic ?! x", "T.1: fence"];
    let published = [
        "rw(o, thr1, ST'7, [A'([lc'(var_o'f1)], []), A'([lcdp'(var_o'a(1), [var_o't'i, lc'(var_o'x)])], [lc'(var_o'f1)])])",
        "rw(o, t, 1, [fence'])",
        "rw(o, t, 1, [atomic', A'([], [lc'(var_o'x)])])",
    ];
    for (name, texts, parse) in
        [("native labels", natives, native::parse as fn(&str) -> _), ("rw labels", published, rw::parse)]
    {
        let texts = texts.map(str::to_owned);
        all_are_read_or_refused(name, &texts, &fragments, |text| match parse(text) {
            Ok(label) => {
                assert_eq!(native::parse(&label.to_string()).as_ref(), Ok(&label), "{text}");
                Ok(())
            }
            Err(error) => Err(error.offset),
        });
    }
}

#[test]
fn tables_in_toml() {
    let fragments = [
        "[",
        "]",
        "[[",
        "]]",
        "=",
        "\"",
        "'",
        "{",
        "}",
        "\"\"\"",
        ",",
        ".",
        "#",
        "1e999",
        "é",
        "(?<",
        "{1000}",
        "(a{1000}){1000}",
        ")*",
    ];
    let table = file("src/memory/builtin/armv7.toml");
    all_are_read_or_refused("memory models", &[table], &fragments, |text| {
        MemoryModel::from_toml(text).map(drop).map_err(|_| 0)
    });
    let dialect = "label = '^(?<thread>\\w+)_(?<instr>\\d+)_(?:w\\((?<writes>[^)]*)\\))?(?:r\\((?<reads>[^)]*)\\))?$'\nseparator = \",\"\nlocal = '^r\\d+$'\n";
    all_are_read_or_refused(
        "dialects",
        &[dialect.to_owned()],
        &fragments,
        |text| match generic::Description::from_toml(text) {
            Ok(description) => {
                let _ = description.parse("p1_2_w(x,y)r(r1)");
                Ok(())
            }
            Err(_) => Err(0),
        },
    );
}

#[test]
fn reports() {
    let report = r#"{"schema_version": 1, "seqcon": "0.1.0", "inputs": [{"path": "x", "sha256": null}],
"results": [{"summary": {"memory_model": "tso"}, "fences": [{"thread": "t", "instruction": "0", "position": "after", "level": null,
"kind": "plain", "mnemonic": "mfence", "serves": [0]}], "locks": [], "delays": []}]}"#;
    let fragments = ["[", "]", "{", "}", "\"", ",", ":", "null", "1e999", "-1", "\\u0000", "[[[[[[[["];
    all_are_read_or_refused("reports", &[report.to_owned()], &fragments, |text| {
        Report::from_json(text).map(drop).map_err(|_| 0)
    });
}
