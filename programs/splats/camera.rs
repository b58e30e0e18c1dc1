//! The camera: where it stands, how deep a point lies in its view, and the orbit it flies.

use anyhow::{Context, Result, ensure};
use glam::{Quat, Vec3, vec3};

use crate::scene::Splat;

/// Up in the scene, whose y axis points down.
pub const UP: Vec3 = Vec3::NEG_Y;
/// Vertical field of view in degrees.
pub const FIELD_OF_VIEW: f32 = 50.0;
/// Least depth that is drawn.
pub const NEAR: f32 = 0.01;

/// Where the camera stands and what it looks at.
#[derive(Clone, Copy)]
pub struct Pose {
    pub eye: Vec3,
    pub target: Vec3,
}

impl Pose {
    /// Poses that show the known scenes well.
    const KNOWN: [(&str, Pose); 2] = [
        ("playbot", Pose { eye: vec3(1.032, -1.186, -1.789), target: vec3(0.0, -0.434, 0.0) }),
        ("guitar", Pose { eye: vec3(2.60, -3.424, 4.622), target: vec3(0.065, -2.065, 0.232) }),
    ];

    /// The pose for a scene: that of its name, or one from which all of it is seen.
    pub fn suggest(name: &str, splats: &[Splat]) -> Pose {
        let known = Self::KNOWN.iter().find(|(prefix, _)| name.starts_with(prefix));
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
}

/// A camera's axes in the scene.
pub struct Camera {
    eye: Vec3,
    right: Vec3,
    down: Vec3,
    forward: Vec3,
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
        Ok(Camera { eye, right, down: forward.cross(right), forward })
    }

    /// How far a point lies in front of the camera, negative behind it.
    pub fn depth(&self, point: Vec3) -> f32 {
        (point - self.eye).dot(self.forward)
    }

    /// A point in the camera's coordinates: x to the right, y down, z forward.
    pub fn view(&self, point: Vec3) -> Vec3 {
        self.turn(point - self.eye)
    }

    /// A direction in the camera's coordinates.
    pub fn turn(&self, direction: Vec3) -> Vec3 {
        vec3(direction.dot(self.right), direction.dot(self.down), direction.dot(self.forward))
    }
}
