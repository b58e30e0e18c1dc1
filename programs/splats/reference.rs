//! Draws splats on the CPU, one over the other in the order they are given: the picture that the device's is compared with.

use std::sync::Mutex;
use std::thread;

use glam::{Mat2, Mat3, Vec2, Vec3, vec2};
use indicatif::ProgressBar;
use vksort::{KeyType, Order};

use super::camera::{BACKGROUND, Camera, NEAR, Projection, Size};
use super::scene::Splat;

/// Least alpha that changes a pixel of 8 bits.
const MIN_ALPHA: f32 = 1.0 / 255.0;

/// Rows that a thread draws at a time.
const BAND_ROWS: usize = 16;

/// A splat on the picture: a 2-D Gaussian (Zwicker et al., "EWA Splatting", 2002).
struct Footprint {
    center: Vec2,
    /// Whether rounding may decide the covariance's determinant.
    thin: bool,
    /// Inverse of the covariance.
    conic: Mat2,
    /// Half the width and height of the box outside which alpha is too little to be seen.
    reach: Vec2,
    color: Vec3,
    opacity: f32,
}

/// Draws the splats in the given order, each over those before it: three bytes a pixel.
pub fn render(splats: &[Splat], order: &[u32], camera: &Camera, size: Size) -> Vec<u8> {
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
    let bytes =
        |pixel: &Vec3| (pixel.clamp(Vec3::ZERO, Vec3::ONE) * 255.0).round().to_array().map(|channel| channel as u8);
    pixels.iter().flat_map(bytes).collect()
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
    let footprint = project_one(splat, camera, size)?;
    let middle = Projection::new(size).middle;
    let inside = (footprint.center - middle).abs().cmple(middle + footprint.reach).all();
    (inside && footprint.conic.is_finite()).then_some(footprint)
}

/// Puts the indices of splats from back to front. Splats of equal depth stay in their order.
pub fn back_to_front(order: &mut [u32], depths: &[f32]) {
    order.sort_by_key(|index| KeyType::F32.sortable(depths[*index as usize].to_bits().into(), Order::Descending));
}

/// Whether a splat is seen; `None` where rounding may decide.
pub fn is_seen(splat: &Splat, camera: &Camera, size: Size) -> Option<bool> {
    let depth = camera.view(splat.position).z;
    if (depth - NEAR).abs() < 1e-4 + 1e-5 * (splat.position - camera.eye).length() {
        return None;
    }
    let Some(Footprint { center, reach, conic, thin, .. }) = project_one(splat, camera, size) else {
        return Some(false);
    };
    let middle = Projection::new(size).middle;
    let within = (middle + reach - (center - middle).abs()).min_element();
    let is_close = within.abs() < 0.01 + 1e-3 * (center.abs() + reach).max_element() || !within.is_finite();
    // The device leaves out splats that are so large that their shape is no number.
    let large = conic.determinant() < 1e-20 || !conic.is_finite();
    (!is_close && !thin && !large).then_some(within > 0.0)
}

/// A splat's footprint, wherever it falls.
fn project_one(splat: &Splat, camera: &Camera, size: Size) -> Option<Footprint> {
    let view = camera.view(splat.position);
    if view.z < NEAR || splat.opacity <= MIN_ALPHA {
        return None;
    }
    let Projection { middle, focal, border } = Projection::new(size);
    let slope = view.truncate() / view.z;

    // The perspective is taken as linear around the center. Far outside the picture that would stretch splats
    // beyond measure, so the slope is clamped a little outside the border.
    let ray = slope.clamp(-border, border);
    let axes = Mat3::from_quat(splat.rotation) * Mat3::from_diagonal(splat.scale);
    let axes = camera.axes.transpose() * axes;
    // A pixel is not a point: 0.3 square pixels keep splats from falling between two of them.
    let mut covariance = Mat2::from_diagonal(Vec2::splat(0.3));
    for axis in [axes.x_axis, axes.y_axis, axes.z_axis] {
        let axis = focal / view.z * (axis.truncate() - ray * axis.z);
        covariance += Mat2::from_cols(axis * axis.x, axis * axis.y);
    }

    // alpha = opacity * exp(-distance^2 / 2), with the distance in standard deviations.
    let distance = (2.0 * (splat.opacity / MIN_ALPHA).ln()).sqrt();
    let reach = distance * vec2(covariance.x_axis.x, covariance.y_axis.y).sqrt();
    let (x, y, z) = (covariance.x_axis.x, covariance.x_axis.y, covariance.y_axis.y);
    // The difference cancels for long splats. It is no less than this, as the covariance without its 0.3 is positive
    // semidefinite.
    let determinant = (x * z - y * y).max(0.3 * (x + z) - 0.09);
    let conic = Mat2::from_cols(vec2(z, -y), vec2(-y, x)) * determinant.recip();
    let thin = determinant < 1e-5 * x * z;
    Some(Footprint { center: middle + focal * slope, thin, conic, reach, color: splat.color, opacity: splat.opacity })
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

fn threads() -> usize {
    thread::available_parallelism().map_or(1, usize::from)
}
