//! The readers of scenes, on good files of every format and on files that were good before they were mutated.
//!
//! `VKSORT_SEED` repeats a run, and `VKSORT_FUZZ_SECONDS` sets how long it takes. A file on which a reader fails is kept in
//! `target/tmp`, and belongs to the corpus once the reader is mended.

use std::fs;
use std::panic::catch_unwind;
use std::path::Path;

use crate::fuzz;
use crate::made::{self, ENCODINGS, Element};
use crate::memory::most_during;
use crate::renderer::scene::{self, Scene, Splat};
use fastrand::Rng;

/// Seconds of mutations unless the variable says otherwise.
const SECONDS: u64 = 3;
/// Words and numbers at which readers decide.
const TOKENS: [&[u8]; 28] = [
    b"ply\n",
    b"format ascii 1.0\n",
    b"format binary_big_endian 1.0\n",
    b"format binary_little_endian 1.0\n",
    b"element ",
    b"element vertex 0\n",
    b"element vertex 4294967295\n",
    b"element chunk 18446744073709551615\n",
    b"element sh 3\nproperty uchar f\n",
    b"property float ",
    b"property double x\n",
    b"property list uchar int f\n",
    b"property uint packed_position\n",
    b"comment \n",
    b"obj_info \n",
    b"end_header\n",
    b"element a 4294967295\n",
    b"property list uint double f\n",
    b"comment Vertical Axis: z\n",
    b"\r\n",
    b"\r",
    b" nan ",
    b"NGSP",
    b"-1",
    &[0; 4],
    &[0xFF; 4],
    &[0, 0, 0x80, 0x7F],
    &[0, 0, 0xC0, 0x7F],
];

/// Bytes that a reader may take beside the file and the scene: a header, buffers, and the tables of gzip.
const SPARE: usize = 1 << 20;

/// A small file of each kind, with its name. They are part of the suite, which also runs on machines without this repository.
fn corpus() -> Vec<(String, Vec<u8>)> {
    let files: [(&str, &[u8]); 5] = [
        ("compressed.ply", include_bytes!("corpus/compressed.ply")),
        ("compressed_plain.ply", include_bytes!("corpus/compressed_plain.ply")),
        ("compressed_sh.ply", include_bytes!("corpus/compressed_sh.ply")),
        ("four.splat", include_bytes!("corpus/four.splat")),
        ("trained.ply", include_bytes!("corpus/trained.ply")),
    ];
    let face = Element {
        name: "face",
        properties: vec![("list uchar int", "corners".into())],
        rows: vec![vec![3.0, 0.0, 1.0, 2.0]; 2],
    };
    let chunk = [[-1.0; 3], [1.0; 3], [-6.0; 3], [-2.0; 3], [0.0; 3], [1.0; 3]].concat().try_into().unwrap();
    let words = [[0x1234_5678, 0x2345_6789, 0x3456_789A, 0x4567_89FF], [1 << 30, 2 << 30, 3 << 30, 255]];
    let mut corpus: Vec<(String, Vec<u8>)> = files.map(|(name, bytes)| (name.into(), bytes.to_vec())).to_vec();
    for encoding in ENCODINGS {
        let trained = Element::trained("float", 3).with("list uchar float", "more", &[2.0, 5.0, 6.0]);
        let file = made::ply(encoding, &["comment Vertical Axis: z", ""], &[face.clone(), trained]);
        corpus.push((format!("{encoding:?}.ply"), file));
        corpus.push((format!("{encoding:?}.compressed.ply"), made::compressed(encoding, &[chunk], &words)));
    }
    corpus
        .extend([1, 2, 3].map(|version| (format!("{version}.spz"), made::gzip(&made::spz_content(version, 5, 1, 1)))));
    let content = made::spz_content(3, 5, 1, 3);
    corpus.push(("3-axes.spz".into(), made::gzip(&[&content[..], &made::spz_axes(6)].concat())));
    corpus.push(("4".into(), made::spz_streams(&content, 3, &made::spz_axes(12))));
    corpus
}

/// The scene of a file in memory.
pub fn read(name: &str, bytes: &[u8]) -> anyhow::Result<Scene> {
    scene::read(Path::new(name), bytes, bytes.len() as u64, u64::MAX)
}

/// The splats of a file in memory, of which none is left out.
fn splats(name: &str, bytes: &[u8]) -> Vec<Splat> {
    let scene = read(name, bytes).unwrap();
    assert_eq!(scene.skipped, 0, "{}", scene.first_skipped);
    scene.splats
}

fn mutate(rng: &mut Rng, bytes: &mut Vec<u8>, others: &[(String, Vec<u8>)]) {
    for _ in 0..rng.usize(1..=4) {
        let at = rng.usize(..=bytes.len());
        let end = rng.usize(at..=bytes.len().min(at + 64));
        match rng.u8(..8) {
            0 => bytes.truncate(at),
            1 if at < bytes.len() => bytes[at] ^= 1 << rng.u8(..8),
            2 if at < bytes.len() => bytes[at] = rng.u8(..),
            3 => drop(bytes.drain(at..end)),
            4 => {
                let copy = bytes[at..end].to_vec();
                let to = rng.usize(..=bytes.len());
                bytes.splice(to..to, copy);
            }
            5 => {
                let other = &others[rng.usize(..others.len())].1;
                let from = rng.usize(..=other.len());
                bytes.splice(at.., other[from..].iter().copied());
            }
            6 => drop(bytes.splice(at..end, TOKENS[rng.usize(..TOKENS.len())].iter().copied())),
            _ => fuzz::change_digit(rng, bytes),
        }
    }
}

/// What every file must give: splats that can be drawn, no more than it has room for, or a line that says why not; and
/// neither takes more memory than twice the file and the scene.
fn check(name: &str, bytes: &[u8]) -> Result<bool, String> {
    let (result, most) = most_during(|| catch_unwind(|| read(name, bytes)));
    let result = result.map_err(|_| "it panicked".to_string())?;
    let splats = result.as_ref().map_or(0, |scene| scene.splats.len());
    let allowed = 2 * (bytes.len() + splats * size_of::<Splat>()) + SPARE;
    if most > allowed {
        return Err(format!("it took {most} bytes of memory, allowed are {allowed}"));
    }
    match result {
        Ok(scene) => {
            let finite = |splat: &Splat| {
                let numbers = splat.position.is_finite() && splat.scale.is_finite() && splat.color.is_finite();
                numbers && splat.rotation.is_normalized() && (0.0..=1.0).contains(&splat.opacity)
            };
            // gzip makes up to 1032 bytes of one.
            let room = if bytes.starts_with(&[0x1F, 0x8B]) { 1032 } else { 1 } * bytes.len();
            match scene.splats.iter().position(|splat| !finite(splat)) {
                Some(index) => Err(format!("splat {index} cannot be drawn: {:?}", scene.splats[index])),
                None if 16 * scene.splats.len() > room => Err(format!("{} splats are too many", scene.splats.len())),
                None => Ok(true),
            }
        }
        Err(error) => fuzz::refused(&error),
    }
}

/// Writes a file on which a reader fails; says where it is.
fn keep(name: &str, seed: u64, bytes: &[u8]) -> String {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("scenes-{seed}-{name}"));
    match fs::create_dir_all(env!("CARGO_TARGET_TMPDIR")).and_then(|()| fs::write(&path, bytes)) {
        Ok(()) => format!("the file is {}", path.display()),
        Err(error) => format!("{} could not be written: {error}", path.display()),
    }
}

#[test]
fn mutated_files_give_splats_or_one_line() {
    let corpus = corpus();
    for (name, bytes) in &corpus {
        assert_eq!(check(name, bytes), Ok(true), "{name} of the corpus: {:?}", read(name, bytes).err());
    }
    fuzz::run(SECONDS, |rng, seed| {
        let (name, mut bytes) = corpus[rng.usize(..corpus.len())].clone();
        // A change of what is packed is seen by the check sum, so most are made before.
        let is_unpacked = name.ends_with(".spz") && rng.u8(..4) > 0;
        if is_unpacked {
            bytes = made::unzip(&bytes);
        }
        mutate(rng, &mut bytes, &corpus);
        if is_unpacked {
            bytes = made::gzip(&bytes);
        }
        check(&name, &bytes).map_err(|reason| format!("{reason}\n{}", keep(&name, seed, &bytes)))
    });
}

#[test]
fn trained_scenes_are_decoded() {
    let header = trained_header(1).replace("property float opacity", "property uchar seen\nproperty float opacity");
    let floats = |values: &[f32]| values.iter().flat_map(|value| value.to_le_bytes()).collect::<Vec<u8>>();
    let body = [floats(&[1.0, -2.0, 3.5, 0.0, 1.0, -9.0]), vec![7], floats(&[0.0, 0.0, 1.0, -1.0, 0.0, 2.0, 0.0, 0.0])];
    let bytes = [header.into_bytes(), body.concat()].concat();
    let splats = splats("scene.ply", &bytes);
    let [splat] = &splats[..] else { panic!("{} splats", splats.len()) };
    assert_eq!(splat.position.to_array(), [1.0, -2.0, 3.5]);
    assert_eq!(splat.rotation.to_array(), [1.0, 0.0, 0.0, 0.0], "half a turn about x");
    assert_eq!(splat.opacity, 0.5);
    assert!((splat.scale - glam::vec3(1.0, 1f32.exp(), (-1f32).exp())).length() < 1e-6, "{}", splat.scale);
    assert!((splat.color - glam::vec3(0.5, 0.782_094_8, 0.0)).length() < 1e-6, "{}", splat.color);
}

#[test]
fn rotations_may_have_any_length() {
    let header = trained_header(3).into_bytes();
    let splat = |length: f32| [[0.5f32; 10].to_vec(), [0.6, 0.0, 0.8, 0.0].map(|part| part * length).to_vec()].concat();
    let body = [1e-20, 1e20, 1e-40].map(splat).concat();
    let bytes = [header, body.iter().flat_map(|value| value.to_le_bytes()).collect()].concat();
    let splats = splats("scene.ply", &bytes);
    for splat in &splats {
        assert!((splat.rotation - glam::quat(0.0, 0.8, 0.0, 0.6)).length() < 1e-4, "{}", splat.rotation);
    }
    assert_eq!(splats.len(), 3);
}

#[test]
fn splat_files_are_decoded() {
    let bytes = [1.0f32, -2.0, 3.5, 0.1, 0.2, 0.3].map(f32::to_le_bytes).concat();
    let bytes = [bytes, vec![255, 0, 51, 102, 128, 255, 128, 128]].concat();
    let splats = splats("scene.splat", &bytes);
    let [splat] = &splats[..] else { panic!("{} splats", splats.len()) };
    assert_eq!(splat.position.to_array(), [1.0, -2.0, 3.5]);
    assert_eq!(splat.scale.to_array(), [0.1, 0.2, 0.3]);
    assert_eq!(splat.rotation.to_array(), [1.0, 0.0, 0.0, 0.0], "half a turn about x");
    assert_eq!((splat.color.to_array(), splat.opacity), ([1.0, 0.0, 0.2], 0.4));
}

#[test]
fn files_of_more_splats_than_a_device_draws_are_refused_by_their_number() {
    for (name, bytes) in corpus() {
        let count = splats(&name, &bytes).len();
        let limited = |most: usize| scene::read(Path::new(&name), &bytes[..], bytes.len() as u64, most as u64);
        assert_eq!(limited(count).unwrap().splats.len(), count);
        let line = limited(count - 1).err().unwrap().to_string();
        assert!(line.contains(&format!("{count} splats")) && line.ends_with(&format!(" {}", count - 1)), "{line}");
    }
}

/// The header of a .ply as the training of splats writes it, without the properties that nobody reads.
pub fn trained_header(splats: usize) -> String {
    let mut text = format!("ply\nformat binary_little_endian 1.0\nelement vertex {splats}\n");
    for name in ["x", "y", "z", "f_dc_0", "f_dc_1", "f_dc_2", "opacity", "scale_0", "scale_1", "scale_2"] {
        text += &format!("property float {name}\n");
    }
    for index in 0..4 {
        text += &format!("property float rot_{index}\n");
    }
    text + "end_header\n"
}
