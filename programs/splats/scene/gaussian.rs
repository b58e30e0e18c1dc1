//! What a scene is made of: splats, and what a file says of them.

use anyhow::{Result, ensure};
use glam::{DQuat, DVec3, Quat, Vec3};

/// Least alpha that changes a pixel of 8 bits.
pub const MIN_ALPHA: f32 = 1.0 / 255.0;

/// Refuses a scene of more splats than the device can draw, before it is made.
pub fn check_count(count: u64, most: u64) -> Result<()> {
    ensure!(count <= most, "the scene has {count} splats, allowed on this device are at most {most}");
    Ok(())
}

/// The spherical harmonic of degree 0.
const HARMONIC: f32 = 0.282_094_8;

/// A 3-D Gaussian with a colour.
#[derive(Clone, Debug, PartialEq)]
pub struct Splat {
    pub position: Vec3,
    /// Turns the Gaussian's own axes into the scene's.
    pub rotation: Quat,
    /// Standard deviations along its own axes. A disc has one that is zero.
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

    /// Says which number keeps it from being drawn.
    pub fn check(&self) -> Result<(), String> {
        let named = [("position", self.position), ("scale", self.scale), ("color", self.color)];
        let (scale, opacity) = (self.scale, self.opacity);
        match named.iter().find(|(_, value)| !value.is_finite()) {
            Some((property, value)) => Err(format!("{property} is {value}, allowed are finite numbers")),
            None if scale.min_element() < 0.0 => Err(format!("scale is {scale}, allowed is 0 or more")),
            None if !(0.0..=1.0).contains(&opacity) => Err(format!("opacity is {opacity}, allowed is 0 to 1")),
            None => Ok(()),
        }
    }
}

/// A quaternion of any length as a rotation, unless it is zero or not finite.
pub fn rotation(x: f32, y: f32, z: f32, w: f32) -> Result<Quat, String> {
    // Squares of the largest and the smallest numbers do not fit into f32.
    let given = DQuat::from_array([x, y, z, w].map(f64::from));
    let reason = || format!("rotation is [{w}, {x}, {y}, {z}], allowed are finite numbers that are not all zero");
    let is_rotation = given.is_finite() && given.length() > 0.0;
    is_rotation.then(|| given.normalize().as_quat().normalize()).ok_or_else(reason)
}

/// A unit quaternion of which the largest component is left out, because it follows from the three others. `value` makes a
/// component of ten bits.
pub fn smallest_three(word: u32, value: impl Fn(u32) -> f32) -> [f32; 4] {
    let [a, b, c] = [20, 10, 0].map(|shift| value(word >> shift & 1023));
    let largest = (1.0 - (a * a + b * b + c * c)).max(0.0).sqrt();
    match word >> 30 {
        0 => [largest, a, b, c],
        1 => [a, largest, b, c],
        2 => [a, b, largest, c],
        _ => [a, b, c, largest],
    }
}

/// The colour of which spherical harmonics of degree 0 are the factors.
pub fn color(factors: Vec3) -> Vec3 {
    let color = Vec3::splat(0.5) + HARMONIC * factors;
    // Infinities and NaN stay, so that they are noticed.
    if color.is_finite() { color.max(Vec3::ZERO) } else { color }
}

/// Splats that can be drawn, and what their file says of them.
#[derive(Default)]
pub struct Scene {
    pub splats: Vec<Splat>,
    /// The place in the file from which positions count. It is not zero where doubles are so far away that floats would lose them.
    pub origin: DVec3,
    /// Where up is, if the file says so.
    pub up: Option<Vec3>,
    /// Whether the splats were trained to lose opacity as the low pass of the picture widens them.
    pub antialiased: bool,
    /// Whether the colours depend on the direction of view in the file.
    pub has_harmonics: bool,
    /// Splats that were left out.
    pub skipped: usize,
    /// What was wrong with the first of them.
    pub first_skipped: String,
}

impl Scene {
    /// Adds the next splat of the file, or leaves it out if it cannot be drawn.
    pub fn add(&mut self, splat: Result<Splat, String>) {
        match splat.and_then(|splat| splat.check().map(|()| splat)) {
            Ok(splat) => self.splats.push(splat),
            Err(reason) => {
                if self.skipped == 0 {
                    self.first_skipped = format!("splat {}: {reason}", self.splats.len());
                }
                self.skipped += 1;
            }
        }
    }

    /// What a person should know about the scene, a line each.
    pub fn notes(&self) -> Vec<String> {
        let (skipped, count) = (self.skipped, self.splats.len() + self.skipped);
        let skipped = format!("left out   {skipped} of {count} splats, the first is {}", self.first_skipped);
        let colors = "colours    of degree 0, the same from every direction; higher spherical harmonics are not read";
        let origin = format!("origin     {}, which is subtracted before doubles become floats", self.origin);
        let notes = [
            (self.origin != DVec3::ZERO).then_some(origin),
            (self.skipped > 0).then_some(skipped),
            self.has_harmonics.then(|| colors.into()),
        ];
        notes.into_iter().flatten().collect()
    }
}
