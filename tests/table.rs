//! The table of what can be sorted, in the README and in the crate's documentation, is the one that the code makes.

#[path = "common/table.rs"]
mod columns;

use std::path::Path;

use columns::{COLUMNS, Column, markdown};
use vksort::{DeviceProfile, KeyOutput, KeyType, SortRequest, ValueType};

/// Where the README has the table.
const START: &str = "<!-- table -->\n";
const END: &str = "<!-- end of table -->";

#[test]
fn the_table_is_what_the_code_serves() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let (readme_file, table_file) = (root.join("README.md"), root.join("docs/table.md"));
    let table = markdown(&DeviceProfile::default(), COLUMNS);
    assert!(!table.contains("| no |") && !table.contains("none"), "a cell of the table is empty:\n{table}");

    if !readme_file.is_file() {
        println!("skipped: {} is not here", readme_file.display());
        return;
    }
    let readme = std::fs::read_to_string(&readme_file).unwrap();
    let (before, rest) = readme.split_once(START).expect("the README marks where the table starts");
    let (_, after) = rest.split_once(END).expect("the README marks where the table ends");
    let expected = format!("{before}{START}{table}{END}{after}");
    if std::env::var("VKSORT_WRITE_TABLE").is_ok_and(|value| value == "1") {
        std::fs::write(&readme_file, expected).unwrap();
        std::fs::write(&table_file, &table).unwrap();
        return;
    }
    assert!(readme == expected, "the README's table is not the code's; run scripts/table.sh");
    let kept = std::fs::read_to_string(&table_file).unwrap();
    assert!(kept == table, "{} is not the code's; run scripts/table.sh", table_file.display());
}

/// The cells of a column, from the first key type to the last.
fn cells(profile: &DeviceProfile, requests: fn(SortRequest) -> Vec<SortRequest>) -> Vec<bool> {
    let text = markdown(profile, &[Column { name: "tried", requests }]);
    let cell = |line: &str| match line.rsplit('|').nth(1).map(str::trim) {
        Some("yes") => true,
        Some("no") => false,
        other => panic!("a cell is {other:?} in {line}"),
    };
    text.lines().skip(2).map(cell).collect()
}

#[test]
fn requests_that_are_refused_make_a_no() {
    let profile = DeviceProfile::default();
    let all = |answer: bool| vec![answer; KeyType::ALL.len()];
    assert_eq!(cells(&profile, |usual| vec![usual]), all(true));
    assert_eq!(cells(&profile, |usual| vec![SortRequest { value: ValueType::Bytes(3), ..usual }]), all(false));
    // One of several is enough.
    let discarded = |usual| vec![usual, SortRequest { key_output: KeyOutput::Discarded, ..usual }];
    assert_eq!(cells(&profile, discarded), all(false));
    // Some key types have so many bits, others do not.
    let window = |usual: SortRequest| vec![SortRequest { bits: (0..32).into(), ..usual }];
    let wide: Vec<bool> = KeyType::ALL.iter().map(|key| key.bits() >= 32).collect();
    assert_eq!(cells(&profile, window), wide);
}

#[test]
fn a_device_that_kernels_do_not_fit_makes_a_no() {
    let tiny = DeviceProfile { max_shared_bytes: 64, ..DeviceProfile::default() };
    assert!(cells(&tiny, |usual| vec![usual]).iter().all(|served| !served));
    assert!(markdown(&tiny, &[]).lines().skip(2).all(|line| line.ends_with("| none |")));
}
