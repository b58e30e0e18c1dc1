//! The table of what can be sorted, in the README and in the crate's documentation, is the one that the code makes.

use std::path::Path;

/// Where the README has the table.
const START: &str = "<!-- table -->\n";
const END: &str = "<!-- end of table -->";

#[test]
fn the_table_is_what_the_code_serves() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let (readme_file, table_file) = (root.join("README.md"), root.join("docs/table.md"));
    let table = vksort::internals::table::markdown();
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
