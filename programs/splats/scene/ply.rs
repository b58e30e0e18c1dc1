//! .ply scenes as the training of 3-D Gaussian splatting writes them (Kerbl et al., 2023): a number for each property of a
//! splat. Of its spherical harmonics, only those of degree 0 are read.

use std::io::BufRead;

use anyhow::Result;
use glam::{DVec3, Vec3, vec3};
use ply_rs_bw::ply::{Header, PropertyType, ScalarType};

use super::gaussian::{Scene, Splat, color, rotation};
use super::header::{check_properties, find};
use super::rows::Body;

#[rustfmt::skip]
const PROPERTIES: [&str; 17] = [
    "x", "y", "z", "opacity", "rot_0", "rot_1", "rot_2", "rot_3", "scale_0", "scale_1", "scale_2",
    "f_dc_0", "f_dc_1", "f_dc_2", "red", "green", "blue",
];

/// From this coordinate on, positions in doubles count from that of the first splat. Floats there are 0.00006 apart.
const FAR: f64 = 1000.0;

/// Reads the splats after a header.
pub fn read(header: &Header, body: &mut Body<impl BufRead>, scene: &mut Scene) -> Result<()> {
    let vertex = find(header, "vertex")?;
    let floats = [ScalarType::Float, ScalarType::Double];
    let has = |name: &str| vertex.properties.contains_key(name);
    // Discs have no third scale, and training without harmonics writes colours, as fractions or as integers.
    let (is_flat, is_plain) = (!has("scale_2"), has("red") && !has("f_dc_0"));
    check_properties(vertex, &PROPERTIES[..if is_flat { 10 } else { 11 }], &floats)?;
    check_properties(vertex, if is_plain { &[] } else { &PROPERTIES[11..14] }, &floats)?;
    let colors = [&floats[..], &[ScalarType::UChar, ScalarType::UShort]].concat();
    check_properties(vertex, if is_plain { &PROPERTIES[14..] } else { &[] }, &colors)?;
    let whole = ["red", "green", "blue"].map(|name| match vertex.properties.get(name).map(|color| &color.data_type) {
        Some(PropertyType::Scalar(ScalarType::UChar)) => 255.0,
        Some(PropertyType::Scalar(ScalarType::UShort)) => 65535.0,
        _ => 1.0,
    });
    scene.has_harmonics = has("f_rest_0");
    let is_double = |name: &&str| {
        let of = vertex.properties.get(*name).map(|property| &property.data_type);
        of == Some(&PropertyType::Scalar(ScalarType::Double))
    };
    let mut origin = if PROPERTIES[..3].iter().any(is_double) { None } else { Some(DVec3::ZERO) };

    for element in header.elements.values().take_while(|element| element.name != "vertex") {
        body.rows(element, [], |[]| ())?;
    }
    body.rows(vertex, PROPERTIES, |numbers| {
        let position = DVec3::new(numbers[0], numbers[1], numbers[2]);
        if origin.is_none() && position.is_finite() {
            origin = Some(if position.abs().max_element() < FAR { DVec3::ZERO } else { position.round() });
        }
        let position = (position - origin.unwrap_or_default()).as_vec3();
        let [_, _, _, opacity, w, i, j, k, scale_0, scale_1, scale_2, f_0, f_1, f_2, red, green, blue] =
            numbers.map(|number| number as f32);
        let scale_2 = if is_flat { f32::NEG_INFINITY } else { scale_2 };
        scene.add(rotation(i, j, k, w).map(|rotation| Splat {
            position,
            rotation,
            scale: vec3(scale_0, scale_1, scale_2).exp(),
            color: if is_plain { vec3(red, green, blue) / Vec3::from(whole) } else { color(vec3(f_0, f_1, f_2)) },
            opacity: 1.0 / (1.0 + (-opacity).exp()),
        }));
    })?;
    scene.origin = origin.unwrap_or_default();
    Ok(())
}
