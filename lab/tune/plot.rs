//! The candidates over time, against the built-in row, as SVG and PNG.

use plotters::prelude::*;
use plotters::style::text_anchor::HPos;
use vksort::Tuning;

use crate::report::spread;
use vksort_lab::tune::search::Outcome;
use vksort_lab::tune::search::device::Tuned;
use vksort_programs::common::canvas::{Area, Drawing, Drawn, FONT, write};

/// What is drawn.
pub struct Figure {
    title: String,
    /// When each candidate ended, how many times as fast as the built-in row it was, and how it fared.
    points: Vec<(f64, f64, usize)>,
    /// When the best so far changed, and to what.
    best: Vec<(f64, f64)>,
    row: String,
}

const SIZE: (u32, u32) = (900, 480);
const TITLE: i32 = 44;
const LEGEND: i32 = 34;

/// Ways to fare, with colours that stay apart for colour-blind eyes (Okabe and Ito).
const FARES: [(&str, RGBColor); 4] = [
    ("took the lead", RGBColor(0, 158, 115)),
    ("not faster", RGBColor(86, 180, 233)),
    ("over 3 times as slow, or unfinished", RGBColor(160, 160, 160)),
    ("dropped", RGBColor(213, 94, 0)),
];
const BEST: RGBColor = RGBColor(0, 114, 178);
const BUILT_IN: RGBColor = RGBColor(90, 90, 90);

impl Figure {
    pub fn new(tuned: &Tuned, built_in: &Tuning) -> Figure {
        let mut best = vec![(0.0, 1.0)];
        let mut points = Vec::new();
        for trial in &tuned.trials {
            let speed = trial.ratio.map_or(0.0, |ratio| trial.incumbent * ratio.median);
            let fare = match trial.outcome {
                Outcome::Won => 0,
                Outcome::Lost => 1,
                Outcome::Dropped(_) => 3,
                // Slow or unfinished.
                _ => 2,
            };
            points.push((trial.seconds, speed, fare));
            best.extend([(trial.seconds, trial.incumbent), (trial.seconds, trial.best)]);
        }
        let gains: Vec<String> =
            tuned.profile.measured.iter().map(|row| format!("{} {}", row.kind.name(), spread(row.ratio))).collect();
        let title = match tuned.profile.tuning == *built_in {
            true => format!("{}: the built-in row stays", tuned.profile.device.name),
            false => format!("{}: {} times as fast", tuned.profile.device.name, gains.join(", ")),
        };
        Figure { title, points, best, row: built_in.name.clone() }
    }
}

impl Drawing for Figure {
    fn size(&self) -> (u32, u32) {
        SIZE
    }

    fn draw<DB: DrawingBackend>(&self, area: &Area<DB>) -> Drawn<DB> {
        let (top, rest) = area.split_vertically(TITLE);
        let (body, legend) = rest.split_vertically(SIZE.1 as i32 - TITLE - LEGEND);
        write(&top, &self.title, (16, TITLE / 2), 15, HPos::Left)?;
        let ends = self.points.iter().map(|point| point.0).fold(1.0, f64::max);
        let speeds = self.points.iter().map(|point| point.1).chain(self.best.iter().map(|best| best.1));
        let highest = speeds.fold(1.0, f64::max);
        let mut chart = ChartBuilder::on(&body)
            .x_label_area_size(44)
            .y_label_area_size(70)
            .margin_left(16)
            .margin_right(20)
            .build_cartesian_2d(0.0..1.02 * ends, 0.0..1.1 * highest)?;
        chart
            .configure_mesh()
            .x_desc("seconds")
            .y_desc(format!("times as fast as row {:?}", self.row))
            .y_label_formatter(&|value| format!("{value:.1}"))
            .x_label_formatter(&|value| format!("{value:.0}"))
            .x_max_light_lines(0)
            .y_max_light_lines(0)
            .bold_line_style(RGBColor(230, 230, 230))
            .label_style((FONT, 13))
            .axis_desc_style((FONT, 13))
            .draw()?;
        let line = [(0.0, 1.0), (1.02 * ends, 1.0)];
        chart.draw_series(DashedLineSeries::new(line, 6, 4, BUILT_IN.stroke_width(1)))?;
        let last = self.best[self.best.len() - 1].1;
        let best = self.best.iter().copied().chain([(1.02 * ends, last)]);
        chart.draw_series(LineSeries::new(best, BEST.stroke_width(2)))?;
        for (fare, (_, color)) in FARES.iter().enumerate() {
            let points = self.points.iter().filter(|point| point.2 == fare);
            chart.draw_series(points.map(|point| Circle::new((point.0, point.1), 4, color.filled())))?;
        }

        let mut left = 40;
        for (name, color) in FARES {
            legend.draw(&Circle::new((left, LEGEND / 2), 4, color.filled()))?;
            write(&legend, name, (left + 10, LEGEND / 2), 12, HPos::Left)?;
            left += 28 + 7 * name.len() as i32;
        }
        for (name, color) in [("best so far", BEST), ("built-in", BUILT_IN)] {
            legend.draw(&PathElement::new([(left, LEGEND / 2), (left + 24, LEGEND / 2)], color.stroke_width(2)))?;
            write(&legend, name, (left + 32, LEGEND / 2), 12, HPos::Left)?;
            left += 50 + 7 * name.len() as i32;
        }
        Ok(())
    }
}
