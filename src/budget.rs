//! What a command may use: time and memory, for all that it does.
//!
//! One [`Budget`] is made when the command begins and handed to everything that can be long: the exploration, the
//! enumeration of executions, searches on store buffers, the search for delays, placement, the second look. Each of
//! these loops asks [`Budget::check`] once for every piece of work that is small in itself (a state, an execution, a
//! trace, a vertex); where it says no, the loop ends with what it has, and whoever reports says that the answer is
//! not complete and which limit was reached ([`Exhausted`]). Nobody answers "proved", "clean" or "verified" with a
//! budget that is [exhausted](Budget::exhausted).
//!
//! *Promises.* The answer sticks: once exhausted, always exhausted, for all clones. The clock is read at every
//! [`STRIDE`]th question, over all threads, so a limit on time is kept to within so many pieces of work; memory is
//! looked at with the clock, but not more often than every [`MEMORY_INTERVAL`]. A question costs a few nanoseconds,
//! without limits less.
//!
//! *Memory* is what the process has taken since the budget was made: anonymous memory that is resident, as Linux
//! tells it in `/proc/self/statm`. Files that are mapped do not count, and neither does what was freed. Where the
//! system does not tell, a limit on memory is kept by the exploration alone, which counts its states itself.
//!
//! An exploration may use all of the time and still leave something to be analysed: [`Budget::for_the_rest`] gives
//! that a tenth more.
//!
//! *Ctrl-C* is a limit, too, for a budget that [heeds](Budget::heeding) it: whoever asks ends with what is known, and
//! says that somebody wanted an end (see `cli::interrupt`).
//!
//! *Progress.* Through its budget, work also says how far it is ([`Work`]), if somebody wants to show it.

#![forbid(unsafe_code)]

mod work;

pub use work::{Progress, Work};

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU32, AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// How many questions there are to one look at the clock.
const STRIDE: u32 = 64;
/// The least time between two looks at the memory.
const MEMORY_INTERVAL: Duration = Duration::from_millis(20);

/// Which limit was reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exhausted {
    /// That on time.
    Time,
    /// That on memory.
    Memory,
    /// Somebody wanted an end.
    Interrupted,
}

impl fmt::Display for Exhausted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Exhausted::Time => "the limit on time (--timeout)",
            Exhausted::Memory => "the limit on memory (--memory-limit)",
            Exhausted::Interrupted => "your request (Ctrl-C)",
        })
    }
}

/// What may be used; clones share it. The default has no limits.
#[derive(Clone, Debug, Default)]
pub struct Budget {
    limits: Option<Arc<Limits>>,
    /// Set from outside when somebody wants an end.
    request: Option<&'static AtomicBool>,
    /// Where it is said how far the work is, if somebody watches.
    work: Option<&'static Work>,
}

#[derive(Debug)]
struct Limits {
    begun: Instant,
    time: Option<Duration>,
    bytes: Option<u64>,
    bytes_at_begin: u64,
    questions: AtomicU32,
    /// When memory was looked at last, in milliseconds after the beginning.
    looked: AtomicU64,
    /// 0 as long as nothing is exhausted.
    exhausted: AtomicU8,
}

impl Budget {
    /// So much time and so many bytes from now on.
    #[must_use]
    pub fn new(time: Option<Duration>, bytes: Option<u64>) -> Budget {
        if time.is_none() && bytes.is_none() {
            return Budget::default();
        }
        let limits = Limits {
            begun: Instant::now(),
            time,
            bytes,
            bytes_at_begin: resident_bytes().unwrap_or(0),
            questions: AtomicU32::new(0),
            looked: AtomicU64::new(0),
            exhausted: AtomicU8::new(0),
        };
        Budget { limits: Some(Arc::new(limits)), request: None, work: None }
    }

    /// The same that is exhausted, too, when this is set; once set, it must stay so.
    #[must_use]
    pub fn heeding(self, request: &'static AtomicBool) -> Budget {
        Budget { request: Some(request), ..self }
    }

    /// For what only tells of a result: exhausted if this is, and else never, so that all that is told of one result
    /// is told alike.
    #[must_use]
    pub fn settled(&self) -> Budget {
        if self.exhausted().is_some() { self.clone() } else { Budget::default() }
    }

    fn requested(&self) -> Option<Exhausted> {
        self.request.is_some_and(|request| request.load(Ordering::Relaxed)).then_some(Exhausted::Interrupted)
    }

    /// Whether work may go on.
    ///
    /// # Errors
    /// The limit that was reached.
    #[inline]
    pub fn check(&self) -> Result<(), Exhausted> {
        if let Some(work) = self.work {
            work.step();
        }
        let Some(limits) = &self.limits else { return self.requested().map_or(Ok(()), Err) };
        if limits.questions.fetch_add(1, Ordering::Relaxed) % STRIDE == 0 {
            limits.look();
        }
        self.exhausted().map_or(Ok(()), Err)
    }

    /// The same with a look at the clock and the memory, for pieces of work that are larger: a megabyte of text.
    ///
    /// # Errors
    /// The limit that was reached.
    pub fn check_now(&self) -> Result<(), Exhausted> {
        if let Some(limits) = &self.limits {
            limits.look();
        }
        self.exhausted().map_or(Ok(()), Err)
    }

    /// Whether so many bytes more may be taken: for what is known to be large before it is allocated.
    ///
    /// # Errors
    /// The limit that was reached, or would be.
    pub fn check_room(&self, bytes: u64) -> Result<(), Exhausted> {
        if let Some(limits) = &self.limits
            && limits.bytes.is_some_and(|most| limits.taken().saturating_add(bytes) >= most)
        {
            limits.set(Exhausted::Memory);
        }
        self.check_now()
    }

    /// Whether work must end: [`check`](Budget::check) for loops that only want to know that.
    #[inline]
    #[must_use]
    pub fn is_over(&self) -> bool {
        self.check().is_err()
    }

    /// The limit that was reached, if one was.
    #[must_use]
    pub fn exhausted(&self) -> Option<Exhausted> {
        self.limits.as_ref().and_then(|limits| limits.exhausted()).or_else(|| self.requested())
    }

    /// How much time is left; nothing if that is not limited.
    #[must_use]
    pub fn time_left(&self) -> Option<Duration> {
        let limits = self.limits.as_ref()?;
        limits.time.map(|time| time.saturating_sub(limits.begun.elapsed()))
    }

    /// For what is done with the result of an exploration, which may have used this budget up and still has found
    /// something: the time that is left and a tenth of all time, memory counted from here on, and only a request that
    /// is still to come.
    #[must_use]
    pub fn for_the_rest(&self) -> Budget {
        let request = self.request.filter(|request| !request.load(Ordering::Relaxed));
        let work = self.work;
        let Some(limits) = &self.limits else { return Budget { limits: None, request, work } };
        let time = limits.time.map(|time| time.saturating_sub(limits.begun.elapsed()) + time / 10);
        Budget { request, work, ..Budget::new(time, limits.bytes) }
    }
}

impl Budget {
    /// A part of the time that is left, for what the command can do without: that it is exhausted says nothing about
    /// the rest.
    #[must_use]
    pub fn share(&self, parts: u32) -> Budget {
        let Some(limits) = &self.limits else { return self.clone() };
        let Budget { request, work, .. } = *self;
        Budget { request, work, ..Budget::new(self.time_left().map(|time| time / parts), limits.bytes) }
    }
}

impl Limits {
    fn exhausted(&self) -> Option<Exhausted> {
        match self.exhausted.load(Ordering::Relaxed) {
            0 => None,
            1 => Some(Exhausted::Time),
            _ => Some(Exhausted::Memory),
        }
    }

    /// The first limit stays.
    fn set(&self, limit: Exhausted) {
        let number = match limit {
            Exhausted::Time => 1,
            Exhausted::Memory => 2,
            // Whoever wants an end says so elsewhere, and is not asked here.
            Exhausted::Interrupted => return,
        };
        let _ = self.exhausted.compare_exchange(0, number, Ordering::Relaxed, Ordering::Relaxed);
    }

    fn taken(&self) -> u64 {
        resident_bytes().unwrap_or(0).saturating_sub(self.bytes_at_begin)
    }

    fn look(&self) {
        let elapsed = self.begun.elapsed();
        if self.time.is_some_and(|time| elapsed >= time) {
            self.set(Exhausted::Time);
        }
        let Some(bytes) = self.bytes else { return };
        let now = u64::try_from(elapsed.as_millis()).unwrap_or(u64::MAX);
        let last = self.looked.load(Ordering::Relaxed);
        let is_due = u128::from(now.saturating_sub(last)) >= MEMORY_INTERVAL.as_millis();
        let is_mine = || self.looked.compare_exchange(last, now, Ordering::Relaxed, Ordering::Relaxed).is_ok();
        if is_due && is_mine() && self.taken() >= bytes {
            self.set(Exhausted::Memory);
        }
    }
}

/// The anonymous memory of the process that is resident, where the system tells.
#[must_use]
pub fn resident_bytes() -> Option<u64> {
    // The size of a page on all systems that have this file in this form; with larger pages less is counted than
    // there is.
    const PAGE: u64 = 4096;
    let statm = std::fs::read_to_string("/proc/self/statm").ok()?;
    let mut pages = statm.split_whitespace().skip(1).map(str::parse::<u64>);
    let (resident, shared) = (pages.next()?.ok()?, pages.next()?.ok()?);
    Some(resident.saturating_sub(shared) * PAGE)
}

#[cfg(test)]
mod tests {
    use super::{Budget, Exhausted, STRIDE};
    use std::sync::atomic::{AtomicBool, Ordering};
    use std::time::Duration;

    #[test]
    fn what_would_not_fit_is_refused_before_it_is_taken() {
        let limited = Budget::new(None, Some(1 << 40));
        assert_eq!((limited.check_room(1 << 20), limited.check_room(1 << 41)), (Ok(()), Err(Exhausted::Memory)));
        assert_eq!((limited.exhausted(), Budget::default().check_room(u64::MAX)), (Some(Exhausted::Memory), Ok(())));
    }

    #[test]
    fn without_limits_work_goes_on() {
        let budget = Budget::new(None, None);
        assert!((0..10 * STRIDE).all(|_| budget.check().is_ok()));
        assert_eq!((budget.exhausted(), budget.time_left()), (None, None));
    }

    #[test]
    fn time_is_over_for_all_clones_and_stays_over() {
        let budget = Budget::new(Some(Duration::from_millis(30)), None);
        let clone = budget.clone();
        while budget.check().is_ok() {}
        assert_eq!((clone.check(), clone.exhausted()), (Err(Exhausted::Time), Some(Exhausted::Time)));
        assert_eq!(clone.time_left(), Some(Duration::ZERO));
        let rest = budget.for_the_rest();
        assert!(rest.exhausted().is_none() && rest.time_left().is_some_and(|left| left <= Duration::from_millis(3)));
    }

    #[test]
    fn a_request_is_a_limit_for_who_heeds_it_and_is_told_alike_from_then_on() {
        static REQUEST: AtomicBool = AtomicBool::new(false);
        let unlimited = Budget::default().heeding(&REQUEST);
        let limited = Budget::new(Some(Duration::from_secs(600)), None).heeding(&REQUEST);
        let (heedless, settled) = (Budget::default(), unlimited.settled());
        let rest = limited.for_the_rest();
        let all = || [unlimited.clone(), limited.clone(), rest.clone(), unlimited.share(2)];
        assert!(all().iter().all(|budget| budget.check().is_ok() && budget.exhausted().is_none()));
        REQUEST.store(true, Ordering::Relaxed);
        assert!(all().iter().all(|budget| budget.check() == Err(Exhausted::Interrupted)));
        let afterwards = limited.for_the_rest();
        assert_eq!((heedless.exhausted(), settled.exhausted(), afterwards.exhausted()), (None, None, None));
        assert_eq!(unlimited.settled().exhausted(), Some(Exhausted::Interrupted));
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn memory_that_is_taken_is_noticed() {
        let budget = Budget::new(Some(Duration::from_secs(60)), Some(32 << 20));
        let mut taken: Vec<Vec<u8>> = Vec::new();
        while budget.check().is_ok() {
            taken.push(vec![1; 1 << 16]);
        }
        assert_eq!(budget.exhausted(), Some(Exhausted::Memory));
        let bytes: usize = taken.iter().map(Vec::len).sum();
        assert!(bytes > 16 << 20, "{bytes} bytes were taken");
    }
}
