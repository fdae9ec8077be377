//! `--fence-sites`: where fences may stand.

use super::failure::Failure;
use crate::aeg::Accesses;
use crate::memory::Kind;
use crate::outline::Site;
use crate::report::names;
use std::collections::{BTreeMap, BTreeSet};
use std::convert::Infallible;
use std::fs;
use std::path::PathBuf;
use std::str::FromStr;

/// Which sites are allowed.
#[derive(Clone, Debug)]
pub enum FenceSites {
    All,
    AfterWrites,
    BeforeReads,
    /// Those in a file.
    File(PathBuf),
}

impl FromStr for FenceSites {
    type Err = Infallible;

    fn from_str(text: &str) -> Result<FenceSites, Infallible> {
        Ok(match text {
            "all" => FenceSites::All,
            "after-writes" => FenceSites::AfterWrites,
            "before-reads" => FenceSites::BeforeReads,
            file => FenceSites::File(file.into()),
        })
    }
}

impl FenceSites {
    /// The sites of a program that are allowed.
    pub fn sites(&self, accesses: &Accesses) -> Result<BTreeSet<Site>, Failure> {
        let accessing = |kind: Kind| accesses.vertices.iter().filter(move |known| known.kind == kind);
        match self {
            FenceSites::All => Ok(accesses.sites()),
            FenceSites::AfterWrites => Ok(accessing(Kind::Write).map(|write| Site::after(write.instr)).collect()),
            FenceSites::BeforeReads => Ok(accessing(Kind::Read).map(|read| Site::before(read.instr)).collect()),
            FenceSites::File(path) => {
                let known: BTreeMap<String, Site> =
                    accesses.sites().into_iter().map(|site| (names::point(accesses, site), site)).collect();
                let text = fs::read_to_string(path).map_err(|error| {
                    let expected = "expected all, after-writes, before-reads, or a file with sites";
                    Failure::in_file(path, format!("{error} ({expected})"))
                })?;
                let mut sites = BTreeSet::new();
                for (number, line) in text.lines().enumerate() {
                    let line = line.split('#').next().unwrap_or("").trim();
                    if line.is_empty() {
                        continue;
                    }
                    let site = known.get(line).ok_or_else(|| {
                        let some: Vec<&str> = known.keys().take(8).map(String::as_str).collect();
                        let more = if known.len() > some.len() { ", …" } else { "" };
                        Failure::Usage(format!(
                            "{}:{}: there is no site {line:?}; there are {}{more}",
                            path.display(),
                            number + 1,
                            some.join(", ")
                        ))
                    })?;
                    sites.insert(*site);
                }
                Ok(sites)
            }
        }
    }
}
