//! .ply scenes as the training of 3-D Gaussian splatting writes them (Kerbl et al., 2023): a float for each property of a
//! splat. Of its spherical harmonics, only those of degree 0 are read.

use std::io::BufRead;

use anyhow::{Context, Result};
use glam::{Vec3, vec3};
use ply_rs_bw::ply::{Header, ScalarType};

use super::gaussian::{Splat, rotation};
use super::header::{self, Body, check_properties, element_bytes, find, property_offset};

const PROPERTIES: [&str; 14] = [
    "x", "y", "z", "f_dc_0", "f_dc_1", "f_dc_2", "opacity", "scale_0", "scale_1", "scale_2", "rot_0", "rot_1", "rot_2",
    "rot_3",
];

/// The spherical harmonic of degree 0.
const HARMONIC: f32 = 0.282_094_8;

/// Reads the splats behind a header.
pub fn read(header: &Header, body: &mut Body<impl BufRead>) -> Result<Vec<Splat>> {
    let vertex = find(header, "vertex")?;
    check_properties(vertex, &PROPERTIES, ScalarType::Float)?;
    let mut offsets = [0; PROPERTIES.len()];
    for (offset, name) in offsets.iter_mut().zip(PROPERTIES) {
        *offset = property_offset(vertex, name)? as usize;
    }
    for element in header.elements.values().take_while(|element| element.name != "vertex") {
        header::skip(body, element)?;
    }
    let mut entry = vec![0; element_bytes(vertex)? as usize];
    let mut splats = Vec::new();
    for index in 0..vertex.count {
        body.get_mut().read_exact(&mut entry)?;
        let number = |offset: usize| f32::from_le_bytes([0, 1, 2, 3].map(|byte| entry[offset + byte]));
        splats.push(decode(offsets.map(number), index)?);
    }
    Ok(splats)
}

fn decode(properties: [f32; PROPERTIES.len()], index: usize) -> Result<Splat> {
    let [x, y, z, red, green, blue, opacity, scale_0, scale_1, scale_2, w, i, j, k] = properties;
    let rotation = rotation(i, j, k, w).with_context(|| {
        format!("rotation of splat {index} is [{w}, {i}, {j}, {k}], allowed are finite numbers that are not all zero")
    })?;
    let mut splat = Splat {
        position: vec3(x, y, z),
        rotation,
        scale: vec3(scale_0, scale_1, scale_2).exp(),
        color: Vec3::splat(0.5) + HARMONIC * vec3(red, green, blue),
        opacity: 1.0 / (1.0 + (-opacity).exp()),
    };
    splat.check(format_args!("splat {index}"))?;
    // The greater of zero and what is no number is zero, so this comes after the check.
    splat.color = splat.color.max(Vec3::ZERO);
    Ok(splat)
}
