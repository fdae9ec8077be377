//! The page around the data: template, style, scripts, and the policy that forbids everything else.

use sha2::{Digest, Sha256};
use std::io::{self, Write};

const TEMPLATE: &str = include_str!("../../../assets/report/template.html");
const STYLE: &str = include_str!("../../../assets/report/style.css");
const CYTOSCAPE: &str = include_str!("../../../assets/vendor/cytoscape.min.js");
const DAGRE: &str = include_str!("../../../assets/vendor/cytoscape-dagre.js");
/// Cytoscape's script begins with its licence; that of the other one, and of what is inside it, must be put in front.
const DAGRE_LICENCES: [&str; 2] = [
    include_str!("../../../assets/vendor/cytoscape-dagre.LICENSE"),
    include_str!("../../../assets/vendor/dagre.LICENSE"),
];
/// The page's own script, a file a concept; they share one scope, in this order.
const OWN: [&str; 9] = [
    include_str!("../../../assets/report/text.js"),
    include_str!("../../../assets/report/model.js"),
    include_str!("../../../assets/report/chips.js"),
    include_str!("../../../assets/report/program.js"),
    include_str!("../../../assets/report/graph.js"),
    include_str!("../../../assets/report/runs.js"),
    include_str!("../../../assets/report/details.js"),
    include_str!("../../../assets/report/tables.js"),
    include_str!("../../../assets/report/main.js"),
];

/// Writes the page with this JSON document in it.
pub fn write(data: &str, out: &mut dyn Write) -> io::Result<()> {
    let dagre = format!("/*\n{}\n*/\n{}", DAGRE_LICENCES.join("\n\n"), without_source_map(DAGRE));
    let own = OWN.concat();
    let policy = policy(&[CYTOSCAPE, &dagre, &own]);
    let data = harmless(data);
    // One pass over the template: what is put in is never searched for places to put something in.
    let mut rest = TEMPLATE;
    while let Some((before, slot, after)) = next_slot(rest) {
        out.write_all(before.as_bytes())?;
        let content = match slot {
            "policy" => &policy,
            "style" => STYLE,
            "cytoscape" => CYTOSCAPE,
            "dagre" => &dagre,
            "data" => &data,
            "script" => &own,
            unknown => return Err(io::Error::other(format!("the template has an unknown slot {unknown}"))),
        };
        out.write_all(content.as_bytes())?;
        rest = after;
    }
    out.write_all(rest.as_bytes())
}

/// What is before the next `{{slot}}`, its name, what is behind it.
fn next_slot(text: &str) -> Option<(&str, &str, &str)> {
    let (before, rest) = text.split_once("{{")?;
    let (slot, after) = rest.split_once("}}")?;
    Some((before, slot, after))
}

/// A JSON document that HTML sees no markup in, and JavaScript no line end: those characters stand in strings only,
/// where they can be escaped.
fn harmless(json: &str) -> String {
    let mut result = String::with_capacity(json.len());
    for c in json.chars() {
        match c {
            '<' => result.push_str("\\u003c"),
            '>' => result.push_str("\\u003e"),
            '&' => result.push_str("\\u0026"),
            '\u{2028}' => result.push_str("\\u2028"),
            '\u{2029}' => result.push_str("\\u2029"),
            c => result.push(c),
        }
    }
    result
}

/// Browsers that have their developer tools open would look for the map, which is not there.
fn without_source_map(script: &str) -> String {
    let lines = script.lines().filter(|line| !line.starts_with("//# sourceMappingURL="));
    lines.flat_map(|line| [line, "\n"]).collect()
}

/// Only these scripts run, and nothing is loaded. Styles may be set by scripts: the graph's size is.
fn policy(scripts: &[&str]) -> String {
    let hashes: Vec<String> =
        scripts.iter().map(|script| format!("'sha256-{}'", base64(&Sha256::digest(script.as_bytes())))).collect();
    format!(
        "default-src 'none'; script-src {}; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'",
        hashes.join(" ")
    )
}

/// RFC 4648, with padding.
fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut result = String::new();
    for chunk in bytes.chunks(3) {
        let bits = chunk.iter().chain([0; 2].iter()).take(3).fold(0u32, |bits, &byte| bits << 8 | u32::from(byte));
        for position in 0..4 {
            let digit = DIGITS[(bits >> (18 - 6 * position)) as usize & 63];
            result.push(if position <= chunk.len() { char::from(digit) } else { '=' });
        }
    }
    result
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base64_is_that_of_the_rfc() {
        let known =
            [("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foob", "Zm9vYg=="), ("foobar", "Zm9vYmFy")];
        for (text, encoded) in known {
            assert_eq!(base64(text.as_bytes()), encoded);
        }
    }

    #[test]
    fn markup_in_data_is_escaped_and_reads_back() {
        let names = ["</script><script>alert(1)</script>", "<!--", "&lt;", "a\u{2028}b\u{2029}c", "\"'\\\u{0}"];
        let json = serde_json::to_string(&names).expect("strings can be written");
        let harmless = harmless(&json);
        assert!(!harmless.contains(['<', '>', '&', '\u{2028}', '\u{2029}']), "{harmless}");
        let back: Vec<String> = serde_json::from_str(&harmless).expect("still JSON");
        assert_eq!(back, names);
    }

    #[test]
    fn what_is_put_in_is_not_searched_for_slots() {
        let mut page = Vec::new();
        write(r#"["{{style}}"]"#, &mut page).expect("written");
        let page = String::from_utf8(page).expect("UTF-8");
        assert_eq!(page.matches(r#"["{{style}}"]"#).count(), 1);
    }

    #[test]
    fn no_script_ends_before_its_end() {
        for script in [CYTOSCAPE, DAGRE].into_iter().chain(OWN) {
            let lower = script.to_lowercase();
            assert!(!lower.contains("</script") && !lower.contains("<!--"));
            // The parser would change these characters, and the hash in the policy would be that of another text.
            assert!(!script.contains(['\r', '\0']));
        }
        assert!(DAGRE_LICENCES.iter().all(|licence| !licence.contains("*/") && !licence.contains('<')));
        assert!(!STYLE.to_lowercase().contains("</style"));
    }
}
