//! The plots of the bench: lines over sizes, bars, and shares.

use plotters::element::DashedPathElement;
use plotters::prelude::*;
use plotters::style::text_anchor::HPos;

use crate::report::{bandwidth, duration, rate};
use vksort_programs::common::canvas::{Area, Drawing, Drawn, FONT, write};

/// What is drawn.
pub enum Figure {
    /// Rates over sizes, both logarithmic.
    Lines { title: String, unit: Unit, lines: Vec<Line> },
    /// A bar per row, with its quartiles, and a line where `mark` is.
    Bars { title: String, bars: Vec<Bar>, mark: Option<f64> },
    /// The parts of a whole per row, as shares, with the whole beside it.
    Stacks { title: String, stacks: Vec<Stack> },
}

/// What there is a rate of.
#[derive(Clone, Copy)]
pub enum Unit {
    Elements,
    Bytes,
}

impl Unit {
    fn name(self) -> &'static str {
        match self {
            Unit::Elements => "elements per second",
            Unit::Bytes => "bytes per second",
        }
    }

    fn show(self, value: f64) -> String {
        match self {
            Unit::Elements => rate(value),
            Unit::Bytes => bandwidth(value),
        }
    }
}

pub struct Line {
    pub label: String,
    pub points: Vec<(f64, f64)>,
}

pub struct Bar {
    pub label: String,
    pub value: f64,
    pub range: (f64, f64),
    /// Where a darker part of the bar ends.
    pub part: Option<f64>,
    pub text: String,
}

pub struct Stack {
    pub label: String,
    /// Names and nanoseconds.
    pub parts: Vec<(String, f64)>,
}

/// Colours that stay apart for colour-blind eyes (Okabe and Ito), then darker ones.
const COLORS: [RGBColor; 12] = [
    RGBColor(0, 114, 178),
    RGBColor(213, 94, 0),
    RGBColor(0, 158, 115),
    RGBColor(204, 121, 167),
    RGBColor(230, 159, 0),
    RGBColor(86, 180, 233),
    RGBColor(90, 90, 90),
    RGBColor(150, 75, 0),
    RGBColor(100, 60, 160),
    RGBColor(0, 90, 60),
    RGBColor(160, 0, 60),
    RGBColor(190, 180, 40),
];
/// Width of a letter, as a share of the font's size.
const LETTER: f64 = 0.6;
const GRAY: RGBColor = RGBColor(150, 150, 150);
const WIDTH: i32 = 1200;
const LINES_HEIGHT: i32 = 720;
/// Width of the column with labels, and of the one with numbers.
const LABELS: i32 = 420;
const NUMBERS: i32 = 110;
const TOP: i32 = 60;
const ROW: i32 = 26;
const LEGEND: i32 = 24;
const LEGEND_FONT: i32 = 14;
/// Entries of a legend in one line below a plot.
const LEGEND_COLUMNS: usize = 5;

impl Drawing for Figure {
    fn size(&self) -> (u32, u32) {
        let rows = |count: usize| TOP + ROW * count as i32 + 20;
        let height = match self {
            Figure::Lines { lines, .. } => LINES_HEIGHT.max(TOP + LEGEND * lines.len() as i32),
            Figure::Bars { bars, .. } => rows(bars.len()),
            Figure::Stacks { stacks, .. } => {
                rows(stacks.len()) + LEGEND * names(stacks).len().div_ceil(LEGEND_COLUMNS) as i32
            }
        };
        (WIDTH as u32, height as u32)
    }

    fn draw<DB: DrawingBackend>(&self, area: &Area<DB>) -> Drawn<DB> {
        match self {
            Figure::Lines { title, unit, lines } => draw_lines(area, title, *unit, lines),
            Figure::Bars { title, bars, mark } => draw_bars(area, title, bars, *mark),
            Figure::Stacks { title, stacks } => draw_stacks(area, title, stacks),
        }
    }
}

fn rectangle<DB: DrawingBackend>(area: &Area<DB>, x: (i32, i32), y: (i32, i32), color: RGBColor) -> Drawn<DB> {
    area.draw(&Rectangle::new([(x.0, y.0), (x.1, y.1)], color.filled()))
}

/// The title, and below it in small what it is of.
fn write_title<DB: DrawingBackend>(area: &Area<DB>, title: &str) -> Drawn<DB> {
    let (first, second) = title.split_once('\n').unwrap_or((title, ""));
    write(area, first, (20, 20), 20, HPos::Left)?;
    write(area, second, (20, 44), 14, HPos::Left)
}

/// The numbers 1, 2 and 5 of every decade within a range.
fn ticks(low: f64, high: f64) -> Vec<f64> {
    let decades = low.log10().floor() as i32..=high.log10().ceil() as i32;
    let ticks = decades.flat_map(|decade| [1.0, 2.0, 5.0].map(|leading| leading * 10f64.powi(decade)));
    ticks.filter(|tick| (low..=high).contains(tick)).collect()
}

fn draw_lines<DB: DrawingBackend>(area: &Area<DB>, title: &str, unit: Unit, lines: &[Line]) -> Drawn<DB> {
    write_title(area, title)?;
    let longest = lines.iter().map(|line| line.label.chars().count()).max().unwrap_or_default();
    let legend_width = 70 + (LETTER * f64::from(LEGEND_FONT) * longest as f64) as i32;
    let (chart, legend) = area.margin(TOP, 10, 10, 10).split_horizontally(WIDTH - 20 - legend_width);
    let points = || lines.iter().flat_map(|line| &line.points);
    let bounds = |values: &mut dyn Iterator<Item = f64>| {
        values.fold((f64::MAX, f64::MIN), |(low, high), value| (low.min(value), high.max(value)))
    };
    let (x_low, x_high) = bounds(&mut points().map(|point| point.0.log2()));
    let (y_low, y_high) = bounds(&mut points().map(|point| point.1.max(1.0)));
    let (y_low, y_high) = (y_low / 1.5, y_high * 1.5);
    let y_ticks = ticks(y_low, y_high);
    let labels = y_ticks.len();
    let y = (y_low..y_high).log_scale().with_key_points(y_ticks);
    let mut chart = ChartBuilder::on(&chart)
        .x_label_area_size(50)
        .y_label_area_size(150)
        .margin_right(20)
        .build_cartesian_2d(x_low.floor()..x_high.ceil(), y)?;
    // Labels between powers of two would look like the powers.
    let power = |log2: &f64| if log2.fract() == 0.0 { format!("2^{log2}") } else { String::new() };
    chart
        .configure_mesh()
        .x_desc("elements (log scale)")
        .y_desc(format!("{} (log scale)", unit.name()))
        .x_label_formatter(&power)
        .y_label_formatter(&|value| unit.show(*value))
        .y_labels(labels)
        .x_max_light_lines(0)
        .y_max_light_lines(0)
        .label_style((FONT, 14))
        .axis_desc_style((FONT, 16))
        .bold_line_style(RGBColor(230, 230, 230))
        .draw()?;
    // A case has the same colour in every plot: copies, which some plots leave out, take none.
    let mut cases = 0;
    for (index, line) in lines.iter().enumerate() {
        let is_copy = line.label.contains("copy");
        let case = cases;
        cases += usize::from(!is_copy);
        let color = if is_copy { GRAY } else { COLORS[case % COLORS.len()] };
        let points = line.points.iter().map(|(n, rate)| (n.log2(), rate.max(1.0)));
        // Beyond the colours, dashes tell lines apart; the roof, which is a copy too, is solid.
        let dashed = is_copy && !line.label.starts_with("roof") || case >= COLORS.len();
        let y = 20 + LEGEND * index as i32;
        let sample = [(10, y), (40, y)];
        if dashed {
            chart.draw_series(DashedLineSeries::new(points.clone(), 8, 5, color.stroke_width(2)))?;
            legend.draw(&DashedPathElement::new(sample, 8, 5, color.stroke_width(3)))?;
        } else {
            chart.draw_series(LineSeries::new(points.clone(), color.stroke_width(2)))?;
            legend.draw(&PathElement::new(sample, color.stroke_width(3)))?;
        }
        chart.draw_series(points.map(|point| Circle::new(point, 3, color.filled())))?;
        write(&legend, &line.label, (50, y), LEGEND_FONT, HPos::Left)?;
    }
    Ok(())
}

fn draw_bars<DB: DrawingBackend>(area: &Area<DB>, title: &str, bars: &[Bar], mark: Option<f64>) -> Drawn<DB> {
    write_title(area, title)?;
    let most = bars.iter().map(|bar| bar.value.max(bar.range.1)).chain(mark).fold(0.0, f64::max);
    let x = |value: f64| LABELS + (f64::from(WIDTH - LABELS - NUMBERS) * value / most.max(f64::MIN_POSITIVE)) as i32;
    for (index, bar) in bars.iter().enumerate() {
        let middle = TOP + ROW * index as i32 + ROW / 2;
        write(area, &bar.label, (LABELS - 10, middle), 14, HPos::Right)?;
        rectangle(area, (LABELS, x(bar.value)), (middle - 8, middle + 8), COLORS[5])?;
        if let Some(part) = bar.part {
            rectangle(area, (LABELS, x(part)), (middle - 8, middle + 8), COLORS[0])?;
        }
        let (low, high) = (x(bar.range.0), x(bar.range.1));
        area.draw(&PathElement::new([(low, middle), (high, middle)], BLACK.stroke_width(1)))?;
        for end in [low, high] {
            area.draw(&PathElement::new([(end, middle - 4), (end, middle + 4)], BLACK.stroke_width(1)))?;
        }
        write(area, &bar.text, (WIDTH - 20, middle), 14, HPos::Right)?;
    }
    if let Some(mark) = mark {
        let bottom = TOP + ROW * bars.len() as i32;
        area.draw(&PathElement::new([(x(mark), TOP), (x(mark), bottom)], GRAY.stroke_width(2)))?;
    }
    Ok(())
}

fn draw_stacks<DB: DrawingBackend>(area: &Area<DB>, title: &str, stacks: &[Stack]) -> Drawn<DB> {
    write_title(area, title)?;
    let names = names(stacks);
    let color = |name: &str| {
        let index = names.iter().position(|known| *known == name).unwrap_or_default();
        COLORS[index % COLORS.len()]
    };
    for (index, stack) in stacks.iter().enumerate() {
        let middle = TOP + ROW * index as i32 + ROW / 2;
        write(area, &stack.label, (LABELS - 10, middle), 14, HPos::Right)?;
        let whole: f64 = stack.parts.iter().map(|part| part.1).sum();
        let mut sum = 0.0;
        let x = |sum: f64| LABELS + (f64::from(WIDTH - LABELS - NUMBERS) * sum / whole.max(1.0)) as i32;
        for (name, time) in &stack.parts {
            let left = x(sum);
            sum += time;
            rectangle(area, (left, x(sum)), (middle - 9, middle + 9), color(name))?;
        }
        write(area, &duration(whole), (WIDTH - 20, middle), 14, HPos::Right)?;
    }
    let top = TOP + ROW * stacks.len() as i32 + 20;
    for (index, name) in names.iter().enumerate() {
        let left = 40 + (index % LEGEND_COLUMNS) as i32 * (WIDTH - 60) / LEGEND_COLUMNS as i32;
        let y = top + LEGEND * (index / LEGEND_COLUMNS) as i32;
        rectangle(area, (left, left + 14), (y - 7, y + 7), color(name))?;
        write(area, name, (left + 22, y), 14, HPos::Left)?;
    }
    Ok(())
}

/// Names of parts in the order of their first row.
fn names(stacks: &[Stack]) -> Vec<&str> {
    let mut names: Vec<&str> = Vec::new();
    for (name, _) in stacks.iter().flat_map(|stack| &stack.parts) {
        if !names.contains(&name.as_str()) {
            names.push(name);
        }
    }
    names
}
