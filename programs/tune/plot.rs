//! The candidates over time, against the built-in row, as SVG and PNG.

use std::sync::Once;

use anyhow::{Result, anyhow};
use plotters::coord::Shift;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};
use vksort::Tuning;
use vksort::standalone::{Outcome, Tuned};

use crate::picture;
use crate::report::spread;

/// What is drawn.
pub struct Figure {
    title: String,
    /// When each candidate ended, how many times as fast as the built-in row it was, and how it fared.
    points: Vec<(f64, f64, usize)>,
    /// When the best so far changed, and to what.
    best: Vec<(f64, f64)>,
    row: String,
}

/// Of fixed width: neighbours such as c and l stay apart at every size.
const FONT: &str = "monospace";
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
                Outcome::Slow | Outcome::Unfinished => 2,
                Outcome::Dropped(_) => 3,
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

pub fn svg(figure: &Figure) -> Result<Vec<u8>> {
    let mut text = String::new();
    draw(figure, SVGBackend::with_string(&mut text, SIZE).into_drawing_area())?;
    Ok(text.into_bytes())
}

pub fn png(figure: &Figure) -> Result<Vec<u8>> {
    let mut pixels = vec![0; 3 * (SIZE.0 * SIZE.1) as usize];
    draw(figure, BitMapBackend::with_buffer(&mut pixels, SIZE).into_drawing_area())?;
    picture::encode(&pixels, SIZE.0, SIZE.1)
}

type Area<DB> = DrawingArea<DB, Shift>;

fn draw<DB: DrawingBackend>(figure: &Figure, area: Area<DB>) -> Result<()> {
    static REGISTER: Once = Once::new();
    REGISTER.call_once(|| {
        // A font that fails to load shows as an error of the first text.
        let _ = plotters::style::register_font(FONT, FontStyle::Normal, epaint_default_fonts::HACK_REGULAR);
    });
    let drawn = area.fill(&WHITE).and_then(|()| draw_all(figure, &area));
    drawn.and_then(|()| area.present()).map_err(|error| anyhow!("drawing a plot: {error}"))
}

type Drawn<DB> = Result<(), DrawingAreaErrorKind<<DB as DrawingBackend>::ErrorType>>;

fn write<DB: DrawingBackend>(area: &Area<DB>, text: &str, at: (i32, i32), size: i32) -> Drawn<DB> {
    let style = (FONT, size).into_font().color(&BLACK).pos(Pos::new(HPos::Left, VPos::Center));
    area.draw(&Text::new(text.to_string(), at, style))
}

fn draw_all<DB: DrawingBackend>(figure: &Figure, area: &Area<DB>) -> Drawn<DB> {
    let (top, rest) = area.split_vertically(TITLE);
    let (body, legend) = rest.split_vertically(SIZE.1 as i32 - TITLE - LEGEND);
    write(&top, &figure.title, (16, TITLE / 2), 15)?;
    let ends = figure.points.iter().map(|point| point.0).fold(1.0, f64::max);
    let speeds = figure.points.iter().map(|point| point.1).chain(figure.best.iter().map(|best| best.1));
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
        .y_desc(format!("times as fast as row {:?}", figure.row))
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
    let last = figure.best[figure.best.len() - 1].1;
    let best = figure.best.iter().copied().chain([(1.02 * ends, last)]);
    chart.draw_series(LineSeries::new(best, BEST.stroke_width(2)))?;
    for (fare, (_, color)) in FARES.iter().enumerate() {
        let points = figure.points.iter().filter(|point| point.2 == fare);
        chart.draw_series(points.map(|point| Circle::new((point.0, point.1), 4, color.filled())))?;
    }

    let mut left = 40;
    for (name, color) in FARES {
        legend.draw(&Circle::new((left, LEGEND / 2), 4, color.filled()))?;
        write(&legend, name, (left + 10, LEGEND / 2), 12)?;
        left += 28 + 7 * name.len() as i32;
    }
    for (name, color) in [("best so far", BEST), ("built-in", BUILT_IN)] {
        legend.draw(&PathElement::new([(left, LEGEND / 2), (left + 24, LEGEND / 2)], color.stroke_width(2)))?;
        write(&legend, name, (left + 32, LEGEND / 2), 12)?;
        left += 50 + 7 * name.len() as i32;
    }
    Ok(())
}
