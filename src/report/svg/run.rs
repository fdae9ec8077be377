//! A run: a lane for each thread and one for each store buffer that is used, time downwards.
//!
//! A step is a box in the lane of its thread. A write that waits and becomes visible is a box with a broken line; an
//! arrow leads there from the step that made it. Beside the lanes stands what waits in each buffer after the step,
//! oldest first. Threads and buffers in which nothing happens are left out.

use super::canvas::{Anchor, Canvas, Look, MARGIN, Point, small_width, text_width};
use crate::analysis::{Deed, Run, RunStep};

/// A step is so high.
const HIGH: usize = 40;
/// A row, with the gap to the next.
const ROW: usize = 50;
/// Beside a step, for the arrows of writes that wait.
const ARROWS: usize = 26;
/// Between lanes.
const GAP: usize = 12;
/// For the numbers of steps.
const NUMBERS: usize = 28;

/// A lane: what it is of, where it begins, and how wide it is.
struct Lane {
    thread: usize,
    left: usize,
    wide: usize,
}

pub(super) fn draw(run: &Run, canvas: &mut Canvas) {
    let top = canvas.top + 24;
    let high = run.steps.len() * ROW + 10;
    let mut left = MARGIN + NUMBERS;
    let mut lane = |thread: usize, wide: usize| {
        let lane = Lane { thread, left, wide };
        left += wide + GAP;
        lane
    };
    let all = || 0..run.threads.len();
    let is_in = |step: &&RunStep, thread: usize| step.thread.index() == thread;
    let acting = all().filter(|&thread| run.steps.iter().any(|step| is_in(&step, thread)));
    let threads: Vec<Lane> = acting
        .map(|thread| {
            let own = run.steps.iter().filter(|step| is_in(step, thread)).map(width);
            lane(thread, own.max().unwrap_or(0).max(text_width(&run.threads[thread])) + ARROWS + 20)
        })
        .collect();
    let buffers: Vec<Lane> = all()
        .filter_map(|thread| {
            let waiting = run.steps.iter().filter_map(|step| step.buffers.get(thread));
            let widest = waiting.map(|buffer| buffer.iter().map(|write| wait_width(&write.to_string())).sum::<usize>());
            let widest = widest.max().filter(|widest| *widest > 0)?;
            Some(lane(thread, widest.max(small_width(&buffer_of(run, thread))) + 12))
        })
        .collect();
    for (lanes, is_buffer) in [(&threads, false), (&buffers, true)] {
        for lane in lanes {
            canvas.rectangle("lane", Point { x: lane.left, y: top }, (lane.wide, high));
            let place = Point { x: lane.left + lane.wide / 2, y: top - 7 };
            match is_buffer {
                false => canvas.text("title", Anchor::Middle, place, &run.threads[lane.thread]),
                true => canvas.text("small", Anchor::Middle, place, &buffer_of(run, lane.thread)),
            }
        }
    }
    for (number, step) in run.steps.iter().enumerate() {
        let y = top + 10 + number * ROW;
        canvas.text("small", Anchor::Start, Point { x: MARGIN, y: y + 24 }, &(number + 1).to_string());
        let Some(lane) = threads.iter().find(|lane| lane.thread == step.thread.index()) else { continue };
        draw_step(run, number, lane, top, canvas);
        for lane in &buffers {
            let mut x = lane.left + 6;
            for write in step.buffers.get(lane.thread).into_iter().flatten() {
                let write = write.to_string();
                let wide = wait_width(&write) - 4;
                canvas.rectangle("waits", Point { x, y: y + 8 }, (wide, 24));
                canvas.text("small", Anchor::Middle, Point { x: x + wide / 2, y: y + 24 }, &write);
                x += wide + 4;
            }
        }
    }
}

fn buffer_of(run: &Run, thread: usize) -> String {
    format!("buffer of {}", run.threads[thread])
}

/// The two lines of a step.
fn lines(step: &RunStep) -> (String, String) {
    match &step.deed {
        Deed::Executes { name, text, .. } => (step.deed.in_words(), format!("{name}  {text}")),
        Deed::BecomesVisible { write, .. } => (write.to_string(), "becomes visible".to_owned()),
    }
}

fn width(step: &RunStep) -> usize {
    let (does, says) = lines(step);
    text_width(&does).max(small_width(&says))
}

fn wait_width(write: &str) -> usize {
    small_width(write) + 16
}

fn draw_step(run: &Run, number: usize, lane: &Lane, top: usize, canvas: &mut Canvas) {
    let step = &run.steps[number];
    let y_of = |number: usize| top + 10 + number * ROW;
    let (left, wide) = (lane.left + ARROWS, lane.wide - ARROWS - 8);
    let (does, says) = lines(step);
    let (class, y) =
        (if matches!(step.deed, Deed::BecomesVisible { .. }) { "visible" } else { "access" }, y_of(number));
    canvas.rectangle(class, Point { x: left, y }, (wide, HIGH));
    let middle = left + wide / 2;
    let (does, says) = if does.is_empty() { (says, String::new()) } else { (does, says) };
    canvas.text("name", Anchor::Middle, Point { x: middle, y: y + 17 }, &does);
    canvas.text("small", Anchor::Middle, Point { x: middle, y: y + 33 }, &says);
    // The step that made the write: the last one of its instruction.
    let made = |(_, made): &(usize, &RunStep)| {
        made.thread == step.thread
            && matches!(made.deed, Deed::Executes { .. })
            && made.deed.instr() == step.deed.instr()
    };
    if let (Deed::BecomesVisible { of: Some(_), .. }, Some((maker, _))) =
        (&step.deed, run.steps[..number].iter().enumerate().rev().find(made))
    {
        let (from, to) = (y_of(maker) + HIGH / 2, y + HIGH / 2);
        let x = lane.left + 4;
        let path = format!("M{left},{from} C{x},{from} {x},{to} {},{to}", left - 1);
        canvas.arrow(Look::Conflict, &path, Point { x: left, y: to });
    }
}
