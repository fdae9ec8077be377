//! Reads a state space and prints where fences are needed: `cargo run --example state_space -- lts/dekker.aut tso`.

use seqcon::analysis::{Analysis, Options};
use seqcon::facts::{self, extract};
use seqcon::{Profile, memory::MemoryModel};
use std::error::Error;
use std::path::Path;

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let path = arguments.next().unwrap_or_else(|| "lts/sb.aut".to_owned());
    let name = arguments.next().unwrap_or_else(|| "tso".to_owned());
    let model = MemoryModel::named(&name).ok_or_else(|| format!("there is no memory model {name}"))?;

    let extraction = facts::load(Path::new(&path), &extract::Options::default(), &extract::NoProgress)?;
    for warning in &extraction.warnings {
        eprintln!("{path}: {warning}");
    }
    // What all memory models share; then what one of them makes of it.
    let analysis = Analysis::new(extraction.facts, Profile::Sound);
    let outcome = analysis.run(&model, &Options::default());
    println!("{path}, {name}: {} delays, {} fences", outcome.findings.delays.len(), outcome.fences.len());
    for fence in &outcome.fences {
        let (thread, instruction) = analysis.graph.names_of(fence.site.instr);
        println!("  {} at {thread}.{instruction}, for {} delays", fence.mnemonic, fence.delays.len());
    }
    Ok(())
}
