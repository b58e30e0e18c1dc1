//! The program `splats`, run as a user runs it: on scenes written here, on bad input, and on real scenes.

use std::fs;
use std::path::PathBuf;
use std::process::ExitStatus;
use std::time::Duration;
use std::{env, thread};

use crate::made::{self, Element, Encoding};
use vksort_testing::picture::Picture;
use vksort_testing::process::{program, run_within, said};

/// A directory of one test's own.
struct Scratch(PathBuf);

/// How a run of the program ended.
struct Run {
    status: ExitStatus,
    stdout: String,
    stderr: String,
}

impl Scratch {
    fn new(test: &str) -> Scratch {
        let path = env::temp_dir().join(format!("vksort-splats-{test}-{}", std::process::id()));
        fs::create_dir_all(&path).unwrap();
        Scratch(path)
    }

    fn write(&self, name: &str, bytes: &[u8]) -> PathBuf {
        let path = self.0.join(name);
        fs::write(&path, bytes).unwrap();
        path
    }

    fn names(&self) -> Vec<String> {
        let entries = fs::read_dir(&self.0).unwrap();
        let mut names: Vec<String> =
            entries.map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned()).collect();
        names.sort();
        names
    }

    /// Runs the program in this directory.
    fn run(&self, arguments: &[&str], seconds: u64) -> Run {
        let mut command = program("splats");
        let output = run_within(Duration::from_secs(seconds), command.args(arguments).current_dir(&self.0));
        let stdout = String::from_utf8(output.stdout).unwrap();
        Run { status: output.status, stdout, stderr: said(&output.stderr) }
    }

    /// Runs the program, which must succeed silently on stderr, and gives its stdout.
    fn succeed(&self, arguments: &[&str], seconds: u64) -> String {
        let run = self.run(arguments, seconds);
        assert!(run.status.success(), "splats {arguments:?}: {}", run.stderr);
        assert_eq!(run.stderr, "", "splats {arguments:?}");
        run.stdout
    }

    /// Runs the program, which must fail with one line that holds every given part, and leave no file behind.
    fn fail(&self, arguments: &[&str], parts: &[&str]) {
        let before = self.names();
        let run = self.run(arguments, 120);
        let line = run.stderr.strip_suffix('\n').unwrap_or(&run.stderr);
        assert!(!run.status.success(), "splats {arguments:?} succeeded: {}", run.stdout);
        assert!(run.status.code().is_some(), "splats {arguments:?} ended by {}", run.status);
        assert!(line.starts_with("error: ") && !line.contains('\n'), "splats {arguments:?}: {line}");
        for part in parts {
            assert!(line.contains(part), "splats {arguments:?}: {part:?} is missing in {line:?}");
        }
        assert_eq!(self.names(), before, "splats {arguments:?} left a file behind");
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        if !thread::panicking() {
            fs::remove_dir_all(&self.0).unwrap();
        }
    }
}

const SPLATS: usize = 300;
const CHUNK_PROPERTIES: [&str; 18] = [
    "min_x",
    "min_y",
    "min_z",
    "max_x",
    "max_y",
    "max_z",
    "min_scale_x",
    "min_scale_y",
    "min_scale_z",
    "max_scale_x",
    "max_scale_y",
    "max_scale_z",
    "min_r",
    "min_g",
    "min_b",
    "max_r",
    "max_g",
    "max_b",
];
/// Positions are within -2 to 2, logarithms of scales within -5 to 0, colours within 0 to 1.
const CHUNK: [f32; 18] =
    [-2.0, -2.0, -2.0, 2.0, 2.0, 2.0, -5.0, -5.0, -5.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0, 1.0, 1.0];
const NOT_TURNED: u32 = 512 << 20 | 512 << 10 | 512;

/// A splat in fractions of the chunk's ranges.
#[derive(Clone, Copy)]
struct Splat {
    position: [f32; 3],
    rotation: u32,
    scale: [f32; 3],
    color: u32,
}

impl Splat {
    fn at(x: f32, y: f32, z: f32, color: u32) -> Splat {
        Splat {
            position: [x, y, z].map(|coordinate| (coordinate + 2.0) / 4.0),
            rotation: NOT_TURNED,
            scale: [0.4; 3],
            color,
        }
    }

    fn words(self) -> [u32; 4] {
        [pack_11_10_11(self.position), self.rotation, pack_11_10_11(self.scale), self.color]
    }
}

fn pack_11_10_11([x, y, z]: [f32; 3]) -> u32 {
    let bits = |fraction: f32, bits: u32| (fraction * ((1 << bits) - 1) as f32).round() as u32;
    bits(x, 11) << 21 | bits(y, 10) << 11 | bits(z, 11)
}

fn header(chunks: &str, vertices: &str) -> String {
    let mut text = format!("ply\nformat binary_little_endian 1.0\ncomment test\nelement chunk {chunks}\n");
    for name in CHUNK_PROPERTIES {
        text += &format!("property float {name}\n");
    }
    text += &format!("element vertex {vertices}\n");
    for name in ["position", "rotation", "scale", "color"] {
        text += &format!("property uint packed_{name}\n");
    }
    text + "end_header\n"
}

fn payload(chunk: [f32; 18], splats: &[Splat]) -> Vec<u8> {
    let chunks = chunk.map(f32::to_le_bytes).concat().repeat(splats.len().div_ceil(256));
    let words = splats.iter().flat_map(|splat| splat.words()).flat_map(u32::to_le_bytes);
    chunks.into_iter().chain(words).collect()
}

/// A scene of two chunks: the given splats between others that cannot be seen, many of them at the same depth.
fn scene(seen: &[Splat]) -> Vec<u8> {
    let mut rng = fastrand::Rng::with_seed(7);
    let mut splats: Vec<Splat> =
        (0..SPLATS - seen.len()).map(|index| Splat::at(rng.f32(), rng.f32(), (index % 3) as f32, 0)).collect();
    for (index, splat) in seen.iter().enumerate() {
        splats.insert(100 * index, *splat);
    }
    [header("2", "300").into_bytes(), payload(CHUNK, &splats)].concat()
}

fn is(pixel: [u8; 3], [r, g, b]: [bool; 3]) -> bool {
    let bright = |channel: usize, wanted: bool| if wanted { pixel[channel] > 150 } else { pixel[channel] < 80 };
    bright(0, r) && bright(1, g) && bright(2, b)
}

const RED: u32 = 0xFF00_00FF;
const GREEN: u32 = 0x00FF_00FF;
const BLUE: u32 = 0x0000_FFFF;
const VIEW: [&str; 8] = ["--eye", "0,0,-5", "--target", "0,0,0", "--size", "200x200", "--image", "out.png"];

fn draw(test: &str, seen: &[Splat]) -> Picture {
    let scratch = Scratch::new(test);
    scratch.write("scene.ply", &scene(seen));
    let stdout = scratch.succeed(&[&["--scene", "scene.ply", "--frames", "3"], &VIEW[..]].concat(), 120);
    assert!(stdout.contains("scene.ply, 300 splats"), "{stdout}");
    assert!(stdout.contains("every order equals the stable sort on the CPU"), "{stdout}");
    let image = Picture::read(&scratch.0.join("out.png"));
    assert_eq!((image.width, image.height), (200, 200));
    image
}

#[test]
fn near_splats_cover_far_ones_whatever_their_order_in_the_file() {
    let (near, far) = (Splat::at(0.0, 0.0, -1.0, RED), Splat::at(0.0, 0.0, 1.0, GREEN));
    for (test, splats) in [("near-first", [near, far]), ("far-first", [far, near])] {
        let image = draw(test, &splats);
        assert!(is(image.pixel(100, 100), [true, false, false]), "{:?}", image.pixel(100, 100));
    }
}

/// Only the scenes that have one are shown from a pose of their own.
#[test]
fn a_scene_is_shown_whole_whatever_its_name_begins_with() {
    let scratch = Scratch::new("names");
    let camera = |name: &str| {
        scratch.write(name, &scene(&[Splat::at(0.0, 0.0, 0.0, RED)]));
        let stdout = scratch.succeed(&["--scene", name, "--frames", "1", "--size", "8x8"], 120);
        stdout.lines().find(|line| line.starts_with("camera")).unwrap().to_string()
    };
    let own = camera("scene.ply");
    assert_eq!([camera("guitar_solo.ply"), camera("playbot.ply")], [own.clone(), own.clone()]);
    assert_ne!(camera("guitar.compressed.ply"), own);
}

#[test]
fn pictures_are_upright_and_not_mirrored() {
    // y points down, and x to the right for an eye before the scene.
    let image = draw("upright", &[Splat::at(1.0, 1.0, 0.0, RED), Splat::at(-1.0, -1.0, 0.0, BLUE)]);
    // 1 of 5 away at a vertical field of view of 50 degrees: 43 pixels from the middle.
    assert!(is(image.pixel(143, 143), [true, false, false]), "{:?}", image.pixel(143, 143));
    assert!(is(image.pixel(57, 57), [false, false, true]), "{:?}", image.pixel(57, 57));
}

#[test]
fn rotations_are_decoded() {
    // Needles along x, turned about z by 45 and by 135 degrees: the largest component is w, then z.
    let fraction = |value: f32| ((value / std::f32::consts::SQRT_2 + 0.5) * 1023.0).round() as u32;
    let small = fraction(22.5f32.to_radians().sin());
    let turned = [512 << 20 | 512 << 10 | small, 3 << 30 | small << 20 | 512 << 10 | 512];
    let needle = |x, rotation| Splat { rotation, scale: [0.8, 0.4, 0.4], ..Splat::at(x, 0.0, 0.0, RED) };
    let image = draw("rotations", &[needle(-1.0, turned[0]), needle(1.0, turned[1])]);
    let red = |x: usize, y: usize| image.pixel(x, y)[0] > 100;
    // Ten pixels from the middle of each, to the four diagonal directions.
    for (middle, falls) in [(57, true), (143, false)] {
        assert_eq!(red(middle + 10, 110), falls, "down right of {middle}");
        assert_eq!(red(middle - 10, 90), falls, "up left of {middle}");
        assert_eq!(red(middle - 10, 110), !falls, "down left of {middle}");
        assert_eq!(red(middle + 10, 90), !falls, "up right of {middle}");
    }
}

#[test]
fn other_elements_are_passed_over() {
    let scratch = Scratch::new("elements");
    let text = header("2", "300").replace("element vertex", "element sh 5\nproperty uchar f\nelement vertex");
    let mut body = payload(CHUNK, &[Splat::at(0.0, 0.0, 0.0, RED); SPLATS]);
    body.splice(2 * 72..2 * 72, [1, 2, 3, 4, 5]);
    scratch.write("scene.ply", &[text.as_bytes(), &body].concat());
    scratch.succeed(&[&["--scene", "scene.ply", "--frames", "1"], &VIEW[..]].concat(), 120);
    let image = Picture::read(&scratch.0.join("out.png"));
    assert!(is(image.pixel(100, 100), [true, false, false]), "{:?}", image.pixel(100, 100));
}

#[test]
fn an_empty_scene_has_nothing_to_sort() {
    let scratch = Scratch::new("empty");
    scratch.write("scene.ply", header("0", "0").as_bytes());
    let stdout = scratch.succeed(&["--scene", "scene.ply"], 60);
    assert!(stdout.contains("nothing to sort"), "{stdout}");
    for flag in ["--image", "--reference", "--plot"] {
        scratch.fail(&["--scene", "scene.ply", flag, "out.png"], &[flag, "0 splats", "1 or more"]);
    }
    assert_eq!(scratch.names(), ["scene.ply"]);
}

#[test]
fn blank_pictures_say_why_they_are() {
    let scratch = Scratch::new("blank");
    scratch.write("clear.ply", &scene(&[]));
    let red = [Splat::at(0.0, 0.0, 0.0, RED); SPLATS];
    scratch.write("red.ply", &[header("2", "300").into_bytes(), payload(CHUNK, &red)].concat());
    scratch.write("mixed.ply", &scene(&red[..2]));
    let blank = |arguments: &[&str], parts: &[&str]| {
        let image = ["--frames", "1", "--size", "40x30", "--image", "out.png"];
        scratch.fail(&[arguments, &image].concat(), &[&["the picture is blank: "], parts].concat());
    };
    blank(&["--scene", "clear.ply"], &["all 300 splats are transparent, with an opacity of at most 1/255"]);
    let behind = ["--eye", "0,0,5", "--target", "0,0,9"];
    blank(&[&["--scene", "red.ply"], &behind[..]].concat(), &["all 300 splats are behind the camera", "without --eye"]);
    blank(&["--scene", "red.ply", "--eye", "0,0,-5", "--target", "9,0,-5"], &["all 300 splats are outside"]);
    let parts = ["298 splats are transparent", "2 splats are behind the camera", "--target"];
    blank(&[&["--scene", "mixed.ply"], &behind[..]].concat(), &parts);
}

/// A column that is red at its end of greatest z.
#[test]
fn up_is_where_it_is_said_to_be() {
    let scratch = Scratch::new("up");
    let column: Vec<Splat> = (0..=20)
        .map(|step| Splat::at(0.0, 0.0, 0.15 * step as f32 - 1.5, if step > 10 { RED } else { BLUE }))
        .collect();
    let bytes = [header("1", "21").into_bytes(), payload(CHUNK, &column)].concat();
    scratch.write("column.ply", &bytes);
    let is_red_above = |up: &str| {
        let image = ["--frames", "1", "--size", "60x60", "--image", "out.png", "--force", "--up", up];
        scratch.succeed(&[&["--scene", "column.ply"], &image[..]].concat(), 120);
        let image = Picture::read(&scratch.0.join("out.png"));
        let row = |channel: usize, other: usize| {
            let drawn = (0..3600).filter(|place| {
                let pixel = image.pixel(place % 60, place / 60);
                pixel[channel] > 100 && pixel[other] < 90
            });
            let rows: Vec<f32> = drawn.map(|place| (place / 60) as f32).collect();
            rows.iter().sum::<f32>() / rows.len() as f32
        };
        let (red, blue) = (row(0, 2), row(2, 0));
        assert!((red - blue).abs() > 10.0, "--up {up}: red is at {red}, blue at {blue}");
        red < blue
    };
    assert!(is_red_above("z") && is_red_above("0,0,2.5"));
    assert!(!is_red_above("-z"));
}

/// Refused before it is made, which would take minutes and gigabytes.
#[test]
fn scenes_larger_than_the_device_are_refused_at_once() {
    let device = &vksort::standalone::Gpu::devices().unwrap()[0];
    let most = device.profile.as_ref().unwrap().max_storage_range_bytes / 16;
    if most >= 50_000_000 {
        return println!("not tested: {} draws more splats than are generated", device.name);
    }
    let scratch = Scratch::new("large");
    let started = std::time::Instant::now();
    let arguments = ["--synthetic", "5e7", "--device", "0", "--image", "out.png"];
    scratch.fail(&arguments, &["50000000 splats", "allowed", "at most "]);
    assert!(started.elapsed() < Duration::from_secs(20), "it took {:?}", started.elapsed());
}

/// lavapipe crashes in draws with vectors of 512 bits.
#[test]
fn a_driver_that_crashes_in_draws_is_refused_before_it_does() {
    let devices = vksort::standalone::Gpu::devices().unwrap();
    if !devices.iter().any(|device| device.name.contains("llvmpipe")) {
        return println!("not tested: there is no lavapipe");
    }
    let mut command = program("splats");
    command.args(["--synthetic", "100", "--frames", "1", "--size", "8x8", "--device", "llvmpipe"]);
    let mut stderr = |bits: &str| {
        let output = run_within(Duration::from_secs(60), command.env("LP_NATIVE_VECTOR_WIDTH", bits));
        String::from_utf8(output.stderr).unwrap()
    };
    let line = stderr("512");
    assert!(line.starts_with("error: llvmpipe ") && line.contains("LP_NATIVE_VECTOR_WIDTH=256"), "{line}");
    assert_eq!(stderr("256"), "");
}

#[test]
fn what_is_not_drawn_is_said() {
    let scratch = Scratch::new("said");
    let element = Element::trained("float", 3).set(1, "y", f64::NAN).with("float", "f_rest_0", &[0.5]);
    scratch.write("scene.ply", &made::ply(Encoding::Big, &[], &[element]));
    let stdout = scratch.succeed(&["--scene", "scene.ply", "--frames", "1", "--size", "40x30"], 120);
    let lines: Vec<&str> = stdout.lines().take(3).collect();
    assert_eq!(lines[0], "scene      scene.ply, 2 splats");
    assert!(lines[1].starts_with("left out   1 of 3 splats, the first is splat 1: position is [0.125, NaN, 3.5]"));
    assert!(lines[2].starts_with("colours    of degree 0, "), "{stdout}");
}

#[test]
fn bad_scenes_end_in_one_line() {
    let good = header("2", "300");
    let body = payload(CHUNK, &[Splat::at(0.0, 0.0, 0.0, RED); SPLATS]);
    let with = |header: String| [header.into_bytes(), body.clone()].concat();
    let range = |property: &str, value: f32| {
        let mut chunk = CHUNK;
        chunk[CHUNK_PROPERTIES.iter().position(|name| *name == property).unwrap()] = value;
        [good.clone().into_bytes(), payload(chunk, &[Splat::at(0.0, 0.0, 0.0, RED); SPLATS])].concat()
    };
    let truncated = with(good.clone())[..good.len() + body.len() - 1].to_vec();
    let vertex = &good[good.find("element vertex").unwrap()..good.find("end_header").unwrap()];

    let cases: Vec<(&str, Vec<u8>, Vec<&str>)> = vec![
        ("nothing", vec![], vec!["empty"]),
        ("text", b"hello\n".to_vec(), vec!["begins with hello"]),
        ("bytes", vec![0xFF; 1000], vec!["begins with \\xff"]),
        ("one long line", [&b"ply\n"[..], &[b'a'; 1 << 20]].concat(), vec!["no PLY header"]),
        ("cut header", good.as_bytes()[..200].to_vec(), vec!["no PLY header"]),
        ("not ascii", with(good.replace("binary_little_endian", "ascii")), vec!["element chunk", "is not a number"]),
        ("no chunk", with(good.replace("element chunk", "element lump")), vec!["chunk", "missing"]),
        ("no vertex", with(good.replace(vertex, "")), vec!["vertex", "missing"]),
        ("no range", with(good.replace("property float max_y\n", "")), vec!["chunk", "max_y"]),
        ("half a colour", with(good.replace("property float max_b\n", "")), vec!["chunk", "max_b"]),
        ("no word", with(good.replace("property uint packed_scale\n", "")), vec!["vertex", "packed_scale"]),
        (
            "wrong type",
            with(good.replace("uint packed_color", "int packed_color")),
            vec!["packed_color", "Int", "UInt"],
        ),
        ("few chunks", with(header("1", "300")), vec!["chunk has 1", "needed are 2", "300"]),
        ("truncated", truncated, vec!["entry 299 of element vertex", "the file ends"]),
        ("a billion", with(header("3906250", "1000000000")), vec!["1000000000 splats", "at most"]),
        ("too many", with(header("2", "18446744073709551615")), vec!["18446744073709551615"]),
        ("overflow", with(header("18446744073709551615", "300")), vec!["of element chunk", "the file ends"]),
        ("no number", with(header("2", "99999999999999999999999")), vec!["malformed", "99999999999999999999999"]),
        ("nan", range("min_x", f32::NAN), vec!["none of 300 splats", "position", "splat 0", "finite"]),
        ("infinite", range("max_z", f32::INFINITY), vec!["position", "splat 0", "finite"]),
        ("scale", range("max_scale_y", 1000.0), vec!["scale", "splat 0", "finite"]),
        ("colour", range("max_g", f32::NAN), vec!["color", "splat 0", "finite"]),
    ];
    let scratch = Scratch::new("bad-scenes");
    for (name, bytes, parts) in cases {
        let name = format!("{name}.ply");
        scratch.write(&name, &bytes);
        let parts = [&parts[..], &[name.as_str()]].concat();
        scratch.fail(&["--scene", &name, "--frames", "1", "--image", "out.png"], &parts);
    }
    scratch.fail(&["--scene", "missing.ply", "--image", "out.png"], &["missing.ply"]);
    scratch.fail(&["--scene", ".", "--image", "out.png"], &["not a file"]);
}

#[test]
fn bad_arguments_end_in_one_line() {
    let scratch = Scratch::new("bad-arguments");
    scratch.write("scene.ply", &scene(&[]));
    let cases: [(&[&str], &[&str]); 22] = [
        (&["--up", "w"], &["--up", "'w'", "-z"]),
        (&["--up", "0,0,0"], &["--up", "0,0,0", "not all zero"]),
        (&["--up", "1,nan,0"], &["--up", "1,nan,0", "finite"]),
        (&["--eye", "1,2,3", "--target", "1,2,3"], &["eye is [1, 2, 3]", "target is [1, 2, 3]"]),
        (&["--eye", "nan,0,0"], &["--eye", "nan,0,0", "finite"]),
        (&["--eye", "1,inf,0"], &["--eye", "1,inf,0", "finite"]),
        (&["--target", "1,2"], &["--target", "1,2", "three"]),
        (&["--target", "-1,2,x"], &["--target", "-1,2,x", "three"]),
        (&["--size", "0x10"], &["--size", "0x10", "1 to 8192"]),
        (&["--size", "10"], &["--size", "10", "WIDTHxHEIGHT"]),
        (&["--size", "axb"], &["--size", "axb", "WIDTHxHEIGHT"]),
        (&["--size", "9000x10"], &["--size", "9000x10", "1 to 8192"]),
        (&["--frames", "0"], &["--frames", "0"]),
        (&["--order", "sideways"], &["--order", "sideways"]),
        (&["--plot", "plot.svg"], &["--plot", "plot.svg", ".png"]),
        (&["--reference", "out.png"], &["--image", "--reference", "out.png", "different files"]),
        (&["--image", "nowhere/out.png"], &["--image", "nowhere", "not a directory"]),
        (&["--image", "."], &["--image"]),
        (&["--synthetic", "10"], &["--synthetic", "--scene"]),
        (&["--device", "no such device"], &["no such device"]),
        (&["--algorithm", "bogo"], &["bogo", "onesweep"]),
        (&["--bogus"], &["--bogus"]),
    ];
    for (arguments, parts) in cases {
        let base: &[&str] = match arguments.contains(&"--image") {
            true => &["--scene", "scene.ply"],
            false => &["--scene", "scene.ply", "--image", "out.png"],
        };
        scratch.fail(&[base, arguments].concat(), parts);
    }
}

/// The scene that comes along, one made up, and those of a folder that `VKSORT_SCENES` names.
#[test]
fn scenes_are_sorted() {
    let scratch = Scratch::new("scenes");
    let check = |arguments: &[&str], count: &str| {
        let stdout = scratch.succeed(&[arguments, &["--frames", "2", "--size", "160x90"]].concat(), 300);
        assert!(stdout.contains(&format!("{count} splats")), "{stdout}");
        assert!(stdout.contains("every order equals the stable sort on the CPU"), "{stdout}");
    };
    check(&[], "playbot (reduced from 500000), 18000");
    check(&["--synthetic", "1e5", "--seed", "3"], "seed 3, 100000");
    let Some(folder) = env::var_os("VKSORT_SCENES") else { return };
    for entry in fs::read_dir(folder).unwrap().map(|entry| entry.unwrap()) {
        if entry.file_name().to_string_lossy().ends_with(".compressed.ply") {
            check(&["--scene", entry.path().to_str().unwrap()], "");
        }
    }
}

#[test]
fn pictures_are_png_and_overwrite_nothing() {
    let scratch = Scratch::new("pictures");
    scratch.fail(&["--image", "a.jpg"], &["--image", "a.jpg", ".png"]);
    let run = ["--synthetic", "1000", "--frames", "1", "--size", "40x30", "--image", "a.png"];
    let stdout = scratch.succeed(&run, 120);
    assert!(stdout.ends_with("written    a.png\n"), "{stdout}");
    scratch.fail(&run, &["--image", "a.png", "exists", "--force"]);
    scratch.succeed(&[&run[..], &["--force"]].concat(), 120);
}
