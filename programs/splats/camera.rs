//! The camera: where it stands, how deep a point lies in its view, and the orbit it flies.

use std::str::FromStr;

use anyhow::{Context, Result, ensure};
use glam::{Mat3, Quat, Vec2, Vec3, vec2, vec3};

use super::scene::Splat;

/// Up in the scene, whose y axis points down.
pub const UP: Vec3 = Vec3::NEG_Y;
/// Vertical field of view in degrees.
pub const FIELD_OF_VIEW: f32 = 50.0;
/// Colour behind the scene.
pub const BACKGROUND: Vec3 = vec3(23.0 / 255.0, 26.0 / 255.0, 31.0 / 255.0);
/// Least depth that is drawn.
pub const NEAR: f32 = 0.01;

/// Where the camera stands and what it looks at.
#[derive(Clone, Copy)]
pub struct Pose {
    pub eye: Vec3,
    pub target: Vec3,
}

impl Pose {
    /// Poses that show the known scenes well, by the names of their files.
    const KNOWN: [(&str, Pose); 2] = [
        ("playbot.compressed.ply", Pose { eye: vec3(1.032, -1.186, -1.789), target: vec3(0.0, -0.434, 0.0) }),
        ("guitar.compressed.ply", Pose { eye: vec3(2.60, -3.424, 4.622), target: vec3(0.065, -2.065, 0.232) }),
    ];

    /// The pose for the scene of a file, by its name: a known one, or one from which all of the scene is seen.
    pub fn suggest(name: &str, splats: &[Splat]) -> Pose {
        let known = Self::KNOWN.iter().find(|(known, _)| *known == name);
        known.map_or_else(|| Self::around(splats), |(_, pose)| *pose)
    }

    fn around(splats: &[Splat]) -> Pose {
        let positions = || splats.iter().map(|splat| splat.position);
        let min = positions().fold(Vec3::MAX, Vec3::min);
        let max = positions().fold(Vec3::MIN, Vec3::max);
        let target = min.midpoint(max);
        let radius = (0.5 * min.distance(max)).max(NEAR);
        let distance = radius / (0.5 * FIELD_OF_VIEW.to_radians()).sin();
        Pose { eye: target + distance * vec3(0.5, -0.5, -1.0).normalize(), target }
    }

    /// The pose after flying round the target, about the axis that points up.
    pub fn orbit(self, degrees: f32) -> Pose {
        let turn = Quat::from_axis_angle(UP, degrees.to_radians());
        Pose { eye: self.target + turn * (self.eye - self.target), ..self }
    }

    /// The pose after flying up, at most nearly to the point above the target.
    #[cfg(feature = "window")]
    pub fn tilt(self, degrees: f32) -> Pose {
        let offset = self.eye - self.target;
        let height = 90.0 - offset.angle_between(UP).to_degrees();
        let Some(axis) = offset.cross(UP).try_normalize() else { return self };
        let turn = Quat::from_axis_angle(axis, ((height + degrees).clamp(-85.0, 85.0) - height).to_radians());
        Pose { eye: self.target + turn * offset, ..self }
    }

    /// The pose at another distance from the target.
    #[cfg(feature = "window")]
    pub fn zoom(self, factor: f32) -> Pose {
        let offset = factor * (self.eye - self.target);
        Pose { eye: self.target + offset.clamp_length(2.0 * NEAR, 1e6), ..self }
    }
}

/// A camera in the scene.
pub struct Camera {
    pub eye: Vec3,
    /// To the right, down and forward.
    pub axes: Mat3,
}

impl Camera {
    /// A camera in a pose, upright.
    pub fn new(pose: Pose) -> Result<Camera> {
        let Pose { eye, target } = pose;
        ensure!(
            eye.is_finite() && target.is_finite(),
            "eye is {eye} and target is {target}, allowed are finite coordinates"
        );
        let forward = (target - eye).try_normalize().with_context(|| {
            format!("eye is {eye} and target is {target}, which gives no direction of view; allowed are points apart")
        })?;
        // Looking straight up or down, any direction may be to the right.
        let right = forward.cross(UP).try_normalize().unwrap_or_else(|| forward.any_orthonormal_vector());
        Ok(Camera { eye, axes: Mat3::from_cols(right, forward.cross(right), forward) })
    }

    /// A point in the camera's coordinates: x to the right, y down, z forward.
    pub fn view(&self, point: Vec3) -> Vec3 {
        self.axes.transpose() * (point - self.eye)
    }
}

/// Size of a picture in pixels.
#[derive(Clone, Copy, Debug)]
pub struct Size {
    pub width: usize,
    pub height: usize,
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

/// How a camera's view falls on a picture.
pub struct Projection {
    /// The middle of the picture.
    pub middle: Vec2,
    /// Pixels for a slope of 1.
    pub focal: f32,
    /// The greatest slopes at which splats are projected as they are.
    pub border: Vec2,
}

impl Projection {
    pub fn new(size: Size) -> Projection {
        let middle = 0.5 * vec2(size.width as f32, size.height as f32);
        let slope = (0.5 * FIELD_OF_VIEW.to_radians()).tan();
        Projection { middle, focal: middle.y / slope, border: 1.3 * slope * vec2(middle.x / middle.y, 1.0) }
    }
}
