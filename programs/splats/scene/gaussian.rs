//! What a scene is made of.

use std::fmt::Display;

use anyhow::{Result, ensure};
use glam::{Quat, Vec3};

/// Least alpha that changes a pixel of 8 bits.
pub const MIN_ALPHA: f32 = 1.0 / 255.0;

/// Refuses a scene of more splats than the device can draw, before it is made.
pub fn check_count(count: u64, most: u64) -> Result<()> {
    ensure!(count <= most, "the scene has {count} splats, allowed on this device are at most {most}");
    Ok(())
}

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
    /// How many standard deviations from its middle the splat is seen, if it is seen at all.
    pub fn reach(&self) -> Option<f32> {
        // alpha = opacity * exp(-distance^2 / 2), with the distance in standard deviations.
        (self.opacity > MIN_ALPHA).then(|| (2.0 * (self.opacity / MIN_ALPHA).ln()).sqrt())
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
