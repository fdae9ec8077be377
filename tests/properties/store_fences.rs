//! Fences of stores on the machine of PSO: the machine against another one and against axioms, put in as they are and
//! as a repair; and the searches that do without its states.

use crate::support::machines::{self, Machine};
use crate::support::random::{cases, random_cases};
use crate::support::random_program::{Size, random_program, show, with_store_fences};
use rand::Rng;
use rand::rngs::StdRng;
use seqcon::ids::ThreadAt;
use seqcon::lang;
use seqcon::memory::FenceStrength;
use seqcon::outline::{Outline, Site};
use seqcon::program::{InstructionKind, Program};
use seqcon::repair::Repair;
use seqcon::weak::attack::Attack;
use seqcon::weak::buffers::{BufferState, Buffers};
use seqcon::weak::runs::{RunsVerdict, examine};
use seqcon::weak::split::SplitProgram;
use seqcon::weak::threads::AccessKind;
use seqcon::weak::verify::{Question, Verdict, robust};
use seqcon::weak::visited::Visited;
use seqcon::weak::{self, Granularity};
use std::cell::Cell;
use std::collections::BTreeSet;

const SIZE: Size = Size { most_threads: 3, most_instructions: 4 };
/// More writes than a thread of the random programs makes.
const BOUND: usize = 20;

/// Shared values, and the locals of each thread.
type End = (Vec<i64>, Vec<Vec<i64>>);

/// Whether a thread only waits, on a memory that nobody changes.
fn is_stuck(buffers: &mut Buffers<'_>, state: &BufferState, thread: ThreadAt) -> bool {
    let home = state.shared.config(thread);
    let mut seen = vec![home];
    let mut at = 0;
    while at < seen.len() {
        let mut here = state.shared.clone();
        here.threads[thread.index()] = seen[at];
        at += 1;
        for (event, next) in buffers.system.steps_of(&here, thread) {
            let config = next.config(thread);
            let writes = event.accesses.iter().any(|access| access.kind == AccessKind::Write);
            if writes || (config != home && buffers.system.thread(thread).is_at_boundary(config)) {
                return false;
            }
            if !seen.contains(&config) {
                seen.push(config);
            }
        }
    }
    true
}

/// Where the library's machine ends.
fn ends(split: &SplitProgram, machine: weak::Machine) -> BTreeSet<End> {
    let mut buffers = Buffers::new(split, machine, BOUND);
    let mut visited = Visited::within(usize::MAX, &split.budget);
    visited.start(buffers.initial()).unwrap();
    let mut ends = BTreeSet::new();
    let mut at = 0;
    while (at as usize) < visited.len() {
        let state = visited.get(at);
        for (_, next) in buffers.steps(&state) {
            assert!(next.markers.iter().all(|&(thread, before)| {
                let waiting = next.buffers[thread.index()].len();
                (1..=waiting).contains(&before)
            }));
            visited.insert(next, at).unwrap();
        }
        at += 1;
        if buffers.is_at_boundary(&state) && split.threads_at().all(|thread| is_stuck(&mut buffers, &state, thread)) {
            let locals =
                |thread: ThreadAt| buffers.system.thread(thread).config(state.shared.config(thread)).frame.to_vec();
            ends.insert((state.shared.memory.to_vec(), split.threads_at().map(locals).collect()));
        }
    }
    assert!(!buffers.is_cut_off);
    ends
}

/// Where the other machine ends.
fn other_ends(program: &Program, machine: Machine) -> BTreeSet<End> {
    machines::ends(program, machine).into_iter().map(|(shared, locals, _)| (shared, locals)).collect()
}

#[test]
fn the_machine_ends_where_another_one_ends() {
    let ordered = Cell::new(0);
    random_cases(cases(600), |rng| {
        let bare = random_program(rng, SIZE);
        let program = with_store_fences(rng, &bare);
        let split = SplitProgram::new(&program).unwrap();
        for (own, other) in [(weak::Machine::Tso, Machine::Tso), (weak::Machine::Pso, Machine::Pso)] {
            assert_eq!(ends(&split, own), other_ends(&program, other), "{own:?}\n{}", show(&program));
        }
        // A machine that took them for nothing would end elsewhere.
        let mut plain = program.clone();
        for instruction in plain.threads.iter_mut().flat_map(|thread| &mut thread.instructions) {
            if matches!(instruction.kind, InstructionKind::PartialFence(_)) {
                instruction.kind = InstructionKind::Plain;
            }
        }
        let plain = ends(&SplitProgram::new(&plain).unwrap(), weak::Machine::Pso);
        ordered.set(ordered.get() + u32::from(plain != ends(&split, weak::Machine::Pso)));
    });
    assert!(ordered.get() > 3, "fences of stores make a difference in {} programs", ordered.get());
}

/// Fences of all kinds at sites that mean the same in the program and between its accesses.
fn random_repair(rng: &mut StdRng, program: &Program) -> Repair {
    let outline = Outline::of_program(program);
    let mut repair = Repair::default();
    for (at, instruction) in program.instructions_at() {
        let instr = outline.instr(at);
        let thread = program.thread(at.thread);
        let is_alone = thread.instructions.iter().filter(|other| other.from == instruction.from).count() == 1;
        let mut sites = vec![Site::after(instr)];
        sites.extend(outline.site_behind(instr));
        sites.extend(is_alone.then(|| Site::before(instr)));
        for site in sites {
            if rng.random_ratio(1, 4) {
                let kind = match rng.random_range(0..6) {
                    0..3 => FenceStrength::Stores,
                    3 => FenceStrength::Loads,
                    4 => FenceStrength::Lightweight,
                    _ => FenceStrength::Plain,
                };
                repair.fences.insert(site, kind);
            }
        }
    }
    repair
}

#[test]
fn fences_that_are_put_in_do_what_those_of_a_program_do() {
    let ordered = Cell::new(0);
    random_cases(cases(600), |rng| {
        let program = random_program(rng, SIZE);
        let repair = random_repair(rng, &program);
        let mut split = SplitProgram::new(&program).unwrap();
        let bare = ends(&split, weak::Machine::Pso);
        repair.apply(&Outline::of_program(&program), &mut split);
        let own = ends(&split, weak::Machine::Pso);
        ordered.set(ordered.get() + u32::from(own != bare));
        let repaired = repair.put_into(&program);
        assert_eq!(own, other_ends(&repaired, Machine::Pso), "{repair:?}\n{}", show(&program));
    });
    assert!(ordered.get() > 3, "fences make a difference in {} programs", ordered.get());
}

#[test]
fn attacks_heed_fences_of_stores() {
    const MOST: usize = 20_000;
    let [robust, cyclic, missed, fewer] = [0, 0, 0, 0].map(Cell::new);
    let count = |counter: &Cell<u32>| counter.set(counter.get() + 1);
    random_cases(cases(500), |rng| {
        let bare = random_program(rng, SIZE);
        let program = with_store_fences(rng, &bare);
        let split = SplitProgram::new(&program).unwrap();
        let machine = weak::Machine::Pso;
        let Ok(verdict) = examine(&split, machine, Granularity::Accesses, BOUND, MOST) else { return };
        let pairs = |split: &SplitProgram| {
            let mut attack = Attack::new(split, machine, Granularity::Accesses, MOST).ok()?;
            let pairs = attack.pairs();
            let found = pairs.iter().any(|&pair| attack.confirm(pair).is_ok_and(|witness| witness.is_some()));
            Some((pairs, found))
        };
        let Some((reordered, is_attacked)) = pairs(&split) else { return };
        match verdict {
            RunsVerdict::Robust { is_complete, .. } => {
                assert!(is_complete);
                count(&robust);
                assert!(!is_attacked, "an attack, but every run is sequentially consistent\n{}", show(&program));
            }
            RunsVerdict::Cyclic(run) => {
                count(&cyclic);
                assert!(!reordered.is_empty(), "no pair can be reordered, but {run:#?}\n{}", show(&program));
                if !is_attacked {
                    count(&missed);
                }
            }
        }
        let mut plain = split.clone();
        plain.threads.iter_mut().flat_map(|thread| &mut thread.steps).flatten().for_each(|step| {
            if matches!(step.kind, InstructionKind::PartialFence(_)) {
                step.kind = InstructionKind::Plain;
            }
        });
        if pairs(&plain).is_some_and(|(pairs, _)| pairs != reordered) {
            count(&fewer);
        }
    });
    let [robust, cyclic, missed, fewer] = [robust, cyclic, missed, fewer].map(Cell::into_inner);
    println!(
        "{robust} robust, {cyclic} not ({missed} without an attack); {fewer} with fewer pairs by fences of stores"
    );
    assert!(robust > 10 && cyclic > 10 && fewer > 10);
}

fn verdict_on_pso(name: &str, text: &str) -> Verdict {
    let parsed = lang::parse(name, text).unwrap_or_else(|errors| panic!("{errors}\n{text}"));
    let question =
        Question { machine: weak::Machine::Pso, granularity: Granularity::Accesses, bound: 4, limit: 100_000 };
    robust(&SplitProgram::new(&parsed.program).unwrap(), &question)
}

#[test]
fn message_passing_needs_a_fence_of_stores_and_store_buffering_a_full_one() {
    let mp = |fence: &str| {
        format!(
            "X86 MP\n{{ x=0; y=0; }}\n P0 | P1 ;\n MOV [x],$1 | MOV EAX,[y] ;\n {fence} | MOV EBX,[x] ;\n MOV [y],$1 | ;\nexists (1:EAX=1 /\\ 1:EBX=0)\n"
        )
    };
    let sb = |fence: &str| {
        format!(
            "X86 SB\n{{ x=0; y=0; }}\n P0 | P1 ;\n MOV [x],$1 | MOV [y],$1 ;\n {fence} | {fence} ;\n MOV EAX,[y] | MOV EAX,[x] ;\nexists (0:EAX=0 /\\ 1:EAX=0)\n"
        )
    };
    let is_right = |text: &str| matches!(verdict_on_pso("test.litmus", text), Verdict::Verified(_));
    assert_eq!(["", "SFENCE", "MFENCE"].map(|fence| is_right(&mp(fence))), [false, true, true]);
    assert_eq!(["", "SFENCE", "MFENCE"].map(|fence| is_right(&sb(fence))), [false, false, true]);
}
