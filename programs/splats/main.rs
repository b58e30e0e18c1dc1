//! Sorts a scene of Gaussian splats from back to front for each frame of an orbit, and draws the first frame.

#[path = "../common/mod.rs"]
mod common;
#[path = "../common/picture.rs"]
mod picture;

mod camera;
mod render;
mod scene;

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::str::FromStr;
use std::time::Instant;

use anyhow::{Context, Result, ensure};
use clap::Parser;
use common::files::Output;
use common::tuning::{self, TuningFlag};
use glam::Vec3;
use vksort::standalone::{Passes, PreparedSort};
use vksort::{KeyOutput, KeyType, Order, SortRequest, SorterOptions, StepTime, ValueType};

use camera::{Camera, Pose};
use render::Size;
use scene::Splat;

/// Sorts Gaussian splats from back to front for each frame of an orbit, and draws the first frame
#[derive(Parser)]
#[command(after_help = "\
Without --scene or --synthetic it sorts a scene that comes along: \"PLAYBOT\" by Stephane Agullo
(sa3d.fr), CC BY 4.0, reduced to 18000 splats.")]
struct Args {
    /// Compressed .ply of splats
    #[arg(long, value_name = "FILE")]
    scene: Option<PathBuf>,
    /// Generate a scene of this many splats
    #[arg(long, value_name = "N", conflicts_with = "scene", allow_hyphen_values = true, value_parser = synthetic)]
    synthetic: Option<u32>,
    /// Seed of the generated scene
    #[arg(long, value_name = "SEED", default_value_t = 1, requires = "synthetic")]
    seed: u64,
    /// Position of the camera [default: all of the scene is visible]
    #[arg(long, value_name = "X,Y,Z", allow_hyphen_values = true, value_parser = point)]
    eye: Option<Vec3>,
    /// Centre of orbit and picture [default: the middle of the scene]
    #[arg(long, value_name = "X,Y,Z", allow_hyphen_values = true, value_parser = point)]
    target: Option<Vec3>,
    /// Frames of the orbit
    #[arg(long, value_name = "N", default_value_t = 8, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    frames: u32,
    /// Draw the first frame into this PNG
    #[arg(long, value_name = "FILE")]
    image: Option<PathBuf>,
    /// Overwrite an existing picture
    #[arg(long, requires = "image")]
    force: bool,
    /// Size of the picture in pixels
    #[arg(long, value_name = "WxH", default_value = "1280x720", requires = "image")]
    size: Size,
    #[command(flatten)]
    tuning: TuningFlag,
    #[command(flatten)]
    common: common::Common,
}

/// The scene of the repository, and its name.
const OWN_SCENE: (&str, &[u8]) = ("playbot, 18000 of 500000 splats", include_bytes!("../data/playbot.compressed.ply"));
/// Most splats of a generated scene.
const MAX_SYNTHETIC: u32 = 50_000_000;

fn main() -> ExitCode {
    common::run(splats)
}

fn splats() -> Result<()> {
    let args: Args = common::parse()?;
    let profile = args.tuning.load()?;
    let image = args.image.as_deref().map(|path| png_output(path, args.force)).transpose()?;
    let (name, splats) = open_scene(&args)?;
    common::say(format!("scene      {name}, {} splats", splats.len()));
    if splats.is_empty() {
        common::say("nothing to sort");
        return Ok(());
    }

    let suggested = Pose::suggest(&name, &splats);
    let pose = Pose { eye: args.eye.unwrap_or(suggested.eye), target: args.target.unwrap_or(suggested.target) };
    let camera = Camera::new(pose)?;
    common::say(format!("camera     eye {}, target {}", pose.eye, pose.target));

    let gpu = tuning::apply(profile, args.common.open()?)?;
    let count = u32::try_from(splats.len()).context("a splat's index has 32 bits")?;
    // Drawing takes the order alone: depths go in, indices come out.
    let request = SortRequest {
        value: ValueType::Index,
        key_output: KeyOutput::Discarded,
        order: Order::Descending,
        algorithm: args.common.algorithm,
        ..SortRequest::new(KeyType::F32)
    };
    let options = SorterOptions { capacity: Some(count), ..SorterOptions::default() };
    let sort = gpu.sorter(&request, &options)?.prepare(count)?;
    args.common.print_device(gpu.profile(), gpu.tuning(), sort.algorithm(count));

    common::say(format!("\n{:>5}  {:>7}  {:>10}  {:>14}", "frame", "angle", "wall", "device time"));
    // Drivers may finish their shaders when they first run; that is no part of a frame.
    Frame::sort(&sort, &splats, &camera).context("first run")?;
    let mut first_order = None;
    let (mut frames, mut passes) = (Vec::new(), Vec::new());
    for index in 0..args.frames {
        let degrees = 360.0 * index as f32 / args.frames as f32;
        let frame = Frame::sort(&sort, &splats, &Camera::new(pose.orbit(degrees))?)
            .with_context(|| format!("frame {index} at {degrees:.1} degrees"))?;
        let device = match frame.total() {
            Some(nanoseconds) => common::duration(nanoseconds),
            None => "no timestamps".into(),
        };
        common::say(format!("{index:>5}  {degrees:>7.1}  {:>10}  {device:>14}", common::duration(frame.wall)));
        first_order.get_or_insert(frame.order);
        frames.push(frame.steps);
        passes.push(frame.passes);
    }
    common::say("every order equals the stable sort on the CPU");
    if let Some(line) = common::passes_line(&passes) {
        common::say(line);
    }
    common::check_validation(&gpu.validation_errors())?;
    common::say(format!("\nmedian over the frames\n{}", common::step_table(&medians(&frames), count)));

    if let (Some(output), Some(order)) = (image, first_order) {
        let started = Instant::now();
        let png = render::render(&splats, &order, &camera, args.size)?;
        let Size { width, height } = args.size;
        common::say(format!("\ndrew {width}x{height} pixels on the CPU in {:.1} s", started.elapsed().as_secs_f64()));
        Output::write_and_say(&[(output, png)])?;
    }
    Ok(())
}

/// Checks that a picture can be written here.
fn png_output(path: &Path, force: bool) -> Result<Output> {
    let is_png = path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("png"));
    // What is no file, such as /dev/null, needs no ending.
    let special = path.exists() && !path.is_file() && !path.is_dir();
    ensure!(is_png || special, "--image is {}, allowed is a path that ends in .png", path.display());
    Output::new("--image", path, force)
}

/// The scene that the flags ask for, with its name.
fn open_scene(args: &Args) -> Result<(String, Vec<Splat>)> {
    match (&args.scene, args.synthetic) {
        (Some(path), _) => {
            let name = path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned();
            Ok((name, scene::load(path)?))
        }
        (None, Some(count)) => Ok((format!("synthetic, seed {}", args.seed), scene::synthetic(count, args.seed))),
        (None, None) => {
            let (name, bytes) = OWN_SCENE;
            Ok((name.into(), scene::read(bytes, bytes.len() as u64)?))
        }
    }
}

/// Parses a number of splats to generate.
fn synthetic(text: &str) -> Result<u32, String> {
    let count = common::count::parse(text)?;
    if count > MAX_SYNTHETIC { Err(format!("allowed are at most {MAX_SYNTHETIC}")) } else { Ok(count) }
}

/// One frame's sort.
struct Frame {
    /// Indices of the splats, from the farthest to the nearest.
    order: Vec<u32>,
    /// From submitting the sort to its end, in nanoseconds.
    wall: f64,
    steps: Vec<StepTime>,
    passes: Option<Passes>,
}

impl Frame {
    /// Sorts the splats by their depth in the camera's view, and checks the result.
    fn sort(sort: &PreparedSort, splats: &[Splat], camera: &Camera) -> Result<Frame> {
        let depths: Vec<f32> = splats.iter().map(|splat| camera.depth(splat.position)).collect();
        let mut order = vec![0; splats.len()];
        sort.write_keys(&depths)?;
        let started = Instant::now();
        let steps = sort.run(splats.len() as u32)?;
        let wall = started.elapsed().as_nanos() as f64;
        sort.read_values(&mut order)?;
        common::verify_order(&order, &depths)?;
        Ok(Frame { order, wall, steps, passes: sort.passes()? })
    }

    /// Time of all steps in nanoseconds, where the device has timestamps.
    fn total(&self) -> Option<f64> {
        (!self.steps.is_empty()).then(|| self.steps.iter().map(|step| step.nanoseconds).sum())
    }
}

/// The median time of each step. Every frame has the same steps.
fn medians(frames: &[Vec<StepTime>]) -> Vec<StepTime> {
    let mut medians = frames[0].clone();
    for (step, median) in medians.iter_mut().enumerate() {
        let mut times: Vec<f64> = frames.iter().map(|steps| steps[step].nanoseconds).collect();
        times.sort_by(f64::total_cmp);
        median.nanoseconds = 0.5 * (times[(times.len() - 1) / 2] + times[times.len() / 2]);
    }
    medians
}

/// Parses `x,y,z`.
fn point(text: &str) -> Result<Vec3, String> {
    let numbers: Option<Vec<f32>> = text.split(',').map(|number| number.trim().parse().ok()).collect();
    let point = numbers.and_then(|numbers| <[f32; 3]>::try_from(numbers).ok()).map(Vec3::from);
    point.filter(|point| point.is_finite()).ok_or_else(|| "allowed are three finite numbers, x,y,z".into())
}

impl FromStr for Size {
    type Err = String;

    fn from_str(text: &str) -> Result<Size, String> {
        let side = |text: &str| text.parse().ok().filter(|side| (1..=8192).contains(side));
        let sides = text.split_once('x').and_then(|(width, height)| Some((side(width)?, side(height)?)));
        let (width, height) = sides.ok_or("allowed are WIDTHxHEIGHT, each 1 to 8192 pixels")?;
        Ok(Size { width, height })
    }
}
