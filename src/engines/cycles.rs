//! The main analysis as an engine: robustness by critical cycles (method §1 to §10).
//!
//! The stations themselves are [`facts`](crate::facts) to [`placement`](crate::placement); this is only their common
//! face.

use super::{Approach, Description, Engine, Evidence, Run, Task, Trouble};
use crate::aeg::Profile;
use crate::analysis::{Abstraction, Analysis, CYCLES, ModelOutcome, Options, ROBUSTNESS};
use crate::explore::observe::{FactsObserver, facts};
use crate::explore::{Stop, explore};
use crate::facts::Facts;
use crate::memory::MemoryModel;

/// The engine.
pub struct Cycles;

/// The analysis.
struct Analysed(Analysis);

impl Engine for Cycles {
    fn description(&self) -> Description {
        Description {
            name: CYCLES,
            guarantees: ROBUSTNESS,
            models: &[],
            input: "specifications, state spaces and facts files",
            after: "critical cycles: Shasha and Snir 1988; on state spaces de Putter and Wijs, corrected (docs/method.md)",
        }
    }

    fn check(&self, task: &Task<'_>) -> Result<Box<dyn Evidence>, Trouble> {
        if let Approach::Abstract(_) = task.approach {
            return Err(Trouble::Unsupported("the engine cycles has no abstraction".to_owned()));
        }
        let (exploration, watchers) = explore(task.compiled, task.limits, &mut FactsObserver)?;
        let size = (exploration.states.len() as u64, exploration.transitions);
        let facts = Facts { cut_off: exploration.stop != Stop::Complete, ..facts(task.program, &watchers, size) };
        Ok(Box::new(Analysed(Analysis::new(facts, Profile::Sound).because(exploration.stop.limit()))))
    }
}

impl Evidence for Analysed {
    fn analysis(&self) -> &Analysis {
        &self.0
    }

    fn holds(&self, model: &MemoryModel) -> bool {
        self.insert_fences(model, &Options::default()).is_clean()
    }

    fn abstraction(&self) -> Option<Abstraction> {
        None
    }

    fn insert_fences(&self, model: &MemoryModel, options: &Options) -> ModelOutcome {
        self.0.run(model, options)
    }

    fn runs(&self, _: &MemoryModel) -> Vec<Run> {
        // Delays of the event graph have runs only where `confirm` finds them.
        Vec::new()
    }
}
