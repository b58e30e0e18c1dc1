//! How programs end where they cannot write: with exit code 1 and one line, and with all files as they were.
//!
//! Each obstacle is a script of the shell, which ends with the names and contents of the folder. Those with a file system of their own
//! mount it in a namespace of users, so they need no rights; root passes over permissions, but not over a disk that is read-only, or
//! over /sys, where nobody makes files. Where such namespaces are forbidden, these two obstacles are left out, and a line says so.

use std::process::Command;

use vksort_testing::process::{example, program, said};

use super::files::Dir;
use super::run;

/// What is in the way of an output.
struct Obstacle {
    name: &'static str,
    /// Makes it in the folder `$0`, before the program runs.
    before: &'static str,
    /// The output; `@` is the folder.
    out: &'static str,
    /// Part of the line that the program ends with.
    said: &'static str,
    mounts: bool,
}

const fn obstacle(name: &'static str, before: &'static str, out: &'static str, said: &'static str) -> Obstacle {
    Obstacle { name, before, out, said, mounts: false }
}

const fn disk(name: &'static str, before: &'static str, said: &'static str) -> Obstacle {
    Obstacle { name, before, out: "@/out.png", said, mounts: true }
}

const OBSTACLES: [Obstacle; 8] = [
    obstacle("a folder for a file", "mkdir \"$0/out.png\"", "@/out.png", "is a directory"),
    obstacle("a folder that is not there", ":", "@/none/out.png", "is not a directory"),
    obstacle("a folder in which nobody makes files", ":", "/sys/out.png", "denied"),
    obstacle("a device that is full", ":", "/dev/full", "No space left"),
    // Its unit is 512 bytes.
    obstacle(
        "a limit on the size of files",
        "printf precious > \"$0/out.png\"; ulimit -f 0",
        "@/out.png",
        "File too large",
    ),
    obstacle("the same for a new file", "ulimit -f 0", "@/out.png", "File too large"),
    disk("a disk that is full", "head -c 1000000 /dev/zero > \"$0/fill\" 2> /dev/null", "No space left"),
    disk("a disk that is read-only", "mount -o remount,ro none \"$0\"", "Read-only"),
];

/// The folder after the program, whose exit code the script takes.
const AROUND: &str = "\"$@\" > /dev/null; code=$?; cd \"$0\"; ls -AR; cat out.png 2> /dev/null; exit $code";

/// Programs that write files, and how they do that at little cost; `@` is the output.
fn writers(keys: &str) -> Vec<(&'static str, Command, Vec<String>)> {
    let record = concat!(env!("CARGO_MANIFEST_DIR"), "/../lab/record/gpu-compilers.csv");
    let words = |text: &str| text.split(' ').map(|word| word.replace("KEYS", keys).replace("RECORD", record)).collect();
    let scene = "--synthetic 9 --size 64x64 --frames 1 --force";
    let splats = |flag: &str| words(&format!("{scene} {flag} @"));
    vec![
        ("--out-keys", program("sort"), words("--keys KEYS --force --out-keys @")),
        ("--argsort", program("sort"), words("--keys KEYS --force --argsort @")),
        ("--image", program("splats"), splats("--image")),
        ("--reference", program("splats"), splats("--reference")),
        ("--plot", program("splats"), splats("--plot")),
        ("--image", example("tiles"), words("--size 64x64 --force --image @")),
        ("--report", program("devices"), words("--device 0 --force --report @")),
        ("--out", program("pipelines"), words("--plot RECORD --out @")),
    ]
}

/// Runs a program behind an obstacle: its exit code, what it says on stderr, and the folder after it.
fn behind(obstacle: &Obstacle, dir: &Dir, writer: &(&str, Command, Vec<String>)) -> (Option<i32>, String, String) {
    let (_, program, arguments) = writer;
    let folder = dir.path("folder");
    std::fs::create_dir(&folder).unwrap();
    let kept = if obstacle.mounts { "printf precious > \"$0/out.png\"; " } else { "" };
    let mounted = if obstacle.mounts { "mount -t tmpfs -o size=64k none \"$0\"; " } else { "" };
    let script = format!("{mounted}{kept}{}; {AROUND}", obstacle.before);
    let mut command = if obstacle.mounts { Command::new("unshare") } else { Command::new("sh") };
    if obstacle.mounts {
        command.args(["--user", "--map-root-user", "--mount", "sh"]);
    }
    command.args(["-c", &script, &folder]).arg(program.get_program());
    command.args(arguments.iter().map(|argument| argument.replace('@', &obstacle.out.replace('@', &folder))));
    let output = run(&mut command);
    std::fs::remove_dir_all(&folder).unwrap();
    (output.status.code(), said(&output.stderr), String::from_utf8_lossy(&output.stdout).into_owned())
}

/// What the folder has to hold: what the obstacle left there.
fn expected(obstacle: &Obstacle) -> &'static str {
    match (obstacle.mounts, obstacle.name) {
        (true, "a disk that is full") => ".:\nfill\nout.png\nprecious",
        (true, _) => ".:\nout.png\nprecious",
        (_, "a folder for a file") => ".:\nout.png\n\n./out.png:\n",
        (_, "a limit on the size of files") => ".:\nout.png\nprecious",
        _ => ".:\n",
    }
}

#[test]
fn programs_that_cannot_write_leave_files_as_they_were() {
    let dir = Dir::new("exits");
    let rows: Vec<u8> = (0..20_000u32).rev().flat_map(u32::to_le_bytes).collect();
    let keys = dir.write("k.npy", "'<u4'", &[20_000], &rows);
    let before = std::fs::read(&keys).unwrap();
    let mounts = Command::new("unshare").args(["--user", "--map-root-user", "--mount", "true"]).output();
    let mounts = mounts.is_ok_and(|output| output.status.success());
    let (mut tried, mut wrong) = (0, Vec::new());
    for obstacle in &OBSTACLES {
        if obstacle.mounts && !mounts {
            println!("left out, as namespaces of users are forbidden: {}", obstacle.name);
            continue;
        }
        for writer in writers(&keys) {
            let (code, stderr, folder) = behind(obstacle, &dir, &writer);
            let line = stderr.lines().count() == 1 && stderr.starts_with("error: ");
            let named = stderr.contains(writer.0) && stderr.contains(obstacle.said);
            tried += 1;
            if code != Some(1) || !line || !named || folder != expected(obstacle) {
                wrong.push(format!("{}, {:?}: code {code:?}, {stderr:?}, {folder:?}", obstacle.name, writer.1));
            }
        }
    }
    println!("{tried} outputs that could not be written");
    assert!(wrong.is_empty(), "{} of {tried}:\n{}", wrong.len(), wrong.join("\n"));
    assert_eq!((dir.list(), std::fs::read(&keys).unwrap()), (vec!["k.npy".to_string()], before));
}

/// The report on stdout may be lost, but not the output: a file is written whole, whoever reads the report.
#[test]
fn outputs_do_not_depend_on_who_reads_the_report() {
    let dir = Dir::new("reports");
    let rows: Vec<u8> = (0..20_000u32).rev().flat_map(u32::to_le_bytes).collect();
    let keys = dir.write("k.npy", "'<u4'", &[20_000], &rows);
    // A reader that has enough, as `head`, is no error; a disk that is full is one.
    for (stdout, code, said) in [
        ("\"$@\" > /dev/full", 1, "error: writing to stdout: No space left on device (os error 28)\n"),
        ("\"$@\" >&-", 0, ""),
        ("{ \"$@\"; echo $? > \"$0/code\"; } | true; exit $(cat \"$0/code\")", 0, ""),
        ("{ \"$@\"; echo $? > \"$0/code\"; } | head -n 1 > /dev/null; exit $(cat \"$0/code\")", 0, ""),
    ] {
        for writer in writers(&keys) {
            let folder = dir.path("folder");
            std::fs::create_dir(&folder).unwrap();
            let out = dir.path("folder/out.png");
            let mut command = Command::new("sh");
            command.args(["-c", stdout, &folder]).arg(writer.1.get_program());
            let output = run(command.args(writer.2.iter().map(|argument| argument.replace('@', &out))));
            let stderr = vksort_testing::process::said(&output.stderr);
            let bytes = std::fs::metadata(&out).unwrap_or_else(|error| panic!("{:?}: {error}", writer.1)).len();
            let least = if writer.0 == "--report" { 1_000 } else { 2_000 };
            assert!(bytes > least, "{:?}: {bytes} bytes", writer.1);
            assert_eq!((output.status.code(), &*stderr), (Some(code), said), "{stdout}: {:?}", writer.1);
            std::fs::remove_dir_all(&folder).unwrap();
        }
    }
    // An output that goes there is lost with its reader.
    let script = "{ \"$@\" 2> \"$0/err\"; echo $? > \"$0/code\"; } | head -c 1 > /dev/null; cat \"$0/err\" >&2; exit $(cat \"$0/code\")";
    let mut command = Command::new("sh");
    std::fs::create_dir(dir.path("folder")).unwrap();
    command.args(["-c", script, &dir.path("folder")]).arg(program("sort").get_program());
    let output = run(command.args(["--keys", &keys, "--out-keys", "/dev/stdout"]));
    let stderr = said(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{stderr}");
    assert!(stderr.ends_with("error: --out-keys: writing /dev/stdout: Broken pipe (os error 32)\n"), "{stderr}");
}
