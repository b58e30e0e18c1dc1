//! Makes the page of devices from the reports that users send, and proposes rows for the tuning: reports --propose report.json

mod page;
mod propose;
mod recorded;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, Result, ensure};
use clap::Parser;
use vksort_programs::common::device_report::DeviceReport;
use vksort_programs::common::files::Output;
use vksort_programs::common::{self};

/// Write docs/DEVICES.md from the reports of `devices --report` and measure.sh. Run it at the root of the repository.
#[derive(Parser)]
#[command(name = "reports")]
struct Args {
    /// The folder of records, with the reports in its folder `reports`
    #[arg(long, value_name = "DIR", default_value = "lab/record")]
    record: PathBuf,
    /// The page
    #[arg(long, value_name = "FILE", default_value = "docs/DEVICES.md")]
    page: PathBuf,
    /// Write nothing, and fail if the page is not what the reports give
    #[arg(long)]
    check: bool,
    /// Print a row for src/tuning.rs with its evidence, from a report of measure.sh
    #[arg(long, value_name = "FILE", exclusive = true)]
    propose: Option<PathBuf>,
}

fn main() -> ExitCode {
    common::run(reports)
}

fn reports() -> Result<()> {
    let args: Args = common::parse()?;
    if let Some(path) = &args.propose {
        let report = DeviceReport::load(path)?;
        common::say(propose::row(&report).with_context(|| path.display().to_string())?);
        return Ok(());
    }
    let text = page::text(&sent(&args.record.join("reports"))?, &recorded::rows(&args.record)?);
    let page = args.page.display();
    if args.check {
        let there = std::fs::read_to_string(&args.page).with_context(|| format!("--page {page}"))?;
        ensure!(
            there == text,
            "--page {page} is not what the reports give; `cargo run --release --bin reports` writes it"
        );
        return Ok(());
    }
    Output::write_and_say(&[(Output::new("--page", &args.page, true)?, text.into_bytes())])
}

/// The reports of a folder with the names of their files, by name.
fn sent(folder: &Path) -> Result<Vec<(String, DeviceReport)>> {
    let entries = std::fs::read_dir(folder).with_context(|| format!("--record: {}", folder.display()))?;
    let mut paths: Vec<PathBuf> = entries.map(|entry| Ok(entry?.path())).collect::<Result<_>>()?;
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "json"));
    paths.sort();
    let named = |path: PathBuf| {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        Ok((name, DeviceReport::load(&path)?))
    };
    paths.into_iter().map(named).collect()
}
