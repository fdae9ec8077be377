//! Whole inputs: reading them never panics, and what is accepted is consistent.
#![no_main]

use libfuzzer_sys::fuzz_target;
use seqcon::facts::extract::{Escapes, NoProgress, Options, extract};
use seqcon::lts::source::Bytes;

fuzz_target!(|input: (u8, &[u8])| {
    let (flags, bytes) = input;
    // Decompression is not the reader's own code, and a fuzzer finds the bombs.
    if bytes.starts_with(&[0x1f, 0x8b]) {
        return;
    }
    let options = Options {
        lenient: flags & 1 != 0,
        recover: flags & 2 != 0,
        escapes: if flags & 4 != 0 { Escapes::Ltsmin } else { Escapes::None },
        ..Options::default()
    };
    let Ok(source) = Bytes::from_bytes("fuzz.aut", bytes.to_vec()) else { return };
    match extract(&source, &options, &NoProgress) {
        Ok(extraction) => {
            let facts = extraction.facts;
            assert!(facts.states > 0);
            assert!(facts.labels.is_sorted());
            assert!(facts.follows.iter().all(|pair| pair.to.index() < facts.labels.len()));
        }
        Err(error) => assert!(error.to_string().starts_with("fuzz.aut:")),
    }
});
