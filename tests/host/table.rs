//! The table of what can be sorted, in the README and in the crate's documentation, is the one that the code makes.

use std::path::Path;

use vksort::{DeviceProfile, KeyOutput, KeyType, SortRequest, ValueType};
use vksort_testing::table::{CHOICES, Choice, markdown, refused};

/// Where the README has the table.
const START: &str = "<!-- table -->\n";
const END: &str = "<!-- end of table -->";

#[test]
fn the_table_is_what_the_code_serves() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let (readme_file, table_file) = (root.join("README.md"), root.join("docs/table.md"));
    let table = markdown(&DeviceProfile::default(), CHOICES);
    assert!(!table.contains("(not ") && !table.contains("none"), "a key type lacks an option:\n{table}");

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

#[test]
fn requests_that_are_refused_are_named() {
    let profile = DeviceProfile::default();
    let refused = |requests| refused(&profile, &Choice { name: "tried", requests });
    assert!(refused(|usual| vec![usual]).is_empty());
    assert_eq!(refused(|usual| vec![usual.value(ValueType::Bytes(3))]), KeyType::ALL);
    // One of several is enough.
    let discarded = |usual: SortRequest| vec![usual, usual.key_output(KeyOutput::Discarded)];
    assert_eq!(refused(discarded), KeyType::ALL);
    // Some key types have so many bits, others do not.
    let window = |usual: SortRequest| vec![usual.bits(0..64)];
    let narrow: Vec<KeyType> = KeyType::ALL.iter().copied().filter(|key| key.bits() < 64).collect();
    assert_eq!(refused(window), narrow);
    let text = markdown(&profile, &[Choice { name: "tried", requests: window }]);
    assert!(text.ends_with("* tried (not `u8`, `i8`, `u16`, `i16`, `f16`, `bf16`, `u32`, `i32`, `f32`)\n"), "{text}");
}

#[test]
fn a_device_that_kernels_do_not_fit_sorts_nothing() {
    let tiny = DeviceProfile { max_shared_bytes: 64, ..DeviceProfile::default() };
    assert!(CHOICES.iter().all(|choice| refused(&tiny, choice) == KeyType::ALL));
    let passes = markdown(&tiny, CHOICES).lines().filter(|line| line.ends_with("| none |")).count();
    assert_eq!(passes, 5, "a row for each width");
}

/// A key type that is in no row of the table would be missing without a word.
#[test]
fn every_key_type_is_in_the_table() {
    let text = markdown(&DeviceProfile::default(), &[]);
    for key in KeyType::ALL {
        assert_eq!(text.matches(&format!("`{}`", key.name())).count(), 1, "{}", key.name());
    }
}
