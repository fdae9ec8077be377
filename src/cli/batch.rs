//! Several inputs, each of which is done by itself: what is wrong with one is said, and the others are done all the
//! same.
//!
//! With `--jobs` several are at work at a time. What they have to say comes in the order of the inputs nevertheless, as
//! do their results: a job's messages are held back until those before it are done. The exit status is that of the
//! results, but 2 if something was wrong with an input.

use super::failure::Failure;
use super::progress::inputs_done;
use crate::report::streams;
use crate::tell;
use std::process::ExitCode;
use std::sync::Mutex;
use std::sync::PoisonError;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

/// What came of the inputs.
pub struct Done<T> {
    /// The results, each with the position of its input.
    pub results: Vec<(usize, T)>,
    /// What was wrong with the others, and is said already.
    failures: Vec<Failure>,
}

/// Does something with each of the inputs, with so many at a time.
///
/// # Errors
/// If there is only one input, what is wrong with it; and what is wrong with all of them, if it is the same.
pub fn each<I: Sync, T: Send>(
    inputs: &[I],
    jobs: usize,
    work: impl Fn(&I) -> Result<T, Failure> + Sync,
) -> Result<Done<T>, Failure> {
    let all = if jobs > 1 && inputs.len() > 1 {
        in_parallel(inputs, jobs, &work)
    } else {
        let done = |(position, input)| {
            inputs_done(position, inputs.len());
            let result = work(input);
            // Where there is one input, its failure is that of the command.
            if inputs.len() > 1 {
                tell_failure(&result);
            }
            result
        };
        inputs.iter().enumerate().map(done).collect()
    };
    let (mut results, mut failures) = (Vec::new(), Vec::new());
    for (position, result) in all.into_iter().enumerate() {
        match result {
            Ok(result) => results.push((position, result)),
            Err(failure) => failures.push(failure),
        }
    }
    match failures.pop() {
        Some(failure) if inputs.len() == 1 => return Err(failure),
        Some(failure) => failures.push(failure),
        None => {}
    }
    if !failures.is_empty() {
        let (failed, all) = (failures.len(), inputs.len());
        let rest = if results.is_empty() { "nothing is written" } else { "what is written is of the others" };
        tell!("seqcon: {failed} of {all} inputs could not be done; {rest}");
    }
    Ok(Done { results, failures })
}

fn tell_failure<T>(result: &Result<T, Failure>) {
    if let Err(failure) = result {
        tell!("seqcon: {failure}");
    }
}

/// What came of each input; what they said, in their order.
fn in_parallel<I: Sync, T: Send>(
    inputs: &[I],
    jobs: usize,
    work: &(impl Fn(&I) -> Result<T, Failure> + Sync),
) -> Vec<Result<T, Failure>> {
    let next = AtomicUsize::new(0);
    let ended = Mutex::new(Ended { waiting: inputs.iter().map(|_| None).collect(), told: 0, done: 0 });
    let worker = || {
        let mut own = Vec::new();
        loop {
            let position = next.fetch_add(1, Ordering::Relaxed);
            let Some(input) = inputs.get(position) else { return own };
            let (result, said) = streams::holding(|| {
                let result = work(input);
                tell_failure(&result);
                result
            });
            ended.lock().unwrap_or_else(PoisonError::into_inner).end(position, said);
            own.push((position, result));
        }
    };
    let mut all: Vec<(usize, Result<T, Failure>)> = thread::scope(|scope| {
        let workers: Vec<_> = (0..jobs.min(inputs.len())).map(|_| scope.spawn(worker)).collect();
        let joined = workers.into_iter().map(|worker| worker.join());
        joined.flat_map(|own| own.unwrap_or_else(|panic| std::panic::resume_unwind(panic))).collect()
    });
    all.sort_by_key(|(position, _)| *position);
    all.into_iter().map(|(_, result)| result).collect()
}

/// What jobs said that have ended.
struct Ended {
    waiting: Vec<Option<String>>,
    /// How many were passed on.
    told: usize,
    /// How many have ended.
    done: usize,
}

impl Ended {
    /// One has ended, and what it said is passed on, if it is its turn, with what waited for it.
    fn end(&mut self, position: usize, said: String) {
        self.waiting[position] = Some(said);
        self.done += 1;
        inputs_done(self.done, self.waiting.len());
        while let Some(said) = self.waiting.get_mut(self.told).and_then(Option::take) {
            self.told += 1;
            streams::tell_all(&said);
        }
    }
}

impl<T> Done<T> {
    /// What was wrong with inputs.
    pub fn refused(&self) -> Vec<String> {
        self.failures.iter().map(ToString::to_string).collect()
    }

    /// The exit status, given that of the results: something wrong with an input comes first, and a limit that left an
    /// input without an answer comes last.
    pub fn exit_status(&self, of_results: u8) -> ExitCode {
        let of_failures = self.failures.iter().map(Failure::status);
        let worst = of_failures.reduce(|a, b| if a == 3 { b } else { a });
        ExitCode::from(match (worst, of_results) {
            (None, status) | (Some(3), status @ 1) => status,
            (Some(status), _) => status,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn usage(problem: &str) -> Failure {
        Failure::Usage(problem.to_owned())
    }

    #[test]
    fn results_are_in_the_order_of_the_inputs_however_many_are_at_work() {
        let inputs: Vec<u64> = (0..20).collect();
        for jobs in [1, 2, 7, 100] {
            let done = each(&inputs, jobs, |&input| {
                thread::sleep(std::time::Duration::from_micros(500 * (20 - input)));
                if input % 5 == 3 { Err(usage("it is 3 modulo 5")) } else { Ok(input * input) }
            });
            let done = done.expect("not all are wrong");
            let expected: Vec<(usize, u64)> =
                (0..20).filter(|input| input % 5 != 3).map(|input| (input as usize, input * input)).collect();
            assert_eq!((done.results, done.failures.len()), (expected, 4), "{jobs} jobs");
        }
    }

    #[test]
    fn what_is_wrong_with_the_only_input_is_the_failure() {
        let failed = each(&[()], 4, |()| Err::<(), Failure>(usage("no such file")));
        assert_eq!(failed.err().map(|failure| failure.to_string()).as_deref(), Some("no such file"));
    }

    #[test]
    fn a_wrong_input_comes_before_what_the_others_tell_and_that_before_a_limit() {
        let limit = || Failure::Exhausted("no time".to_owned());
        let status = |failures: Vec<Failure>, of_results| {
            format!("{:?}", Done::<()> { results: Vec::new(), failures }.exit_status(of_results))
        };
        let code = |code| format!("{:?}", ExitCode::from(code));
        assert_eq!(status(vec![], 1), code(1));
        assert_eq!(status(vec![usage("wrong")], 1), code(2));
        assert_eq!(status(vec![limit(), usage("wrong"), limit()], 0), code(2));
        assert_eq!(status(vec![limit()], 1), code(1));
        assert_eq!(status(vec![limit()], 0), code(3));
    }
}
