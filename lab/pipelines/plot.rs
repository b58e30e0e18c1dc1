//! Instructions and registers of the kernel that most keys go through, a row per GPU, from the record of the compilers.

use std::path::Path;

use anyhow::{Context, Result, ensure};
use plotters::prelude::*;
use plotters::style::text_anchor::HPos;
use serde::Deserialize;

use vksort_programs::common::canvas::{Area, Drawing, Drawn, write};

/// What is drawn of a line of the record.
#[derive(Deserialize)]
struct Line {
    gpu: String,
    compiler: String,
    request: String,
    kernel: String,
    registers: f64,
    spills: u64,
    fills: u64,
    instructions_per_item: Option<f64>,
    slope: Option<f64>,
}

impl Line {
    /// Refuses what no bar can be drawn of.
    fn check(&self) -> Result<()> {
        let given = [
            ("registers", Some(self.registers)),
            ("instructions_per_item", self.instructions_per_item),
            ("slope", self.slope),
        ];
        for (column, value) in given {
            // A slope below zero is drawn as zero.
            let least = if column == "slope" { f64::MIN } else { 0.0 };
            let value = value.unwrap_or(0.0);
            ensure!(
                value.is_finite() && value >= least,
                "{column} of {}, kernel {}, is {value}, allowed are finite numbers of 0 or more",
                name_of(self),
                self.kernel
            );
        }
        Ok(())
    }
}

/// A GPU with its lines of the requests, where its record has them.
struct Row {
    name: String,
    lines: [Option<Line>; REQUESTS.len()],
}

/// What is drawn.
pub struct Figure {
    rows: Vec<Row>,
}

/// Requests with colours that stay apart for colour-blind eyes (Okabe and Ito).
const REQUESTS: [(&str, RGBColor); 2] = [("keys", RGBColor(0, 114, 178)), ("pairs", RGBColor(230, 159, 0))];
/// Modules of the pass of which every sort has one.
const PASSES: [&str; 2] = ["onesweep_32", "scatter_32"];

const WIDTH: i32 = 1080;
const NAMES: i32 = 230;
const ROW: i32 = 36;
const BAR: i32 = 13;
const TOP: i32 = 58;
const LEGEND: i32 = 40;
/// Room behind the longest bar for its number.
const NUMBER: i32 = 130;

impl Figure {
    pub fn read(path: &Path) -> Result<Figure> {
        let context = || format!("reading {}", path.display());
        let mut rows: Vec<Row> = Vec::new();
        for line in csv::Reader::from_path(path).with_context(context)?.deserialize() {
            let line: Line = line.with_context(context)?;
            line.check().with_context(context)?;
            let Some(request) = REQUESTS.iter().position(|(name, _)| *name == line.request) else { continue };
            if !PASSES.contains(&line.kernel.as_str()) {
                continue;
            }
            if rows.last().is_none_or(|row| row.name != name_of(&line)) {
                rows.push(Row { name: name_of(&line), lines: [None, None] });
            }
            rows.last_mut().expect("there is a row now").lines[request] = Some(line);
        }
        ensure!(!rows.is_empty(), "{} has no line of a pass over u32 keys", path.display());
        Ok(Figure { rows })
    }

    /// One half of the figure: a bar for each line with what it measures, and a mark within the bar.
    fn panel<DB: DrawingBackend>(
        &self,
        area: &Area<DB>,
        title: &str,
        measure: impl Fn(&Line) -> (f64, Option<f64>, String),
    ) -> Drawn<DB> {
        write(area, title, (4, TOP - 16), 14, HPos::Left)?;
        let lines = || self.rows.iter().flat_map(|row| row.lines.iter().flatten());
        let longest = lines().map(|line| measure(line).0).fold(1.0, f64::max);
        let room = f64::from(area.dim_in_pixel().0 as i32 - NUMBER);
        let place = |value: f64| 4 + (value / longest * room) as i32;
        for (index, row) in self.rows.iter().enumerate() {
            for (bar, line) in row.lines.iter().enumerate() {
                let Some(line) = line else { continue };
                let top = TOP + ROW * index as i32 + BAR * bar as i32 + 4;
                let (value, mark, text) = measure(line);
                let ends = [(4, top), (place(value), top + BAR - 2)];
                area.draw(&Rectangle::new(ends, REQUESTS[bar].1.filled()))?;
                if let Some(mark) = mark {
                    let ends = [(place(mark), top - 1), (place(mark), top + BAR - 2)];
                    area.draw(&PathElement::new(ends, BLACK.stroke_width(2)))?;
                }
                write(area, &text, (place(value) + 6, top + BAR / 2 - 1), 11, HPos::Left)?;
            }
        }
        Ok(())
    }
}

fn name_of(line: &Line) -> String {
    format!("{}, {}", line.gpu, line.compiler)
}

impl Drawing for Figure {
    fn size(&self) -> (u32, u32) {
        (WIDTH as u32, (TOP + ROW * self.rows.len() as i32 + LEGEND) as u32)
    }

    fn draw<DB: DrawingBackend>(&self, area: &Area<DB>) -> Drawn<DB> {
        let title = "The pass that moves u32 keys and pairs, as the compilers of GPUs translate it";
        write(area, title, (16, 18), 15, HPos::Left)?;
        let (names, panels) = area.split_horizontally(NAMES);
        for (index, row) in self.rows.iter().enumerate() {
            let middle = TOP + ROW * index as i32 + 4 + BAR;
            write(&names, &row.name, (NAMES - 8, middle - 1), 12, HPos::Right)?;
        }
        let (left, right) = panels.split_horizontally((WIDTH - NAMES) / 2);
        self.panel(&left, "instructions per item; mark: for one more item", |line| {
            let value = line.instructions_per_item.unwrap_or(0.0);
            (value, line.slope.map(|slope| slope.clamp(0.0, value)), format!("{value:.0}"))
        })?;
        self.panel(&right, "registers, in units of the GPU", |line| {
            let spilled = match (line.spills, line.fills) {
                (0, 0) => String::new(),
                _ => format!(", spills {}/{}", line.spills, line.fills),
            };
            (line.registers, None, format!("{:.0}{spilled}", line.registers))
        })?;

        let middle = TOP + ROW * self.rows.len() as i32 + LEGEND / 2;
        let mut at = NAMES + 4;
        for (name, color) in REQUESTS {
            area.draw(&Rectangle::new([(at, middle - 6), (at + 12, middle + 6)], color.filled()))?;
            write(area, name, (at + 18, middle), 12, HPos::Left)?;
            at += 80;
        }
        Ok(())
    }
}
