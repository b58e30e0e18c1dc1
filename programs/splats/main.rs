//! Draws a scene of Gaussian splats for each frame of an orbit: culling, keys, sort and drawing are on the device.

mod plot;
mod report;
mod verify;
mod vk;
#[cfg(feature = "window")]
mod window;

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, Error, Result, bail, ensure};
use clap::Parser;
use glam::{DVec3, Vec3};
use vksort::{DeviceProfile, Tuning};
use vksort_programs::common;
use vksort_programs::common::canvas;
use vksort_programs::common::files::{self, Output};
use vksort_programs::common::picture;
use vksort_programs::common::tuning::{self, TuningFlag};

use vk::{Device, Extensions, Keys, Renderer};
use vksort_programs::splats::Ordering;
use vksort_programs::splats::blank;
use vksort_programs::splats::camera::{self, Camera, Pose, Size};
use vksort_programs::splats::reference::{self, View};
use vksort_programs::splats::scene::{self, Scene};

/// Draws Gaussian splats for each frame of an orbit, sorted from back to front on the device
#[derive(Parser)]
#[command(after_help = "\
Without --scene or --synthetic it draws a scene that comes along: \"PLAYBOT\" by Stephane Agullo
(sa3d.fr), CC BY 4.0, reduced to 18000 splats.")]
struct Args {
    /// .ply of splats, compressed or as trained, .spz or .splat
    #[arg(long, value_name = "FILE")]
    scene: Option<PathBuf>,
    /// Generate a scene of this many splats
    #[arg(long, value_name = "N", conflicts_with = "scene", allow_hyphen_values = true, value_parser = synthetic)]
    synthetic: Option<u32>,
    /// Seed of the generated scene
    #[arg(long, value_name = "SEED", default_value_t = 1, requires = "synthetic")]
    seed: u64,
    /// Position of the camera [default: all that can be seen is in the picture]
    #[arg(long, value_name = "X,Y,Z", allow_hyphen_values = true, value_parser = point)]
    eye: Option<DVec3>,
    /// Centre of orbit and picture [default: the middle of what can be seen]
    #[arg(long, value_name = "X,Y,Z", allow_hyphen_values = true, value_parser = point)]
    target: Option<DVec3>,
    /// Where up is: x, -y, 0,0,1 or the like [default: as the file says, else -y]
    #[arg(long, value_name = "AXIS", allow_hyphen_values = true, value_parser = axis)]
    up: Option<Vec3>,
    /// Frames of the orbit
    #[arg(long, value_name = "N", default_value_t = 8, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    frames: u32,
    /// Order of drawing: stable|unsorted|reversed
    #[arg(long, value_name = "ORDER", default_value = "stable", hide_possible_values = true)]
    order: Ordering,
    /// Where the keys of the sort come from: buffer|visitor
    #[cfg(feature = "visitors")]
    #[arg(long, value_name = "KEYS", default_value = "buffer", hide_possible_values = true)]
    keys: Keys,
    /// Size of the picture in pixels
    #[arg(long, value_name = "WxH", default_value = "1280x720")]
    size: Size,
    /// Write the first frame to this PNG
    #[arg(long, visible_alias = "out", value_name = "FILE")]
    image: Option<PathBuf>,
    /// Draw the first frame on the CPU too, in stable order, to this PNG
    #[arg(long, value_name = "FILE")]
    reference: Option<PathBuf>,
    /// Plot the time of each pass by frame to this PNG
    #[arg(long, value_name = "FILE")]
    plot: Option<PathBuf>,
    /// Show the scene in a window instead
    #[cfg(feature = "window")]
    #[arg(long, conflicts_with_all = ["image", "reference", "plot", "frames"])]
    window: bool,
    /// Overwrite existing files
    #[arg(long)]
    force: bool,
    #[command(flatten)]
    tuning: TuningFlag,
    #[command(flatten)]
    common: common::Common,
}

/// Flags that need a feature of cargo, with that feature.
const FEATURES: [(&str, &str); 2] = [("--keys", "visitors"), ("--window", "window")];

/// The scene of the repository.
const OWN_SCENE: &[u8] = include_bytes!("../data/playbot.compressed.ply");
/// What it is called.
const OWN_SCENE_NAME: &str = "playbot (reduced from 500000)";
/// The name of its file.
const OWN_SCENE_FILE: &str = "playbot.compressed.ply";
/// Most splats of a generated scene.
const MAX_SYNTHETIC: u32 = 50_000_000;

fn main() -> ExitCode {
    common::run(splats)
}

fn splats() -> Result<()> {
    let args: Args = common::parse_from(std::env::args_os(), &FEATURES)?;
    let profile = args.tuning.load()?;
    let output =
        |flag, path: &Option<PathBuf>| path.as_deref().map(|path| png_output(flag, path, args.force)).transpose();
    let image = output("--image", &args.image)?;
    let reference = output("--reference", &args.reference)?;
    let plot = output("--plot", &args.plot)?;
    Output::check_distinct(&[&image, &reference, &plot].into_iter().flatten().collect::<Vec<_>>())?;
    let of_device = vk::profile(args.common.device.as_ref())?;
    ensure!(
        !crashes_in_draws(&of_device),
        "{} crashes when it draws with vectors of 512 bits; set LP_NATIVE_VECTOR_WIDTH=256",
        of_device.name
    );
    let (name, scene) = open_scene(&args, Renderer::most_splats(&of_device))?;
    let splats = &scene.splats;
    common::say(format!("scene      {name}, {} splats", splats.len()));
    scene.notes().iter().for_each(common::say);
    if splats.is_empty() {
        let files = [("--image", &image), ("--reference", &reference), ("--plot", &plot)];
        if let Some((flag, _)) = files.iter().find(|(_, output)| output.is_some()) {
            bail!("{flag} is given with a scene of 0 splats, allowed is {flag} with 1 or more");
        }
        common::say("nothing to sort");
        return Ok(());
    }

    let up = args.up.or(scene.up).unwrap_or(camera::UP);
    let suggested = Pose::suggest(args.file_name(), splats, up, args.size);
    // Points are given as the file has them.
    let near = |point: Option<DVec3>| point.map(|point| (point - scene.origin).as_vec3());
    let (eye, target) = (near(args.eye).unwrap_or(suggested.eye), near(args.target).unwrap_or(suggested.target));
    let pose = Pose { eye, target, ..suggested };
    let camera = Camera::new(pose)?;
    let [eye, target] = match scene.origin {
        DVec3::ZERO => [eye, target].map(|point| point.to_string()),
        origin => [eye, target].map(|point| (point.as_dvec3() + origin).to_string()),
    };
    common::say(format!("camera     eye {eye}, target {target}, up {up}"));

    #[cfg(feature = "visitors")]
    let keys = args.keys;
    #[cfg(not(feature = "visitors"))]
    let keys = Keys::Buffer;
    let open = |extensions: &Extensions, size: Size| {
        let device = Device::open(args.common.device.as_ref(), args.common.validate, extensions)?;
        let of_device = device.requirements.profile();
        let built_in = Tuning::for_device(of_device);
        let tuning = tuning::of(profile, of_device, &built_in)?;
        let renderer = Renderer::new(&device, &scene, size, keys, args.common.algorithm, tuning.clone())?;
        args.common.print_device(of_device, tuning.as_ref().unwrap_or(&built_in), renderer.algorithm());
        Ok::<_, Error>((device, renderer))
    };
    #[cfg(feature = "window")]
    if args.window {
        window::run(args.size, pose, args.order, open)?;
        return common::check_validation(&vk::validation_errors());
    }
    let (device, mut renderer) = open(&Extensions::default(), args.size)?;

    common::say(format!("\n{}", report::HEADER));
    // Drivers may finish their shaders when they first run; that is no part of a frame.
    renderer.draw(&camera, args.order).context("first run")?;
    let (mut frames, mut picture) = (Vec::new(), None);
    for index in 0..args.frames {
        let degrees = 360.0 * index as f32 / args.frames as f32;
        let context = || format!("frame {index} at {degrees:.1} degrees");
        let camera = Camera::new(pose.orbit(degrees))?;
        let times = renderer.draw(&camera, args.order).with_context(context)?;
        let drawn = renderer.drawn(args.order).with_context(context)?;
        let view = View { camera: &camera, size: args.size, antialiased: scene.antialiased };
        verify::frame(splats, view, args.order, &drawn).with_context(context)?;
        if index == 0 {
            let drawn = renderer.picture()?;
            ensure!(!blank::is_blank(&drawn), "the picture is blank: {}", blank::reason(splats, view));
            picture = Some(drawn);
        }
        common::say(report::line(index, degrees, drawn.order.len(), &times));
        frames.push(times);
    }
    common::say(match args.order {
        Ordering::Unsorted => "every order is that of the scene",
        Ordering::Stable | Ordering::Reversed => "every order equals the stable sort on the CPU",
    });
    common::check_validation(&vk::validation_errors())?;
    common::say(format!("\nmedian over the frames\n{}", report::table(&frames)));

    let mut files = Vec::new();
    let encode = |rgb: &[u8]| picture::encode(rgb, args.size.width as u32, args.size.height as u32);
    if let (Some(output), Some(picture)) = (image, picture) {
        files.push((output, encode(&picture)?));
    }
    if let Some(output) = reference {
        let depths: Vec<f32> = splats.iter().map(|splat| camera.view(splat.position).z).collect();
        let mut order: Vec<u32> = (0..splats.len() as u32).collect();
        reference::back_to_front(&mut order, &depths);
        let view = View { camera: &camera, size: args.size, antialiased: scene.antialiased };
        files.push((output, encode(&reference::render(splats, &order, view))?));
    }
    if let Some(output) = plot {
        let title = format!(
            "{name}, {} splats, {}x{}, {}",
            splats.len(),
            args.size.width,
            args.size.height,
            device.requirements.profile().name
        );
        files.push((output, canvas::png(&plot::Figure::new(title, &frames)?)?));
    }
    Output::write_and_say(&files)
}

impl Args {
    /// The name of the scene's file; empty for a generated scene.
    fn file_name(&self) -> &str {
        match (&self.scene, self.synthetic) {
            (Some(path), _) => path.file_name().and_then(OsStr::to_str).unwrap_or_default(),
            (None, Some(_)) => "",
            (None, None) => OWN_SCENE_FILE,
        }
    }
}

/// Checks that a picture can be written here.
fn png_output(flag: &'static str, path: &Path, force: bool) -> Result<Output> {
    let is_png = path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("png"));
    // What is no file, such as /dev/null, needs no ending.
    ensure!(is_png || files::is_stream(path), "{flag} is {}, allowed is a path that ends in .png", path.display());
    Output::new(flag, path, force)
}

/// Whether draws of this driver end the program. lavapipe does with vectors of 512 bits (Mesa 22.3.6 and 26.1.6, in every run),
/// which it takes only if `LP_NATIVE_VECTOR_WIDTH` says so.
fn crashes_in_draws(profile: &DeviceProfile) -> bool {
    profile.driver_id == ash::vk::DriverId::MESA_LLVMPIPE && profile.subgroup_size >= 16
}

/// The scene that the flags ask for, with its name, if it has at most so many splats.
fn open_scene(args: &Args, most: u64) -> Result<(String, Scene)> {
    match (&args.scene, args.synthetic) {
        (Some(path), _) => {
            let name = path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned();
            Ok((name, common::during("reading the scene", || scene::load(path, most))?))
        }
        (None, Some(count)) => {
            scene::check_count(count.into(), most)?;
            let splats = scene::synthetic::make(count, args.seed);
            Ok((format!("synthetic, seed {}", args.seed), Scene { splats, ..Scene::default() }))
        }
        (None, None) => {
            let bytes = OWN_SCENE;
            Ok((OWN_SCENE_NAME.into(), scene::read(Path::new(OWN_SCENE_FILE), bytes, bytes.len() as u64, most)?))
        }
    }
}

/// Parses a number of splats to generate.
fn synthetic(text: &str) -> Result<u32, String> {
    let count = common::count::parse(text)?;
    if count > MAX_SYNTHETIC { Err(format!("allowed are at most {MAX_SYNTHETIC}")) } else { Ok(count) }
}

/// Parses an axis: `x`, `-y` or any `x,y,z`.
fn axis(text: &str) -> Result<Vec3, String> {
    let named = match text {
        "x" => Some(Vec3::X),
        "-x" => Some(Vec3::NEG_X),
        "y" => Some(Vec3::Y),
        "-y" => Some(Vec3::NEG_Y),
        "z" => Some(Vec3::Z),
        "-z" => Some(Vec3::NEG_Z),
        _ => None,
    };
    let given = named.map(|axis| axis.as_dvec3()).or_else(|| point(text).ok());
    let unit = given.and_then(|axis| Some(axis.try_normalize()?.as_vec3()));
    unit.ok_or_else(|| "allowed are x, y, z, -x, -y, -z or three finite numbers x,y,z that are not all zero".into())
}

/// Parses `x,y,z`.
fn point(text: &str) -> Result<DVec3, String> {
    let numbers: Option<Vec<f64>> = text.split(',').map(|number| number.trim().parse().ok()).collect();
    let point = numbers.and_then(|numbers| <[f64; 3]>::try_from(numbers).ok()).map(DVec3::from);
    point.filter(|point| point.is_finite()).ok_or_else(|| "allowed are three finite numbers, x,y,z".into())
}
