//! Letters of pictures stand in their cells, so that numbers have no gaps.

use std::{env, fs};

use plotters::prelude::DrawingBackend;
use plotters::style::text_anchor::HPos;
use vksort_programs::common::canvas::{self, Area, Drawing, Drawn};
use vksort_testing::picture::Picture;

/// Where the text begins, and the size of its font.
const LEFT: i32 = 20;
const SIZE: i32 = 40;

struct Text(&'static str);

impl Drawing for Text {
    fn size(&self) -> (u32, u32) {
        (120, 80)
    }

    fn draw<DB: DrawingBackend>(&self, area: &Area<DB>) -> Drawn<DB> {
        canvas::write(area, self.0, (LEFT, 40), SIZE, HPos::Left)
    }
}

/// The first and the last column of a text that are not white.
fn columns(text: &'static str) -> (usize, usize) {
    let path = env::temp_dir().join(format!("vksort-letters-{}.png", std::process::id()));
    fs::write(&path, canvas::png(&Text(text)).unwrap()).unwrap();
    let picture = Picture::read(&path);
    fs::remove_file(&path).unwrap();
    let dark = |x: &usize| (0..picture.height).any(|y| picture.pixel(*x, y) != [255; 3]);
    let dark: Vec<usize> = (0..picture.width).filter(dark).collect();
    (dark[0], dark[dark.len() - 1])
}

/// A point is in the middle of its cell, which is as wide as that of every letter.
#[test]
fn a_point_has_the_same_space_on_both_sides() {
    let (point, two) = (columns("."), columns(".."));
    let cell = two.1 - point.1;
    let (before, after) = (point.0 - LEFT as usize, LEFT as usize + cell - 1 - point.1);
    assert!(cell > SIZE as usize / 3 && before > 3 && before.abs_diff(after) <= 1, "{point:?} {two:?}");
}
