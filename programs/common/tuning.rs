//! The flag `--tuning`, of examples that sort with a profile which the example `tune` has made.

use std::path::PathBuf;

use anyhow::Result;
use clap::Args;
use vksort::standalone::Gpu;
use vksort::{Error, TuningProfile};

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

/// The device with the profile's tuning. If the profile is of another device or driver, one line says so, and the built-in row
/// stays.
pub fn apply(profile: Option<TuningProfile>, gpu: Gpu) -> Result<Gpu> {
    let Some(profile) = profile else { return Ok(gpu) };
    match profile.tuning_for(gpu.profile()) {
        Ok(tuning) => Ok(gpu.with_tuning(tuning)),
        Err(error @ (Error::ForeignProfile { .. } | Error::StaleProfile { .. })) => {
            eprintln!("--tuning: {error}; sorting with the built-in row {}", gpu.tuning().name);
            Ok(gpu)
        }
        Err(error) => Err(error.into()),
    }
}
