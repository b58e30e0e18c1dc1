//! Where the scene is, as far as it can be seen: what the default camera frames, and what lengths follow.

use glam::{DMat3, DVec3, Vec3};

use super::scene::Splat;

/// Splats further from the middle than this many times as far as most are outliers, which no camera frames.
const FENCE: f64 = 3.0;
/// The part of the sum of opacities that counts as most of the scene.
const MOST: f64 = 0.95;
/// Splats that decide what the middle and what far is. More would take longer and change little.
const SAMPLE: usize = 1 << 16;
/// Least radius as a part of the greatest coordinate. Around a smaller scene an eye has too few digits.
const LEAST: f64 = 1e-6;
/// Greatest radius, with an eye before it.
const GREATEST: f64 = 1e37;
/// Steps to which the middle and the radius are rounded, within a power of two.
const STEPS: f64 = 64.0;

/// A sphere around what can be seen.
#[derive(Clone, Copy, Debug)]
pub struct Bounds {
    pub middle: Vec3,
    /// It is not zero.
    pub radius: f32,
}

impl Bounds {
    /// The bounds of all splats that can be seen, as far out as they can be seen, without outliers. A few floaters or a sky would
    /// leave no more than a dot of the scene.
    pub fn of(splats: &[Splat]) -> Bounds {
        let seen = || splats.iter().filter_map(|splat| Some((splat, f64::from(splat.reach()?))));
        let count = seen().count();
        let sample: Vec<_> = seen().step_by(count.div_ceil(SAMPLE).max(1)).collect();
        let median = [0, 1, 2].map(|axis| {
            let along = |(splat, _): &(&Splat, f64)| (f64::from(splat.position[axis]), f64::from(splat.opacity));
            quantile(sample.iter().map(along).collect(), 0.5)
        });
        let median = DVec3::from_array(median);
        let far = |(splat, reach): &(&Splat, f64)| (distance(splat, median, *reach), f64::from(splat.opacity));
        let far = sample.iter().map(far).collect();
        let far = FENCE * quantile(far, MOST);

        // Where most splats are one point, the others are all there is to see.
        let framed = || seen().filter(|(splat, reach)| far == 0.0 || distance(splat, median, *reach) <= far);

        let (mut min, mut max) = (DVec3::MAX, DVec3::MIN);
        for (splat, reach) in framed() {
            let extent = reach * extent(splat);
            min = min.min(splat.position.as_dvec3() - extent);
            max = max.max(splat.position.as_dvec3() + extent);
        }
        if count == 0 {
            return Bounds { middle: Vec3::ZERO, radius: 1.0 };
        }
        let middle = min.midpoint(max);
        let ball = framed().map(|(splat, reach)| distance(splat, middle, reach)).fold(0.0, f64::max);
        let least = LEAST * min.abs().max(max.abs()).max_element();
        let radius = ball.min(0.5 * min.distance(max)).max(least);
        if radius == 0.0 {
            return Bounds { middle: middle.as_vec3(), radius: 1.0 };
        }
        // Rounded, so that files of one scene whose numbers are rounded in different ways are seen from the same place.
        let step = radius.log2().floor().exp2() / STEPS;
        let middle = (middle / step).round() * step;
        // The middle has moved by at most a step.
        let radius = ((radius / step).ceil() + 1.0) * step;
        Bounds { middle: middle.as_vec3(), radius: radius.min(GREATEST) as f32 }
    }
}

/// How far from a point a splat can be seen.
fn distance(splat: &Splat, from: DVec3, reach: f64) -> f64 {
    splat.position.as_dvec3().distance(from) + reach * f64::from(splat.scale.max_element())
}

/// Standard deviations along the axes of the scene.
fn extent(splat: &Splat) -> DVec3 {
    let axes = DMat3::from_quat(splat.rotation.as_dquat()) * DMat3::from_diagonal(splat.scale.as_dvec3());
    let squares = axes.x_axis * axes.x_axis + axes.y_axis * axes.y_axis + axes.z_axis * axes.z_axis;
    squares.map(f64::sqrt)
}

/// The least value up to which values have this part of the weight; 0 without values.
fn quantile(mut values: Vec<(f64, f64)>, part: f64) -> f64 {
    values.sort_unstable_by(|one, other| one.0.total_cmp(&other.0));
    let all: f64 = values.iter().map(|(_, weight)| weight).sum();
    let mut sum = 0.0;
    let reached = values.iter().find(|(_, weight)| {
        sum += weight;
        sum >= part * all
    });
    reached.or(values.last()).map_or(0.0, |(value, _)| *value)
}
