//! The picture: how many fences there are over the number of instances, a line for each memory model, and the table
//! below it. One page without scripts.

use super::Series;
use crate::report::names;
use std::io::{self, Write};

const WIDTH: usize = 640;
const HEIGHT: usize = 320;
/// What is left around the lines for numbers and names.
const MARGIN: usize = 56;
const COLOURS: [&str; 6] = ["#2457c5", "#b4500b", "#14804a", "#7a2fb8", "#b5173f", "#0b6e66"];

/// Writes the page.
///
/// # Errors
/// If the writer fails.
pub fn write_html(series: &Series<'_>, title: &str, out: &mut dyn Write) -> io::Result<()> {
    let title = escaped(title);
    write!(
        out,
        "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\n<title>{title}: fences over the number of instances</title>\n<style>\nbody {{ font: 15px/1.5 system-ui, sans-serif; margin: 24px auto; max-width: 900px; padding: 0 16px; color: #1b2330; background: #ffffff; }}\ntable {{ border-collapse: collapse; }} th, td {{ padding: 2px 12px 2px 0; text-align: left; vertical-align: top; }} td.n {{ text-align: right; }}\nsvg {{ max-width: 100%; height: auto; }}\n</style></head><body>\n<h1>{title}</h1>\n"
    )?;
    picture(series, out)?;
    for (model, name) in series.models() {
        writeln!(out, "<h2>{}</h2>\n<p>{}</p>", escaped(name), escaped(&series.sentence(model)))?;
        writeln!(out, "<table><tr><th>instances<th>threads<th>fences<th>locks<th>minimal<th>complete<th>places</tr>")?;
        for row in series.rows(model) {
            let places: Vec<String> = row.places().iter().map(|place| escaped(place)).collect();
            writeln!(
                out,
                "<tr><td class=\"n\">{}<td class=\"n\">{}<td class=\"n\">{}<td class=\"n\">{}<td>{}<td>{}<td>{}</tr>",
                row.number,
                row.outcome.accesses.threads.len(),
                row.result.fences.len(),
                row.result.locks.len(),
                row.minimal(),
                names::yes_no(row.result.complete),
                places.join("<br>")
            )?;
        }
        writeln!(out, "</table>")?;
    }
    writeln!(out, "</body></html>")
}

fn picture(series: &Series<'_>, out: &mut dyn Write) -> io::Result<()> {
    let all = || series.models().flat_map(|(model, _)| series.rows(model));
    let most = all().map(|row| row.result.fences.len()).max().unwrap_or(0).max(1);
    let (first, last) = (series.numbers.first().copied().unwrap_or(0), series.numbers.last().copied().unwrap_or(0));
    let x = |number: usize| MARGIN + (number - first) * (WIDTH - 2 * MARGIN) / (last - first).max(1);
    let y = |fences: usize| HEIGHT - MARGIN - fences * (HEIGHT - 2 * MARGIN) / most;
    writeln!(
        out,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" width=\"{WIDTH}\" role=\"img\" aria-label=\"number of fences over the number of instances\" font-size=\"12\">"
    )?;
    let (left, right, bottom) = (MARGIN, WIDTH - MARGIN, HEIGHT - MARGIN);
    writeln!(out, "<path d=\"M{left} {MARGIN} V{bottom} H{right}\" fill=\"none\" stroke=\"#5a6575\"/>")?;
    for &number in series.numbers {
        writeln!(out, "<text x=\"{}\" y=\"{}\" text-anchor=\"middle\">{number}</text>", x(number), bottom + 18)?;
    }
    for fences in [0, most] {
        writeln!(out, "<text x=\"{}\" y=\"{}\" text-anchor=\"end\">{fences}</text>", left - 8, y(fences) + 4)?;
    }
    writeln!(out, "<text x=\"{}\" y=\"{}\" text-anchor=\"middle\">instances</text>", WIDTH / 2, HEIGHT - 12)?;
    writeln!(out, "<text x=\"{left}\" y=\"{}\" text-anchor=\"middle\">fences</text>", MARGIN - 16)?;
    for ((model, name), colour) in series.models().zip(COLOURS.iter().cycle()) {
        let rows = series.rows(model);
        let point = |row: &super::Row<'_>| (x(row.number), y(row.result.fences.len()));
        let points: Vec<String> = rows.iter().map(point).map(|(x, y)| format!("{x},{y}")).collect();
        writeln!(
            out,
            "<polyline points=\"{}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"2\"/>",
            points.join(" ")
        )?;
        for row in &rows {
            let (x, y) = point(row);
            // What is not proved to be the fewest is hollow.
            let fill = if row.minimal() == crate::report::minimal::Minimal::No { "#ffffff" } else { colour };
            writeln!(
                out,
                "<circle cx=\"{x}\" cy=\"{y}\" r=\"4\" fill=\"{fill}\" stroke=\"{colour}\"><title>{}: {} instances, {} fences, minimal: {}</title></circle>",
                escaped(name),
                row.number,
                row.result.fences.len(),
                row.minimal()
            )?;
        }
        if let Some(settled) = series.settled(model) {
            let at = x(settled);
            writeln!(out, "<path d=\"M{at} {MARGIN} V{bottom}\" stroke=\"{colour}\" stroke-dasharray=\"3 4\"/>")?;
        }
        let label = 18 * model + MARGIN / 2;
        writeln!(out, "<text x=\"{}\" y=\"{label}\" fill=\"{colour}\">{}</text>", right + 4, escaped(name))?;
    }
    writeln!(
        out,
        "</svg>\n<p>A dashed line: from there on the places stay the same. A hollow point: not proved to be the fewest.</p>"
    )
}

/// A text that HTML sees no markup in.
fn escaped(text: &str) -> String {
    let mut result = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '<' => result.push_str("&lt;"),
            '>' => result.push_str("&gt;"),
            '&' => result.push_str("&amp;"),
            '"' => result.push_str("&quot;"),
            c if c.is_control() => result.push(' '),
            c => result.push(c),
        }
    }
    result
}
