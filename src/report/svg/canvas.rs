//! Shapes and texts as SVG, in whole numbers.

use crate::text::excerpt::{printable, shortened, width};
use std::fmt::Write;

/// How much of a text is drawn.
const MOST: usize = 44;
/// What a column of text takes, in hundredths: a bit more than in the fonts that are asked for.
const COLUMN: usize = 780;
/// The same in small texts.
const SMALL_COLUMN: usize = 670;
/// Around everything.
pub(super) const MARGIN: usize = 16;

/// What is said by a colour and a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Look {
    /// Program order.
    Order,
    /// What may go wrong.
    Wrong,
    /// A dependency that keeps the order.
    Dependency,
    /// Another thread is concerned.
    Conflict,
}

impl Look {
    fn class(self) -> &'static str {
        match self {
            Look::Order => "po",
            Look::Wrong => "delay",
            Look::Dependency => "dependency",
            Look::Conflict => "conflict",
        }
    }

    const ALL: [Look; 4] = [Look::Order, Look::Wrong, Look::Dependency, Look::Conflict];

    /// Dark enough for paper.
    fn colour(self) -> &'static str {
        match self {
            Look::Order => "#333333",
            Look::Wrong => "#c0142b",
            Look::Dependency => "#4b0082",
            Look::Conflict => "#1f5fa8",
        }
    }
}

/// A place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Point {
    pub x: usize,
    pub y: usize,
}

/// Where a text is at its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Anchor {
    Start,
    Middle,
}

/// What was drawn so far; pictures go one below the other.
#[derive(Default)]
pub(super) struct Canvas {
    body: String,
    titles: Vec<String>,
    width: usize,
    /// Where the next picture begins.
    pub top: usize,
    bottom: usize,
}

/// The width of a text.
pub(super) fn text_width(text: &str) -> usize {
    (width(&shown(text)) * COLUMN).div_ceil(100)
}

/// That of a small one.
pub(super) fn small_width(text: &str) -> usize {
    (width(&shown(text)) * SMALL_COLUMN).div_ceil(100)
}

fn shown(text: &str) -> String {
    shortened(&printable(text), MOST)
}

/// Without what XML would take for more than text; control characters are gone before.
fn escaped(text: &str) -> String {
    let mut result = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '<' => result.push_str("&lt;"),
            '>' => result.push_str("&gt;"),
            '&' => result.push_str("&amp;"),
            '"' => result.push_str("&quot;"),
            c => result.push(c),
        }
    }
    result
}

impl Canvas {
    fn covers(&mut self, right: usize, bottom: usize) {
        self.width = self.width.max(right);
        self.bottom = self.bottom.max(bottom);
    }

    /// What the picture is of, above it.
    pub fn caption(&mut self, text: &str) {
        let text = printable(text);
        self.titles.push(text.clone());
        let place = Point { x: MARGIN, y: self.top + MARGIN + 12 };
        let _ = writeln!(
            self.body,
            "<text class=\"caption\" x=\"{}\" y=\"{}\">{}</text>",
            place.x,
            place.y,
            escaped(&text)
        );
        self.covers(place.x + (width(&text) * SMALL_COLUMN).div_ceil(100), place.y + 6);
        self.top = place.y + 14;
    }

    /// The next one stands below all that was drawn.
    pub fn end_picture(&mut self) {
        self.top = self.bottom;
    }

    /// A text, by its class.
    pub fn text(&mut self, class: &str, anchor: Anchor, place: Point, text: &str) {
        let is_small = class == "small" || class.starts_with("edge");
        let wide = if is_small { small_width(text) } else { text_width(text) };
        let (anchored, right) = match anchor {
            Anchor::Start => ("", place.x + wide),
            Anchor::Middle => (" text-anchor=\"middle\"", place.x + wide / 2),
        };
        let Point { x, y } = place;
        let _ = writeln!(
            self.body,
            "<text class=\"{class}\"{anchored} x=\"{x}\" y=\"{y}\">{}</text>",
            escaped(&shown(text))
        );
        self.covers(right, y + 5);
    }

    /// The name of an edge, its middle here.
    pub fn edge_name(&mut self, look: Look, place: Point, text: &str) {
        self.text(&format!("edge {}", look.class()), Anchor::Middle, place, text);
        self.covers(place.x + small_width(text) / 2, place.y + 5);
    }

    /// A box.
    pub fn rectangle(&mut self, class: &str, at: Point, (wide, high): (usize, usize)) {
        let Point { x, y } = at;
        let _ = writeln!(
            self.body,
            "<rect class=\"{class}\" x=\"{x}\" y=\"{y}\" width=\"{wide}\" height=\"{high}\" rx=\"4\"/>"
        );
        self.covers(x + wide, y + high);
    }

    /// An arrow along a path, as SVG writes paths; all of it is left of and above a corner.
    pub fn arrow(&mut self, look: Look, path: &str, corner: Point) {
        let class = look.class();
        let _ = writeln!(self.body, "<path class=\"{class}\" d=\"{path}\" marker-end=\"url(#{class})\"/>");
        self.covers(corner.x, corner.y);
    }

    /// All of it.
    pub fn document(&self) -> String {
        let (wide, high) = (self.width + MARGIN, self.bottom + MARGIN);
        let markers: String = Look::ALL
            .map(|look| {
                format!(
                    "<marker id=\"{}\" viewBox=\"0 0 8 8\" refX=\"7\" refY=\"4\" markerWidth=\"10\" markerHeight=\"10\" markerUnits=\"userSpaceOnUse\" orient=\"auto\"><path d=\"M0,0 L8,4 L0,8 z\" fill=\"{}\"/></marker>\n",
                    look.class(),
                    look.colour()
                )
            })
            .concat();
        let lines: String = Look::ALL
            .map(|look| {
                let (class, colour) = (look.class(), look.colour());
                let stroke = if look == Look::Wrong { "2.5" } else { "1.5" };
                format!("path.{class} {{ fill: none; stroke: {colour}; stroke-width: {stroke}; }}\n.edge.{class} {{ fill: {colour}; }}\n")
            })
            .concat();
        format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{wide}\" height=\"{high}\" viewBox=\"0 0 {wide} {high}\" role=\"img\">\n<title>{}</title>\n<defs>\n{markers}</defs>\n<style>\n{STYLE}{lines}</style>\n<rect width=\"{wide}\" height=\"{high}\" fill=\"#ffffff\"/>\n{}</svg>\n",
            escaped(&self.titles.join("; ")),
            self.body
        )
    }
}

const STYLE: &str = "\
text { font-family: 'DejaVu Sans Mono', Menlo, Consolas, 'Liberation Mono', monospace; font-size: 13px; fill: #111111; }
.title { font-weight: bold; }
.small, .caption { font-size: 11px; fill: #555555; }
.edge { font-size: 11px; stroke: #ffffff; stroke-width: 4px; paint-order: stroke; }
.access { fill: #ffffff; stroke: #333333; stroke-width: 1.2; }
.visible { fill: #ffffff; stroke: #1f5fa8; stroke-width: 1.2; stroke-dasharray: 5 3; }
.waits { fill: #fff3cf; stroke: #a07000; stroke-width: 1; }
.lane { fill: #f3f5f8; }
.fence { fill: #c0142b; font-size: 11px; }
";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_xml_would_see_is_escaped() {
        let mut canvas = Canvas::default();
        canvas.caption("a <b> & \"c\"\u{7}\u{202e}");
        let document = canvas.document();
        assert!(document.contains("a &lt;b&gt; &amp; &quot;c&quot;"), "{document}");
        assert!(!document.contains(['\u{7}', '\u{202e}']), "{document}");
    }

    #[test]
    fn long_texts_are_shortened_and_within_the_picture() {
        let mut canvas = Canvas::default();
        canvas.text("name", Anchor::Start, Point { x: 10, y: 20 }, &"x".repeat(1000));
        assert_eq!(canvas.width, 10 + text_width(&"x".repeat(MOST)));
        assert!(canvas.document().contains("xxx…</text>"));
    }
}
