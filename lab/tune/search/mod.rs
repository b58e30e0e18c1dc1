//! The search for a device's best tuning. It starts from the built-in row and walks along one dimension after the other.
//!
//! Challenger and incumbent run in turns, so that other load on the machine affects both. A challenger replaces the
//! incumbent only if it is faster beyond noise. Nothing here knows a device: [`Measure`] takes the measurements.

pub mod device;
pub mod dimensions;

use std::time::Duration;

use anyhow::{Result, anyhow, bail, ensure};
use dimensions::Dimension;
use vksort::{DeviceProfile, Error, Tuning};
use vksort_profiles::Quartiles;

/// The ratio by which a challenger must be faster.
const GAIN: f64 = 1.02;
/// A challenger that takes this many times the incumbent's time does not run again.
const SLOW: f64 = 3.0;
/// Rounds after which a slower challenger gives up, and the most rounds.
const ROUNDS: (usize, usize) = (5, 11);
/// The same for the winner and the built-in row.
const LAST_ROUNDS: (usize, usize) = (5, 21);

/// The measurements of a search.
pub trait Measure {
    /// The recorded sort of a tuning, for one kind of sort. Tunings with equal records are tried once.
    type Recorded: Clone + PartialEq;

    /// The record of a tuning for each kind of sort; `None` if the tuning does not fit.
    fn recorded(&self, tuning: &Tuning) -> Option<Vec<Self::Recorded>>;

    /// Builds a tuning's kernels for a kind of sort, and checks that they sort correctly. A failure drops the tuning, or ends
    /// the search.
    fn admit(&mut self, tuning: &Tuning, kind: usize) -> Result<(), Failure>;

    /// Nanoseconds of one run of kernels that were admitted.
    fn time(&mut self, tuning: &Tuning, kind: usize) -> Result<f64, Failure>;

    /// Frees the kernels of all other tunings.
    fn keep(&mut self, tunings: &[&Tuning]);

    /// Time since the search began.
    fn elapsed(&self) -> Duration;
}

/// Why a measurement failed.
#[derive(Debug)]
pub enum Failure {
    /// The tuning does not fit the device, or sorts wrongly.
    Tuning(String),
    /// The library refuses to sort with it.
    Refused(Error),
    /// The device has failed.
    Device(Error),
}

impl Failure {
    /// The reason against a candidate, or the error of the device.
    fn reason(self) -> Result<String> {
        match self {
            Failure::Tuning(what) => Ok(what),
            Failure::Refused(error) => Ok(error.to_string()),
            Failure::Device(error) => Err(error.into()),
        }
    }
}

/// The result of a challenger.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It was faster beyond noise, and replaced the incumbent.
    Won,
    /// It was not faster.
    Lost,
    /// It was so slow that it ran only once.
    Slow,
    /// Time ran out before it had run often enough.
    Unfinished,
    /// It could not be built, or sorted wrongly.
    Dropped(String),
}

/// One challenger of a search.
#[derive(Clone, Debug)]
pub struct Trial {
    /// When it ended, in seconds since the search began.
    pub seconds: f64,
    /// The dimension in which it differed from the incumbent.
    pub dimension: &'static str,
    /// The incumbent's value and its own.
    pub change: String,
    /// Its result.
    pub outcome: Outcome,
    /// How many times as fast as the incumbent it was, round by round, as the geometric mean over all kinds of sorts; `None`
    /// if it did not run.
    pub ratio: Option<Quartiles>,
    /// How many times as fast as the built-in row the incumbent was when it took the lead.
    pub incumbent: f64,
    /// The same of the incumbent after this trial.
    pub best: f64,
}

/// Where a search is.
#[derive(Clone, Debug)]
pub struct Progress {
    /// Seconds since it began.
    pub seconds: f64,
    /// Challengers so far.
    pub trials: usize,
    /// How many times as fast as the built-in row the incumbent is.
    pub ratio: f64,
    /// The current challenger.
    pub trying: String,
}

/// Nanoseconds of the incumbent and of the challenger in each round.
type Times = (Vec<f64>, Vec<f64>);

/// Two tunings, run in turns.
struct Duel {
    /// Whether the challenger was so slow that it ran one round.
    slow: bool,
    /// The rounds of each kind of sort whose records differ.
    times: Vec<Times>,
}

/// The result of a search.
#[derive(Debug)]
pub struct Found {
    /// The best tuning, if it also beat the built-in row at the end; else the built-in row.
    pub tuning: Tuning,
    /// Nanoseconds of the built-in row and of the tuning, for each kind of sort.
    pub times: Vec<Times>,
    /// Ratio of the best tuning, if it did not win at the end.
    pub refused: Option<Quartiles>,
    /// Every challenger, in order.
    pub trials: Vec<Trial>,
}

struct Search<'a, M: Measure> {
    bench: &'a mut M,
    device: &'a DeviceProfile,
    watch: &'a mut dyn FnMut(&Progress),
    deadline: Duration,
    incumbent: Tuning,
    /// How many times as fast as the built-in row the incumbent is.
    standing: f64,
    built_in: Tuning,
    tried: Vec<Vec<M::Recorded>>,
    trials: Vec<Trial>,
    /// The longest time that compiling and checking a tuning for a kind of sort has taken.
    longest: Duration,
}

/// Searches for the given time, from a built-in row on. It fails with the device, if the built-in row does not fit or sorts
/// wrongly, and if nothing was tried.
pub fn search<M: Measure>(
    bench: &mut M,
    device: &DeviceProfile,
    built_in: &Tuning,
    time: Duration,
    watch: &mut dyn FnMut(&Progress),
) -> Result<Found> {
    let refuse = |failure| refused(device, built_in, failure);
    let recorded = bench.recorded(built_in).ok_or_else(|| refuse(Failure::Tuning("it does not fit".into())))?;
    let kinds: Vec<usize> = (0..recorded.len()).collect();
    watch(&Progress { seconds: 0.0, trials: 0, ratio: 1.0, trying: "the built-in row".into() });
    let late = |checked: usize, elapsed: Duration| {
        let (all, seconds) = (kinds.len(), elapsed.as_secs_f64());
        too_short(
            time,
            &format!("compiling and checking the built-in row for {checked} of {all} sorts took {seconds:.1} s"),
        )
    };
    let mut longest = Duration::ZERO;
    for &kind in &kinds {
        let began = bench.elapsed();
        ensure!(began < time, late(kind, began));
        bench.admit(built_in, kind).map_err(refuse)?;
        longest = longest.max(bench.elapsed() - began);
    }
    // One round of the built-in row tells how much time to reserve for the end.
    let before = bench.elapsed();
    for &kind in &kinds {
        bench.time(built_in, kind).map_err(refuse)?;
    }
    let round = 2 * (bench.elapsed() - before);
    let reserve = (round * (LAST_ROUNDS.1 as u32 + 1)).min(time / 5);
    let mut search = Search {
        bench,
        device,
        watch,
        deadline: time - reserve,
        incumbent: built_in.clone(),
        standing: 1.0,
        built_in: built_in.clone(),
        tried: vec![recorded],
        trials: Vec::new(),
        longest,
    };
    search.run()?;
    if search.trials.is_empty() {
        let elapsed = search.bench.elapsed();
        ensure!(!search.is_over(), late(kinds.len(), elapsed));
        bail!("no other tuning would run other kernels, so there is nothing to try; allowed are more elements");
    }
    search.finish(time)
}

/// The error for a search without a trial.
fn too_short(time: Duration, why: &str) -> String {
    format!(
        "{} s are too short to try anything: {why}; allowed are more seconds, fewer elements, or the same again where the driver \
         keeps what it has compiled",
        time.as_secs()
    )
}

/// The error for a built-in row that fails.
fn refused(device: &DeviceProfile, built_in: &Tuning, failure: Failure) -> anyhow::Error {
    match failure {
        Failure::Device(error) | Failure::Refused(error) => error.into(),
        Failure::Tuning(what) => anyhow!("tuning {:?} fails on device {:?}: {what}", built_in.name, device.name),
    }
}

impl<M: Measure> Search<'_, M> {
    /// Walks along all dimensions repeatedly, until time runs out or nothing is left to try.
    fn run(&mut self) -> Result<()> {
        loop {
            let before = self.trials.len();
            for dimension in dimensions::all() {
                if !self.walk(&dimension, true)? {
                    self.walk(&dimension, false)?;
                }
            }
            if self.trials.len() == before {
                return Ok(());
            }
        }
    }

    /// Walks along a dimension while challengers win; returns whether one did. It skips tried tunings, so later walks along
    /// the same dimension reach farther.
    fn walk(&mut self, dimension: &Dimension, up: bool) -> Result<bool> {
        let (mut reach, mut won) = (1, false);
        loop {
            let rungs = dimension.rungs(&self.incumbent, self.device);
            let at = rungs.iter().position(|rung| *rung == self.incumbent).expect("rungs hold the tuning itself");
            let next = if up { at.checked_add(reach) } else { at.checked_sub(reach) };
            let Some(challenger) = next.and_then(|next| rungs.get(next)).filter(|_| !self.is_over()) else {
                return Ok(won);
            };
            match self.challenge(dimension, challenger)? {
                Some(Outcome::Won) => (reach, won) = (1, true),
                Some(_) if !dimension.unordered => return Ok(won),
                _ => reach += 1,
            }
        }
    }

    /// Measures the incumbent against the built-in row again, or the built-in row alone.
    fn finish(mut self, time: Duration) -> Result<Found> {
        let (built_in, incumbent) = (self.built_in.clone(), self.incumbent.clone());
        let kinds: Vec<usize> = (0..self.tried[0].len()).collect();
        let same = |(times, _): Times| (times.clone(), times);
        let alone = |duel: Duel| duel.times.into_iter().map(same).collect();
        self.bench.keep(&[&built_in, &incumbent]);
        if incumbent != built_in {
            self.tell("the best beside the built-in row".into());
            let differ = self.differing(&built_in, &incumbent);
            // The winner must still sort correctly after many runs.
            let last = duel(self.bench, (&built_in, Some(&incumbent)), &kinds, LAST_ROUNDS, time);
            let check = |search: &mut Self| differ.iter().try_for_each(|kind| search.bench.admit(&incumbent, *kind));
            let admitted = last.and_then(|last| check(&mut self).map(|()| last));
            match admitted {
                Ok(last) => {
                    let times = differ.iter().map(|kind| last.times[*kind].clone()).collect();
                    let judged = Duel { slow: last.slow, times };
                    let trials = self.trials;
                    return Ok(match judged.is_won() {
                        true => {
                            // Kinds with equal records run the same commands by both tunings: their ratio is 1.
                            let times = last.times.into_iter().enumerate();
                            let times =
                                times.map(|(kind, times)| if differ.contains(&kind) { times } else { same(times) });
                            Found { tuning: incumbent, times: times.collect(), refused: None, trials }
                        }
                        false => {
                            let refused = Some(judged.ratio());
                            Found { tuning: built_in, times: alone(last), refused, trials }
                        }
                    });
                }
                Err(failure) => log::warn!("the best is dropped at the end: {}", failure.reason()?),
            }
        }
        self.tell("the built-in row once more".into());
        let duel = duel(self.bench, (&built_in, None), &kinds, LAST_ROUNDS, time);
        let duel = duel.map_err(|failure| refused(self.device, &built_in, failure))?;
        Ok(Found { tuning: built_in, times: alone(duel), refused: None, trials: self.trials })
    }

    fn tell(&mut self, trying: String) {
        let seconds = self.bench.elapsed().as_secs_f64();
        (self.watch)(&Progress { seconds, trials: self.trials.len(), ratio: self.standing, trying });
    }

    /// Builds and checks a tuning for some kinds of sorts; `false` if time would run out.
    fn admit(&mut self, tuning: &Tuning, kinds: &[usize], end: Duration) -> Result<bool, Failure> {
        for kind in kinds {
            let began = self.bench.elapsed();
            if began + self.longest >= end {
                return Ok(false);
            }
            self.bench.admit(tuning, *kind)?;
            self.longest = self.longest.max(self.bench.elapsed() - began);
        }
        Ok(true)
    }

    /// Kinds of sorts for which kernels differ.
    fn differing(&self, first: &Tuning, second: &Tuning) -> Vec<usize> {
        let [first, second] = [first, second].map(|tuning| self.bench.recorded(tuning).unwrap_or_default());
        let pairs = first.iter().zip(&second).enumerate();
        pairs.filter(|(_, (first, second))| first != second).map(|(kind, _)| kind).collect()
    }

    /// Whether another challenger of average duration would exceed the time.
    fn is_over(&self) -> bool {
        let elapsed = self.bench.elapsed();
        elapsed + elapsed / (self.trials.len() as u32 + 1) >= self.deadline
    }

    /// Tries a challenger and returns its result; `None` if it was tried before or does not fit.
    fn challenge(&mut self, dimension: &Dimension, challenger: &Tuning) -> Result<Option<Outcome>> {
        let Some(recorded) = self.bench.recorded(challenger).filter(|recorded| !self.tried.contains(recorded)) else {
            return Ok(None);
        };
        let all = recorded.len();
        self.tried.push(recorded);
        let change = format!("{} -> {}", dimension.show(&self.incumbent), dimension.show(challenger));
        self.tell(format!("{} {change}", dimension.name));
        let kinds = self.differing(&self.incumbent, challenger);
        let fought = self.admit(challenger, &kinds, self.deadline).and_then(|in_time| match in_time {
            true => duel(self.bench, (&self.incumbent, Some(challenger)), &kinds, ROUNDS, self.deadline),
            false => Ok(Duel::none(kinds.len())),
        });
        let (mut outcome, ratio) = match fought {
            Ok(duel) => {
                let outcome = match () {
                    () if duel.slow => Outcome::Slow,
                    () if duel.is_won() => Outcome::Won,
                    () if duel.rounds() < ROUNDS.0 => Outcome::Unfinished,
                    () => Outcome::Lost,
                };
                (outcome, (duel.rounds() > 0).then(|| duel.ratio_of_all(all)))
            }
            Err(failure) => {
                let lost = |_: &anyhow::Error| log::error!("the device failed with {} {change}", dimension.name);
                let what = failure.reason().inspect_err(lost)?;
                log::warn!("dropped: {} {change}: {what}", dimension.name);
                (Outcome::Dropped(what), None)
            }
        };
        let median = ratio.map(|ratio| ratio.median);
        log::info!("{} {change}: {outcome:?}, {median:?} times as fast as the incumbent", dimension.name);
        let before = self.standing;
        if outcome == Outcome::Won {
            let expected = before * median.unwrap_or(1.0);
            match self.standing_of(challenger, expected)? {
                Some(standing) => (self.incumbent, self.standing) = (challenger.clone(), standing),
                None => {
                    (self.incumbent, self.standing) = (self.built_in.clone(), 1.0);
                    outcome = Outcome::Lost;
                }
            }
        }
        let seconds = self.bench.elapsed().as_secs_f64();
        let (dimension, best, fared) = (dimension.name, self.standing, outcome.clone());
        self.trials.push(Trial { seconds, dimension, change, outcome, ratio, incumbent: before, best });
        self.bench.keep(&[&self.built_in, &self.incumbent]);
        Ok(Some(fared))
    }

    /// How many times as fast as the built-in row a winning challenger is; `None` if it is slower.
    ///
    /// On a busy machine times jump, and several small victories can add up to a slower tuning. So the ratio is measured
    /// instead of multiplied, and if it is below 1 the search starts again from the built-in row.
    fn standing_of(&mut self, challenger: &Tuning, expected: f64) -> Result<Option<f64>> {
        if self.incumbent == self.built_in {
            return Ok(Some(expected));
        }
        let kinds = self.differing(&self.built_in, challenger);
        match duel(self.bench, (&self.built_in, Some(challenger)), &kinds, ROUNDS, self.deadline) {
            Ok(duel) if duel.rounds() == 0 => Ok(Some(expected)),
            Ok(duel) => {
                let standing = duel.ratio_of_all(self.tried[0].len()).median;
                Ok(Some(standing).filter(|standing| *standing > 1.0))
            }
            Err(failure) => {
                log::warn!("dropped: {}", failure.reason()?);
                Ok(None)
            }
        }
    }
}

/// Runs incumbent and challenger in turns, or the incumbent alone, for at least and at most the given rounds, as far as time
/// allows.
fn duel<M: Measure>(
    bench: &mut M,
    (incumbent, challenger): (&Tuning, Option<&Tuning>),
    kinds: &[usize],
    (least, most): (usize, usize),
    deadline: Duration,
) -> Result<Duel, Failure> {
    let mut duel = Duel::none(kinds.len());
    // The final comparison has its rounds whatever the time, as the result needs them.
    let is_last = (least, most) == LAST_ROUNDS;
    for round in 0..most {
        let enough = if is_last { round >= least } else { true };
        if enough && bench.elapsed() >= deadline {
            break;
        }
        for (times, &kind) in duel.times.iter_mut().zip(kinds) {
            let first = round % 2 == 0;
            // The order alternates, as the second run may meet other caches or clock rates.
            for turn in [first, !first] {
                match (turn, challenger) {
                    (true, _) => times.0.push(bench.time(incumbent, kind)?.max(1.0)),
                    (false, Some(challenger)) => times.1.push(bench.time(challenger, kind)?.max(1.0)),
                    (false, None) => {}
                }
            }
        }
        if is_last || challenger.is_none() {
            continue;
        }
        let ratio = duel.ratio().median;
        duel.slow = round == 0 && ratio * SLOW < 1.0;
        if duel.slow || round + 1 >= least && ratio < 1.0 {
            break;
        }
    }
    Ok(duel)
}

impl Duel {
    /// Before the first round.
    fn none(kinds: usize) -> Duel {
        Duel { slow: false, times: vec![(Vec::new(), Vec::new()); kinds] }
    }

    fn rounds(&self) -> usize {
        self.times.iter().map(|(incumbent, _)| incumbent.len()).min().unwrap_or(0)
    }

    /// One time per round for both: the geometric mean over all kinds of sorts.
    fn combined(&self) -> (Vec<f64>, Vec<f64>) {
        let mean = |round: usize, of: fn(&Times) -> &Vec<f64>| {
            let logs: f64 = self.times.iter().map(|times| of(times)[round].ln()).sum();
            (logs / self.times.len() as f64).exp()
        };
        let rounds = 0..self.rounds();
        (
            rounds.clone().map(|round| mean(round, |t| &t.0)).collect(),
            rounds.map(|round| mean(round, |t| &t.1)).collect(),
        )
    }

    /// How many times as fast as the incumbent the challenger is.
    fn ratio(&self) -> Quartiles {
        let (incumbent, challenger) = self.combined();
        ratio(&incumbent, &challenger)
    }

    /// The same over the given number of kinds of sorts. Kinds with equal records count with a ratio of 1.
    fn ratio_of_all(&self, kinds: usize) -> Quartiles {
        let Quartiles { q25, median, q75 } = self.ratio();
        let share = self.times.len() as f64 / kinds as f64;
        Quartiles { q25: q25.powf(share), median: median.powf(share), q75: q75.powf(share) }
    }

    /// Whether the challenger is faster beyond noise, and slower for no kind of sort.
    fn is_won(&self) -> bool {
        if self.rounds() < ROUNDS.0 || self.slow {
            return false;
        }
        let (incumbent, challenger) = self.combined();
        let apart = Quartiles::of(&challenger).q75 < Quartiles::of(&incumbent).q25;
        let all = self.times.iter().all(|(incumbent, challenger)| ratio(incumbent, challenger).median * GAIN >= 1.0);
        apart && all && self.ratio().median >= GAIN
    }
}

/// Quotients, round by round.
pub fn ratio(above: &[f64], below: &[f64]) -> Quartiles {
    Quartiles::of(&above.iter().zip(below).map(|(above, below)| above / below).collect::<Vec<_>>())
}
