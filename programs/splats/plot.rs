//! The time of each pass by frame, stacked.

use anyhow::{Context, Result};
use plotters::prelude::*;
use plotters::style::text_anchor::HPos;

use crate::vk::{PASSES, Times};
use vksort_programs::common::canvas::{Area, Drawing, Drawn, FONT, write};

pub struct Figure {
    title: String,
    /// Milliseconds of each pass by frame.
    frames: Vec<[f64; PASSES.len()]>,
}

/// Colours that stay apart for colour-blind eyes (Okabe and Ito).
const COLORS: [RGBColor; PASSES.len()] =
    [RGBColor(0, 158, 115), RGBColor(230, 159, 0), RGBColor(0, 114, 178), RGBColor(204, 121, 167)];
const SIZE: (u32, u32) = (1000, 520);
const TOP: i32 = 60;

impl Figure {
    pub fn new(title: String, frames: &[Times]) -> Result<Figure> {
        let frames = frames.iter().map(|times| times.passes.map(|passes| passes.map(|nanoseconds| nanoseconds / 1e6)));
        let frames = frames.collect::<Option<_>>().context("--plot needs a device with timestamps")?;
        Ok(Figure { title, frames })
    }
}

impl Drawing for Figure {
    fn size(&self) -> (u32, u32) {
        SIZE
    }

    fn draw<DB: DrawingBackend>(&self, area: &Area<DB>) -> Drawn<DB> {
        write(area, &self.title, (20, 18), 15, HPos::Left)?;
        for (index, (name, color)) in PASSES.iter().zip(COLORS).enumerate() {
            let left = 70 + 110 * index as i32;
            area.draw(&Rectangle::new([(left, 38), (left + 12, 50)], color.filled()))?;
            write(area, name, (left + 18, 44), 14, HPos::Left)?;
        }
        let most = self.frames.iter().map(|passes| passes.iter().sum()).fold(f64::MIN_POSITIVE, f64::max);
        let mut chart = ChartBuilder::on(area)
            .margin_top(TOP)
            .margin_left(10)
            .margin_right(20)
            .margin_bottom(10)
            .x_label_area_size(45)
            .y_label_area_size(70)
            .build_cartesian_2d(-0.5..self.frames.len() as f64 - 0.5, 0.0..1.05 * most)?;
        // A frame's number is below its bar, and between two bars there is none.
        let number = |frame: &f64| match (frame - frame.round()).abs() < 1e-6 {
            true => format!("{:.0}", frame.abs()),
            false => String::new(),
        };
        chart
            .configure_mesh()
            .disable_x_mesh()
            .y_max_light_lines(0)
            .x_labels(20)
            .x_label_formatter(&number)
            .x_desc("frame")
            .y_desc("milliseconds")
            .label_style((FONT, 13))
            .axis_desc_style((FONT, 14))
            .bold_line_style(RGBColor(230, 230, 230))
            .draw()?;
        for (pass, color) in COLORS.into_iter().enumerate() {
            let bar = |(frame, passes): (usize, &[f64; PASSES.len()])| {
                let (from, to) = (passes[..pass].iter().sum(), passes[..=pass].iter().sum());
                Rectangle::new([(frame as f64 - 0.4, from), (frame as f64 + 0.4, to)], color.filled())
            };
            chart.draw_series(self.frames.iter().enumerate().map(bar))?;
        }
        Ok(())
    }
}
