//! What a scene is made of.

use std::fmt::Display;

use anyhow::{Result, ensure};
use glam::{Mat3, Quat, Vec3};

/// A 3-D Gaussian with a colour.
#[derive(Clone, Debug, PartialEq)]
pub struct Splat {
    pub position: Vec3,
    /// Turns the Gaussian's own axes into the scene's.
    pub rotation: Quat,
    /// Standard deviations along its own axes.
    pub scale: Vec3,
    /// Red, green and blue as shown, about 0 to 1.
    pub color: Vec3,
    /// Greatest alpha, 0 to 1.
    pub opacity: f32,
}

impl Splat {
    /// How the splat extends along the axes of the scene, as a covariance.
    pub fn covariance(&self) -> Mat3 {
        let axes = Mat3::from_quat(self.rotation) * Mat3::from_diagonal(self.scale);
        axes * axes.transpose()
    }

    /// Refuses numbers that are not finite, with the splat's name.
    pub fn check(&self, name: impl Display) -> Result<()> {
        let named = [("position", self.position), ("scale", self.scale), ("color", self.color)];
        for (property, value) in named {
            ensure!(value.is_finite(), "{property} of {name} is {value}, allowed are finite numbers");
        }
        ensure!((0.0..=1.0).contains(&self.opacity), "opacity of {name} is {}, allowed is 0 to 1", self.opacity);
        Ok(())
    }
}

/// A quaternion of any length as a rotation, unless it is zero or not finite.
pub fn rotation(x: f32, y: f32, z: f32, w: f32) -> Option<Quat> {
    let parts = [x, y, z, w].map(f64::from);
    // Squares of the largest and the smallest numbers are none of f32.
    let length = parts.iter().map(|part| part * part).sum::<f64>().sqrt();
    let [x, y, z, w] = parts.map(|part| (part / length) as f32);
    (length > 0.0 && length.is_finite()).then(|| Quat::from_xyzw(x, y, z, w).normalize())
}
