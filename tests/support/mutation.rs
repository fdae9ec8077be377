//! Random edits of texts, and a guard around what reads them.
//!
//! A parser that loops does not fail a test: it hangs it, or takes all memory first. So every reading is [`watched`]:
//! a thread looks a hundred times a second how long the current text has been read and how much memory the process
//! has taken since then, and ends the process with the text on standard error if either is too much for a text that
//! is at most some kilobytes long. Other tests of the process take memory, too, but not so much in the time that one
//! text takes.

use rand::Rng;
use rand::rngs::StdRng;
use std::io::Write;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::{Duration, Instant};

/// How long one text may be read; mutated texts take microseconds.
const LONGEST: Duration = Duration::from_secs(20);
/// How many bytes the process may take while one text is read.
const MOST_MEMORY: u64 = 1 << 30;
const INTERVAL: Duration = Duration::from_millis(10);

/// A text with one to six edits: some characters or words are deleted, copied, replaced, or `fragments` are put in;
/// or the rest is cut off.
pub fn mutate(text: &str, fragments: &[&str], rng: &mut StdRng) -> String {
    let mut characters: Vec<char> = text.chars().collect();
    for _ in 0..rng.random_range(1..=6) {
        let at = rng.random_range(0..=characters.len());
        let end = (at + rng.random_range(0..=12)).min(characters.len());
        match rng.random_range(0..7) {
            0 => {
                characters.drain(at..end);
            }
            1 => {
                let fragment = fragments[rng.random_range(0..fragments.len())];
                characters.splice(at..at, fragment.chars());
            }
            2 => {
                let copied: Vec<char> = characters[at..end].to_vec();
                let to = rng.random_range(0..=characters.len());
                characters.splice(to..to, copied);
            }
            3 => {
                let character = char::from(rng.random_range(0..128_u8));
                if let Some(place) = characters.get_mut(at) {
                    *place = character;
                }
            }
            4 => {
                characters.drain(word_at(&characters, at));
            }
            5 => {
                let fragment = fragments[rng.random_range(0..fragments.len())];
                characters.splice(word_at(&characters, at), fragment.chars());
            }
            _ if rng.random_range(0..4) == 0 => characters.truncate(at),
            _ => {}
        }
    }
    characters.into_iter().collect()
}

/// The word that the place is in, without the blanks around it.
fn word_at(characters: &[char], at: usize) -> std::ops::Range<usize> {
    let length = |part: &mut dyn Iterator<Item = &char>| part.take_while(|c| !c.is_whitespace()).count();
    let before = length(&mut characters[..at].iter().rev());
    let behind = length(&mut characters[at..].iter());
    at - before..at + behind
}

/// What looks after a parser; one for each test.
pub struct Guard {
    texts: Sender<Option<String>>,
}

impl Guard {
    /// Starts to look. `parser` is named if it is ended.
    pub fn new(parser: &'static str) -> Guard {
        let (texts, received) = channel();
        std::thread::spawn(move || look(parser, &received));
        Guard { texts }
    }

    /// Reads a text; the process ends if that takes too long or too much memory.
    pub fn watched<T>(&self, text: &str, read: impl FnOnce(&str) -> T) -> T {
        self.texts.send(Some(text.to_owned())).expect("the guard looks");
        let result = read(text);
        self.texts.send(None).expect("the guard looks");
        result
    }
}

fn look(parser: &str, texts: &Receiver<Option<String>>) {
    let mut current: Option<(String, Instant, u64)> = None;
    loop {
        match texts.recv_timeout(INTERVAL) {
            Ok(text) => current = text.map(|text| (text, Instant::now(), resident_bytes().unwrap_or(0))),
            Err(RecvTimeoutError::Disconnected) => return,
            Err(RecvTimeoutError::Timeout) => {
                let Some((text, begun, before)) = &current else { continue };
                let seconds = begun.elapsed().as_secs();
                let memory = resident_bytes().unwrap_or(0).saturating_sub(*before);
                if begun.elapsed() > LONGEST || memory > MOST_MEMORY {
                    // Written past the harness, which would keep it for a test that does not end.
                    let _ = writeln!(
                        std::io::stderr(),
                        "the parser of {parser} has taken {seconds} s, and the process {memory} bytes, for\n{text:?}"
                    );
                    std::process::abort();
                }
            }
        }
    }
}

/// How much memory the process has, where the system tells.
fn resident_bytes() -> Option<u64> {
    let statm = std::fs::read_to_string("/proc/self/statm").ok()?;
    Some(statm.split_whitespace().nth(1)?.parse::<u64>().ok()? * 4096)
}
