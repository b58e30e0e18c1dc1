//! The cameras that show a scene without being told where it is.

use fastrand::Rng;
use glam::{Quat, Vec3, vec3};

use crate::renderer::blank::is_blank;
use crate::renderer::camera::{Camera, Pose, Size, UP};
use crate::renderer::reference::{self, View};
use crate::renderer::scene::Splat;

const WIDE: Size = Size { width: 60, height: 40 };
const HIGH: Size = Size { width: 30, height: 50 };

fn vector(rng: &mut Rng) -> Vec3 {
    Vec3::from_array([0, 1, 2].map(|_| 2.0 * rng.f32() - 1.0))
}

/// Splats in a ball, of every shape.
fn ball(rng: &mut Rng, count: usize, middle: Vec3, radius: f32) -> Vec<Splat> {
    let splat = |_| Splat {
        position: middle + radius * rng.f32() * vector(rng).normalize(),
        rotation: Quat::from_scaled_axis(3.0 * vector(rng)),
        scale: radius * vec3(0.2, 0.02, 0.02 * rng.f32()),
        color: Vec3::ONE,
        opacity: 0.1 + 0.9 * rng.f32(),
    };
    (0..count).map(splat).collect()
}

/// Bytes of the pixels at the border of a picture, and of those that are not.
fn border(picture: &[u8], size: Size) -> (Vec<u8>, Vec<u8>) {
    let is_border = |place: usize| {
        let (x, y) = (place % size.width, place / size.width);
        x == 0 || y == 0 || x + 1 == size.width || y + 1 == size.height
    };
    let of = |wanted: bool| {
        let pixels = picture.chunks_exact(3).enumerate().filter(|(place, _)| is_border(*place) == wanted);
        pixels.flat_map(|(_, pixel)| pixel).copied().collect()
    };
    (of(true), of(false))
}

/// Checks that the scene is within the picture and fills at least a part of it, from all around.
fn check(splats: &[Splat], up: Vec3, size: Size, least: f32) {
    let pose = Pose::suggest("", splats, up, size);
    let order: Vec<u32> = (0..splats.len() as u32).collect();
    for degrees in [0.0, 100.0, 200.0] {
        let camera = Camera::new(pose.orbit(degrees)).unwrap();
        let view = View { camera: &camera, size, antialiased: false };
        let picture = reference::render(splats, &order, view);
        let (border, inside) = border(&picture, size);
        assert!(is_blank(&border), "{pose:?} at {degrees} degrees: the border is drawn on");
        let drawn = inside.chunks_exact(3).filter(|pixel| !is_blank(pixel)).count();
        let share = drawn as f32 / (inside.len() / 3) as f32;
        assert!(share > least, "{pose:?} at {degrees} degrees: {share} of the picture are drawn");
        assert!(camera.axes.y_axis.dot(up) < 0.0, "{pose:?} is not upright");
    }
}

#[test]
fn all_that_can_be_seen_is_in_the_picture_in_every_unit() {
    let mut rng = Rng::with_seed(3);
    for radius in [1.0, 1e-3, 1e-12, 1e12] {
        for size in [WIDE, HIGH] {
            let middle = 3.0 * radius * vector(&mut rng);
            check(&ball(&mut rng, 200, middle, radius), UP, size, 0.1);
        }
    }
}

#[test]
fn the_size_of_splats_counts() {
    let at = |position, scale| Splat {
        position,
        rotation: Quat::from_rotation_z(0.5),
        scale,
        color: Vec3::ONE,
        opacity: 1.0,
    };
    check(&[at(Vec3::ZERO, Vec3::splat(0.5))], UP, WIDE, 0.1);
    check(&vec![at(vec3(5.0, 6.0, 7.0), vec3(0.1, 0.05, 0.1)); 50], UP, WIDE, 0.1);
    // A point has a camera too.
    let pose = Pose::suggest("", &[at(vec3(1.0, 2.0, 3.0), Vec3::ZERO)], UP, WIDE);
    assert!(Camera::new(pose).is_ok() && pose.target.distance(vec3(1.0, 2.0, 3.0)) < 1e-3, "{pose:?}");
}

#[test]
fn outliers_and_what_is_invisible_move_no_camera() {
    let mut rng = Rng::with_seed(4);
    let splats = ball(&mut rng, 300, vec3(1.0, -2.0, 0.5), 1.0);
    let pose = Pose::suggest("", &splats, UP, WIDE);
    let with = |others: &[Splat]| {
        let all = [others, &splats].concat();
        let moved = Pose::suggest("", &all, UP, WIDE);
        let by = moved.eye.distance(pose.eye) / pose.radius;
        assert!(by < 0.1 && (moved.radius / pose.radius - 1.0).abs() < 0.1, "{by} radii: {pose:?} became {moved:?}");
    };
    let far = |distance: f32, opacity| Splat { position: distance * Vec3::X, opacity, ..splats[0].clone() };
    with(&[far(1e30, 1.0)]);
    with(&[far(100.0, 1.0), far(-50.0, 0.5), far(1e5, 0.01)]);
    // More than half of them, none of which can be seen.
    with(&vec![far(1e3, 1e-3); 1000]);
    // A splat that reaches as far as others are away.
    with(&[Splat { position: Vec3::ZERO, scale: Vec3::splat(1e4), ..splats[0].clone() }]);
    // Two objects apart are no outliers.
    let both = [splats.clone(), ball(&mut rng, 60, vec3(9.0, 0.0, 0.0), 1.0)].concat();
    check(&both, UP, WIDE, 0.01);
}

#[test]
fn every_axis_can_point_up() {
    let mut rng = Rng::with_seed(5);
    for up in [Vec3::X, Vec3::Y, Vec3::Z, Vec3::NEG_X, Vec3::NEG_Y, Vec3::NEG_Z, vec3(0.6, 0.0, 0.8)] {
        check(&ball(&mut rng, 200, Vec3::ONE, 1.0), up, WIDE, 0.1);
        let pose = Pose::suggest("", &ball(&mut rng, 200, Vec3::ONE, 1.0), up, WIDE);
        assert!((pose.eye - pose.target).dot(up) > 0.0, "{pose:?} is below");
    }
}

#[test]
fn least_depths_follow_the_scene() {
    let near = |radius: f32, distance: f32| {
        let pose = Pose { eye: Vec3::ZERO, target: distance * Vec3::Z, up: UP, radius };
        Camera::new(pose).unwrap().near
    };
    for unit in [1.0, 1e-30, 1e30] {
        assert!((near(unit, unit) / unit * 400.0 - 1.0).abs() < 1e-5, "{unit}");
        // A target may be far off, to give a direction of view, and a scene large around a near target.
        assert_eq!(near(unit, 1e6 * unit), near(unit, unit));
        assert_eq!(near(1e6 * unit, unit), near(unit, unit));
    }
}

#[cfg(feature = "window")]
#[test]
fn zooming_ends_at_multiples_of_the_radius() {
    for radius in [1.0, 1e-12, 1e12] {
        let pose = Pose { eye: 3.0 * radius * Vec3::X, target: Vec3::ZERO, up: UP, radius };
        let zoomed = |factor: f32| {
            let mut pose = pose;
            (0..200).for_each(|_| pose = pose.zoom(factor));
            pose.eye.length() / radius
        };
        assert!((zoomed(0.9) - 1e-3).abs() < 1e-6 && (zoomed(1.1) - 1e3).abs() < 1.0, "{radius}");
        // From further away it comes nearer, and no further.
        let far = Pose { eye: 1e5 * radius * Vec3::X, ..pose };
        assert!((far.zoom(1.1).eye.x / far.eye.x - 1.0).abs() < 1e-6 && far.zoom(0.9).eye.x < far.eye.x, "{radius}");
    }
}
