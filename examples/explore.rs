//! Explores a specification and checks a condition in every state:
//! `cargo run --example explore -- specs/peterson.slco 'not (P0@CS and P1@CS)'`.

use seqcon::explore::observe::Nobody;
use seqcon::explore::{Limits, Stop, explore};
use seqcon::specification::Specification;
use std::error::Error;
use std::fs;

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let path = arguments.next().unwrap_or_else(|| "specs/peterson.slco".to_owned());
    let condition = arguments.next().unwrap_or_else(|| "not (P0@CS and P1@CS)".to_owned());

    let (specification, _) = Specification::parse(path.clone(), fs::read_to_string(&path)?)?;
    let invariant = specification.condition("the condition", &condition)?.condition;
    let limits = Limits { states: Some(1_000_000), invariants: &[invariant], ..Limits::default() };
    let (exploration, _) =
        explore(&specification.compiled, &limits, &mut Nobody).map_err(|failure| format!("{path}: {failure:?}"))?;
    let verdict = match (exploration.stop, &exploration.violation) {
        (Stop::Complete, _) => "holds in every state".to_owned(),
        (_, Some(violation)) => format!("does not hold after {} steps", violation.run.len()),
        (stop, None) => format!("is not decided: stopped at {}", stop.limit().unwrap_or_default()),
    };
    println!("{path}: {} states; {condition} {verdict}", exploration.states.len());
    Ok(())
}
