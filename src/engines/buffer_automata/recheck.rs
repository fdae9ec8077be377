//! A second look at an invariant, by plain rules.
//!
//! Nothing of the search is used: not its operations on languages, what it remembers of them, its rounds or its sleep
//! sets. Each language is taken as an automaton, and whether a step leads into a state is found out by walking through
//! the words of one automaton along the other one. Shared with the search are the moves of threads, who judges states,
//! and [who can go first](super::persistent).

use super::closing::Member;
use super::persistent::Persistent;
use super::search::counts;
use super::space::{MARK, Memory, Space, Step, Symbolic};
use super::tree::Followed;
use crate::budget::Exhausted;
use crate::ids::{LocationAt, ThreadAt};
use crate::regular::{Language, Letter, Plain};
use crate::weak::buffers::BufferState;
use crate::weak::forbidden::{Forbidden, Judge};
use crate::weak::system::State;
use crate::weak::threads::{Action, ConfigId};
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::{BTreeMap, BTreeSet};

/// Whether these states are an invariant: they have the start, nothing forbidden and nothing that goes wrong, and are
/// closed under the steps that are to be followed, with ranks.
///
/// # Errors
/// If the budget is exhausted.
pub fn proves(
    space: &mut Space<'_>,
    persistent: &mut Persistent<'_>,
    forbidden: Forbidden<'_>,
    members: &[Member],
) -> Result<bool, Exhausted> {
    let mut plain: FxHashMap<Language, Plain> = FxHashMap::default();
    for &language in members.iter().flat_map(|member| &member.buffers[..]).chain(&[Language::UNIT]) {
        plain.entry(language).or_insert_with(|| space.languages.plain(language));
    }
    let mut places: FxHashMap<&State, Vec<usize>> = FxHashMap::default();
    for (number, member) in members.iter().enumerate() {
        places.entry(&member.shared).or_default().push(number);
    }
    let look = Look { members, plain: &plain, places, writes: space.writes().to_vec() };
    let Symbolic { shared, buffers } = space.initial();
    let contents: Vec<Content> = buffers.iter().map(|&language| Content::all(language)).collect();
    if look.including(&shared, &contents).next().is_none() {
        return Ok(false);
    }
    let mut judge = Judge::new(forbidden);
    let mut into: Vec<Option<Vec<usize>>> = Vec::new();
    for member in members {
        space.machine.system.program.budget.check()?;
        let state = Symbolic { shared: member.shared.clone(), buffers: member.buffers.clone() };
        let faulty = |thread| space.machine.system.thread(thread).config(state.shared.config(thread)).is_faulty;
        if space.machine.system.program.threads_at().any(faulty) {
            return Ok(false);
        }
        if member.buffers.iter().all(|&language| look.may_matter_no_more(space, language)) {
            let drained = BufferState { shared: state.shared.clone(), ..space.machine.initial() };
            if !matches!(judge.violated(&mut space.machine, &drained), Ok(None)) {
                return Ok(false);
            }
        }
        let threads: Vec<ThreadAt> = match member.followed {
            Followed::All => space.machine.system.program.threads_at().collect(),
            Followed::Only(thread) => vec![thread],
        };
        let why = match member.followed {
            Followed::All => None,
            Followed::Only(thread) => match persistent.goes_first(space, &state.shared, thread) {
                None => return Ok(false),
                why => why,
            },
        };
        let mut counted = Vec::new();
        for thread in threads {
            let mut led = look.moves(space, member, thread);
            if member.followed == Followed::All {
                led.extend(look.commits(space, member, thread));
            }
            for (step, shared, contents) in led {
                let mut including = look.including(&shared, &contents);
                let Some(first) = including.next() else { return Ok(false) };
                if why.is_some_and(|why| counts(why, step)) {
                    counted.extend([first].into_iter().chain(including));
                }
            }
        }
        into.push(why.map(|_| counted));
    }
    Ok(have_ranks(&into))
}

/// Whether from each state, going on with some of those that it leads into, one is reached that needs no rank.
fn have_ranks(into: &[Option<Vec<usize>>]) -> bool {
    let mut back: Vec<Vec<usize>> = vec![Vec::new(); into.len()];
    for (from, next) in into.iter().enumerate() {
        next.iter().flatten().for_each(|&to| back[to].push(from));
    }
    let mut has_rank: Vec<bool> = into.iter().map(Option::is_none).collect();
    let mut open: Vec<usize> = (0..into.len()).filter(|&number| has_rank[number]).collect();
    while let Some(number) = open.pop() {
        for &from in &back[number] {
            if !std::mem::replace(&mut has_rank[from], true) {
                open.push(from);
            }
        }
    }
    has_rank.iter().all(|has| *has)
}

/// What a buffer can hold after a step: the words of a language, taken apart and put together.
#[derive(Clone)]
struct Content {
    language: Language,
    /// Only words that begin with this, without it.
    without: Option<Letter>,
    /// Only words whose newest letter among some is one of these: the letters that count, and which of them, or none.
    newest: Option<(LocationAt, BTreeSet<Option<Letter>>)>,
    /// What is appended.
    appended: Vec<Letter>,
}

impl Content {
    fn all(language: Language) -> Content {
        Content { language, without: None, newest: None, appended: Vec::new() }
    }
}

struct Look<'m> {
    members: &'m [Member],
    plain: &'m FxHashMap<Language, Plain>,
    places: FxHashMap<&'m State, Vec<usize>>,
    /// The writes that letters stand for.
    writes: Vec<(LocationAt, i64)>,
}

/// A step, and what it leads to.
type Led = (Step, State, Vec<Content>);

impl Look<'_> {
    fn plain(&self, language: Language) -> &Plain {
        &self.plain[&language]
    }

    /// The states that have all of this.
    fn including(&self, shared: &State, contents: &[Content]) -> impl Iterator<Item = usize> {
        let candidates = self.places.get(shared).into_iter().flatten().copied();
        candidates.filter(move |&number| {
            let buffers = &self.members[number].buffers;
            contents.iter().zip(&buffers[..]).all(|(content, &into)| self.is_within(content, into))
        })
    }

    /// Whether every word of a content is one of a language.
    fn is_within(&self, content: &Content, into: Language) -> bool {
        if content.language == into && content.without.is_none() && content.appended.is_empty() {
            // Whatever is excluded.
            return true;
        }
        let (from, target) = (self.plain(content.language), self.plain(into));
        let mut start = from.initial();
        if let Some(letter) = content.without {
            start = start.and_then(|start| from.next(start, letter));
        }
        let mut seen: FxHashSet<(u32, Option<Letter>, Option<u32>)> = FxHashSet::default();
        let mut open: Vec<(u32, Option<Letter>, Option<u32>)> =
            start.into_iter().map(|start| (start, None, target.initial())).collect();
        while let Some(here) = open.pop() {
            if !seen.insert(here) {
                continue;
            }
            let (at, newest, reached) = here;
            let is_kept = content.newest.as_ref().is_none_or(|(_, kept)| kept.contains(&newest));
            if from.is_accepting(at) && is_kept {
                let follow = |at: Option<u32>, letter: &Letter| target.next(at?, *letter);
                let end = content.appended.iter().fold(reached, follow);
                if !end.is_some_and(|end| target.is_accepting(end)) {
                    return false;
                }
            }
            for &(letter, next) in from.moves(at) {
                let is_newer = content.newest.as_ref().is_some_and(|(location, _)| self.is_of(letter, *location));
                let newest = if is_newer { Some(letter) } else { newest };
                open.push((next, newest, reached.and_then(|reached| target.next(reached, letter))));
            }
        }
        true
    }

    fn is_of(&self, letter: Letter, location: LocationAt) -> bool {
        letter != MARK && self.writes[letter as usize].0 == location
    }

    /// Which writes to a location are the newest in some word; nothing, where a word has none.
    fn newest(&self, language: Language, location: LocationAt) -> BTreeSet<Option<Letter>> {
        let automaton = self.plain(language);
        let mut seen: FxHashSet<(u32, Option<Letter>)> = FxHashSet::default();
        let mut open: Vec<(u32, Option<Letter>)> = automaton.initial().into_iter().map(|start| (start, None)).collect();
        let mut found = BTreeSet::new();
        while let Some((at, newest)) = open.pop() {
            if !seen.insert((at, newest)) {
                continue;
            }
            if automaton.is_accepting(at) {
                found.insert(newest);
            }
            for &(letter, next) in automaton.moves(at) {
                open.push((next, if self.is_of(letter, location) { Some(letter) } else { newest }));
            }
        }
        found
    }

    /// Whether a buffer can be empty.
    fn can_be_empty(&self, language: Language) -> bool {
        let automaton = self.plain(language);
        automaton.initial().is_some_and(|start| automaton.is_accepting(start))
    }

    /// Whether a buffer can hold nothing but marks, and writes to locations that nobody asks for.
    fn may_matter_no_more(&self, space: &Space<'_>, language: Language) -> bool {
        let automaton = self.plain(language);
        let mut seen: FxHashSet<u32> = FxHashSet::default();
        let mut open: Vec<u32> = automaton.initial().into_iter().collect();
        while let Some(at) = open.pop() {
            if automaton.is_accepting(at) {
                return true;
            }
            if seen.insert(at) {
                let can_wait = |letter: Letter| letter == MARK || !space.is_observed(self.writes[letter as usize].0);
                open.extend(automaton.moves(at).iter().filter(|(letter, _)| can_wait(*letter)).map(|(_, next)| *next));
            }
        }
        false
    }

    /// What the moves of a thread lead to, but for those that leave everything as it is.
    fn moves(&self, space: &mut Space<'_>, member: &Member, thread: ThreadAt) -> Vec<Led> {
        let config = member.shared.config(thread);
        let own = space.own(thread);
        let mut led = Vec::new();
        let moves = space.machine.system.thread_mut(thread).moves(config);
        for (number, step) in moves.iter().enumerate() {
            let mut contents: Vec<Content> = member.buffers.iter().map(|&language| Content::all(language)).collect();
            if step.drained {
                if !own.clone().all(|buffer| self.can_be_empty(member.buffers[buffer])) {
                    continue;
                }
                own.clone().for_each(|buffer| contents[buffer] = Content::all(Language::UNIT));
            }
            let waits = own.clone().any(|buffer| contents[buffer].language != Language::UNIT);
            if step.ordered && space.memory == Memory::Pso && waits {
                own.clone().for_each(|buffer| contents[buffer].appended.push(MARK));
            }
            let mut lead = |to: ConfigId, memory: &[i64], contents: Vec<Content>| {
                let mut shared = State { memory: memory.into(), threads: member.shared.threads.clone() };
                shared.threads[thread.index()] = to;
                led.push((Step::Issue { thread, number: number as u32, to }, shared, contents));
            };
            let memory = &member.shared.memory;
            match step.action {
                Action::Silent { next } => lead(next, memory, contents),
                Action::Write { location, value, next } => {
                    let mut memory = memory.clone();
                    match space.memory {
                        Memory::Sc => memory[location.index()] = value,
                        Memory::Tso | Memory::Pso => {
                            let letter = self.writes.iter().rposition(|&write| write == (location, value));
                            let Some(letter) = letter else { return vec![nowhere(member, thread)] };
                            contents[space.buffer(thread, location)].appended.push(letter as Letter);
                        }
                    }
                    lead(next, &memory, contents);
                }
                Action::Read { operation, location } => {
                    let value_of = |newest: &Option<Letter>| match newest {
                        None => memory[location.index()],
                        Some(letter) => self.writes[*letter as usize].1,
                    };
                    let newest = match space.memory {
                        Memory::Sc => BTreeSet::from([None]),
                        _ => self.newest(contents[space.buffer(thread, location)].language, location),
                    };
                    let mut leads: BTreeMap<ConfigId, BTreeSet<Option<Letter>>> = BTreeMap::new();
                    for class in newest {
                        let system = &mut space.machine.system;
                        let to = system.thread_mut(thread).after_read(config, step.step, operation, value_of(&class));
                        leads.entry(to).or_default().insert(class);
                    }
                    for (to, kept) in leads {
                        let mut contents = contents.clone();
                        if space.memory != Memory::Sc {
                            contents[space.buffer(thread, location)].newest = Some((location, kept));
                        }
                        lead(to, memory, contents);
                    }
                }
                Action::Whole => {
                    if let Some((_, shared)) = space.machine.system.perform(&member.shared, thread, step.step) {
                        lead(shared.config(thread), &shared.memory, contents);
                    }
                }
            }
        }
        led
    }

    /// What the commits of a thread lead to.
    fn commits(&self, space: &Space<'_>, member: &Member, thread: ThreadAt) -> Vec<Led> {
        let mut led = Vec::new();
        let all = || -> Vec<Content> { member.buffers.iter().map(|&language| Content::all(language)).collect() };
        for buffer in space.own(thread) {
            let automaton = self.plain(member.buffers[buffer]);
            for &(letter, _) in automaton.initial().map_or(&[][..], |start| automaton.moves(start)) {
                if letter == MARK {
                    continue;
                }
                let (location, value) = self.writes[letter as usize];
                let (mut shared, mut contents) = (member.shared.clone(), all());
                shared.memory[location.index()] = value;
                contents[buffer].without = Some(letter);
                led.push((Step::Commit { thread, letter }, shared, contents));
            }
        }
        let mut contents = all();
        let mut can_pass = !space.own(thread).is_empty();
        for buffer in space.own(thread) {
            let automaton = self.plain(member.buffers[buffer]);
            can_pass &= automaton.initial().and_then(|start| automaton.next(start, MARK)).is_some();
            contents[buffer].without = Some(MARK);
        }
        if can_pass {
            led.push((Step::Pass { thread }, member.shared.clone(), contents));
        }
        led
    }
}

/// A step that leads to nothing that was seen.
fn nowhere(member: &Member, thread: ThreadAt) -> Led {
    let nothing = State { memory: Box::default(), threads: member.shared.threads.clone() };
    (Step::Pass { thread }, nothing, Vec::new())
}
