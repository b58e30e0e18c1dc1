//! Prints the public API of a crate, an item in a line, from the JSON of rustdoc. `scripts/api.sh` runs it.

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Context;
use clap::Parser;
use public_api::Builder;
use vksort_programs::common;

/// Prints the public API of a crate from rustdoc's JSON
#[derive(Parser)]
#[command(name = "public-api", version)]
struct Args {
    /// The file that rustdoc has written
    json: PathBuf,
}

fn run() -> anyhow::Result<()> {
    let Args { json } = common::parse()?;
    let api = Builder::from_rustdoc_json(&json).omit_blanket_impls(true).omit_auto_trait_impls(true).build();
    common::say(api.with_context(|| json.display().to_string())?);
    Ok(())
}

fn main() -> ExitCode {
    common::run(run)
}
