//! Programs whose answer is known: from the literature, from the paper's examples, or by reasoning on paper.

use crate::support::analyse::{Told, bundled_facts, facts_of, tell};
use crate::support::programs::sb_ring;
use seqcon::aeg::Profile;
use seqcon::cycles::Atomicity;
use seqcon::placement::Minimality;

fn sound(name: &str, memory_model: &str) -> Told {
    tell(bundled_facts(name), Profile::Sound, memory_model, Atomicity::Split)
}

fn with_atomicity(name: &str, memory_model: &str) -> Told {
    tell(bundled_facts(name), Profile::Sound, memory_model, Atomicity::Full)
}

fn published(name: &str, memory_model: &str) -> Told {
    tell(bundled_facts(name), Profile::Published, memory_model, Atomicity::Split)
}

/// The fences asked for, and the analysis' own second look at them.
#[track_caller]
fn expect_fences(told: &Told, expected: &[&str]) {
    assert_eq!(told.fences(), expected);
    assert!(told.outcome.recheck.enough && told.outcome.recheck.each_needed, "{:?}", told.outcome.recheck);
    assert!((told.outcome.placement.minimality == Minimality::EventGraph));
}

#[test]
fn store_buffering_ring_needs_one_fence_per_thread_under_tso() {
    // Each thread must keep its write before its read; no fence helps two threads. The published tool stops at five
    // accesses.
    for n in 2..=8 {
        let told = tell(facts_of(&sb_ring(n)), Profile::Sound, "tso", Atomicity::Split);
        let after_each_write: Vec<String> = (0..n).map(|i| format!("plain after T{i}.0")).collect();
        expect_fences(&told, &after_each_write.iter().map(String::as_str).collect::<Vec<_>>());
        assert_eq!(told.outcome.num_of_delays(), n);
    }
}

#[test]
fn bundled_rings_give_what_generated_rings_give() {
    for n in 2..=6 {
        let name = if n == 2 { "sb".to_owned() } else { format!("sb-ring-{n}") };
        assert_eq!(bundled_facts(&name), facts_of(&sb_ring(n)));
        assert_eq!(sound(&name, "tso").fences().len(), n);
    }
}

#[test]
fn message_passing_with_an_awaiting_reader_needs_nothing_under_sc_and_tso() {
    expect_fences(&sound("mp", "sc"), &[]);
    expect_fences(&sound("mp", "tso"), &[]);
}

#[test]
fn message_passing_with_an_awaiting_reader_needs_a_fence_between_the_writes_under_pso() {
    expect_fences(&sound("mp", "pso"), &["plain after T0.0"]);
}

#[test]
fn message_passing_with_an_awaiting_reader_needs_a_fence_on_both_sides_under_armv7_the_readers_cumulative() {
    expect_fences(&sound("mp", "armv7"), &["plain after T0.0", "cumulative after T1.0"]);
}

#[test]
fn published_profile_misses_message_passing_with_an_awaiting_reader_under_pso() {
    expect_fences(&published("mp", "pso"), &[]);
}

#[test]
fn message_passing_with_a_polling_reader_needs_a_fence_between_the_writes_under_pso() {
    expect_fences(&sound("mp-poll", "pso"), &["plain after T0.0"]);
}

#[test]
fn independent_reads_of_independent_writes_need_nothing_under_tso_and_pso() {
    expect_fences(&sound("iriw", "tso"), &[]);
    expect_fences(&sound("iriw", "pso"), &[]);
}

#[test]
fn independent_reads_of_independent_writes_need_a_cumulative_fence_in_each_reader_where_stores_are_not_atomic() {
    for weak in ["armv7", "power"] {
        expect_fences(&sound("iriw", weak), &["cumulative after T2.0", "cumulative after T3.0"]);
    }
}

#[test]
fn independent_reads_of_independent_writes_need_a_plain_fence_in_each_reader_under_armv8() {
    expect_fences(&sound("iriw", "armv8"), &["plain after T2.0", "plain after T3.0"]);
}

#[test]
fn example_1_with_different_indices_needs_two_fences_under_tso() {
    // The two black fences of Fig. 7: between `b0 := true` and the read of b1, and the other way round.
    expect_fences(&sound("example1-different", "tso"), &["plain after T0.0", "plain after T1.0"]);
}

#[test]
fn example_1_with_different_indices_needs_no_lock() {
    let told = with_atomicity("example1-different", "tso");
    assert!(told.torn().is_empty());
    expect_fences(&told, &["plain after T0.0", "plain after T1.0"]);
}

#[test]
fn example_1_with_equal_indices_needs_the_grey_fences_too_without_locks() {
    // Fig. 7, right: the grey fences keep `b0 := false` before the read of v[x].
    let black_and_grey = ["plain after T0.0", "plain after T0.2", "plain after T1.0", "plain after T1.2"];
    expect_fences(&sound("example1-equal", "tso"), &black_and_grey);
}

#[test]
fn example_1_with_equal_indices_and_atomicity_locks_both_decrements() {
    let told = with_atomicity("example1-equal", "tso");
    assert_eq!(told.torn(), ["T0.3", "T1.3"]);
    // One lock on v[0]. The conditions `v[x] > 0` read it, too, while the other thread may decrement.
    let users = ["T0.3 torn-update", "T0.4 partner", "T1.3 torn-update", "T1.4 partner"];
    assert_eq!(told.locks(), [users]);
    // With the locks the grey fences are not needed, the black ones are.
    expect_fences(&told, &["plain after T0.0", "plain after T1.0"]);
}

#[test]
fn counter_increment_against_a_plain_write_is_torn() {
    for memory_model in ["sc", "tso", "pso", "armv7"] {
        let told = with_atomicity("counter", memory_model);
        assert_eq!(told.torn(), ["T0.0"]);
        assert_eq!(told.locks(), [["T0.0 torn-update", "T1.0 partner"]]);
        expect_fences(&told, &[]);
    }
}

#[test]
fn two_writes_against_two_reads_are_both_torn() {
    for memory_model in ["sc", "tso", "pso", "armv7"] {
        let told = with_atomicity("snapshot", memory_model);
        assert_eq!(told.torn(), ["T0.0", "T1.0"]);
        assert_eq!(told.locks(), [["T0.0 torn-update", "T1.0 torn-update"]]);
        expect_fences(&told, &[]);
    }
}

#[test]
fn nothing_is_locked_without_atomicity() {
    for name in ["counter", "snapshot", "example1-equal", "example1-different"] {
        for memory_model in ["sc", "tso", "pso", "armv7"] {
            let told = sound(name, memory_model);
            assert!(told.torn().is_empty() && told.locks().is_empty(), "{name} under {memory_model}");
        }
    }
    // The result presumes that someone else makes them atomic, and says so.
    assert!(!sound("counter", "tso").outcome.composites.is_empty());
}

#[test]
fn write_to_read_round_a_one_instruction_loop_is_seen() {
    let told = sound("one-instruction-loop", "tso");
    assert_eq!(told.delays(), ["T0.0 W y -> T0.0 R x", "T1.0 W x -> T1.0 R y"]);
    expect_fences(&told, &["plain after T0.0", "plain after T1.0"]);
}

#[test]
fn published_profile_misses_write_to_read_round_a_one_instruction_loop() {
    let told = published("one-instruction-loop", "tso");
    assert!(told.delays().is_empty());
    expect_fences(&told, &[]);
}

#[test]
fn litmus_tests_need_fences_exactly_where_the_literature_allows_their_outcome() {
    // (plain, cumulative) fences under SC, TSO, PSO, ARMv8, ARMv7. Where an outcome is forbidden, none is needed.
    let expected: [(&str, [(usize, usize); 5]); 10] = [
        ("sb", [(0, 0), (2, 0), (2, 0), (2, 0), (2, 0)]),
        ("mp", [(0, 0), (0, 0), (1, 0), (2, 0), (1, 1)]),
        ("mp-poll", [(0, 0), (0, 0), (1, 0), (2, 0), (1, 1)]),
        ("lb", [(0, 0), (0, 0), (0, 0), (2, 0), (0, 2)]),
        ("iriw", [(0, 0), (0, 0), (0, 0), (2, 0), (0, 2)]),
        ("2+2w", [(0, 0), (0, 0), (2, 0), (2, 0), (2, 0)]),
        ("s", [(0, 0), (0, 0), (1, 0), (2, 0), (1, 1)]),
        ("r", [(0, 0), (1, 0), (2, 0), (2, 0), (2, 0)]),
        ("wrc", [(0, 0), (0, 0), (0, 0), (2, 0), (0, 2)]),
        ("isa2", [(0, 0), (0, 0), (1, 0), (3, 0), (1, 2)]),
    ];
    for (name, row) in expected {
        for (memory_model, expected) in ["sc", "tso", "pso", "armv8", "armv7"].into_iter().zip(row) {
            let fences = sound(name, memory_model).fences();
            let cumulative = fences.iter().filter(|fence| fence.starts_with("cumulative")).count();
            assert_eq!((fences.len() - cumulative, cumulative), expected, "{name} under {memory_model}: {fences:?}");
        }
    }
}

#[test]
fn petersons_algorithm_needs_a_fence_before_each_wait_under_tso_and_one_more_under_pso() {
    expect_fences(&sound("peterson", "tso"), &["plain after T0.1", "plain after T1.1"]);
    let both = ["plain after T0.0", "plain after T0.1", "plain after T1.0", "plain after T1.1"];
    expect_fences(&sound("peterson", "pso"), &both);
}

#[test]
fn dekkers_algorithm_needs_a_fence_after_every_claim_under_tso() {
    let fences = sound("dekker", "tso").fences();
    for claim in ["plain after T0.0", "plain after T0.7", "plain after T1.0", "plain after T1.7"] {
        assert!(fences.iter().any(|fence| fence == claim), "{claim} is missing in {fences:?}");
    }
}
