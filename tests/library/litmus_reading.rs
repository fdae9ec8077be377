//! The litmus reader: what it makes of tests, what it refuses and how, and verdicts from the literature on tests that
//! the corpus has not.

use crate::support::litmus::{axioms, verdict};
use crate::support::random::random_cases;
use rand::Rng;
use seqcon::lang::litmus::read;
use seqcon::program::{InstructionKind, PartialFence};
use seqcon::weak::axiomatic::Model;
use seqcon::weak::axiomatic::litmus::Answer;

fn holds(model: &Model, text: &str) -> bool {
    let test = read("t.litmus", text).unwrap_or_else(|errors| panic!("{errors}"));
    let verdict = verdict(&test.program, test.condition.as_ref(), model, 2).unwrap();
    assert!(verdict.outcomes.complete);
    verdict.condition == Some(Answer::Holds)
}

/// Message passing: the writer with a fence, the reader with something between its reads.
fn arm_mp(between: &str, second: &str) -> String {
    let mut text = "ARM MP\n{ 0:R1=x; 0:R2=y; 1:R1=x; 1:R2=y; }\n P0 | P1 ;\n".to_owned();
    let left = ["MOV R0,#1", "STR R0,[R1]", "DMB", "STR R0,[R2]"];
    let mut right = vec!["LDR R3,[R2]"];
    right.extend(between.split(';').filter(|code| !code.is_empty()));
    right.push(second);
    for row in 0..left.len().max(right.len()) {
        text += &format!(" {} | {} ;\n", left.get(row).unwrap_or(&""), right.get(row).unwrap_or(&""));
    }
    text + "exists (1:R3=1 /\\ 1:R4=0)"
}

/// From "Herding cats", table of tests on ARM: which dependencies keep two reads in order.
#[test]
fn dependencies_and_fences_on_arm() {
    let plain = "LDR R4,[R1]";
    assert!(holds(&axioms("armv7"), &arm_mp("", plain)));
    assert!(!holds(&axioms("armv7"), &arm_mp("DMB", plain)));
    assert!(!holds(&axioms("armv7"), &arm_mp("EOR R5,R3,R3", "LDR R4,[R1,R5]")), "an address dependency orders");
    assert!(holds(&axioms("armv7"), &arm_mp("CMP R3,R3;BNE L;L:", plain)), "a control dependency does not order reads");
    assert!(!holds(&axioms("armv7"), &arm_mp("CMP R3,R3;BNE L;L:;ISB", plain)), "with a control fence it does");
    assert!(holds(&axioms("armv7"), &arm_mp("ISB", plain)), "a control fence alone does not");
    assert!(holds(&axioms("armv7"), &arm_mp("DMB ST", plain)), "nor does a fence for writes");
    for model in ["sc", "tso"] {
        assert!(!holds(&axioms(model), &arm_mp("", plain)));
    }
}

fn x86(rows: &str, condition: &str) -> String {
    format!("X86 t\n{{ }}\n P0 | P1 ;\n{rows}\nexists ({condition})")
}

#[test]
fn locked_instructions_of_x86() {
    let sb = |middle: &str| {
        x86(
            &format!(" MOV [x],$1 | MOV [y],$1 ;\n {middle} | {middle} ;\n MOV EAX,[y] | MOV EAX,[x] ;"),
            "0:EAX=0 /\\ 1:EAX=0",
        )
    };
    assert!(
        holds(&axioms("tso"), &sb("NOP"))
            && holds(&axioms("tso"), &sb("LFENCE"))
            && holds(&axioms("tso"), &sb("INC [z]"))
    );
    for fence in ["MFENCE", "LOCK INC [z]", "XCHG [z],EBX", "LOCK XADD [z],EBX"] {
        assert!(!holds(&axioms("tso"), &sb(fence)), "{fence}");
        assert!(!holds(&axioms("pso"), &sb(fence)), "{fence}");
    }
    let increments = |prefix: &str| x86(&format!(" {prefix}INC [x] | {prefix}ADD [x],1 ;"), "x=1");
    assert!(holds(&axioms("sc"), &increments("")), "an increment without a lock can be torn");
    for model in ["sc", "tso", "pso", "armv7", "power"] {
        assert!(!holds(&axioms(model), &increments("LOCK ")), "{model:?}");
    }
}

#[test]
fn fences_and_addresses_of_power() {
    let mp = |fence: &str, rest: &str| {
        format!(
            "PPC t\n{{ x=5; 0:r2=x; 0:r4=y; 1:r2=y; 1:r4=x; }}\n P0 | P1 ;\n li r1,7 | lwz r1,0(r2) ;\n stw r1,0(r2) | xor r3,r1,r1 ;
 {fence} | {rest} ;\n li r3,1 | ;\n stw r3,0(r4) | ;\nexists (1:r1=1 /\\ 1:r5=5)"
        )
    };
    for (fence, allowed) in [("sync", false), ("lwsync", false), ("eieio", false), ("isync", true), ("nop", true)] {
        assert_eq!(holds(&axioms("power"), &mp(fence, "lwzx r5,r3,r4")), allowed, "{fence}");
        assert!(holds(&axioms("power"), &mp(fence, "lwz r5,0(r4)")), "{fence}");
    }
}

#[test]
fn programs_have_the_names_of_the_test() {
    let text = "PPC name (* comment (* inner *) *)\n\"{\" quoted\nKey=1\n{ 1:r2=y; y=3 }\n P0 | P1 ;\n L: lwsync | stw r1,0(r2) ;\n isync ; \
                \nlocations [x; 1:r1]\n~exists (not (y=1 \\/ 0:r9=-0x2) /\\ true)\n<< anything >>";
    let test = read("t.litmus", text).unwrap();
    assert_eq!(test.program.name, "name");
    let names: Vec<&str> = test.program.shared.iter().map(|variable| variable.name.as_str()).collect();
    assert_eq!(names, ["y"]);
    assert_eq!(test.program.shared[0].initial, [3]);
    let kinds: Vec<InstructionKind> = test.program.threads[0].instructions.iter().map(|i| i.kind).collect();
    let partial = InstructionKind::PartialFence;
    assert_eq!(kinds, [partial(PartialFence::Lightweight), partial(PartialFence::Control)]);
    let state = |y: i64, r9: i64| -> bool {
        let locals = [vec![r9], vec![0]];
        test.condition.as_ref().unwrap().holds([([y].as_slice(), locals.as_slice())].into_iter())
    };
    assert!(!state(0, 0) && state(1, 0) && state(0, -2));
}

#[test]
fn loops_are_cut_off_and_it_is_said() {
    let text = "X86 wait\n{ }\n P0 | P1 ;\n L: MOV EAX,[x] | MOV [y],$2 ;\n CMP EAX,$1 | MOV [x],$1 ;\n JNE L | ;\n MOV EBX,[y] | ;\nforall 0:EBX=2";
    let test = read("t.litmus", text).unwrap();
    let tso = verdict(&test.program, test.condition.as_ref(), &axioms("tso"), 3).unwrap();
    assert_eq!((tso.condition, tso.outcomes.complete), (Some(Answer::Unknown), false));
    let pso = verdict(&test.program, test.condition.as_ref(), &axioms("pso"), 3).unwrap();
    assert_eq!((pso.condition, pso.outcomes.complete), (Some(Answer::Fails), false), "what was found is there");
}

fn refusal(text: &str) -> String {
    read("t.litmus", text).expect_err("it is wrong").to_string()
}

#[test]
fn what_is_wrong_is_told_with_its_place() {
    let body = |code: &str| format!("PPC t\n{{ 0:r2=x; }}\nP0 ;\n{code} ;\nexists (x=1)");
    let wrong = [
        (
            body("lswx r1,0,r2"),
            "t.litmus:4:1: error: the instruction `lswx` is not supported\n    4 | lswx r1,0,r2 ;\n      | ^^^^\n      help: supported: li, mr,",
        ),
        (body("stw r1,4(r2)"), "t.litmus:4:8: error: the offset 4 leads to no element of this location"),
        (body("stw r1,0(r3)"), "t.litmus:4:10: error: `r3` holds no address"),
        (body("li r2,0 ;\nstw r1,0(r2)"), "t.litmus:5:10: error: `r2` holds no address any more"),
        (body("li r1"), "t.litmus:4:1: error: `li` takes 2 operands, this has 1"),
        (body("li r32,1"), "t.litmus:4:4: error: expected a register, such as `r1`"),
        (body("beq nowhere"), "t.litmus:4:5: error: there is no label `nowhere` in this thread"),
        (body("sync | sync"), "t.litmus:4:8: error: this row has more cells than there are columns (1 thread)"),
        ("MIPS t\n{}\nP0;\n".to_owned(), "t.litmus:1:1: error: the architecture `MIPS` is not supported"),
        ("X86 t\n{}\nP1 ;\nexists (x=1)".to_owned(), "t.litmus:3:1: error: expected `P0`"),
        (
            "X86 t\n{}\nP0 ;\nMFENCE\nexists (x=1)".to_owned(),
            "t.litmus:4:1: error: expected `;` at the end of this row of code",
        ),
        ("X86 t\n{}\nP0 ;\nexists (x=1 x)".to_owned(), "t.litmus:4:13: error: expected `)`, `/\\` or `\\/`"),
        ("X86 t\n{}\nP0 ;\nexists (1:EAX=1)".to_owned(), "t.litmus:4:9: error: there is no thread `1`"),
        ("X86 t\n{}\nP0 ;\nfilter x=1 x".to_owned(), "t.litmus:4:12: error: expected a final condition"),
        ("X86 t (* \n{}".to_owned(), "t.litmus:1:7: error: this comment has no end"),
        (
            format!("X86 t\n{{}}\nP0 ;\nexists {}x=1", "(".repeat(10_000)),
            "t.litmus:4:209: error: conditions nest at most 200 deep",
        ),
        (String::new(), "t.litmus:1:1: error: expected the architecture and the name of the test"),
    ];
    for (text, message) in wrong {
        let refusal = refusal(&text);
        assert!(refusal.starts_with(message), "{text}\n{refusal}");
    }
    // All errors of the code at once.
    assert_eq!(refusal(&body("foo ;\n bar ;\n sync")).matches("error:").count(), 2);
}

/// Whatever comes out is read, or refused with errors inside the text.
#[test]
fn random_edits_do_no_harm() {
    let texts = [
        arm_mp("CMP R3,R3;BNE L;L:;ISB", "LDR R4,[R1,R3]"),
        x86(
            " LOCK XADD [x],EAX | xchg EBX, [y] ;\n L: CMP EAX,$1 | MOV EAX,EBX ;\n JNE L | MFENCE ;",
            "x=1 /\\ (~ 0:EAX=2 \\/ not true)",
        ),
    ];
    const FRAGMENTS: [&str; 16] =
        ["{", "}", ";", "|", ":", "(*", "*)", "[", "]", "(", "é", "\0", "99999999999999999999", "-", "exists", "\n"];
    random_cases(3000, |rng| {
        let mut characters: Vec<char> = texts[rng.random_range(0..texts.len())].chars().collect();
        for _ in 0..rng.random_range(1..=5) {
            let at = rng.random_range(0..characters.len());
            let end = (at + rng.random_range(0..=8)).min(characters.len());
            if rng.random() {
                let fragment = FRAGMENTS[rng.random_range(0..FRAGMENTS.len())];
                characters.splice(at..at, fragment.chars());
            } else if characters.len() > 20 {
                characters.drain(at..end);
            }
        }
        let text: String = characters.into_iter().collect();
        match read("t.litmus", &text) {
            Ok(test) => assert!(!test.program.threads.is_empty()),
            Err(errors) => {
                assert!(
                    errors.errors().iter().all(|error| error.span.start <= text.len() && error.span.end <= text.len())
                );
                assert!(errors.to_string().contains("error: "));
            }
        }
    });
}
