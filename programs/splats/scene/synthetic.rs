//! A scene that is made up.

use std::f32::consts::TAU;

use glam::{Mat3, Quat, Vec3, vec3};
use indicatif::ProgressIterator;

use super::gaussian::Splat;

/// Makes a knotted tube of splats, in random order.
pub fn make(count: u32, seed: u64) -> Vec<Splat> {
    let mut rng = fastrand::Rng::with_seed(seed);
    // Wide enough to close the surface, however many there are.
    let width = 4.0 / (count.max(1) as f32).sqrt();
    let splat = |_| {
        let (along, around) = (rng.f32() * TAU, rng.f32() * TAU);
        let (center, next) = (trefoil(along), trefoil(along + 1e-3));
        let tangent = (next - center).normalize();
        let side = tangent.cross(Vec3::Y).normalize();
        let normal = side * around.cos() + side.cross(tangent) * around.sin();
        let stripe = (6.0 * around + 24.0 * along).sin() * 0.5 + 0.5;
        let hue = vec3(along.cos(), (along - TAU / 3.0).cos(), (along + TAU / 3.0).cos()) * 0.4 + 0.5;
        Splat {
            position: center + normal * (0.26 - 0.02 * rng.f32() * rng.f32()),
            rotation: Quat::from_mat3(&Mat3::from_cols(tangent, normal.cross(tangent), normal)),
            scale: vec3(width, width, 0.2 * width) * (0.5 + rng.f32()),
            color: hue.lerp(Vec3::ONE, 0.4 * stripe) * (0.75 - 0.25 * normal.y),
            opacity: 0.4 + 0.6 * rng.f32(),
        }
    };
    (0..count).progress().map(splat).collect()
}

/// The middle of the tube: a trefoil knot, with y down as in the scenes that are loaded.
fn trefoil(at: f32) -> Vec3 {
    let plane = vec3(at.sin() + 2.0 * (2.0 * at).sin(), 2.0 * (2.0 * at).cos() - at.cos(), -(3.0 * at).sin());
    plane * 0.4
}
