//! The footprints of the CPU's pictures against closed forms.

use std::f32::consts::PI;

use glam::{DVec2, Quat, Vec3, dvec2, vec3};

use crate::renderer::camera::{BACKGROUND, Camera, Pose, Projection, Size, UP};
use crate::renderer::reference::{self, Unseen, View};
use crate::renderer::scene::{MIN_ALPHA, Splat};

const SIZE: Size = Size { width: 64, height: 48 };
const COLOR: Vec3 = vec3(0.9, 0.7, 0.1);
/// Square pixels by which every footprint is larger than its splat.
const LOW_PASS: f64 = 0.3;

/// At the origin, with x to the right, y down and z forward.
fn camera() -> Camera {
    Camera::new(Pose { eye: Vec3::ZERO, target: Vec3::Z, up: UP, radius: 1.0 }).unwrap()
}

fn splat(position: Vec3, rotation: Quat, scale: Vec3) -> Splat {
    Splat { position, rotation, scale, color: COLOR, opacity: 0.8 }
}

/// Compares the picture of one splat with that of a 2-D Gaussian: its middle, the direction of its longer axis, the standard
/// deviations along and across it, all in pixels, and its opacity.
fn check(splat: &Splat, antialiased: bool, middle: DVec2, major: DVec2, sigmas: DVec2, opacity: f64) {
    let camera = camera();
    let view = View { camera: &camera, size: SIZE, antialiased };
    let picture = reference::render(std::slice::from_ref(splat), &[0], view);
    let mut is_blank = true;
    for (pixel, place) in picture.chunks_exact(3).zip(0..) {
        let offset = dvec2((place % SIZE.width) as f64 + 0.5, (place / SIZE.width) as f64 + 0.5) - middle;
        let away = dvec2(offset.dot(major), offset.perp_dot(major)) / sigmas;
        let alpha = opacity * (-0.5 * away.length_squared()).exp();
        if (alpha / f64::from(MIN_ALPHA) - 1.0).abs() < 1e-3 {
            continue;
        }
        let alpha = if alpha < f64::from(MIN_ALPHA) { 0.0 } else { alpha };
        let needed = 255.0 * BACKGROUND.as_dvec3().lerp(COLOR.as_dvec3(), alpha);
        is_blank &= alpha == 0.0;
        let near = (0..3).all(|channel| (f64::from(pixel[channel]) - needed[channel]).abs() < 0.51);
        assert!(near, "{splat:?}: pixel {place} is {pixel:?}, needed is {needed}");
    }
    assert!(!is_blank, "{splat:?} touches no pixel");
}

/// Standard deviations in pixels with the low pass.
fn widened(lengths: DVec2) -> DVec2 {
    (lengths * lengths + LOW_PASS).map(f64::sqrt)
}

#[test]
fn needles_and_discs_across_the_view_are_drawn_as_they_are() {
    let Projection { middle, focal, .. } = Projection::new(SIZE);
    for (length, width) in [(0.1, 0.1), (0.2, 1e-3), (10.0, 1e-3), (1e4, 1e-6), (1e6, 0.05), (1e9, 1e9)] {
        for turn in [0.0, 0.3, 0.5 * PI, 2.0, 3.1] {
            for unit in [1.0, 1e-12, 1e12] {
                let depth = 2.5;
                let scale = unit * vec3(length, width, width);
                // What lies along the line of view is in the middle of the picture only when it is seen from its end.
                let splat = splat(vec3(0.0, 0.0, unit * depth), Quat::from_rotation_z(turn), scale);
                let camera = Camera { near: 1e-3 * unit, ..camera() };
                let view = View { camera: &camera, size: SIZE, antialiased: false };
                assert_eq!(reference::unseen(&splat, view), None, "{splat:?}");
                let lengths = f64::from(focal / depth) * dvec2(length.into(), width.into());
                if unit == 1.0 {
                    let major = DVec2::from_angle(turn.into());
                    check(&splat, false, middle.as_dvec2(), major, widened(lengths), 0.8);
                }
            }
        }
    }
}

/// The rule for splats so near that their outline in perspective is no ellipse: they are drawn as the perspective at their middle
/// makes them, however far they reach towards the camera or behind it, if their middle is not nearer than the least depth.
#[test]
fn near_splats_are_drawn_by_the_perspective_at_their_middle() {
    let Projection { middle, focal, .. } = Projection::new(SIZE);
    for deviation in [0.1, 0.34, 1.0, 5.0, 300.0] {
        let (depth, slope) = (0.5, vec3(0.3, -0.2, 1.0));
        // A needle along the line of view of the camera's axis, which is seen from beside it.
        let splat = splat(depth * slope, Quat::from_rotation_y(0.5 * PI), depth * vec3(deviation, 1e-6, 1e-6));
        let slope = slope.truncate().as_dvec2();
        let lengths = dvec2(f64::from(focal) * slope.length() * f64::from(deviation), 0.0);
        let center = middle.as_dvec2() + f64::from(focal) * slope;
        check(&splat, false, center, slope.normalize(), widened(lengths), 0.8);
    }
    let camera = camera();
    let view = View { camera: &camera, size: SIZE, antialiased: false };
    let behind = splat(vec3(0.0, 0.0, 0.5 * camera.near), Quat::IDENTITY, Vec3::splat(10.0));
    assert_eq!(reference::unseen(&behind, view), Some(Unseen::Near));
}

#[test]
fn antialiased_splats_lose_the_light_that_the_low_pass_adds() {
    let Projection { middle, focal, .. } = Projection::new(SIZE);
    for pixels in [0.2, 0.5, 3.0] {
        let scale = (pixels / f64::from(focal)) as f32 * vec3(2.0, 1.0, 1.0);
        let splat = splat(Vec3::Z, Quat::from_rotation_z(0.4), scale);
        let lengths = pixels * dvec2(2.0, 1.0);
        let kept = lengths.element_product() / widened(lengths).element_product();
        check(&splat, true, middle.as_dvec2(), DVec2::from_angle(0.4), widened(lengths), 0.8 * kept);
    }
    let camera = camera();
    let view = View { camera: &camera, size: SIZE, antialiased: true };
    let dot = splat(Vec3::Z, Quat::IDENTITY, Vec3::splat(1e-6));
    assert_eq!(reference::unseen(&dot, view), Some(Unseen::Small));
    assert_eq!(reference::unseen(&dot, View { antialiased: false, ..view }), None);
}
