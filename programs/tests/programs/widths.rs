//! What sorting depths by fewer bits changes in a picture, and what it saves: a table for each scene.
//!
//! `VKSORT_SCENES` names a folder with more scenes, `VKSORT_RUNS` is the number of timed rounds. The command of the table in
//! docs/guide/src/widths.md:
//!
//! ```text
//! LP_NATIVE_VECTOR_WIDTH=256 VKSORT_SCENES=FOLDER VKSORT_RUNS=24 cargo --config scripts/checked.toml test --release \
//!     --package vksort-programs --test programs -- --nocapture widths
//! ```

use std::{env, fs};

use crate::renderer::camera::{Camera, Pose, Size, UP};
use crate::renderer::reference::{self, View};
use crate::renderer::scene::{self, Splat};
use vksort::standalone::{Gpu, PreparedSort};
use vksort::{BitRange, KeyOutput, KeyType, Order, SortRequest, SorterOptions, ValueType};
use vksort_profiles::Quartiles;

/// Views of each scene, spread evenly over an orbit.
const VIEWS: u32 = 4;
/// Least depth that has a key of its own.
const NEAR: f32 = 0.01;
const SIZE: Size = Size { width: 640, height: 360 };

/// How a depth becomes a key.
struct Width {
    name: &'static str,
    key: KeyType,
    bits: std::ops::Range<u32>,
    /// The number of steps from near to far, and how many times as far as the farthest splat far is; `None` for the depth
    /// itself.
    steps: Option<(f32, f32)>,
    /// Least peak signal-to-noise ratio of the scene that comes along, in dB.
    least: f64,
}

/// The first has the order that the others are compared with.
const WIDTHS: [Width; 6] = [
    Width { name: "`f32`", key: KeyType::F32, bits: 0..32, steps: None, least: f64::INFINITY },
    Width { name: "24 bits", key: KeyType::U32, bits: 0..24, steps: Some((16_777_215.0, 1.0)), least: 80.0 },
    Width { name: "16 bits", key: KeyType::U16, bits: 0..16, steps: Some((65_535.0, 1.0)), least: 50.0 },
    Width {
        name: "16 bits, far 16 times away",
        key: KeyType::U16,
        bits: 0..16,
        steps: Some((65_535.0, 16.0)),
        least: 35.0,
    },
    Width { name: "`f32` by bits 8..32", key: KeyType::F32, bits: 8..32, steps: None, least: 50.0 },
    Width { name: "`f32` by bits 16..32", key: KeyType::F32, bits: 16..32, steps: None, least: 30.0 },
];

impl Width {
    fn request(&self) -> SortRequest {
        let farthest = SortRequest::new(self.key).value(ValueType::Index).order(Order::Descending);
        farthest.bits(self.bits.clone()).key_output(KeyOutput::Discarded)
    }

    /// The bits of the key, as `DepthKeys` makes them.
    fn key(&self, depth: f32, far: f32) -> u32 {
        match self.steps {
            None => depth.to_bits(),
            Some((steps, farther)) => (((depth - NEAR) / (farther * far - NEAR)).clamp(0.0, 1.0) * steps) as u32,
        }
    }

    /// The order of a stable sort on the CPU.
    fn expected(&self, keys: &[u32]) -> Vec<u32> {
        let BitRange { low, high } = self.request().bits;
        let mask = u128::MAX >> (128 - (high - low));
        let mut order: Vec<u32> = (0..keys.len() as u32).collect();
        order.sort_by_key(|index| self.key.sortable(keys[*index as usize].into(), Order::Descending) >> low & mask);
        order
    }
}

/// Sorts once, checks the order, and returns it with the time in nanoseconds.
fn sort(width: &Width, sort: &PreparedSort, keys: &[u32], expected: &[u32]) -> (Vec<u32>, f64) {
    let mut order = vec![0; keys.len()];
    match width.key.bits() {
        16 => sort.write_keys(&keys.iter().map(|key| *key as u16).collect::<Vec<_>>()).unwrap(),
        _ => sort.write_keys(keys).unwrap(),
    }
    let steps = sort.run(keys.len() as u32).unwrap();
    sort.read_values(&mut order).unwrap();
    assert!(order == expected, "{} is not in the order of a stable sort on the CPU", width.name);
    (order, steps.iter().map(|step| step.nanoseconds).sum())
}

/// The peak signal-to-noise ratio of two pictures in dB; infinite if they are equal.
fn ratio_in_db(one: &[u8], other: &[u8]) -> f64 {
    assert_eq!(one.len(), other.len());
    let squares: f64 = one.iter().zip(other).map(|(a, b)| f64::from(a.abs_diff(*b)).powi(2)).sum();
    10.0 * (255.0 * 255.0 * one.len() as f64 / squares).log10()
}

/// Prints the table of a scene, and returns the least ratio in dB for each width.
fn table(gpu: &Gpu, name: &str, splats: &[Splat]) -> Vec<f64> {
    let runs: u32 = env::var("VKSORT_RUNS").map_or(3, |runs| runs.parse().expect("VKSORT_RUNS is a number"));
    let count = splats.len() as u32;
    let options = SorterOptions::default();
    let sorts = WIDTHS.map(|width| gpu.sorter(&width.request(), &options).unwrap().prepare(count).unwrap());
    let mut least = vec![f64::INFINITY; WIDTHS.len()];
    let mut times = vec![Vec::new(); WIDTHS.len()];
    let (mut fars, mut passes) = (Vec::new(), vec![0; WIDTHS.len()]);
    for view in 0..VIEWS {
        let pose = Pose::suggest(name, splats, UP, SIZE).orbit(360.0 * view as f32 / VIEWS as f32);
        let camera = Camera::new(pose).unwrap();
        let depths: Vec<f32> = splats.iter().map(|splat| camera.view(splat.position).z).collect();
        let far = depths.iter().copied().fold(NEAR, f32::max);
        fars.push(far);
        let keys = WIDTHS.map(|width| depths.iter().map(|depth| width.key(*depth, far)).collect::<Vec<_>>());
        let expected: Vec<_> = WIDTHS.iter().zip(&keys).map(|(width, keys)| width.expected(keys)).collect();
        let mut reference = Vec::new();
        for (index, width) in WIDTHS.iter().enumerate() {
            let (order, _) = sort(width, &sorts[index], &keys[index], &expected[index]);
            passes[index] = passes[index].max(sorts[index].passes().unwrap().map_or(0, |passes| passes.ran));
            let drawn = reference::render(splats, &order, View { camera: &camera, size: SIZE, antialiased: false });
            if index == 0 {
                reference = drawn;
            } else {
                least[index] = least[index].min(ratio_in_db(&drawn, &reference));
            }
        }
        // All take turns, so that what the machine does besides touches them alike.
        for _ in 0..runs.div_ceil(VIEWS) {
            for (index, width) in WIDTHS.iter().enumerate() {
                times[index].push(sort(width, &sorts[index], &keys[index], &expected[index]).1);
            }
        }
    }
    let far = fars.into_iter().fold(0.0, f32::max);
    println!("{name}: {count} splats, farthest at {far:.1}, {VIEWS} views, {} rounds", times[0].len());
    println!("| key | least of the views | passes that ran | time | over that of `f32` |\n|---|---|---|---|---|");
    for (index, width) in WIDTHS.iter().enumerate() {
        let over: Vec<f64> = times[index].iter().zip(&times[0]).map(|(time, first)| time / first.max(1.0)).collect();
        let (time, over) = (Quartiles::of(&times[index]), Quartiles::of(&over));
        let picture = if least[index].is_finite() { format!("{:.1} dB", least[index]) } else { "equal".into() };
        let (milliseconds, Quartiles { q25, median, q75 }) = (time.median / 1e6, over);
        println!(
            "| {} | {picture} | {} | {milliseconds:.2} ms | {median:.2} ({q25:.2}, {q75:.2}) |",
            width.name, passes[index]
        );
    }
    least
}

/// The scene of the repository is part of the test, which also runs from the bundle.
const OWN: &[u8] = include_bytes!("../../data/playbot.compressed.ply");

#[test]
fn fewer_bits_draw_nearly_the_same_picture() {
    let gpu = Gpu::best().unwrap();
    println!("{}, subgroup size {}", gpu.profile().name, gpu.profile().subgroup_size);
    let own = crate::scenes::read("playbot.compressed.ply", OWN).unwrap().splats;
    for (width, least) in WIDTHS.iter().zip(table(&gpu, "playbot (reduced from 500000)", &own)) {
        assert!(least >= width.least, "{}: {least:.2} dB, needed are {} dB", width.name, width.least);
    }
    let Some(folder) = env::var_os("VKSORT_SCENES") else { return };
    let mut scenes: Vec<_> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    scenes.retain(|path| path.to_string_lossy().ends_with(".compressed.ply"));
    scenes.sort();
    for path in scenes {
        table(&gpu, &path.file_name().unwrap().to_string_lossy(), &scene::load(&path, u64::MAX).unwrap().splats);
    }
}
