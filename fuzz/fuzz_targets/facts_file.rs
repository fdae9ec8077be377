//! Facts files: reading never panics, and what is accepted is written back as the same facts.
#![no_main]

use libfuzzer_sys::fuzz_target;
use seqcon::facts::file;

fuzz_target!(|bytes: &[u8]| {
    if let Ok(facts) = file::read(bytes, "fuzz.facts") {
        let mut written = Vec::new();
        file::write(&facts, &mut written).expect("writing to memory");
        assert_eq!(file::read(&written, "fuzz.facts").expect("it was just written"), facts);
    }
});
