//! Progress on standard error, for anything over two seconds, and only on a terminal.

use crate::facts::extract::Progress;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

const PATIENCE: Duration = Duration::from_secs(2);

/// How far the reading of a file is, in bytes.
pub struct ByteBar {
    bar: ProgressBar,
    started: Instant,
}

impl ByteBar {
    pub fn new(what: &str) -> ByteBar {
        let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::hidden());
        if let Ok(style) = ProgressStyle::with_template("{msg} {wide_bar} {bytes}/{total_bytes} {eta}") {
            bar.set_style(style);
        }
        bar.set_message(what.to_owned());
        ByteBar { bar, started: Instant::now() }
    }

    pub fn finish(&self) {
        self.bar.finish_and_clear();
    }
}

impl Progress for ByteBar {
    fn bytes(&self, done: u64, total: u64) {
        if self.bar.is_hidden() {
            if self.started.elapsed() < PATIENCE {
                return;
            }
            self.bar.set_draw_target(ProgressDrawTarget::stderr());
        }
        self.bar.set_length(total);
        self.bar.set_position(done);
    }
}

/// Shows that something is still going on, from when it takes over two seconds until it is dropped.
pub struct Spinner {
    done: Option<Sender<()>>,
    watcher: Option<JoinHandle<()>>,
}

impl Spinner {
    pub fn new(what: String) -> Spinner {
        let (done, waiting) = mpsc::channel();
        let watcher = thread::spawn(move || {
            if waiting.recv_timeout(PATIENCE) == Err(RecvTimeoutError::Timeout) {
                let spinner = ProgressBar::new_spinner().with_message(what);
                spinner.enable_steady_tick(Duration::from_millis(100));
                let _ = waiting.recv();
                spinner.finish_and_clear();
            }
        });
        Spinner { done: Some(done), watcher: Some(watcher) }
    }
}

impl Drop for Spinner {
    fn drop(&mut self) {
        self.done.take();
        if let Some(watcher) = self.watcher.take() {
            // It only ever panics if drawing does; the result is not affected.
            let _ = watcher.join();
        }
    }
}
