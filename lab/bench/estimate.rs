//! About how long a run will take, from two rounds of a case of each suite, or of its problems, before the run begins.

use std::time::{Duration, Instant};

use anyhow::Result;

use super::case::{Case, How, Suite};
use super::measure::{Bench, Rounds};
use super::{Args, is_too_much, problems};

/// The rounds of a sample: those that warm up, of which the first compiles and verifies.
const SAMPLE: Rounds = Rounds { runs: 0, stepped: 0 };

/// The most elements of a sample, whose results are verified on the CPU as all are.
const MOST: u32 = 1 << 18;

/// Keys and values of a case in bytes.
fn bytes(case: &Case) -> f64 {
    (case.key().size_bytes() + case.value_bytes()) as f64
}

impl Args {
    /// The time that all suites take. Those whose first case does not fit are left out, as they may be when they are measured.
    pub(super) fn expected(&self, bench: &mut Bench<'_>) -> Result<Duration> {
        let mut seconds = 0.0;
        for suite in self.suite.parts() {
            let sampled = match suite.has_problems() {
                true => self.sample_problems(bench, suite),
                false => self.sample_sizes(bench, suite),
            };
            match sampled {
                Ok(sampled) => seconds += sampled,
                Err(error) if is_too_much(&error) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(Duration::from_secs_f64(seconds))
    }

    /// A suite at its sizes, from a case at the largest of them.
    fn sample_sizes(&self, bench: &mut Bench<'_>, suite: Suite) -> Result<f64> {
        let cases = suite.cases(self.common.algorithm);
        let sizes = self.sizes(bench, suite, &cases)?;
        let of_device = |case: &&Case| matches!(case.how, How::Device { .. }) && case.name != super::case::COPY;
        let (Some(&largest), Some(case)) = (sizes.iter().max(), cases.iter().find(of_device)) else { return Ok(0.0) };
        let n = largest.min(MOST);
        if self.lacking(bench, std::slice::from_ref(case), n)?.is_some() || !bench.fits(case, n)? {
            return Ok(0.0);
        }
        let [compiles, takes] =
            self.sample(bench, &mut |bench| bench.measure(std::slice::from_ref(case), n, self.seed, SAMPLE).map(drop))?;
        let all: f64 = sizes.iter().map(|size| f64::from(*size) / f64::from(n)).sum();
        let weights = cases.iter().map(|other| bytes(other) / bytes(case)).sum::<f64>();
        Ok(compiles * cases.len() as f64 + takes * all * weights)
    }

    /// The problems of a suite, each from itself, as they have little in common.
    fn sample_problems(&self, bench: &mut Bench<'_>, suite: Suite) -> Result<f64> {
        let mut seconds = 0.0;
        for (problem, n) in self.problems(bench.gpu, suite) {
            let fewer = n.min(MOST);
            let rounds = f64::from(Rounds::of(self.runs).all()) * f64::from(n) / f64::from(fewer);
            match problems::measure(bench, &problem, fewer, self.seed, SAMPLE) {
                Ok(_) => seconds += rounds * bench.last_round.get().as_secs_f64(),
                Err(error) if is_too_much(&error) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(seconds)
    }

    /// Seconds that compiling takes, and then all rounds with what is around them, from two samples.
    fn sample(&self, bench: &mut Bench<'_>, measure: &mut dyn FnMut(&mut Bench<'_>) -> Result<()>) -> Result<[f64; 2]> {
        let mut timed = || -> Result<f64> {
            let started = Instant::now();
            measure(bench)?;
            Ok(started.elapsed().as_secs_f64())
        };
        let [first, second] = [timed()?, timed()?];
        let round = bench.last_round.get().as_secs_f64();
        let rounds = f64::from(Rounds::of(self.runs).all() - SAMPLE.all());
        Ok([(first - second).max(0.0), second + rounds * round])
    }
}
