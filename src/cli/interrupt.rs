//! Ctrl-C: the first one ends an exploration, which then tells what it knows; the next one, or one at any other time, ends the command.

use std::sync::Once;
use std::sync::atomic::{AtomicBool, Ordering};

/// As shells report a command that Ctrl-C ended: 128 and the number of the signal.
const ENDED_BY_CTRL_C: i32 = 130;

static EXPLORING: AtomicBool = AtomicBool::new(false);
static INTERRUPTED: AtomicBool = AtomicBool::new(false);

/// While it lives, Ctrl-C is a request.
pub struct Interruptible;

impl Interruptible {
    pub fn new() -> Interruptible {
        static INSTALL: Once = Once::new();
        INSTALL.call_once(|| {
            let installed = ctrlc::set_handler(|| {
                if !EXPLORING.load(Ordering::SeqCst) || INTERRUPTED.swap(true, Ordering::SeqCst) {
                    std::process::exit(ENDED_BY_CTRL_C);
                }
            });
            if let Err(error) = installed {
                eprintln!("seqcon: warning: Ctrl-C will end the command at once: {error}");
            }
        });
        EXPLORING.store(true, Ordering::SeqCst);
        Interruptible
    }

    /// Whether Ctrl-C was typed; it stays set, so that later explorations of the command end as well.
    pub fn requested(&self) -> &'static AtomicBool {
        &INTERRUPTED
    }
}

impl Drop for Interruptible {
    fn drop(&mut self) {
        EXPLORING.store(false, Ordering::SeqCst);
    }
}
