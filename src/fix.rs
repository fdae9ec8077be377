//! Fixing a specification: suggestions are put into its text until an engine finds nothing more to do.
//!
//! One round is not always enough. What a text can say is less than what a site is: a fence that would stand inside an
//! instruction becomes an atomic instruction, one at a control state stands on each way into it; and a lock changes
//! what the program does. So the text is read and looked at again; the result is a text in which the engine that was
//! asked finds nothing to do, not merely one with suggestions in it. Fences are weighed so that those are preferred
//! which have an easy place in a text ([`Costs::for_text`]).
//!
//! ```
//! use seqcon::{engines, explore, fix, memory::MemoryModel, property::Property, specification::Specification};
//!
//! let text = "model sb { classes C { variables Integer x Integer y state machines
//!     t { variables Integer r initial a states b c transitions a -> b { x := 1 } b -> c { r := y } }
//!     u { variables Integer r initial a states b c transitions a -> b { y := 1 } b -> c { r := x } } }
//!     objects o : C() }";
//! let (original, _) = Specification::parse("sb.slco".to_owned(), text.to_owned()).expect("it is well-formed");
//! let fixing = fix::Fixing {
//!     engine: engines::named("cycles").expect("the default"),
//!     property: &|_| Ok(Property::Robust),
//!     model: &MemoryModel::named("tso").expect("built in"),
//!     settings: &engines::Settings::default(),
//!     kinds: seqcon::analysis::Offered::Mixture,
//!     limits: &explore::Limits::default(),
//!     rest: &seqcon::budget::Budget::default,
//! };
//! let fixed = fixing.fix(&original).expect("it can be repaired");
//! assert_eq!(fixed.text.matches("fence").count(), 2);
//! ```

use crate::analysis::{Inserted, ModelOutcome, Offered, Options};
use crate::budget::Budget;
use crate::caveat::Caveat;
use crate::engines::{Engine, Settings, Subject, Task, Trouble};
use crate::explore::Limits;
use crate::ids::InstrId;
use crate::lang::Language;
use crate::lang::edit::{CannotWrite, edited};
use crate::lang::slco::edit::has_statement;
use crate::memory::MemoryModel;
use crate::placement::cost::Costs;
use crate::property::Property;
use crate::repair::Repair;
use crate::specification::{Specification, Wrong};
use std::time::Instant;

/// After so many rounds something is wrong with us.
const ROUNDS: usize = 20;

/// Which engine looks for what.
#[derive(Clone, Copy)]
pub struct Fixing<'a> {
    /// The engine.
    pub engine: &'static dyn Engine,
    /// What must hold of a text: a condition speaks of its control states, and fences change these.
    pub property: &'a dyn Fn(&Specification) -> Result<Property, String>,
    /// Under which memory model.
    pub model: &'a MemoryModel,
    /// How the engine goes about it.
    pub settings: &'a Settings,
    /// What may be put in, if the language has words for it.
    pub kinds: Offered,
    /// When to stop exploring, in all rounds together.
    pub limits: &'a Limits<'a>,
    /// What may be used for the rest.
    pub rest: &'a dyn Fn() -> Budget,
}

/// A specification in which nothing is left to do.
#[derive(Debug)]
pub struct Fixed {
    /// Its text.
    pub text: String,
    /// How often suggestions were put in.
    pub rounds: usize,
    /// What must be known of the original.
    pub caveats: Vec<Caveat>,
}

/// Why there is none.
#[derive(Debug)]
pub enum Unfixed {
    /// The engine has no answer on this text.
    Trouble(Box<Trouble>, Box<Specification>),
    /// A limit was reached, so not all that is missing is known: what was said of it.
    Exhausted(String),
    /// No fences are enough, or it is not known which are: what was said of it.
    NoFences(Box<ModelOutcome>),
    /// Fences are enough, but the text that they were written into does not have the property: a fence that is a
    /// statement has control states of its own.
    NoLonger(Box<ModelOutcome>),
    /// Something has no place in the text.
    CannotWrite(CannotWrite, Box<Specification>),
    /// A text that was written cannot be read.
    Wrong(Wrong),
    /// What must hold cannot be said of a text that was written: why.
    Lost(String),
    /// Suggestions do not come to an end.
    Endless,
}

/// What one round has found: caveats, and a repair or nothing.
struct Round {
    caveats: Vec<Caveat>,
    repair: Option<Repair>,
}

impl Fixing<'_> {
    /// Puts suggestions in until there are none.
    ///
    /// # Errors
    /// If there is no such text, or it is not known.
    pub fn fix(&self, original: &Specification) -> Result<Fixed, Unfixed> {
        let started = Instant::now();
        let mut current = original.clone();
        let mut caveats = None;
        for rounds in 0..ROUNDS {
            let time = self.limits.time.map(|time| time.saturating_sub(started.elapsed()));
            let round = self.round(&current, &Limits { time, ..*self.limits }).map_err(|unfixed| match unfixed {
                Unfixed::NoFences(outcome) if rounds > 0 && outcome.inserted.is_hopeless() => {
                    Unfixed::NoLonger(outcome)
                }
                other => other,
            })?;
            let caveats = caveats.get_or_insert(round.caveats);
            let Some(repair) = round.repair else {
                return Ok(Fixed { text: current.text, rounds, caveats: std::mem::take(caveats) });
            };
            let changes = repair.changes(&current.outline);
            let text = edited(&current.name, &current.text, &current.program, &changes)
                .map_err(|cannot| Unfixed::CannotWrite(cannot, Box::new(current.clone())))?;
            current = Specification::parse(current.name, text).map_err(Unfixed::Wrong)?.0;
        }
        Err(Unfixed::Endless)
    }

    /// What is to be put in, if anything is.
    fn round(&self, current: &Specification, limits: &Limits<'_>) -> Result<Round, Unfixed> {
        let trouble = |trouble| Unfixed::Trouble(Box::new(trouble), Box::new(current.clone()));
        let Fixing { property, settings, rest, .. } = *self;
        let models = std::slice::from_ref(self.model);
        let property = &property(current).map_err(Unfixed::Lost)?;
        let task = Task { subject: Subject::Program(current), property, models, limits, rest, settings };
        let examined = self.engine.examine(&task).map_err(trouble)?;
        if examined.explored().cut_off {
            let at = examined.explored().missing.map_or(String::new(), |limit| format!(" (stopped at {limit})"));
            return Err(Unfixed::Exhausted(format!(
                "{}: not all of the state space was explored{at}, so not all that is missing is known; allow more",
                current.name
            )));
        }
        let has_text = |instr: InstrId| {
            let at = current.outline.at(instr);
            at.is_some_and(|at| has_statement(current.program.instruction(at)))
        };
        let costs = Costs::for_text(examined.accesses(), has_text);
        let store_fences = Language::of(&current.name).is_some_and(|language| language.writes_store_fences);
        let writes_kinds = Language::of(&current.name).is_some_and(|language| language.writes_kinds);
        let kinds = if writes_kinds { self.kinds } else { Offered::Full };
        let options = Options { atomicity: examined.atomicity(), costs, kinds, store_fences, ..Options::default() };
        let outcome = examined.place(self.model, &options).map_err(trouble)?;
        if let Some(limit) = outcome.stopped {
            return Err(Unfixed::Exhausted(format!(
                "{}: stopped at {limit}, so not all that is missing is known; allow more",
                current.name
            )));
        }
        if outcome.inserted != Inserted::Enough {
            return Err(Unfixed::NoFences(Box::new(outcome)));
        }
        let repair = (!outcome.is_clean()).then(|| Repair::of(&outcome));
        Ok(Round { caveats: examined.caveats(), repair })
    }
}
