//! The flag `--tuning`, of programs that sort with a profile which `tune` has made.

use std::path::PathBuf;

use anyhow::Result;
use clap::Args;
use vksort::standalone::Gpu;
use vksort::{DeviceProfile, Tuning};
use vksort_profiles::{Error, TuningProfile};

/// A file to take the tuning from.
#[derive(Args)]
pub struct TuningFlag {
    /// Sort with the tuning profile in this file, which the program tune makes
    #[arg(long, value_name = "FILE")]
    tuning: Option<PathBuf>,
}

impl TuningFlag {
    /// Reads the profile, which takes no device.
    pub fn load(&self) -> Result<Option<TuningProfile>> {
        Ok(self.tuning.as_ref().map(TuningProfile::load).transpose()?)
    }
}

/// The device with the profile's tuning, if that is of it.
pub fn apply(profile: Option<TuningProfile>, gpu: Gpu) -> Result<Gpu> {
    Ok(match of(profile, gpu.profile(), gpu.tuning())? {
        Some(tuning) => gpu.with_tuning(tuning),
        None => gpu,
    })
}

/// The profile's tuning. If the profile is of another device or driver, one line says so, and the built-in row stays.
pub fn of(profile: Option<TuningProfile>, device: &DeviceProfile, built_in: &Tuning) -> Result<Option<Tuning>> {
    let Some(profile) = profile else { return Ok(None) };
    match profile.tuning_for(device) {
        Ok(tuning) => Ok(Some(tuning)),
        Err(error @ (Error::Foreign { .. } | Error::Stale { .. })) => {
            super::say_on_stderr(format!("--tuning: {error}; sorting with the built-in row {}", built_in.name));
            Ok(None)
        }
        Err(error) => Err(error.into()),
    }
}
