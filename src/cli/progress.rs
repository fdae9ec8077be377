//! Progress on standard error, for anything over two seconds, and only on a terminal: one line that says what is being
//! done, how far it is, how fast it goes, how much memory the process has, and for how long it has gone on.
//!
//! One thread draws for all who are at work; it ends when nobody is. Where standard error is no terminal there is no
//! such thread, nothing is drawn, and nothing is counted.

use crate::budget::{Budget, Progress, Work, resident_bytes};
use crate::facts::extract;
use crate::memory::MemoryModel;
use crate::report::streams;
use crate::text::excerpt::{printable, shortened};
use indicatif::{FormattedDuration, HumanBytes, HumanCount, ProgressBar, ProgressStyle};
use std::collections::VecDeque;
use std::ffi::OsStr;
use std::io::{self, IsTerminal};
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, OnceLock, PoisonError};
use std::thread::{self, JoinHandle, ThreadId};
use std::time::{Duration, Instant};

/// What takes less is not shown.
const PATIENCE: Duration = Duration::from_secs(2);
/// The time between two drawings.
const TICK: Duration = Duration::from_millis(100);
/// The time over which a speed is measured.
const WINDOW: Duration = Duration::from_secs(3);

/// How much of the name of an input is shown.
const MOST_OF_NAME: usize = 24;

/// What budgets tell of the work.
static WORK: Work = Work::new();
/// Who is at work.
static AT_WORK: Mutex<AtWork> = Mutex::new(AtWork { tasks: Vec::new(), next: 0, first: 0, display: None });
/// Nobody is at work any more.
static ENDED: Condvar = Condvar::new();
/// The line that is drawn, while there is one.
static LINE: Mutex<Option<ProgressBar>> = Mutex::new(None);
/// How many of how many inputs are done.
static INPUTS: Measure = Measure::new(Unit::Inputs);

struct AtWork {
    /// The last one of each thread is what it does.
    tasks: Vec<Task>,
    next: u64,
    /// Who went to work when nobody was.
    first: u64,
    /// Who draws, since the first one went to work.
    display: Option<JoinHandle<()>>,
}

struct Task {
    number: u64,
    thread: ThreadId,
    what: String,
    started: Instant,
    measure: Option<Arc<Measure>>,
}

/// How much of how much is done.
struct Measure {
    unit: Unit,
    done: AtomicU64,
    total: AtomicU64,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Unit {
    Bytes,
    Tests,
    Inputs,
}

impl Measure {
    const fn new(unit: Unit) -> Measure {
        Measure { unit, done: AtomicU64::new(0), total: AtomicU64::new(0) }
    }

    fn set(&self, done: u64, total: u64) {
        self.done.store(done, Ordering::Relaxed);
        self.total.store(total, Ordering::Relaxed);
    }

    fn get(&self) -> (u64, u64) {
        (self.done.load(Ordering::Relaxed), self.total.load(Ordering::Relaxed))
    }
}

/// Whether somebody can see it.
fn is_shown() -> bool {
    static SHOWN: OnceLock<bool> = OnceLock::new();
    *SHOWN.get_or_init(|| io::stderr().is_terminal())
}

fn at_work() -> MutexGuard<'static, AtWork> {
    AT_WORK.lock().unwrap_or_else(PoisonError::into_inner)
}

fn line() -> MutexGuard<'static, Option<ProgressBar>> {
    LINE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The budget, and who uses it tells how far the work is, if somebody can see it.
pub fn watching(budget: Budget) -> Budget {
    if is_shown() { budget.watched(&WORK) } else { budget }
}

/// So many of so many inputs are done.
pub fn inputs_done(done: usize, total: usize) {
    INPUTS.set(done as u64, total as u64);
}

/// Shows that something is still going on, from when it takes over two seconds until it is dropped.
pub struct Spinner {
    number: Option<u64>,
}

impl Spinner {
    pub fn new(what: String) -> Spinner {
        Spinner::measured(what, None)
    }

    /// For work on what is named under a memory model, which is said first.
    pub fn under(model: &MemoryModel, doing: &str, name: &str) -> Spinner {
        Spinner::new(format!("{}: {doing} {}", model.name, short(name)))
    }

    fn measured(what: String, measure: Option<Arc<Measure>>) -> Spinner {
        if !is_shown() {
            return Spinner { number: None };
        }
        let mut at_work = at_work();
        let number = at_work.next;
        at_work.next += 1;
        let thread = thread::current().id();
        if at_work.tasks.iter().all(|task| task.thread == thread) {
            WORK.begin("");
        }
        at_work.tasks.push(Task { number, thread, what, started: Instant::now(), measure });
        if at_work.display.is_none() {
            at_work.first = number;
            at_work.display = Some(thread::spawn(move || display(number)));
        }
        Spinner { number: Some(number) }
    }
}

impl Drop for Spinner {
    fn drop(&mut self) {
        let Some(number) = self.number else { return };
        let mut at_work = at_work();
        at_work.tasks.retain(|task| task.number != number);
        if !at_work.tasks.is_empty() {
            return;
        }
        let display = at_work.display.take();
        drop(at_work);
        ENDED.notify_all();
        if let Some(display) = display {
            // It only ever panics if drawing does; the result is not affected.
            let _ = display.join();
        }
    }
}

/// How far the reading of a file is, in bytes.
pub struct ByteBar {
    measure: Arc<Measure>,
    spinner: Mutex<Option<Spinner>>,
}

impl ByteBar {
    pub fn new(what: &str) -> ByteBar {
        let measure = Arc::new(Measure::new(Unit::Bytes));
        let spinner = Spinner::measured(what.to_owned(), Some(Arc::clone(&measure)));
        ByteBar { measure, spinner: Mutex::new(Some(spinner)) }
    }

    pub fn finish(&self) {
        drop(self.spinner.lock().unwrap_or_else(PoisonError::into_inner).take());
    }
}

impl extract::Progress for ByteBar {
    fn bytes(&self, done: u64, total: u64) {
        self.measure.set(done, total);
    }
}

/// How many of many tests are done.
pub struct TestCount {
    measure: Arc<Measure>,
    _spinner: Spinner,
}

impl TestCount {
    pub fn new(what: String, total: usize) -> TestCount {
        let measure = Arc::new(Measure::new(Unit::Tests));
        measure.set(0, total as u64);
        let spinner = Spinner::measured(what, Some(Arc::clone(&measure)));
        TestCount { measure, _spinner: spinner }
    }

    /// One more is done.
    pub fn one_more(&self) {
        self.measure.done.fetch_add(1, Ordering::Relaxed);
    }
}

/// Draws the line as long as somebody is at work, beginning with this one.
fn display(first: u64) {
    let mut speed = Speed::default();
    loop {
        let is_over = |at_work: &AtWork| at_work.tasks.is_empty() || at_work.first != first;
        let at_work = at_work();
        // Who went to work after everybody had ended has another display.
        if is_over(&at_work) {
            break;
        }
        let (at_work, _) = ENDED.wait_timeout(at_work, TICK).unwrap_or_else(|poisoned| poisoned.into_inner());
        if is_over(&at_work) {
            break;
        }
        let is_long = at_work.tasks.iter().any(|task| task.started.elapsed() >= PATIENCE);
        let text = is_long.then(|| text(&at_work.tasks, &mut speed));
        drop(at_work);
        if let Some(text) = text {
            draw(text);
        }
    }
    if let Some(bar) = line().take() {
        bar.finish_and_clear();
    }
}

fn draw(text: String) {
    streams::draw_around(around_the_line);
    let mut line = line();
    let bar = line.get_or_insert_with(|| {
        let bar = ProgressBar::new_spinner();
        if let Ok(style) = ProgressStyle::with_template("{spinner} {wide_msg}") {
            bar.set_style(style);
        }
        bar
    });
    bar.set_message(text);
    bar.tick();
}

/// Takes the line away while something else is written on standard error.
fn around_the_line(write: &mut dyn FnMut()) {
    let bar = line().clone();
    match bar {
        Some(bar) => bar.suspend(write),
        None => write(),
    }
}

/// The end of a path, which says more than its beginning: a terminal has no room for all of it.
pub fn short(path: &str) -> String {
    let name = Path::new(path).file_name().map_or(path.into(), OsStr::to_string_lossy);
    shortened(&name, MOST_OF_NAME)
}

/// What is said of all who are at work: what it is first, numbers behind it, as a terminal may have no room for all of
/// it.
fn text(tasks: &[Task], speed: &mut Speed) -> String {
    let is_last = |task: &&Task| !tasks.iter().any(|other| other.thread == task.thread && other.number > task.number);
    let busy: Vec<&Task> = tasks.iter().filter(is_last).collect();
    let started = busy.iter().map(|task| task.started).min().unwrap_or_else(Instant::now);
    let mut parts = vec![FormattedDuration(started.elapsed()).to_string()];
    let (done, inputs) = INPUTS.get();
    if inputs > 1 {
        parts.push(format!("{done} of {inputs} inputs done"));
    }
    let memory = resident_bytes().map(|bytes| HumanBytes(bytes).to_string());
    match &busy[..] {
        [task] => parts.extend(of_one(task, WORK.progress(), memory, speed)),
        several => {
            let whats: Vec<String> = several.iter().map(|task| printable(&task.what)).collect();
            parts.extend(memory);
            parts.push(format!("{} at work: {}", several.len(), whats.join("; ")));
        }
    }
    parts.join(" · ")
}

/// A number in three digits, if it has many more.
fn rounded(number: u64) -> String {
    match number {
        1_000_000_000.. => format!("{:.2}G", number as f64 / 1e9),
        1_000_000.. => format!("{:.2}M", number as f64 / 1e6),
        _ => HumanCount(number).to_string(),
    }
}

/// What one does, and how far it is.
fn of_one(task: &Task, progress: Progress, memory: Option<String>, speed: &mut Speed) -> Vec<String> {
    let Progress { phase, steps, states, depth } = progress;
    let what = printable(&task.what);
    let mut parts = vec![if phase.is_empty() { what } else { format!("{what}: {phase}") }];
    let count = HumanCount;
    match task.measure.as_ref().map(|measure| (measure.unit, measure.get())) {
        Some((Unit::Bytes, (done, total))) => {
            let per_second = HumanBytes(speed.of(done) as u64);
            parts.push(format!("{} of {} ({per_second}/s)", HumanBytes(done), HumanBytes(total)));
        }
        Some((Unit::Tests | Unit::Inputs, (done, total))) => {
            parts.push(format!("{} of {} tests ({:.1}/s)", count(done), count(total), speed.of(done)));
        }
        None if states > 0 => {
            parts.push(format!("{} states ({}/s)", rounded(states), rounded(speed.of(states) as u64)));
        }
        None if steps > 0 => parts.push(format!("{} steps ({}/s)", rounded(steps), rounded(speed.of(steps) as u64))),
        None => {}
    }
    parts.extend(memory);
    if depth > 0 {
        parts.push(format!("depth {}", count(depth)));
    }
    parts
}

/// How fast a number grows.
#[derive(Default)]
struct Speed {
    seen: VecDeque<(Instant, u64)>,
}

impl Speed {
    /// By how much it grew a second, over the last seconds; a number that became less is another one.
    fn of(&mut self, number: u64) -> f64 {
        if self.seen.back().is_some_and(|&(_, last)| last > number) {
            self.seen.clear();
        }
        let now = Instant::now();
        self.seen.push_back((now, number));
        while self.seen.front().is_some_and(|&(time, _)| now.duration_since(time) > WINDOW) {
            self.seen.pop_front();
        }
        match self.seen.front() {
            Some(&(time, before)) if time < now => (number - before) as f64 / now.duration_since(time).as_secs_f64(),
            _ => 0.0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn task(what: &str, measure: Option<Measure>) -> Task {
        let (thread, started) = (thread::current().id(), Instant::now());
        Task { number: 0, thread, what: what.to_owned(), started, measure: measure.map(Arc::new) }
    }

    #[test]
    fn the_line_says_what_is_done_and_how_far_it_is() {
        let mut speed = Speed::default();
        let exploring = Progress { phase: "", steps: 9, states: 1_234_567, depth: 42 };
        let said = of_one(&task("exploring a\u{1b}.slco", None), exploring, None, &mut speed);
        assert_eq!(said, ["exploring a\u{fffd}.slco", "1.23M states (0/s)", "depth 42"]);
        let placing = Progress { phase: "placing fences", steps: 70_000, states: 0, depth: 0 };
        let said = of_one(&task("tso: analysing sb", None), placing, None, &mut speed);
        assert_eq!(said, ["tso: analysing sb: placing fences", "70,000 steps (0/s)"]);
        let measure = Measure::new(Unit::Bytes);
        measure.set(3 << 20, 5 << 30);
        let said = of_one(&task("reading a.aut", Some(measure)), Progress::default(), None, &mut Speed::default());
        assert_eq!(said, ["reading a.aut", "3.00 MiB of 5.00 GiB (0 B/s)"]);
    }

    #[test]
    fn of_nested_work_the_inner_one_is_said_and_of_several_threads_all() {
        let mut tasks = vec![task("outer", None), Task { number: 1, ..task("inner", None) }];
        let said = |tasks: &[Task]| text(tasks, &mut Speed::default());
        assert!(said(&tasks).contains(" · inner"), "{}", said(&tasks));
        let other = thread::spawn(|| thread::current().id()).join().expect("a thread");
        tasks.push(Task { number: 2, thread: other, ..task("another", None) });
        assert!(said(&tasks).ends_with(" · 2 at work: inner; another"), "{}", said(&tasks));
    }

    #[test]
    fn a_long_path_leaves_room_for_the_memory_model_and_the_phase() {
        assert_eq!(short("/a/long/way/to/big.slco"), "big.slco");
        assert!(short(&"x".repeat(100)).chars().count() <= MOST_OF_NAME);
        let what = format!("armv8: analysing {}", short(&"x".repeat(100)));
        let placing = Progress { phase: "placing fences", steps: 70_000, states: 0, depth: 0 };
        let said = of_one(&task(&what, None), placing, None, &mut Speed::default());
        assert!(said[0].chars().count() + "00:00:02 · ".len() <= 78, "{said:?}");
    }

    #[test]
    fn a_number_that_became_less_is_another_one() {
        let mut speed = Speed::default();
        speed.of(100);
        thread::sleep(Duration::from_millis(5));
        assert!(speed.of(200) > 0.0);
        assert_eq!(speed.of(3).to_string(), "0");
    }
}
