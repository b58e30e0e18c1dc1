//! The camera: where it stands, how deep a point lies in its view, and the orbit it flies.

use std::str::FromStr;

use anyhow::{Context, Result, ensure};
use glam::{DVec3, Mat3, Quat, Vec2, Vec3, vec2, vec3};

use super::framing::Bounds;
use super::scene::Splat;

/// Up in a scene whose file does not say otherwise: the y axis points down.
pub const UP: Vec3 = Vec3::NEG_Y;
/// Vertical field of view in degrees.
pub const FIELD_OF_VIEW: f32 = 50.0;
/// Colour of the background.
pub const BACKGROUND: Vec3 = vec3(23.0 / 255.0, 26.0 / 255.0, 31.0 / 255.0);
/// Least depth that is drawn, as a part of the scene's radius or of the distance to the target, whichever is less.
const NEAR: f32 = 1.0 / 400.0;
/// Least and greatest distance from the target that zooming leads to, in radii of the scene.
#[cfg(feature = "window")]
const ZOOM: [f32; 2] = [1e-3, 1e3];

/// Where the camera stands and what it looks at.
#[derive(Clone, Copy, Debug)]
pub struct Pose {
    pub eye: Vec3,
    pub target: Vec3,
    /// Where up is, a unit vector.
    pub up: Vec3,
    /// Radius of what can be seen of the scene. Lengths that a camera needs follow it, because scenes come in every unit.
    pub radius: f32,
}

impl Pose {
    /// Poses that show the known scenes well, by the names of their files.
    const KNOWN: [(&str, Vec3, Vec3); 2] = [
        ("playbot.compressed.ply", vec3(1.032, -1.186, -1.789), vec3(0.0, -0.434, 0.0)),
        ("guitar.compressed.ply", vec3(2.60, -3.424, 4.622), vec3(0.065, -2.065, 0.232)),
    ];

    /// The pose for the scene of a file, by its name: a known one, or one from which all that can be seen is in the picture.
    pub fn suggest(name: &str, splats: &[Splat], up: Vec3, size: Size) -> Pose {
        let Bounds { middle, radius } = Bounds::of(splats);
        let known = Self::KNOWN.iter().find(|(known, ..)| *known == name && up == UP);
        if let Some((_, eye, target)) = known {
            return Pose { eye: *eye, target: *target, up, radius };
        }
        // The narrower of the two fields of view decides.
        let slope = (0.5 * FIELD_OF_VIEW.to_radians()).tan() * (size.width as f32 / size.height as f32).min(1.0);
        let distance = radius / slope.atan().sin();
        // From the front, the right and above, with the axis x to the right unless it points up.
        let right = if up.x.abs() < 0.9 { Vec3::X } else { Vec3::Y };
        let right = right.reject_from_normalized(up).normalize();
        let direction = 0.5 * right + 0.5 * up + right.cross(up);
        Pose { eye: middle + distance * direction.normalize(), target: middle, up, radius }
    }

    /// The pose after flying round the target, about the axis that points up.
    pub fn orbit(self, degrees: f32) -> Pose {
        let turn = Quat::from_axis_angle(self.up, degrees.to_radians());
        Pose { eye: self.target + turn * (self.eye - self.target), ..self }
    }

    /// The pose after flying up, at most nearly to the point above the target.
    #[cfg(feature = "window")]
    pub fn tilt(self, degrees: f32) -> Pose {
        let offset = self.eye - self.target;
        let Some(direction) = direction(offset) else { return self };
        let height = 90.0 - direction.angle_between(self.up).to_degrees();
        let Some(axis) = direction.cross(self.up).try_normalize() else { return self };
        let turn = Quat::from_axis_angle(axis, ((height + degrees).clamp(-85.0, 85.0) - height).to_radians());
        Pose { eye: self.target + turn * offset, ..self }
    }

    /// The pose at another distance from the target.
    #[cfg(feature = "window")]
    pub fn zoom(self, factor: f32) -> Pose {
        let offset = self.eye - self.target;
        let distance = length(offset);
        // A pose that is given may be beyond the limits, and then comes no further.
        let [least, most] = ZOOM.map(|limit| limit * self.radius);
        let zoomed = (factor * distance).clamp(least.min(distance), most.max(distance));
        Pose { eye: self.target + zoomed / distance * offset, ..self }
    }
}

/// The power of two by which lengths of a vector are near 1. Squares of the shortest and the longest vectors are none of f32, and
/// dividing by a power of two rounds nothing.
fn unit(vector: Vec3) -> f32 {
    f32::from_bits(vector.abs().max_element().to_bits() & f32::INFINITY.to_bits())
}

/// The unit vector of a direction, if there is one.
fn direction(vector: Vec3) -> Option<Vec3> {
    (vector / unit(vector)).try_normalize()
}

fn length(vector: Vec3) -> f32 {
    direction(vector).map_or(0.0, |direction| direction.dot(vector))
}

/// A camera in the scene.
pub struct Camera {
    pub eye: Vec3,
    /// To the right, down and forward.
    pub axes: Mat3,
    /// Least depth that is drawn.
    pub near: f32,
}

impl Camera {
    /// A camera in a pose, upright.
    pub fn new(pose: Pose) -> Result<Camera> {
        let Pose { eye, target, up, radius } = pose;
        ensure!(
            eye.is_finite() && target.is_finite(),
            "eye is {eye} and target is {target}, allowed are finite coordinates"
        );
        let forward = direction(target - eye).with_context(|| {
            format!("eye is {eye} and target is {target}, which gives no direction of view; allowed are points apart")
        })?;
        // Looking straight up or down, any direction may be to the right.
        let right = forward.cross(up).try_normalize().unwrap_or_else(|| forward.any_orthonormal_vector());
        let near = NEAR * radius.min(length(target - eye));
        Ok(Camera { eye, axes: Mat3::from_cols(right, forward.cross(right), forward), near })
    }

    /// A point in the camera's coordinates: x to the right, y down, z forward.
    pub fn view(&self, point: Vec3) -> Vec3 {
        self.axes.transpose() * (point - self.eye)
    }

    /// The same in double precision.
    pub fn view_exactly(&self, point: Vec3) -> DVec3 {
        self.axes.as_dmat3().transpose() * (point.as_dvec3() - self.eye.as_dvec3())
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
