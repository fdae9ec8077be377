//! What the thesis shows on examples, and what may be wrong in it or here (the review notes of its digest).

use super::closing::{Member, close};
use super::independence::independent;
use super::persistent::{GoesFirst, Persistent};
use super::recheck::proves;
use super::search::Search;
use super::space::{Space, Step, Symbolic};
use super::tree::Followed;
use super::{Ended, Judgement, Memory, Reductions, judge};
use crate::ids::{LocationAt, ThreadAt};
use crate::memory::FenceStrength;
use crate::outline::Site;
use crate::program::Program;
use crate::property::StateCondition;
use crate::regular::{Language, Letter};
use crate::repair::Repair;
use crate::specification::Specification;
use crate::weak::forbidden::Forbidden;
use crate::weak::split::SplitProgram;
use crate::weak::visited::LimitReached;

fn specification(text: String) -> Specification {
    Specification::parse("m.slco".to_owned(), text).unwrap_or_else(|wrong| panic!("{wrong:?}")).0
}

/// A program of machines over shared variables.
fn program(shared: &str, machines: &[&str]) -> Program {
    let text = format!(
        "model m {{ classes C {{ variables {shared} state machines {} }} objects o : C() }}",
        machines.join("\n")
    );
    specification(text).program
}

fn condition(program: &Program, text: &str) -> StateCondition {
    let specification = Specification::of_program(program.clone()).unwrap();
    specification.condition("test", text).unwrap_or_else(|wrong| panic!("{wrong:?}")).condition
}

/// What is said of a program, with a condition.
fn judged(program: &Program, memory: Memory, never: &str, reductions: Reductions) -> Result<Judgement, Ended> {
    let split = SplitProgram::new(program).unwrap();
    let condition = condition(program, never);
    judge(&split, memory, Forbidden::State(&condition), reductions, 2_000)
}

/// All states, without reductions, and nothing forbidden.
fn seen<T>(program: &Program, memory: Memory, look: impl FnOnce(&mut Search<'_, '_>) -> T) -> T {
    let split = SplitProgram::new(program).unwrap();
    let condition = condition(program, "x = 77");
    let mut search = Search::new(&split, memory, Forbidden::State(&condition), Reductions::NONE, 2_000);
    search.run().unwrap();
    look(&mut search)
}

/// The languages of a thread's buffer, at a control state and with the memory of the start; the largest ones.
fn languages(search: &Search<'_, '_>, thread: usize, control: u32, buffer: usize) -> Vec<Language> {
    let initial = search.space.initial().shared;
    let is_there = |number: &u32| {
        let shared = search.tree.shared(*number);
        let config = search.space.machine.system.thread(ThreadAt::new(thread)).config(shared.threads[thread]);
        shared.memory == initial.memory && config.control.0 == control && !search.tree.node(*number).is_included
    };
    let nodes = (0..search.tree.nodes.len() as u32).filter(is_there);
    nodes.map(|number| search.tree.node(number).buffers[buffer]).collect()
}

fn letter(search: &mut Search<'_, '_>, location: usize, value: i64) -> Letter {
    search.space.letter(LocationAt::new(location), value)
}

const STORES: &str = "t { initial a states b c l transitions
    a -> b { x := 1 } b -> c { y := 1 } c -> l { z := 1 } l -> l { x := 1 } l -> l { y := 1 } l -> l { z := 1 } }";

/// Digest §14.1: three rounds of one letter are mixed.
#[test]
fn three_rounds_are_mixed() {
    let program = program("Integer x Integer y Integer z", &[STORES]);
    seen(&program, Memory::Tso, |search| {
        let [x, y, z] = [0, 1, 2].map(|location| letter(search, location, 1));
        let known = &mut search.space.languages;
        let before = known.word(&[x, y, z]);
        let rounds =
            [x, y, z].map(|letter| known.word(&[letter])).into_iter().reduce(|a, b| known.union(a, b)).unwrap();
        let rounds = known.star(rounds);
        let all = known.concat(before, rounds);
        assert_eq!(languages(search, 0, 3, 0), [all]);
    });
}

/// Digest §14.2: two threads that write in turns, each with its own rounds.
#[test]
fn rounds_of_two_letters() {
    let loops = |name: &str, own: &str| {
        format!("{name} {{ initial a states b transitions a -> b {{ {own} := 1 }} b -> a {{ {own} := 0 }} }}")
    };
    let program = program("Integer x := -1 Integer y := -1", &[&loops("t", "x"), &loops("u", "y")]);
    seen(&program, Memory::Tso, |search| {
        let [a, b] = [1, 0].map(|value| letter(search, 0, value));
        let known = &mut search.space.languages;
        let round = known.word(&[a, b]);
        let rounds = known.star(round);
        let plus = known.concat(round, rounds);
        let half = known.append(rounds, a);
        // Nothing was written, or any number of rounds; and in the middle of one.
        let at_head = languages(search, 0, 0, 0);
        assert!(at_head.contains(&plus) && at_head.iter().all(|&other| search.space.languages.includes(rounds, other)));
        assert!(languages(search, 0, 1, 0).contains(&half));
    });
}

/// Digest §14.3: a read that excludes nothing is part of a round.
#[test]
fn rounds_with_a_read() {
    let machine = "t { initial a states b c transitions a -> b { x := 0 } b -> c { x := 1 } c -> a { x = 1 } }";
    let program = program("Integer x := 5", &[machine]);
    seen(&program, Memory::Tso, |search| {
        let [zero, one] = [0, 1].map(|value| letter(search, 0, value));
        let known = &mut search.space.languages;
        let round = known.word(&[zero, one]);
        let rounds = known.star(round);
        let plus = known.concat(round, rounds);
        assert!(languages(search, 0, 0, 0).contains(&plus));
    });
}

/// Digest §14.4: what a read excludes.
#[test]
fn reads_exclude() {
    let machine = "t { initial a states b c transitions a -> b { x = 1 } a -> c { x = 0 } }";
    let program = program("Integer x", &[machine]);
    let split = SplitProgram::new(&program).unwrap();
    let condition = condition(&program, "x = 77");
    let mut space = Space::new(&split, Memory::Tso, Forbidden::State(&condition));
    let one = space.letter(LocationAt::new(0), 1);
    let any = {
        let word = space.languages.word(&[one]);
        space.languages.star(word)
    };
    let some = space.languages.append(any, one);
    for (in_memory, expected) in [(0, [some, Language::UNIT]), (1, [any, Language::EMPTY])] {
        let mut state = space.initial();
        state.shared.memory[0] = in_memory;
        state.buffers[0] = any;
        let mut steps = Vec::new();
        space.issues(&state, ThreadAt::new(0), &mut steps);
        let leads = |control: u32| {
            let config =
                |state: &Symbolic| space.machine.system.thread(ThreadAt::new(0)).config(state.shared.threads[0]);
            let there = steps.iter().find(|(_, next)| config(next).control.0 == control);
            there.map_or(Language::EMPTY, |(_, next)| next.buffers[0])
        };
        assert_eq!([leads(1), leads(2)], expected);
    }
}

/// Digest §14.4: on PSO each buffer counts its own rounds.
#[test]
fn rounds_are_counted_apart() {
    let machine = "t { initial a states b transitions a -> b { x := 1 } b -> a { y := 1 } }";
    let program = program("Integer x Integer y Integer z", &[machine]);
    seen(&program, Memory::Pso, |search| {
        for (location, written) in [(0, true), (1, true), (2, false)] {
            let one = letter(search, location, 1);
            let known = &mut search.space.languages;
            let word = known.word(&[one]);
            let any = known.star(word);
            let some = known.concat(word, any);
            let found = languages(search, 0, 0, location);
            assert!(found.contains(if written { &some } else { &Language::UNIT }), "{location}");
        }
    });
}

const P1: &str = "p { initial a states b c d e f transitions
    a -> b { y = 1 } b -> c { x := 2 } c -> d { x := 0 } d -> e { x := 2 } e -> f { x := 0 } f -> a { y = 0 } }";
const P2: &str = "q { initial a states b c d transitions
    a -> b { x = 2 } b -> c { y := 1 } c -> d { y := 0 } d -> a { x = 0 } }";

/// Digest §4.4: growth that takes two threads is not accelerated: there is no verdict; with a third thread there is.
#[test]
fn what_is_not_accelerated_is_not_decided() {
    for reductions in [Reductions::NONE, Reductions::default(), Reductions::ALL] {
        let two = program("Integer x := 1 Integer y := 1", &[P1, P2]);
        let judged_two = judged(&two, Memory::Tso, "x = 77", reductions);
        assert_eq!(judged_two, Err(Ended::Limit(LimitReached::States)), "{reductions:?}");
        if reductions != Reductions::NONE {
            // Then others go first, and the rounds of the first thread are not met on one path.
            continue;
        }
        let third = "r { initial a states b transitions a -> b { y := 1 } b -> a { y := 0 } }";
        let three = program("Integer x := 1 Integer y := 1", &[P1, P2, third]);
        let split = SplitProgram::new(&three).unwrap();
        let condition = condition(&three, "x = 77");
        let judged = judge(&split, Memory::Tso, Forbidden::State(&condition), reductions, 60_000);
        assert!(matches!(judged, Ok(Judgement::Proved(_))), "{reductions:?}: {judged:?}");
    }
}

/// Loops that write for ever end.
#[test]
fn loops_that_write_end() {
    let writer = "t { initial a states transitions a -> a { x := 1 } }";
    let reader = "u { variables Integer r initial a states b transitions a -> b { r := x } }";
    let program = program("Integer x", &[writer, reader]);
    for memory in [Memory::Sc, Memory::Tso, Memory::Pso] {
        for reductions in [Reductions::NONE, Reductions::default(), Reductions::ALL] {
            let holds = judged(&program, memory, "u.r = 2", reductions);
            assert!(matches!(holds, Ok(Judgement::Proved(_))), "{memory:?}: {holds:?}");
            let fails = judged(&program, memory, "u.r = 1 and u@b", reductions);
            assert!(matches!(fails, Ok(Judgement::Violated(_))), "{memory:?}: {fails:?}");
        }
    }
}

/// A state with one buffer, and letters for writes to its location.
fn with_language(test: impl Fn(&mut Space<'_>, &mut dyn FnMut(&mut Space<'_>, &[&[i64]]) -> Symbolic), machine: &str) {
    let program = program("Integer x Integer y", &[machine]);
    let split = SplitProgram::new(&program).unwrap();
    let condition = condition(&program, "x = 77");
    let mut space = Space::new(&split, Memory::Tso, Forbidden::State(&condition));
    let mut with = |space: &mut Space<'_>, words: &[&[i64]]| {
        let mut state = space.initial();
        state.buffers[0] = words.iter().fold(Language::EMPTY, |all, word| {
            let word: Vec<Letter> = word.iter().map(|&value| space.letter(LocationAt::new(0), value)).collect();
            let word = space.languages.word(&word);
            space.languages.union(all, word)
        });
        state
    };
    test(&mut space, &mut with);
}

/// Review note 1: a write, and the commit of the same letter from a buffer that may be empty.
#[test]
fn a_write_may_be_what_is_committed() {
    let machine = "t { initial a states b transitions a -> b { x := 1 } }";
    with_language(
        |space, with| {
            let thread = ThreadAt::new(0);
            let write = Step::Issue { thread, number: 0, to: 1 };
            let may_be_empty = with(space, &[&[], &[1, 2], &[2]]);
            let [one, two] = [1, 2].map(|value| space.letter(LocationAt::new(0), value));
            assert!(!independent(space, &may_be_empty, write, Step::Commit { thread, letter: one }));
            assert!(independent(space, &may_be_empty, write, Step::Commit { thread, letter: two }));
            let not_empty = with(space, &[&[1, 2]]);
            assert!(independent(space, &not_empty, write, Step::Commit { thread, letter: one }));
        },
        machine,
    );
}

/// Review notes 4 and 5: a read excludes contents that a commit needs; two commits from one buffer.
#[test]
fn commits_from_one_buffer_depend() {
    let machine = "t { variables Integer r initial a states b transitions a -> b { r := x } }";
    with_language(
        |space, with| {
            let thread = ThreadAt::new(0);
            let read = Step::Issue { thread, number: 0, to: 1 };
            let either = with(space, &[&[1], &[2]]);
            let [one, two] = [1, 2].map(|value| space.letter(LocationAt::new(0), value));
            let [first, second] = [one, two].map(|letter| Step::Commit { thread, letter });
            assert!(!independent(space, &either, read, first));
            assert!(!independent(space, &either, first, second));
            // The read gets what is committed.
            let single = with(space, &[&[1]]);
            assert!(!independent(space, &single, read, first));
            let both = with(space, &[&[1, 2]]);
            assert!(independent(space, &both, read, first));
            let other = space.letter(LocationAt::new(1), 1);
            let mut mixed = both.clone();
            let words = [[one, other], [other, one]].map(|word| space.languages.word(&word));
            mixed.buffers[0] = space.languages.union(words[0], words[1]);
            assert!(independent(space, &mixed, first, Step::Commit { thread, letter: other }));
            mixed.buffers[0] = words[0];
            assert!(!independent(space, &mixed, first, Step::Commit { thread, letter: other }));
        },
        machine,
    );
}

/// Review note 2: with what its buffer may hold a thread can go on, and with an empty buffer it cannot: a deadlock.
#[test]
fn deadlocks_are_judged_with_empty_buffers() {
    let writer = "t { initial a states b c transitions a -> a { x := 1 } a -> b b -> c { x = 1 } }";
    let resets = "u { initial a states b transitions a -> b { x := 0 } }";
    let program = program("Integer x", &[writer, resets]);
    let split = SplitProgram::new(&program).unwrap();
    for memory in [Memory::Sc, Memory::Tso, Memory::Pso] {
        for reductions in [Reductions::NONE, Reductions::default(), Reductions::ALL] {
            let judged = judge(&split, memory, Forbidden::Deadlock, reductions, 2_000);
            assert!(matches!(judged, Ok(Judgement::Violated(_))), "{memory:?} {reductions:?}: {judged:?}");
        }
    }
}

/// Review note 6: with a fence of stores in a round marks are counted apart; nothing wrong comes of it.
#[test]
fn marks_in_rounds_keep_the_order() {
    let reader =
        "u { variables Integer r Integer s initial a states b c transitions a -> b { r := y } b -> c { s := x } }";
    let round = |fence: &str| {
        format!("t {{ initial a states b c transitions a -> b {{ x := 1 }} b -> c {{ {fence} }} c -> a {{ y := 1 }} }}")
    };
    for reductions in [Reductions::NONE, Reductions::default(), Reductions::ALL] {
        let with = program("Integer x Integer y", &[&round("fence stores"), reader]);
        let holds = judged(&with, Memory::Pso, "u@c and u.r = 1 and u.s = 0", reductions);
        assert!(matches!(holds, Ok(Judgement::Proved(_))), "{reductions:?}: {holds:?}");
        let without = program("Integer x Integer y", &[&round("true"), reader]);
        let fails = judged(&without, Memory::Pso, "u@c and u.r = 1 and u.s = 0", reductions);
        assert!(matches!(fails, Ok(Judgement::Violated(_))), "{reductions:?}: {fails:?}");
    }
}

/// Review note 8: who only waits does not go first; and who may be seen where it is goes first only by a move that
/// makes no difference.
#[test]
fn who_goes_first() {
    let machines = [
        "t { variables Integer r initial a states b c transitions a -> b { x := 1 } b -> c { r = 1; y := 1 } }",
        "u { initial a states b transitions a -> b { y := 1 } }",
    ];
    let program = program("Integer x Integer y", &machines);
    let split = SplitProgram::new(&program).unwrap();
    let goes_first = |never: &str, thread: usize, control: u32| {
        let condition = condition(&program, never);
        let forbidden = Forbidden::State(&condition);
        let mut space = Space::new(&split, Memory::Tso, forbidden);
        let mut state = space.initial();
        let thread = ThreadAt::new(thread);
        if control == 1 {
            let mut steps = Vec::new();
            space.issues(&state, thread, &mut steps);
            state = steps.remove(0).1;
        }
        Persistent::new(&split, forbidden).goes_first(&mut space, &state.shared, thread)
    };
    assert_eq!(goes_first("t@c and u@b", 0, 1), None, "its condition does not hold");
    assert_eq!(goes_first("t@c and u@b", 0, 0), Some(GoesFirst::Must));
    assert_eq!(goes_first("t@a and u@b", 0, 0), None);
    assert_eq!(goes_first("u@b", 0, 0), Some(GoesFirst::May(1)));
    assert_eq!(goes_first("u@b and x = y", 0, 0), None, "what it writes is asked for");
    assert_eq!(goes_first("u@b and x = 0", 0, 0), None, "what it writes is asked for");
    assert_eq!(goes_first("u@b and x = 0", 1, 0), Some(GoesFirst::Must));
}

/// What a thread writes that nobody asks for keeps no state from being judged, however often it writes again.
#[test]
fn what_waits_and_does_not_matter_hides_nothing() {
    let writer = "u { initial a states b transitions a -> b { x := 1 } b -> a { x := 0 } }";
    let ends = "t { initial a states b c transitions a -> b { true } b -> c { y := 1 } }";
    let beside = program("Integer x Integer y", &[ends, writer]);
    let marks =
        "u { initial a states b c transitions a -> b { x := 1 } b -> c { fence stores } c -> b { fence stores } }";
    let marked = program("Integer x Integer y", &[ends, marks]);
    for memory in [Memory::Sc, Memory::Tso, Memory::Pso] {
        for reductions in [Reductions::NONE, Reductions::default(), Reductions::ALL] {
            for (program, never) in [(&beside, "t@c"), (&marked, "t@c and x = 1"), (&marked, "t@c")] {
                let fails = judged(program, memory, never, reductions);
                assert!(matches!(fails, Ok(Judgement::Violated(_))), "{memory:?} {reductions:?} {never}: {fails:?}");
            }
        }
    }
}

/// Who comes home through a fence that was put in is stuck.
#[test]
fn a_fence_that_was_put_in_is_no_way_out_of_a_deadlock() {
    let home =
        "t { initial a states b c d transitions a -> b { true } b -> c { x := 1 } c -> d { true } d -> d { true } }";
    let waits = "u { initial a states b c d transitions a -> b { true } b -> c { y := 2 } c -> d { z = 1 } }";
    let program = program("Integer x Integer y Integer z", &[home, waits]);
    let outline = crate::outline::Outline::of_program(&program);
    for strength in [FenceStrength::Stores, FenceStrength::Plain] {
        let mut split = SplitProgram::new(&program).unwrap();
        let site = Site::after(outline.find("t", "3").unwrap());
        Repair { fences: [(site, strength)].into(), ..Repair::default() }.apply(&outline, &mut split);
        for reductions in [Reductions::NONE, Reductions::default(), Reductions::ALL] {
            let judged = judge(&split, Memory::Pso, Forbidden::Deadlock, reductions, 2_000);
            assert!(matches!(judged, Ok(Judgement::Violated(_))), "{strength} {reductions:?}: {judged:?}");
        }
    }
}

/// The second look notices what is left out, or too small, or not to be reduced.
#[test]
fn the_second_look_notices() {
    let peterson = include_str!("../../../specs/properties/peterson.slco");
    let fenced =
        peterson.replace("{ turn := 1 }", "{ turn := 1; fence }").replace("{ turn := 0 }", "{ turn := 0; fence }");
    let parsed = specification(fenced);
    let split = SplitProgram::new(&parsed.program).unwrap();
    let condition = parsed.properties.iter().find_map(|property| property.condition()).unwrap();
    let forbidden = Forbidden::State(condition);
    for reductions in [Reductions::NONE, Reductions::default()] {
        let mut search = Search::new(&split, Memory::Tso, forbidden, reductions, 10_000);
        search.run().unwrap();
        let (members, left_out) = close(&mut search).unwrap();
        assert_eq!(left_out, 0);
        let copy = |member: &Member| Member {
            shared: member.shared.clone(),
            buffers: member.buffers.clone(),
            followed: member.followed,
        };
        let mut look =
            |members: &[Member]| proves(&mut search.space, &mut search.persistent, forbidden, members).unwrap();
        assert!(look(&members));
        for number in 0..members.len() {
            let others = members.iter().enumerate().filter(|(other, _)| *other != number);
            let without: Vec<Member> = others.map(|(_, member)| copy(member)).collect();
            assert!(!look(&without), "{reductions:?}: state {number} is not missed");
        }
        let mut noticed = 0;
        for (number, member) in members.iter().enumerate() {
            for buffer in (0..member.buffers.len()).filter(|&buffer| member.buffers[buffer] != Language::UNIT) {
                let mut smaller: Vec<Member> = members.iter().map(copy).collect();
                smaller[number].buffers[buffer] = Language::UNIT;
                noticed += u32::from(!look(&smaller));
                assert!(!look(&smaller), "{reductions:?}: what a buffer of state {number} holds is not missed");
            }
            for thread in split.threads_at().filter(|_| member.followed == Followed::All) {
                let mut fewer: Vec<Member> = members.iter().map(copy).collect();
                fewer[number].followed = Followed::Only(thread);
                noticed += u32::from(!look(&fewer));
            }
        }
        assert!(noticed > 20, "{noticed}");
    }
}

/// A thread that makes accesses one after the other: `x=1` writes, `r=x` reads, `x?1` waits.
fn straight(name: &str, accesses: &str) -> String {
    let steps = accesses.split_whitespace().enumerate().map(|(at, access)| {
        let statement = match access.split_once('?') {
            Some((location, value)) => format!("{location} = {value}"),
            None => access.replacen('=', " := ", 1),
        };
        format!("s{at} -> s{} {{ {statement} }}", at + 1)
    });
    let steps: Vec<String> = steps.collect();
    let states: Vec<String> = (1..=steps.len()).map(|at| format!("s{at}")).collect();
    let transitions = steps.join(" ");
    format!(
        "{name} {{ variables Integer a Integer b initial s0 states {} transitions {transitions} }}",
        states.join(" ")
    )
}

/// Digest §9.5: the litmus tests of the thesis, on SC, TSO and PSO.
#[test]
fn litmus_tests_are_as_published() {
    let tests: [(&[&str], &str, [bool; 3]); 8] = [
        (&["x=1 y=1", "a=y b=x"], "q@s2 and q.a = 1 and q.b = 0", [false, false, true]),
        (&["a=x y=1", "a=y x=1"], "p@s2 and q@s2 and p.a = 1 and q.a = 1", [false; 3]),
        (&["x=1 a=y", "y=1 a=x"], "p@s2 and q@s2 and p.a = 0 and q.a = 0", [false, true, true]),
        (&["x=1 a=x", "y=1 a=y"], "p@s2 and q@s2 and (p.a = 0 or q.a = 0)", [false; 3]),
        (&["x=1 a=x b=y", "y=1 a=y b=x"], "p@s3 and q@s3 and p.b = 0 and q.b = 0", [false, true, true]),
        (&["x=1", "a=x y=1", "a=y b=x"], "q@s2 and r@s2 and q.a = 1 and r.a = 1 and r.b = 0", [false; 3]),
        (
            &["x=1", "y=1", "a=x b=y", "a=y b=x"],
            "r@s2 and t@s2 and r.a = 1 and r.b = 0 and t.a = 1 and t.b = 0",
            [false; 3],
        ),
        (&["x=1 y=1 x=2", "x?1 x?2 y?0"], "p@s3 and q@s3", [false, false, true]),
    ];
    for (threads, outcome, expected) in tests {
        let machines: Vec<String> =
            threads.iter().zip(["p", "q", "r", "t"]).map(|(accesses, name)| straight(name, accesses)).collect();
        let machines: Vec<&str> = machines.iter().map(String::as_str).collect();
        let program = program("Integer x Integer y", &machines);
        for (memory, is_allowed) in [Memory::Sc, Memory::Tso, Memory::Pso].into_iter().zip(expected) {
            for reductions in [Reductions::NONE, Reductions::default(), Reductions::ALL] {
                match judged(&program, memory, outcome, reductions) {
                    Ok(Judgement::Violated(_)) => assert!(is_allowed, "{threads:?} {memory:?} {reductions:?}"),
                    Ok(Judgement::Proved(_)) => assert!(!is_allowed, "{threads:?} {memory:?} {reductions:?}"),
                    other => panic!("{threads:?} {memory:?} {reductions:?}: {other:?}"),
                }
            }
        }
    }
}
