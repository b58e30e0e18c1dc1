//! The parts of an array that are sorted each by itself.

use std::ops::Range;
use std::path::Path;

use anyhow::{Result, ensure};
use vksort::Segments;

use super::npy::Array;

/// How keys are divided.
pub enum Parts {
    /// All keys are sorted together.
    Whole,
    /// Part `s` is the keys from entry `s` up to but not including entry `s + 1`.
    Offsets(Vec<u32>),
    /// Rows of so many keys.
    Rows(u32),
}

impl Parts {
    /// Reads offsets, which ascend within so many keys.
    pub fn read(path: &Path, keys: usize) -> Result<Parts> {
        let numbers = Array::read_offsets(path)?;
        let name = path.display();
        ensure!(!numbers.is_empty(), "--segments {name} has no rows, allowed is one more than there are segments");
        let mut offsets = Vec::with_capacity(numbers.len());
        for (index, &given) in numbers.iter().enumerate() {
            let least = offsets.last().copied().unwrap_or(0);
            ensure!(
                (i128::from(least)..=keys as i128).contains(&given),
                "--segments {name}: offset {index} is {given}, allowed is {least} to {keys}, from the offset before it to the number \
                 of keys"
            );
            offsets.push(given as u32);
        }
        Ok(Parts::Offsets(offsets))
    }

    /// Rows of so many keys, which so many keys consist of.
    pub fn rows(stride: u32, keys: usize) -> Result<Parts> {
        ensure!(
            keys.is_multiple_of(stride as usize),
            "--rows is {stride}, but there are {keys} keys, allowed is a number that divides them"
        );
        Ok(Parts::Rows(stride))
    }

    /// Whether all keys are sorted together.
    pub fn is_whole(&self) -> bool {
        matches!(self, Parts::Whole)
    }

    /// How the device finds the parts.
    pub fn layout(&self) -> Segments {
        match self {
            Parts::Whole => Segments::Whole,
            Parts::Offsets(_) => Segments::Offsets,
            Parts::Rows(stride) => Segments::Rows { stride: *stride },
        }
    }

    /// The words that the device reads.
    pub fn words(&self) -> &[u32] {
        if let Parts::Offsets(offsets) = self { offsets } else { &[] }
    }

    /// Where the parts of so many keys are.
    pub fn ranges(&self, keys: u32) -> Vec<Range<u32>> {
        match self {
            Parts::Whole => std::iter::once(0..keys).collect(),
            Parts::Offsets(offsets) => offsets.windows(2).map(|pair| pair[0]..pair[1]).collect(),
            Parts::Rows(stride) => (0..keys / stride).map(|row| row * stride..(row + 1) * stride).collect(),
        }
    }
}
