//! Draws splats on the CPU, one over the other in the order they are given.

use std::sync::Mutex;
use std::thread;

use anyhow::Result;
use glam::{Mat2, Mat3, Vec2, Vec3, vec2, vec3};
use indicatif::ProgressBar;

use crate::camera::{Camera, FIELD_OF_VIEW, NEAR};
use crate::picture;
use crate::scene::Splat;

/// Size of a picture in pixels.
#[derive(Clone, Copy, Debug)]
pub struct Size {
    pub width: usize,
    pub height: usize,
}

const BACKGROUND: Vec3 = vec3(0.09, 0.10, 0.12);

/// Least alpha that changes a pixel of 8 bits.
const MIN_ALPHA: f32 = 1.0 / 255.0;

/// Rows that a thread draws at a time.
const BAND_ROWS: usize = 16;

/// A splat on the picture: a 2-D Gaussian (Zwicker et al., "EWA Splatting", 2002).
struct Footprint {
    center: Vec2,
    /// Inverse of the covariance.
    conic: Mat2,
    /// Half the width and height of the box outside which alpha is too little to be seen.
    reach: Vec2,
    color: Vec3,
    opacity: f32,
}

/// Draws the splats in the given order, each over those before it, and encodes the picture as PNG.
pub fn render(splats: &[Splat], order: &[u32], camera: &Camera, size: Size) -> Result<Vec<u8>> {
    let drawn = project(splats, order, camera, size);
    let mut pixels = vec![BACKGROUND; size.width * size.height];
    let bands = pixels.chunks_mut(BAND_ROWS * size.width).enumerate();
    let progress = ProgressBar::new(bands.len() as u64);
    let bands = Mutex::new(bands);
    thread::scope(|scope| {
        for _ in 0..threads() {
            scope.spawn(|| {
                loop {
                    let next = bands.lock().expect("no thread panics while it takes a band").next();
                    let Some((band, pixels)) = next else { break };
                    draw(&drawn, band * BAND_ROWS, size.width, pixels);
                    progress.inc(1);
                }
            });
        }
    });
    progress.finish_and_clear();
    encode(&pixels, size)
}

/// The footprints of the splats that are in view, in the given order.
fn project(splats: &[Splat], order: &[u32], camera: &Camera, size: Size) -> Vec<Footprint> {
    let share = order.len().div_ceil(threads()).max(1);
    thread::scope(|scope| {
        let footprint = |index: &u32| footprint(&splats[*index as usize], camera, size);
        let parts: Vec<_> =
            order.chunks(share).map(|part| scope.spawn(move || part.iter().filter_map(footprint).collect())).collect();
        parts
            .into_iter()
            .flat_map(|part| -> Vec<Footprint> { part.join().expect("projecting does not panic") })
            .collect()
    })
}

fn footprint(splat: &Splat, camera: &Camera, size: Size) -> Option<Footprint> {
    let view = camera.view(splat.position);
    if view.z < NEAR {
        return None;
    }
    let half = 0.5 * vec2(size.width as f32, size.height as f32);
    let slope = (0.5 * FIELD_OF_VIEW.to_radians()).tan();
    let focal = half.y / slope;
    let center = half + focal * view.truncate() / view.z;

    // The perspective is taken as linear around the center. Far outside the picture that would stretch splats
    // beyond measure, so the slope is clamped a little outside the border.
    let border = 1.3 * slope * vec2(half.x / half.y, 1.0);
    let ray = (view.truncate() / view.z).clamp(-border, border);
    let axes = Mat3::from_quat(splat.rotation) * Mat3::from_diagonal(splat.scale);
    let axes = [axes.x_axis, axes.y_axis, axes.z_axis].map(|axis| {
        let axis = camera.turn(axis);
        focal / view.z * (axis.truncate() - ray * axis.z)
    });
    // A pixel is not a point: 0.3 square pixels keep splats from falling between two of them.
    let mut covariance = Mat2::from_diagonal(Vec2::splat(0.3));
    for axis in axes {
        covariance += Mat2::from_cols(axis * axis.x, axis * axis.y);
    }

    // alpha = opacity * exp(-distance^2 / 2), with the distance in standard deviations.
    let distance = (2.0 * (splat.opacity / MIN_ALPHA).ln()).max(0.0).sqrt();
    let reach = distance * vec2(covariance.x_axis.x, covariance.y_axis.y).sqrt();
    let conic = covariance.inverse();
    let outside = (center - half).abs().cmpgt(half + reach).any();
    let seen = splat.opacity > MIN_ALPHA && center.is_finite() && conic.is_finite() && !outside;
    seen.then_some(Footprint { center, conic, reach, color: splat.color, opacity: splat.opacity })
}

/// Draws the rows of one band, of which `first_row` is the topmost.
fn draw(drawn: &[Footprint], first_row: usize, width: usize, pixels: &mut [Vec3]) {
    let end = vec2(width as f32, (first_row + pixels.len() / width) as f32);
    for splat in drawn {
        let from = (splat.center - splat.reach).clamp(vec2(0.0, first_row as f32), end);
        let to = (splat.center + splat.reach).ceil().clamp(vec2(0.0, first_row as f32), end);
        let columns = from.x as usize..to.x as usize;
        for y in from.y as usize..to.y as usize {
            let row = &mut pixels[(y - first_row) * width..][..width];
            for (x, pixel) in columns.clone().zip(&mut row[columns.clone()]) {
                let offset = vec2(x as f32 + 0.5, y as f32 + 0.5) - splat.center;
                let alpha = splat.opacity * (-0.5 * offset.dot(splat.conic * offset)).exp();
                if alpha >= MIN_ALPHA {
                    *pixel = pixel.lerp(splat.color, alpha.min(0.99));
                }
            }
        }
    }
}

fn encode(pixels: &[Vec3], size: Size) -> Result<Vec<u8>> {
    let bytes: Vec<u8> = pixels
        .iter()
        .flat_map(|pixel| (pixel.clamp(Vec3::ZERO, Vec3::ONE) * 255.0).round().to_array())
        .map(|channel| channel as u8)
        .collect();
    picture::encode(&bytes, size.width as u32, size.height as u32)
}

fn threads() -> usize {
    thread::available_parallelism().map_or(1, usize::from)
}
