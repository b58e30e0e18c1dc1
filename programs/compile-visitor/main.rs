//! Compiles a visitor into bytes, for programs that have no compiler of GLSL.

#[path = "../common/file_size.rs"]
mod file_size;

use std::fmt::Write as _;
use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, Result, anyhow, ensure};
use clap::{Parser, ValueEnum};
use vksort::__private::files;
use vksort::{Algorithm, DepthKeys, KeyOutput, KeyType, Placement, SortRequest, ValueType, Visits};
use vksort_visitors::VisitorSource;

/// Compiles a visitor of vksort: GLSL that makes the keys or values of a sort, or takes its result
#[derive(Parser)]
#[command(name = "vksort-compile-visitor", version)]
#[command(after_help = "\
The bytes are for vksortCreateVisitedSorter in C, and for Visitor::from_bytes in Rust, of versions of vksort that begin with the
same two numbers. They serve requests with these options, in any order and with any bits, also of other key types with as many
words of 32 bits. docs/VISITORS.md describes the GLSL.")]
struct Args {
    /// The visitor's GLSL
    #[arg(value_name = "FILE", required_unless_present = "depth")]
    file: Option<PathBuf>,
    /// Where the bytes go
    #[arg(long, value_name = "FILE")]
    out: PathBuf,
    /// Write a C array of this name in place of the bytes
    #[arg(long, value_name = "NAME", value_parser = identifier)]
    c_array: Option<String>,
    /// In place of FILE: depths of positions as keys, as f32, or as 16 or 24 bits
    #[arg(long, value_name = "f32|16|24", hide_possible_values = true)]
    #[arg(conflicts_with_all = ["file", "key", "visits", "push", "include"])]
    depth: Option<Depth>,
    /// Type of the keys, as in u32
    #[arg(long, value_name = "TYPE", required_unless_present = "depth")]
    key: Option<KeyType>,
    /// none, index, or the bytes of a value [default: none, with --depth index]
    #[arg(long, value_name = "VALUE", value_parser = value)]
    value: Option<ValueType>,
    /// The functions that FILE defines: keys, values, output
    #[arg(long, value_name = "LIST", value_delimiter = ',', default_value = "keys", hide_possible_values = true)]
    visits: Vec<Visited>,
    /// The request discards the sorted keys
    #[arg(long)]
    discard_keys: bool,
    /// The request names an algorithm: onesweep|reduce-then-scan|single-workgroup
    #[arg(long, value_name = "NAME")]
    algorithm: Option<Algorithm>,
    /// Members of the push constants, as in "vec4 visitor_eye;"
    #[arg(long, value_name = "GLSL", requires = "push_bytes")]
    push: Option<String>,
    /// Bytes of the push constants, up to the end of the last member
    #[arg(long, value_name = "N", requires = "push")]
    push_bytes: Option<u32>,
    /// A file that FILE includes, by its name there, relative to the folder of FILE; may be repeated
    #[arg(long, value_name = "NAME")]
    include: Vec<String>,
}

/// The keys of the visitors that come with vksort.
#[derive(Clone, Copy, Debug, ValueEnum)]
enum Depth {
    #[value(name = "f32")]
    F32,
    #[value(name = "16")]
    Bits16,
    #[value(name = "24")]
    Bits24,
}

impl Depth {
    fn keys(self) -> DepthKeys {
        match self {
            Depth::F32 => DepthKeys::F32,
            Depth::Bits16 => DepthKeys::Bits16,
            Depth::Bits24 => DepthKeys::Bits24,
        }
    }
}

/// A function of a visitor.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Visited {
    Keys,
    Values,
    Output,
}

fn value(text: &str) -> Result<ValueType, String> {
    match text {
        "none" => Ok(ValueType::None),
        "index" => Ok(ValueType::Index),
        _ => text.parse().map(ValueType::Bytes).map_err(|_| "allowed are none, index and a number of bytes".into()),
    }
}

fn identifier(text: &str) -> Result<String, String> {
    let is_part = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
    match text.chars().all(is_part) && text.starts_with(|first: char| !first.is_ascii_digit()) {
        true => Ok(text.into()),
        false => Err("allowed is an identifier of C".into()),
    }
}

fn read(path: &Path) -> Result<String> {
    fs::read_to_string(path).with_context(|| format!("reading {}", path.display()))
}

/// The visitor that the command line describes, and the request that it is for.
fn described(args: &Args) -> Result<(VisitorSource, SortRequest)> {
    let (source, request) = match (args.depth, &args.file, args.key) {
        (Some(depth), ..) => (VisitorSource::depth(depth.keys()), depth.keys().request()),
        (None, Some(file), Some(key)) => {
            let folder = file.parent().unwrap_or(Path::new(""));
            let visits = |visited| args.visits.contains(&visited);
            let visits = Visits::NONE
                .keys(visits(Visited::Keys))
                .values(visits(Visited::Values))
                .output(visits(Visited::Output));
            let mut source = VisitorSource::new(file.display().to_string())
                .text(read(file)?)
                .push_members(args.push.clone().unwrap_or_default())
                .push_bytes(args.push_bytes.unwrap_or_default())
                .visits(visits);
            for name in &args.include {
                source = source.include(name, read(&folder.join(name))?);
            }
            (source, SortRequest::new(key))
        }
        _ => return Err(anyhow!("FILE and --key are missing, needed are both or --depth")),
    };
    let key_output = if args.discard_keys { KeyOutput::Discarded } else { KeyOutput::Sorted };
    let request = request.value(args.value.unwrap_or(request.value)).algorithm(args.algorithm);
    Ok((source, request.placement(Placement::OutOfPlace).key_output(key_output)))
}

/// Bytes as a file that C includes.
fn c_array(name: &str, bytes: &[u8]) -> String {
    let mut text = format!(
        "/* A visitor of vksort {}, made by vksort-compile-visitor. */\nstatic const unsigned char {name}[{}] = {{\n",
        env!("CARGO_PKG_VERSION"),
        bytes.len()
    );
    for line in bytes.chunks(32) {
        for byte in line {
            let _ = write!(text, "{byte},");
        }
        text.push('\n');
    }
    text + "};\n"
}

fn run() -> Result<()> {
    // One line, without the advice that clap adds; `--help` ends the program here.
    let args = Args::try_parse().map_err(|error| {
        if !error.use_stderr() {
            error.exit();
        }
        let text = error.to_string();
        let message: Vec<&str> = text.lines().map(str::trim).take_while(|line| !line.is_empty()).collect();
        anyhow!("{}", message.join(" ").trim_start_matches("error: "))
    })?;
    let leads_to = |path: &Path| path.canonicalize().ok();
    let input = args.file.as_deref().and_then(leads_to);
    let out = args.out.display();
    ensure!(
        input.is_none() || input != leads_to(&args.out),
        "--out is {out}, which is the visitor's GLSL; allowed is another file"
    );
    let (source, request) = described(&args)?;
    let bytes = source.compile(&request)?;
    let content = args.c_array.map_or_else(|| bytes.clone(), |name| c_array(&name, &bytes).into_bytes());
    files::replace(&args.out, &content).with_context(|| format!("writing {}", args.out.display()))
}

fn main() -> ExitCode {
    file_size::fail_beyond_the_limit();
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        // The compiler's messages have a line each.
        Err(error) => {
            // There is nobody to tell where that fails.
            let _ = writeln!(io::stderr(), "error: {error:#}");
            ExitCode::FAILURE
        }
    }
}
