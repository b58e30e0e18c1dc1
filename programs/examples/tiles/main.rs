//! A renderer that sorts the splats of each screen tile by itself, as 3-D Gaussian splatting does, in one command buffer and without
//! a readback: project, count per tile, prefix sum, emit, a sort of segments, and blend per tile. The picture is compared with one
//! that the CPU draws of all splats in one global order.
//!
//! `renderer.rs` and the shaders are to copy from. The device, its buffers, the scene and the camera are those of the program `splats`.
#![allow(unsafe_code)]

mod renderer;

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, Result, ensure};
use clap::Parser;
use vksort::standalone::DeviceChoice;
use vksort_programs::common::files::Output;
use vksort_programs::common::vk::device::{Device, Extensions, validation_errors};
use vksort_programs::common::{self, picture, say};
use vksort_programs::splats::camera::{self, Camera, Pose, Size};
use vksort_programs::splats::reference::{self, View};
use vksort_programs::splats::scene;

use renderer::{Drawn, Renderer, TILE, tiles_of};

/// Draws a scene of Gaussian splats that are sorted in each screen tile by itself
#[derive(Parser)]
struct Args {
    /// A scene of splats [default: the one of the repository]
    scene: Option<PathBuf>,
    /// Size of the picture in pixels
    #[arg(long, value_name = "WxH", default_value = "640x360")]
    size: Size,
    /// Splats of all tiles together that there is room for at first; a splat counts in each tile that it touches
    #[arg(long, value_name = "N", default_value_t = 1 << 15, value_parser = clap::value_parser!(u32).range(1..))]
    capacity: u32,
    /// Write the picture, and beside it how many splats each tile has, to this PNG
    #[arg(long, value_name = "FILE")]
    image: Option<PathBuf>,
    /// Overwrite an existing file
    #[arg(long)]
    force: bool,
    /// "best", an index or part of a name [default: $VKSORT_DEVICE, else best]
    #[arg(long, value_name = "DEVICE")]
    device: Option<DeviceChoice>,
    /// Check with the Vulkan validation layer, including synchronization
    #[arg(long)]
    validate: bool,
}

/// The scene that is drawn without one.
const OWN_SCENE: (&str, &[u8]) = ("playbot.compressed.ply", include_bytes!("../../data/playbot.compressed.ply"));
/// The most by which a byte of the picture may differ from that of the CPU. Both round it, and a splat whose alpha is just above
/// 1/255 on one side, and is drawn, may be just below it on the other.
const ROUNDING: u8 = 2;

fn tiles() -> Result<()> {
    let args: Args = common::parse()?;
    let image = args.image.as_deref().map(|path| Output::new("--image", path, args.force)).transpose()?;
    let (own, bytes) = OWN_SCENE;
    let (name, scene) = match &args.scene {
        Some(path) => (path.file_name().and_then(OsStr::to_str).unwrap_or_default(), scene::load(path, u64::MAX)?),
        None => (own, scene::read(Path::new(own), bytes, bytes.len() as u64, u64::MAX)?),
    };
    let splats = &scene.splats;
    ensure!(!splats.is_empty(), "the scene has 0 splats, allowed is 1 or more");
    let camera = Camera::new(Pose::suggest(name, splats, scene.up.unwrap_or(camera::UP), args.size))?;
    let device = Device::open(args.device.as_ref(), args.validate, &Extensions::default())?;
    say(format!("device     {}", device.requirements.profile().name));
    let mut renderer = Renderer::new(&device, splats, args.size, args.capacity)?;
    let drawn = loop {
        match renderer.draw(&camera)? {
            Ok(drawn) => break drawn,
            // A program that draws on would show this picture, and grow for those that follow.
            Err(found) => {
                ensure!(found.elements_beyond > 0, "the sort was not complete: {found:?}");
                let (room, beyond) = (renderer.capacity(), found.elements_beyond);
                say(format!("grown      {beyond} splats of {} had no room, for which there was {room}", room + beyond));
                renderer.grow(room + beyond)?;
            }
        }
    };
    drop(renderer);
    let longest = drawn.lengths.iter().max().context("no splat is seen")?;
    say(format!("scene      {name}, {} splats", splats.len()));
    let (segments, seen) = (drawn.lengths.len(), drawn.lengths.iter().sum::<u32>());
    say(format!("segments   {segments} tiles with {seen} splats together and up to {longest} each"));

    // From back to front, as the CPU draws. Of equally deep splats the one with the lower number is in front, as in a tile.
    let mut order: Vec<u32> = (0..splats.len() as u32).collect();
    order.sort_by(|a, b| drawn.depths[*b as usize].total_cmp(&drawn.depths[*a as usize]).then(b.cmp(a)));
    // Neither picture does what scenes trained with antialiasing ask for.
    let view = View { camera: &camera, size: args.size, antialiased: false };
    let global = reference::render(splats, &order, view);
    let differences: Vec<u8> = drawn.picture.iter().zip(&global).map(|(one, other)| one.abs_diff(*other)).collect();
    let (pixels, most) = (differences.chunks(3), differences.iter().max().context("a picture has pixels")?);
    let (all, differ) = (pixels.len(), pixels.filter(|pixel| **pixel != [0; 3]).count());
    say(format!("picture    {differ} of {all} pixels differ from one global order, by up to {most} of 255"));
    if let Some(output) = image {
        let bytes =
            picture::encode(&with_tiles(&drawn, args.size), 2 * args.size.width as u32, args.size.height as u32)?;
        Output::write_and_say(&[(output, bytes)])?;
    }
    ensure!(*most <= ROUNDING, "the pictures differ by up to {most} of 255, allowed is {ROUNDING}, as both round");
    drop(device);
    common::check_validation(&validation_errors())?;
    say("verified   the picture is that of one global order");
    Ok(())
}

/// The picture, and to its right the tiles, brighter where they have more splats.
fn with_tiles(drawn: &Drawn, size: Size) -> Vec<u8> {
    let [across, down] = tiles_of(size);
    let mut tiles = vec![0; across * down];
    let longest = drawn.lengths.iter().copied().fold(1, u32::max);
    for (tile, length) in drawn.tiles.iter().zip(&drawn.lengths) {
        tiles[*tile as usize] = (32 + 223 * length / longest) as u8;
    }
    let mut bytes = Vec::new();
    for (y, row) in drawn.picture.chunks(3 * size.width).enumerate() {
        bytes.extend_from_slice(row);
        bytes.extend((0..size.width).flat_map(|x| [tiles[y / TILE * across + x / TILE]; 3]));
    }
    bytes
}

fn main() -> ExitCode {
    common::run(tiles)
}
