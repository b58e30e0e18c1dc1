//! The axes of a scene in its file, and how they become those of .ply: x to the right, y down, z to the front.

use glam::{Quat, Vec3};

/// Where the axes of a file point.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Axes {
    /// Whether y points to the front or the back, and z up or down; they are turned by a quarter about x first.
    turned: bool,
    /// 1 or -1 for each axis of .ply.
    signs: Vec3,
}

/// A right angle about x, which turns z down and y to the front.
const QUARTER: Quat = Quat::from_xyzw(std::f32::consts::FRAC_1_SQRT_2, 0.0, 0.0, std::f32::consts::FRAC_1_SQRT_2);

impl Axes {
    /// Right, up and back, as .spz has them unless it says otherwise.
    pub const RUB: Axes = Axes { turned: false, signs: Vec3::new(1.0, -1.0, -1.0) };
    /// The last number of a coordinate system.
    pub const MOST: u32 = 16;

    /// Those of a number: from LDB (1) to RUF (8), of which bits say whether x points to the right, y up and z to the front; and from LFD (9)
    /// to RBU (16), whether x points to the right, z up and y to the back. 0 says nothing.
    pub fn numbered(number: u32) -> Option<Axes> {
        let index = match number {
            0 => return Some(Axes::RUB),
            1..=Self::MOST => number - 1,
            _ => return None,
        };
        let [right, up, last, turned] = [1, 2, 4, 8].map(|bit| index & bit != 0);
        let front = last != turned;
        let sign = |set: bool| if set { 1.0 } else { -1.0 };
        // The quarter turn has turned z, which points up, to minus y.
        let down = if turned { up } else { !up };
        Some(Axes { turned, signs: Vec3::new(sign(right), sign(down), sign(front)) })
    }

    pub fn position(self, given: Vec3) -> Vec3 {
        let Vec3 { x, y, z } = given;
        self.signs * if self.turned { Vec3::new(x, -z, y) } else { given }
    }

    /// The rotation of a Gaussian, which is the same if one of its own axes is mirrored.
    pub fn rotation(self, given: Quat) -> Quat {
        let [x, y, z, w] = (if self.turned { QUARTER * given } else { given }).to_array();
        let [a, b, c] = self.signs.to_array();
        Quat::from_xyzw(b * c * x, a * c * y, a * b * z, w)
    }
}
