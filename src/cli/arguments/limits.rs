//! When a command stops before it is complete: options, and the one budget that they come to.

use super::positive;
use crate::budget::Budget;
use crate::cli::failure::Failure;
use crate::cli::interrupt;
use crate::cli::progress::watching;
use crate::engines::Approach;
use clap::Args;
use std::sync::OnceLock;
use std::time::Duration;

/// When work stops before it is complete.
#[derive(Args, Clone)]
pub struct LimitArguments {
    /// Stop exploring a specification at this many states, or a few more (`check` and `info`: at 100,000 if nothing is
    /// said)
    #[arg(long, value_name = "N", value_parser = positive, help_heading = "Limits")]
    pub max_states: Option<usize>,
    #[command(flatten)]
    pub budget: BudgetArguments,
    /// An index out of range is an error, not a warning
    #[arg(long, help_heading = "Limits")]
    pub strict: bool,
}

impl LimitArguments {
    /// What engines look at: who wants to hear of every index that is out of range wants the program itself.
    pub fn approach(&self, asked: Option<Approach>) -> Result<Approach, Failure> {
        match asked.unwrap_or_default() {
            Approach::Abstract(_) if self.strict => Err(Failure::Usage(
                "--strict is about every index of the program, which --abstraction does not look at; leave out one of them"
                    .to_owned(),
            )),
            Approach::Auto if self.strict => Ok(Approach::Program),
            approach => Ok(approach),
        }
    }
}

/// What the command may use.
#[derive(Args, Clone)]
pub struct BudgetArguments {
    /// Stop when this many megabytes were taken: by the states of an exploration, or by what follows it
    #[arg(long, value_name = "MB", value_parser = positive, help_heading = "Limits")]
    pub memory_limit: Option<usize>,
    /// Stop after this many seconds; what was explored until then is still analysed, for a tenth of that time at most
    #[arg(long, value_name = "SECONDS", value_parser = positive, help_heading = "Limits")]
    pub timeout: Option<usize>,
    #[arg(skip)]
    begun: OnceLock<Budget>,
    /// Whether Ctrl-C ends what comes behind reading and exploring: not if it has ended an exploration already, whose
    /// result is still to be told.
    #[arg(skip)]
    heeds: OnceLock<bool>,
}

impl BudgetArguments {
    /// The budget, from the first time on that somebody asks for it.
    pub fn budget(&self) -> Budget {
        let time = self.timeout.map(|seconds| Duration::from_secs(seconds as u64));
        self.begun.get_or_init(|| watching(Budget::new(time, self.bytes().map(|bytes| bytes as u64)))).clone()
    }

    /// The budget for what needs nothing explored, or all of it; Ctrl-C ends it.
    pub fn heeding(&self) -> Budget {
        self.heeded(self.budget())
    }

    /// The budget for what is done with the result of an exploration; Ctrl-C ends it, unless it has ended the
    /// exploration.
    pub fn for_the_rest(&self) -> Budget {
        self.heeded(self.budget().for_the_rest())
    }

    fn heeded(&self, budget: Budget) -> Budget {
        let heeds = *self.heeds.get_or_init(|| !interrupt::is_requested());
        if heeds { budget.heeding(interrupt::request()) } else { budget }
    }

    /// How many bytes may be taken.
    pub fn bytes(&self) -> Option<usize> {
        self.memory_limit.map(|megabytes| megabytes.saturating_mul(1 << 20))
    }
}
