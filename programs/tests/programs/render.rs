//! The pictures of the program `splats` against those of the CPU, and against those of wrong orders.
//!
//! `VKSORT_SCENES` names a folder with more scenes. The command of the figures in docs/PERFORMANCE.md:
//!
//! ```text
//! LP_NATIVE_VECTOR_WIDTH=256 VKSORT_SCENES=FOLDER cargo --config scripts/checked.toml test --release \
//!     --package vksort-programs --test programs -- --nocapture in_a_folder
//! ```

use std::path::PathBuf;
use std::time::Duration;
use std::{env, fs, thread};

use crate::made;
use vksort_testing::picture::Picture;
use vksort_testing::process::{program, run_within, said};

/// Peak signal-to-noise ratio in decibels that a right picture has at least.
const RIGHT: f64 = 40.0;
/// Most microseconds of the host's CPU time that a frame takes to record and submit.
const FRAME_MICROS: f64 = 200.0;
/// What a picture in a wrong order must fall below.
const WRONG: f64 = 30.0;

/// A directory of one test's own.
struct Folder(PathBuf);

impl Folder {
    fn new(test: &str) -> Folder {
        let path = env::temp_dir().join(format!("vksort-render-{test}-{}", std::process::id()));
        fs::create_dir_all(&path).unwrap();
        Folder(path)
    }

    /// Runs the program, and gives its stdout.
    fn run(&self, arguments: &[&str]) -> String {
        let mut command = program("splats");
        command.args(arguments).args(["--force"]).current_dir(&self.0);
        if env::var_os("VKSORT_VALIDATE").is_some() {
            command.arg("--validate");
        }
        let output = run_within(Duration::from_secs(120), &mut command);
        let stderr = said(&output.stderr);
        assert!(output.status.success() && stderr.is_empty(), "splats {arguments:?}: {stderr}");
        String::from_utf8(output.stdout).unwrap()
    }

    /// The picture of the device, that of the CPU, and the number of splats that the device has drawn.
    fn draw(&self, arguments: &[&str]) -> (Picture, Picture, usize) {
        let files = ["--frames", "1", "--image", "device.png", "--reference", "cpu.png"];
        let stdout = self.run(&[arguments, &files].concat());
        let read = |name| Picture::read(&self.0.join(name));
        (read("device.png"), read("cpu.png"), drawn(&stdout))
    }

    /// Compares the two, and gives the number of splats.
    fn check(&self, arguments: &[&str]) -> usize {
        let (device, cpu, drawn) = self.draw(arguments);
        let ratio = device.psnr(&cpu);
        println!("{arguments:?}: {drawn} splats, {ratio:.1} dB");
        assert!(ratio >= RIGHT, "{arguments:?}: {ratio} dB, needed are {RIGHT}");
        drawn
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        if !thread::panicking() {
            fs::remove_dir_all(&self.0).unwrap();
        }
    }
}

/// The number of splats in the line of the first frame.
fn drawn(stdout: &str) -> usize {
    let mut lines = stdout.lines().skip_while(|line| !line.starts_with("frame"));
    let line = lines.nth(1).unwrap_or_else(|| panic!("no line of a frame: {stdout}"));
    line.split_whitespace().nth(2).unwrap().parse().unwrap()
}

#[test]
fn pictures_are_those_of_the_cpu_and_wrong_orders_are_not() {
    let folder = Folder::new("orders");
    for scene in [&["--size", "128x72"][..], &["--size", "96x96", "--synthetic", "3000", "--seed", "5"]] {
        folder.check(scene);
        for order in ["unsorted", "reversed"] {
            let (device, cpu, _) = folder.draw(&[scene, &["--order", order]].concat());
            let ratio = device.psnr(&cpu);
            println!("{scene:?} {order}: {ratio:.1} dB");
            assert!(ratio < WRONG, "{scene:?} {order}: {ratio} dB, so the order is not seen");
        }
    }
}

#[test]
fn pictures_of_scenes_in_a_folder_are_those_of_the_cpu() {
    let Some(scenes) = env::var_os("VKSORT_SCENES") else { return };
    let folder = Folder::new("scenes");
    let mut scenes: Vec<_> = fs::read_dir(scenes).unwrap().map(|entry| entry.unwrap().path()).collect();
    scenes.retain(|path| path.to_string_lossy().ends_with(".compressed.ply"));
    scenes.sort();
    for scene in scenes {
        folder.check(&["--scene", scene.to_str().unwrap(), "--size", "960x540"]);
    }
}

#[test]
fn splats_out_of_view_are_culled() {
    let folder = Folder::new("cull");
    let from = |eye, target| {
        let camera = ["--eye", eye, "--target", target];
        folder.check(&[&["--synthetic", "4000", "--size", "80x60"], &camera[..]].concat())
    };
    let all = from("0,0,-9", "0,0,0");
    assert_eq!(all, 4000);
    // From the middle of the scene, with splats behind the camera, beside it and at the border.
    let some = from("0,0,0", "1,0.2,0.1");
    assert!((1..3000).contains(&some), "{some} splats are drawn");
}

#[test]
fn counts_around_those_of_workgroups_and_sizes_that_are_no_multiples() {
    let folder = Folder::new("counts");
    for (count, size) in [(1, "1x1"), (255, "33x17"), (256, "17x33"), (257, "40x16"), (66_000, "31x31")] {
        let given = count.to_string();
        assert_eq!(folder.check(&["--synthetic", &given, "--size", size]), count);
    }
}

/// Keys that are made within the sort give the same picture to a byte.
#[cfg(feature = "visitors")]
#[test]
fn keys_of_a_visitor_are_those_of_the_buffer() {
    let folder = Folder::new("visitor");
    // Few splats are sorted by one workgroup.
    for (count, order) in [("400", "stable"), ("20000", "stable"), ("20000", "reversed"), ("20000", "unsorted")] {
        let draw = |keys| {
            let arguments =
                ["--synthetic", count, "--size", "48x48", "--order", order, "--keys", keys, "--frames", "2"];
            let stdout = folder.run(&[&arguments[..], &["--image", "device.png"]].concat());
            (fs::read(folder.0.join("device.png")).unwrap(), drawn(&stdout))
        };
        assert!(draw("visitor") == draw("buffer"), "{count} splats, {order}: the pictures differ");
    }
}

/// Scenes that no camera was made for: splats that are a million times as long as wide, so large that they reach behind the camera,
/// so small that they fall between pixels, and scenes in other units.
#[test]
fn splats_of_every_shape_and_size_are_those_of_the_cpu() {
    let folder = Folder::new("shapes");
    let mut rng = fastrand::Rng::with_seed(7);
    // By the logarithms of the longest standard deviation and of how many times as long it is as the two others.
    let mut write = |name, count, longest: std::ops::Range<f32>, aspects: [std::ops::Range<f32>; 2], unit: f32| {
        let mut trained = crate::scenes::trained_header(count).into_bytes();
        for _ in 0..count {
            let mut between = |range: &std::ops::Range<f32>| range.start + (range.end - range.start) * rng.f32();
            let position = [0; 3].map(|_| unit * between(&(-2.0..2.0)));
            let color = [0; 3].map(|_| between(&(-1.5..1.5)));
            let longest = between(&longest) + unit.ln();
            let scale = [longest, longest - between(&aspects[0]), longest - between(&aspects[1])];
            let opacity = between(&(-2.0..3.0));
            let rotation = [0; 4].map(|_| between(&(-1.0..1.0)));
            let values = [&position[..], &color, &[opacity], &scale, &rotation].concat();
            trained.extend(values.iter().flat_map(|value| value.to_le_bytes()));
        }
        fs::write(folder.0.join(name), trained).unwrap();
    };
    write("needles.ply", 60, -2.0..2.2, [8.0..14.0, 8.0..14.0], 1.0);
    write("discs.ply", 60, -3.0..1.5, [0.0..0.3, 6.0..14.0], 1.0);
    write("large.ply", 40, 1.0..12.0, [0.0..12.0, 0.0..12.0], 1.0);
    write("small.ply", 400, -12.0..-5.0, [0.0..5.0, 0.0..5.0], 1.0);
    write("millionth.ply", 60, -3.0..2.0, [0.0..9.0, 0.0..9.0], 1e-6);
    write("million.ply", 60, -3.0..2.0, [0.0..9.0, 0.0..9.0], 1e6);
    for (name, unit) in [
        ("needles.ply", 1.0),
        ("discs.ply", 1.0),
        ("large.ply", 1.0),
        ("small.ply", 1.0),
        ("millionth.ply", 1e-6),
        ("million.ply", 1e6),
    ] {
        // From within, with splats on all sides; from before the scene; and from where the program would look.
        let point = |z: f32| format!("{0},{0},{1}", 0.1 * unit, unit * z);
        let (within, before, middle) = (point(-0.5), point(-4.0), point(0.0));
        for camera in [&["--eye", &within, "--target", &middle][..], &["--eye", &before, "--target", &middle], &[]] {
            let drawn = folder.check(&[&["--scene", name, "--size", "128x72"], camera].concat());
            assert!(drawn > 0, "{name} {camera:?}");
        }
    }
}

/// What the low pass makes wider is made fainter if the file says that training did so.
#[test]
fn antialiased_scenes_are_those_of_the_cpu() {
    let folder = Folder::new("antialiased");
    let draw = |comment: &str| {
        let mut rng = fastrand::Rng::with_seed(8);
        let header = crate::scenes::trained_header(300).replace("element vertex", &format!("{comment}element vertex"));
        let mut trained = header.into_bytes();
        for _ in 0..300 {
            let mut between = |least: f32, most: f32| least + (most - least) * rng.f32();
            let position = [0; 3].map(|_| between(-1.0, 1.0));
            let rest =
                [1.0, 0.5, 0.0, 3.0, between(-8.0, -2.0), between(-8.0, -2.0), between(-8.0, -2.0), 1.0, 0.2, 0.5, 0.0];
            trained.extend(position.iter().chain(&rest).flat_map(|value| value.to_le_bytes()));
        }
        fs::write(folder.0.join("scene.ply"), trained).unwrap();
        folder.check(&["--scene", "scene.ply", "--size", "96x64", "--eye", "0,0,-4", "--target", "0,0,0"]);
        Picture::read(&folder.0.join("device.png"))
    };
    let (plain, antialiased) = (draw(""), draw("comment SplatRenderMode: mip\n"));
    let ratio = plain.psnr(&antialiased);
    assert!(ratio < WRONG, "{ratio} dB, so the comment changes nothing");
}

/// A scene in another unit is the same scene. A factor of 2 rounds nothing, so its picture is the same to a byte.
#[test]
fn pictures_do_not_depend_on_the_unit() {
    let folder = Folder::new("units");
    let draw = |exponent: i32| {
        let unit = 2f32.powi(exponent);
        let mut rng = fastrand::Rng::with_seed(12);
        let mut web = Vec::new();
        for _ in 0..200 {
            let position: [f32; 3] = [0; 3].map(|_| unit * (2.0 * rng.f32() - 1.0));
            let scale: [f32; 3] = [0; 3].map(|_| unit * 0.3 * rng.f32().powi(4));
            web.extend([position, scale].concat().iter().flat_map(|value| value.to_le_bytes()));
            web.extend([0; 8].map(|_| rng.u8(1..=255)));
        }
        fs::write(folder.0.join("scene.splat"), web).unwrap();
        let (eye, target) = (format!("{},{},{}", 0.5 * unit, -unit, -3.0 * unit), format!("{},0,0", 0.125 * unit));
        [&["--eye", &eye, "--target", &target][..], &[]].map(|camera| {
            folder.run(
                &[&["--scene", "scene.splat", "--size", "80x60", "--frames", "1", "--image", "a.png"], camera].concat(),
            );
            Picture::read(&folder.0.join("a.png")).rgb
        })
    };
    let pictures = draw(0);
    for exponent in [-10, 10, -50, 50] {
        assert!(draw(exponent) == pictures, "the picture of the scene times 2^{exponent} differs");
    }
}

#[test]
fn formats_show_the_same_scene() {
    let folder = Folder::new("formats");
    let mut rng = fastrand::Rng::with_seed(11);
    let (mut trained, mut web) = (crate::scenes::trained_header(400).into_bytes(), Vec::new());
    let mut spz = [const { Vec::new() }; 5];
    for _ in 0..400 {
        let position: [f32; 3] = std::array::from_fn(|_| 2.0 * rng.f32() - 1.0);
        // .spz has steps of 6 % for scales.
        let scale_steps: [u8; 3] = std::array::from_fn(|_| rng.u8(98..=136));
        let scale = scale_steps.map(|steps| (f32::from(steps) / 16.0 - 10.0).exp());
        let color: [u8; 4] = std::array::from_fn(|_| rng.u8(60..=255));
        let rotation: [u8; 4] = std::array::from_fn(|_| rng.u8(..));
        let bytes = |values: [f32; 3]| values.map(f32::to_le_bytes).concat();
        web.extend([bytes(position), bytes(scale), color.to_vec(), rotation.to_vec()].concat());
        let shown = color.map(|channel| f32::from(channel) / 255.0);
        let harmonic = [0, 1, 2].map(|channel| (shown[channel] - 0.5) / 0.282_094_8);
        let opacity = -(1.0 / shown[3].min(0.9999) - 1.0).ln();
        let turned = rotation.map(|part| f32::from(part) - 128.0);
        let rest = [opacity.to_le_bytes().to_vec(), bytes(scale.map(f32::ln)), turned.map(f32::to_le_bytes).concat()];
        trained.extend([bytes(position), bytes(harmonic), rest.concat()].concat());

        let turned = glam::Vec4::from_array(turned).normalize();
        let fixed = |coordinate: f32| ((coordinate * 4096.0).round() as i32).to_le_bytes()[..3].to_vec();
        let [x, y, z] = position;
        spz[0].extend([x, -y, -z].map(fixed).concat());
        spz[1].push(color[3]);
        spz[2].extend(harmonic.map(|factor| ((0.15 * factor + 0.5) * 255.0).round() as u8));
        spz[3].extend(scale_steps);
        spz[4].extend(made::spz_rotation([turned.y, -turned.z, -turned.w, turned.x]).to_le_bytes());
    }
    fs::write(folder.0.join("web.splat"), web).unwrap();
    fs::write(folder.0.join("trained.ply"), trained).unwrap();
    let header = made::spz_content(3, 400, 0, 0)[..16].to_vec();
    fs::write(folder.0.join("packed.spz"), made::gzip(&[header, spz.concat()].concat())).unwrap();
    let draw = |name| {
        folder.check(&["--scene", name, "--size", "64x64", "--eye", "0,-1,-4", "--target", "0,0,0"]);
        Picture::read(&folder.0.join("device.png"))
    };
    let (web, trained, packed) = (draw("web.splat"), draw("trained.ply"), draw("packed.spz"));
    assert!(web.psnr(&trained) >= RIGHT, "{} dB between formats", web.psnr(&trained));
    assert!(packed.psnr(&trained) >= RIGHT, "{} dB between .spz and .ply", packed.psnr(&trained));
    let background = web.pixel(0, 0);
    assert!((0..64).any(|x| web.pixel(x, 32) != background), "nothing is drawn");
}

#[test]
fn frames_cost_the_host_little_and_are_plotted() {
    let folder = Folder::new("frames");
    let stdout = folder.run(&["--synthetic", "500", "--size", "16x16", "--frames", "25", "--plot", "plot.png"]);
    let host = ["CPU time of recording", "CPU time of submitting"].map(|what| {
        let line = stdout.lines().find(|line| line.starts_with(what)).expect("there is such a line");
        println!("{line}");
        let micros: f64 = line.split_whitespace().nth_back(1).unwrap().parse().unwrap();
        if line.ends_with(" us") { micros } else { f64::INFINITY }
    });
    for pass in ["cull", "keys", "sort", "draw"] {
        assert!(stdout.lines().any(|line| line.starts_with(&format!("{pass} "))), "{stdout}");
    }
    assert!(!Picture::read(&folder.0.join("plot.png")).is_blank());
    // The driver's part is in both. The layer's checks are on the host, and take longer than what they check.
    let sum: f64 = host.iter().sum();
    assert!(env::var_os("VKSORT_VALIDATE").is_some() || sum < FRAME_MICROS, "{host:?} us, allowed are {FRAME_MICROS}");
}
