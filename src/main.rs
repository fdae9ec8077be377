//! The `seqcon` command; see [`seqcon::cli`].

use std::process::ExitCode;

fn main() -> ExitCode {
    seqcon::cli::main()
}
