//! Draws splats on the CPU, one over the other in the order they are given: the picture that the device's is compared with.
//!
//! Footprints are made in double precision, and in another way than the device makes them, so that neither a rounding nor a wrong
//! formula of the device's is in both pictures.

use std::sync::Mutex;
use std::thread;

use glam::{DMat2, DMat3, DVec2, DVec3, Vec3, dvec2};
use indicatif::ProgressBar;
use vksort::{KeyType, Order};

use super::camera::{BACKGROUND, Camera, Projection, Size};
use super::scene::{MIN_ALPHA, Splat};

/// Rows that a thread draws at a time.
const BAND_ROWS: usize = 16;

/// Square pixels by which a footprint is larger than the splat: a pixel is not a point, and splats must not fall between two.
const LOW_PASS: f64 = 0.3;
/// The device leaves out splats with a longer standard deviation, in pixels.
const MAX_SIGMA: f64 = 1e15;

/// What is drawn from where.
#[derive(Clone, Copy)]
pub struct View<'a> {
    pub camera: &'a Camera,
    pub size: Size,
    /// Whether splats of less than a pixel are drawn fainter, see [`Scene::antialiased`](super::scene::Scene::antialiased).
    pub antialiased: bool,
}

/// Why a splat is not seen.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Unseen {
    /// Its opacity changes no pixel.
    Transparent,
    /// It is behind the camera, or nearer than the least depth that is drawn.
    Near,
    /// Antialiasing leaves it too little alpha.
    Small,
    /// The device has no shape for it.
    Large,
    Outside,
}

/// A splat on the picture: a 2-D Gaussian (Zwicker et al., "EWA Splatting", 2002).
struct Footprint {
    center: DVec2,
    /// Turns an offset in pixels into one in standard deviations along the axes of the ellipse.
    whitening: DMat2,
    /// The longer of the standard deviations.
    longer: f64,
    /// Half the width and height of the box around one standard deviation.
    extent: DVec2,
    color: Vec3,
    opacity: f64,
}

impl Footprint {
    /// Half the width and height of the box outside which alpha is too little to be seen.
    fn reach(&self) -> DVec2 {
        (2.0 * (self.opacity / f64::from(MIN_ALPHA)).ln()).max(0.0).sqrt() * self.extent
    }
}

/// Draws the splats in the given order, each over those before it: three bytes a pixel.
pub fn render(splats: &[Splat], order: &[u32], view: View<'_>) -> Vec<u8> {
    let drawn = project(splats, order, view);
    let size = view.size;
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
fn project(splats: &[Splat], order: &[u32], view: View<'_>) -> Vec<Footprint> {
    let share = order.len().div_ceil(threads()).max(1);
    thread::scope(|scope| {
        let footprint = |index: &u32| footprint(&splats[*index as usize], view).ok();
        let parts: Vec<_> =
            order.chunks(share).map(|part| scope.spawn(move || part.iter().filter_map(footprint).collect())).collect();
        parts
            .into_iter()
            .flat_map(|part| -> Vec<Footprint> { part.join().expect("projecting does not panic") })
            .collect()
    })
}

/// Why a splat is not seen, if it is not.
pub fn unseen(splat: &Splat, view: View<'_>) -> Option<Unseen> {
    footprint(splat, view).err()
}

/// The footprint of a splat that is seen.
fn footprint(splat: &Splat, view: View<'_>) -> Result<Footprint, Unseen> {
    let footprint = project_one(splat, view)?;
    if footprint.opacity <= f64::from(MIN_ALPHA) {
        return Err(Unseen::Small);
    }
    if footprint.longer >= MAX_SIGMA {
        return Err(Unseen::Large);
    }
    if within(&footprint, view.size) < 0.0 {
        return Err(Unseen::Outside);
    }
    Ok(footprint)
}

/// How far the box of a footprint reaches into the picture; negative where it does not.
fn within(footprint: &Footprint, size: Size) -> f64 {
    let middle = Projection::new(size).middle.as_dvec2();
    (middle + footprint.reach() - (footprint.center - middle).abs()).min_element()
}

/// Puts the indices of splats from back to front. Splats of equal depth stay in their order.
pub fn back_to_front(order: &mut [u32], depths: &[f32]) {
    order.sort_by_key(|index| KeyType::F32.sortable(depths[*index as usize].to_bits().into(), Order::Descending));
}

/// Whether a splat is seen; `None` where rounding may decide.
pub fn is_seen(splat: &Splat, view: View<'_>) -> Option<bool> {
    let (point, near) = (view.camera.view_exactly(splat.position), f64::from(view.camera.near));
    let is_near = (point.z - near).abs() < 1e-2 * near + 1e-5 * point.length();
    // The device has opacity in 16 bits.
    let rounded = 1e-5;
    if is_near || (f64::from(splat.opacity) - f64::from(MIN_ALPHA)).abs() < rounded {
        return None;
    }
    let Ok(footprint) = project_one(splat, view) else { return Some(false) };
    let [fainter, brighter] = [-rounded, rounded].map(|by| Footprint { opacity: footprint.opacity + by, ..footprint });
    if brighter.opacity <= f64::from(MIN_ALPHA) {
        return Some(false);
    }
    let margin = 0.01 + 1e-3 * (footprint.center.abs() + brighter.reach()).max_element();
    let (least, most) = (within(&fainter, view.size) - margin, within(&brighter, view.size) + margin);
    let is_drawable = footprint.longer < 0.5 * MAX_SIGMA && fainter.opacity > f64::from(MIN_ALPHA);
    if most < 0.0 || footprint.longer > 2.0 * MAX_SIGMA {
        return Some(false);
    }
    (least > 0.0 && is_drawable).then_some(true)
}

/// A splat's footprint, wherever it falls.
fn project_one(splat: &Splat, view: View<'_>) -> Result<Footprint, Unseen> {
    let View { camera, size, antialiased } = view;
    let point = camera.view_exactly(splat.position);
    if splat.opacity <= MIN_ALPHA {
        return Err(Unseen::Transparent);
    }
    if point.z < f64::from(camera.near) {
        return Err(Unseen::Near);
    }
    let Projection { middle, focal, border } = Projection::new(size);
    let (middle, focal, border) = (middle.as_dvec2(), f64::from(focal), border.as_dvec2());
    let slope = point.truncate() / point.z;

    // The perspective is taken as linear around the center. Far outside the picture that would stretch splats
    // beyond measure, so the slope is clamped a little outside the border.
    let ray = slope.clamp(-border, border);
    let rotation = DMat3::from_quat(splat.rotation.as_dquat().normalize());
    let axes = camera.axes.as_dmat3().transpose() * rotation * DMat3::from_diagonal(splat.scale.as_dvec3());
    let axes = [axes.x_axis, axes.y_axis, axes.z_axis].map(|axis| focal / point.z * (axis.truncate() - ray * axis.z));
    let rows = [0, 1].map(|row| DVec3::from_array(axes.map(|axis| axis[row])));
    let (directions, lengths) = principal_axes(rows);
    let sigmas = (lengths * lengths + LOW_PASS).map(f64::sqrt);
    let kept = if antialiased { lengths.element_product() / sigmas.element_product() } else { 1.0 };
    let [one, other] = [directions.x_axis * sigmas.x, directions.y_axis * sigmas.y];
    Ok(Footprint {
        center: middle + focal * slope,
        whitening: DMat2::from_cols(directions.x_axis / sigmas.x, directions.y_axis / sigmas.y).transpose(),
        longer: sigmas.max_element(),
        extent: dvec2(one.x.hypot(other.x), one.y.hypot(other.y)),
        color: splat.color,
        opacity: kept * f64::from(splat.opacity),
    })
}

/// The axes and lengths of the ellipse that a matrix of two rows makes of a sphere: its left singular vectors and its singular
/// values. A Jacobi rotation makes the rows perpendicular. In their products, the covariance, the width of a needle would be lost.
fn principal_axes([across, along]: [DVec3; 2]) -> (DMat2, DVec2) {
    let mixed = 2.0 * across.dot(along);
    let turn = if mixed == 0.0 {
        0.0
    } else {
        let apart = (along.length_squared() - across.length_squared()) / mixed;
        1f64.copysign(apart) / (apart.abs() + apart.hypot(1.0))
    };
    let cos = turn.hypot(1.0).recip();
    let sin = turn * cos;
    let turned = [cos * across - sin * along, sin * across + cos * along];
    let directions = DMat2::from_cols(dvec2(cos, -sin), dvec2(sin, cos));
    (directions, dvec2(turned[0].length(), turned[1].length()))
}

/// Draws the rows of one band, of which `first_row` is the topmost.
fn draw(drawn: &[Footprint], first_row: usize, width: usize, pixels: &mut [Vec3]) {
    let (first, end) = (first_row as f64, dvec2(width as f64, (first_row + pixels.len() / width) as f64));
    for splat in drawn {
        let reach = splat.reach();
        let from = (splat.center - reach).clamp(dvec2(0.0, first), end);
        let to = (splat.center + reach).ceil().clamp(dvec2(0.0, first), end);
        let columns = from.x as usize..to.x as usize;
        for y in from.y as usize..to.y as usize {
            let row = &mut pixels[(y - first_row) * width..][..width];
            for (x, pixel) in columns.clone().zip(&mut row[columns.clone()]) {
                let offset = dvec2(x as f64 + 0.5, y as f64 + 0.5) - splat.center;
                let alpha = splat.opacity * (-0.5 * (splat.whitening * offset).length_squared()).exp();
                if alpha >= f64::from(MIN_ALPHA) {
                    *pixel = pixel.lerp(splat.color, alpha.min(0.99) as f32);
                }
            }
        }
    }
}

fn threads() -> usize {
    thread::available_parallelism().map_or(1, usize::from)
}
