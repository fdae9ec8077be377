//! `report.html`: one page that explains the result, in one file that needs nothing else.
//!
//! The page is fixed (`assets/report/`, with cytoscape and dagre from `assets/vendor/`); what it shows is one JSON
//! document in it ([`data`]): the same bytes for the same outcome. [`drawing`] decides what stands where in the event
//! graph, [`listing`] what of the program's text belongs to which instruction; the scripts only draw, filter and
//! select.
//!
//! Names come from files of other people. Three walls keep them from being anything but text: in the document the
//! characters that HTML could see are escaped ([`page`]); the scripts put them in by `textContent` only; and the
//! content security policy lets nothing run but the scripts that the page was made with, and nothing reach the
//! network.

pub mod data;
mod drawing;
mod listing;
mod page;
mod runs;

use super::Report;
use crate::analysis::Outcome;
use std::io::{self, Write};

/// `report.html`
pub struct Html;

impl Report for Html {
    fn file_name(&self) -> &'static str {
        "report.html"
    }

    fn takes_several(&self) -> bool {
        false
    }

    fn write(&self, outcome: &Outcome, out: &mut dyn Write) -> io::Result<()> {
        page::write(&serde_json::to_string(&data::of(outcome))?, out)
    }
}
