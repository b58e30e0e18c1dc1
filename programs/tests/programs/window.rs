//! The window of the program `splats`, on a display of the test's own: Xvfb shows it, and xdotool is the user's hand.

use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};
use std::{env, fs, thread};

use ash::vk;
use vksort_testing::picture::Picture;
use vksort_testing::process::{program, run_within};

const WIDTH: usize = 480;
const HEIGHT: usize = 320;
/// Longest wait for the window to react; the first frame compiles.
const PATIENCE: Duration = Duration::from_secs(60);
/// Longer than the slowest driver takes for a frame.
const SLOW_FRAME: Duration = Duration::from_secs(1);
/// Pictures that differ by more show different orders or cameras.
const DIFFERENT: f64 = 30.0;

/// A display without a screen, and a directory with its pixels.
struct Display {
    server: Child,
    name: String,
    folder: PathBuf,
}

impl Display {
    fn open() -> Display {
        let folder = env::temp_dir().join(format!("vksort-window-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        let mut server = Command::new("Xvfb")
            .args(["-displayfd", "1", "-nolisten", "tcp", "-screen", "0", &format!("{WIDTH}x{HEIGHT}x24"), "-fbdir"])
            .arg(&folder)
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("scripts/setup.sh --tests installs Xvfb");
        let mut number = String::new();
        BufReader::new(server.stdout.take().unwrap()).read_line(&mut number).unwrap();
        Display { server, name: format!(":{}", number.trim()), folder }
    }

    /// What the display shows, from its file in the format of xwd: a header of big-endian words, the colours, the pixels.
    fn picture(&self) -> Picture {
        let bytes = fs::read(self.folder.join("Xvfb_screen0")).unwrap();
        let word = |at: usize| u32::from_be_bytes(bytes[4 * at..][..4].try_into().unwrap()) as usize;
        let (header, width, height, depth, row, colours) = (word(0), word(4), word(5), word(11), word(12), word(19));
        assert_eq!((width, height, depth), (WIDTH, HEIGHT, 32));
        let pixels = &bytes[header + 12 * colours..];
        let of_row = |y: usize| pixels[y * row..][..4 * width].chunks_exact(4);
        // The bytes of a pixel are blue, green, red and nothing.
        let rgb = (0..height).flat_map(of_row).flat_map(|pixel| [pixel[2], pixel[1], pixel[0]]).collect();
        Picture { width, height, rgb }
    }

    fn hand(&self, words: &str) -> Output {
        let mut command = Command::new("xdotool");
        let output = run_within(PATIENCE, command.args(words.split(' ')).env("DISPLAY", &self.name));
        assert!(output.stderr.is_empty(), "xdotool {words}: {}", String::from_utf8_lossy(&output.stderr));
        output
    }

    /// The window with that at the start of its title, once there is one.
    fn window(&self, title: &str) -> String {
        let found = || self.hand(&format!("search --name ^{title}")).stdout;
        let found = until(title, || Some(found()).filter(|found| !found.is_empty()));
        String::from_utf8(found).unwrap().trim().to_owned()
    }

    /// The picture that stays, once it does not change any more.
    fn settles(&self) -> Picture {
        let mut last = self.picture();
        until("picture that stays", || {
            thread::sleep(SLOW_FRAME);
            let picture = self.picture();
            let stays = picture.psnr(&last).is_infinite();
            last = picture;
            stays.then_some(())
        });
        last
    }

    /// The first picture to which this applies.
    fn shows(&self, what: &str, applies: impl Fn(&Picture) -> bool) -> Picture {
        until(what, || Some(self.picture()).filter(&applies))
    }
}

impl Drop for Display {
    fn drop(&mut self) {
        let _ = self.server.kill();
        let _ = self.server.wait();
        let _ = fs::remove_dir_all(&self.folder);
    }
}

fn until<T>(what: &str, mut get: impl FnMut() -> Option<T>) -> T {
    let started = Instant::now();
    loop {
        if let Some(got) = get() {
            return got;
        }
        assert!(started.elapsed() < PATIENCE, "no {what} within {PATIENCE:?}");
        thread::sleep(Duration::from_millis(100));
    }
}

fn splats(arguments: &[&str]) -> Command {
    let mut command = program("splats");
    command.args(arguments).env_remove("WAYLAND_DISPLAY").env_remove("WAYLAND_SOCKET");
    if env::var_os("VKSORT_VALIDATE").is_some() {
        command.arg("--validate");
    }
    command
}

#[test]
fn keys_choose_the_order_and_the_pointer_moves_the_camera() {
    let display = Display::open();
    let arguments = ["--window", "--size", &format!("{WIDTH}x{HEIGHT}")];
    let mut run = splats(&arguments);
    let run = run.env("DISPLAY", &display.name).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    let window = display.window("splats,.stable:");
    display.hand(&format!("windowfocus {window}"));
    display.shows("splats", |picture| picture.pixel(WIDTH / 2, HEIGHT / 2) != picture.pixel(0, 0));
    let stable = display.settles();

    let order = |key: &str, name: &str| {
        display.hand(&format!("key {key}"));
        display.window(&format!("splats,.{name}:"));
        display.settles()
    };
    let (reversed, unsorted) = (order("r", "reversed"), order("u", "unsorted"));
    for (one, other) in [(&stable, &reversed), (&stable, &unsorted), (&reversed, &unsorted)] {
        assert!(one.psnr(other) < DIFFERENT, "{} dB", one.psnr(other));
    }
    assert!(order("s", "stable").psnr(&stable).is_infinite(), "the first order shows the first picture");

    let after = |words: &str| {
        display.hand(words);
        display.settles()
    };
    let turned = after("mousemove 200 200 mousedown 1 mousemove 300 210 mousemove 320 220 mouseup 1");
    assert!(turned.psnr(&stable) < DIFFERENT, "the pointer turns the camera");
    let nearer = after("click 4 click 4 click 4");
    assert!(nearer.psnr(&turned) < DIFFERENT, "the wheel moves it");
    let back = after("click 5 click 5 click 5");
    assert!(back.psnr(&turned) > DIFFERENT && back.psnr(&nearer) < DIFFERENT, "and back");

    // The old picture has splats at the right edge of the smaller window.
    let background = back.pixel(0, 0);
    assert_ne!(back.pixel(WIDTH / 2 - 1, HEIGHT / 4), background);
    let (width, height) = (WIDTH / 2, HEIGHT / 2);
    display.hand(&format!("windowsize {window} {width} {height}"));
    display.shows("a whole picture in a smaller window", |picture| {
        picture.pixel(WIDTH - 1, HEIGHT - 1) == [0; 3]
            && picture.pixel(width - 1, height / 2) == background
            && picture.pixel(width / 2, height / 2) != background
    });
    display.window("splats,.stable:");
    display.hand("key Escape");
    let output = run_to_its_end(run);
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success() && stderr.is_empty(), "{}: {stderr}", output.status);
}

fn run_to_its_end(mut run: Child) -> Output {
    until("end of the program", || run.try_wait().unwrap());
    run.wait_with_output().unwrap()
}

#[test]
fn without_a_display_one_line_says_so() {
    let output = run_within(PATIENCE, splats(&["--window"]).env_remove("DISPLAY"));
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert!(!output.status.success());
    assert!(stderr.starts_with("error: there is no display for a window"), "{stderr}");
    assert_eq!(stderr.lines().count(), 1, "{stderr}");
}

#[test]
fn images_have_the_size_of_the_surface_or_one_within_its_bounds() {
    let of = |width, height| vk::Extent2D { width, height };
    let bounds = vk::SurfaceCapabilitiesKHR {
        current_extent: of(u32::MAX, u32::MAX),
        min_image_extent: of(16, 8),
        max_image_extent: of(640, 480),
        ..Default::default()
    };
    assert_eq!(crate::renderer::extent::extent_of(&bounds, (320, 240)), of(320, 240));
    assert_eq!(crate::renderer::extent::extent_of(&bounds, (4, 4)), of(16, 8));
    assert_eq!(crate::renderer::extent::extent_of(&bounds, (4096, 9)), of(640, 9));
    let fixed = vk::SurfaceCapabilitiesKHR { current_extent: of(0, 0), ..bounds };
    assert_eq!(crate::renderer::extent::extent_of(&fixed, (320, 240)), of(0, 0));
    let hidden = vk::SurfaceCapabilitiesKHR { min_image_extent: of(0, 0), max_image_extent: of(0, 0), ..bounds };
    assert_eq!(crate::renderer::extent::extent_of(&hidden, (320, 240)), of(0, 0));
}
