//! Labels: parsing never panics, and what is read is displayed faithfully.
#![no_main]

use libfuzzer_sys::fuzz_target;
use seqcon::lts::dialect::{native, rw};

fuzz_target!(|text: &str| {
    for parse in [native::parse, rw::parse] {
        match parse(text) {
            Ok(label) => assert_eq!(native::parse(&label.to_string()).as_ref(), Ok(&label)),
            Err(error) => assert!(text.is_char_boundary(error.offset)),
        }
    }
});
