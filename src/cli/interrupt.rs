//! Ctrl-C, and other signals that ask for an end (SIGTERM, SIGHUP): the first one ends an exploration, an analysis or
//! a run under weak memory, which then tells what it knows; the next one, or one at any other time (while a state
//! space is read, while reports are written), ends the command, and leaves no file behind that is not whole.

use crate::report::output;
use crate::tell;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// As shells report a command that Ctrl-C ended: 128 and the number of the signal.
const ENDED_BY_CTRL_C: i32 = 130;

/// How many there are that take Ctrl-C as a request.
static HEARING: AtomicUsize = AtomicUsize::new(0);
static INTERRUPTED: AtomicBool = AtomicBool::new(false);

/// Listens to signals from now on. Not if somebody, as `nohup`, has asked that SIGHUP or SIGTERM be ignored: all are
/// listened to, or none.
pub fn listen() {
    if is_one_ignored() {
        return;
    }
    let installed = ctrlc::set_handler(|| {
        if HEARING.load(Ordering::SeqCst) == 0 || INTERRUPTED.swap(true, Ordering::SeqCst) {
            let _ended = output::end_staging();
            std::process::exit(ENDED_BY_CTRL_C);
        }
    });
    if let Err(error) = installed {
        tell!("seqcon: warning: Ctrl-C will end the command at once: {error}");
    }
}

/// Whether SIGHUP (1) or SIGTERM (15) is ignored, where the system says it. SIGINT is, without anybody having asked,
/// in a script's `seqcon … &`.
fn is_one_ignored() -> bool {
    const ASKED_FOR: u64 = 1 << 0 | 1 << 14;
    let Ok(status) = std::fs::read_to_string("/proc/self/status") else { return false };
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let ignored = ignored.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    ignored.is_some_and(|mask| mask & ASKED_FOR != 0)
}

/// What is set when Ctrl-C was typed and somebody heard it; it stays set.
pub fn request() -> &'static AtomicBool {
    &INTERRUPTED
}

/// Whether that has happened.
pub fn is_requested() -> bool {
    INTERRUPTED.load(Ordering::SeqCst)
}

/// While it lives, Ctrl-C is a request.
pub struct Interruptible;

impl Interruptible {
    pub fn new() -> Interruptible {
        HEARING.fetch_add(1, Ordering::SeqCst);
        Interruptible
    }

    /// Whether Ctrl-C was typed; it stays set, so that later explorations of the command end as well.
    pub fn requested(&self) -> &'static AtomicBool {
        &INTERRUPTED
    }
}

impl Drop for Interruptible {
    fn drop(&mut self) {
        HEARING.fetch_sub(1, Ordering::SeqCst);
    }
}
