//! Sorts on the CPU to compare with.

use std::time::{Duration, Instant};

use anyhow::{Result, ensure};
use rayon::prelude::*;
use rdst::{RadixKey, RadixSort};

/// A sort on the CPU.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Peer {
    /// `sort_unstable` of the standard library.
    Standard,
    Radsort,
    Rdst,
    Rayon,
}

/// A key and its index.
#[derive(Clone, Copy, PartialEq)]
struct Pair {
    key: u32,
    value: u32,
}

impl RadixKey for Pair {
    const LEVELS: usize = 4;

    fn get_level(&self, level: usize) -> u8 {
        (self.key >> (8 * level)) as u8
    }
}

impl Peer {
    pub const ALL: [Peer; 4] = [Peer::Standard, Peer::Radsort, Peer::Rdst, Peer::Rayon];

    pub fn name(self) -> &'static str {
        match self {
            Peer::Standard => "std sort_unstable",
            Peer::Radsort => "radsort",
            Peer::Rdst => "rdst",
            Peer::Rayon => "rayon par_sort_unstable",
        }
    }

    /// Sorts a copy of the keys, with their indices if there are to be pairs; gives the time that sorting took.
    pub fn run(self, keys: &[u32], pairs: bool, order: Option<&[u32]>) -> Result<Duration> {
        if !pairs {
            let mut sorted = keys.to_vec();
            let start = Instant::now();
            match self {
                Peer::Standard => sorted.sort_unstable(),
                Peer::Radsort => radsort::sort(&mut sorted),
                Peer::Rdst => sorted.radix_sort_unstable(),
                Peer::Rayon => sorted.par_sort_unstable(),
            }
            let time = start.elapsed();
            if let Some(order) = order {
                let right = sorted.iter().zip(order).all(|(key, index)| *key == keys[*index as usize]);
                ensure!(right, "keys are not in order");
            }
            return Ok(time);
        }
        let mut sorted: Vec<Pair> = keys.iter().zip(0..).map(|(&key, value)| Pair { key, value }).collect();
        let start = Instant::now();
        match self {
            Peer::Standard => sorted.sort_unstable_by_key(|pair| pair.key),
            Peer::Radsort => radsort::sort_by_key(&mut sorted, |pair| pair.key),
            Peer::Rdst => sorted.radix_sort_unstable(),
            Peer::Rayon => sorted.par_sort_unstable_by_key(|pair| pair.key),
        }
        let time = start.elapsed();
        if let Some(order) = order {
            let right = sorted.iter().zip(order).all(|(pair, index)| pair.key == keys[*index as usize]);
            ensure!(right, "keys are not in order");
            // Some of them are not stable: each value must still be there once, and with its key.
            let mut seen = vec![false; keys.len()];
            let with_key = |pair: &Pair| {
                let place = pair.value as usize;
                keys.get(place) == Some(&pair.key) && !std::mem::replace(&mut seen[place], true)
            };
            ensure!(sorted.iter().all(with_key), "values are not those of their keys");
        }
        Ok(time)
    }
}
