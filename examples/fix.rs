//! Reads a specification and prints it with what it needs: `cargo run --example fix -- specs/peterson.slco tso`.

use seqcon::analysis::Offered;
use seqcon::budget::Budget;
use seqcon::engines::{self, Settings};
use seqcon::explore::Limits;
use seqcon::fix::Fixing;
use seqcon::memory::MemoryModel;
use seqcon::property::Property;
use seqcon::specification::Specification;
use std::error::Error;
use std::fs;

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let path = arguments.next().unwrap_or_else(|| "specs/peterson.slco".to_owned());
    let name = arguments.next().unwrap_or_else(|| "tso".to_owned());
    let model = MemoryModel::named(&name).ok_or_else(|| format!("there is no memory model {name}"))?;

    let (original, warnings) = Specification::parse(path.clone(), fs::read_to_string(&path)?)?;
    for warning in &warnings {
        eprint!("{}", warning.render(&original.name, &original.text));
    }
    let fixing = Fixing {
        engine: engines::named("cycles").ok_or("the default engine")?,
        property: &|_| Ok(Property::Robust),
        model: &model,
        settings: &Settings::default(),
        kinds: Offered::Mixture,
        limits: &Limits { states: Some(1_000_000), ..Limits::default() },
        rest: &Budget::default,
    };
    let fixed = fixing.fix(&original).map_err(|unfixed| format!("{path}: {unfixed:?}"))?;
    print!("{}", fixed.text);
    Ok(())
}
