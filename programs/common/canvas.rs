//! Drawing figures as SVG and PNG, with a font that comes along.

use ab_glyph::FontRef;
use anyhow::{Context, Result, anyhow};
use plotters::coord::Shift;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

use super::letters::Pixels;
use super::picture;

/// Of fixed width: neighbours such as c and l stay apart at every size.
pub const FONT: &str = "monospace";

pub type Area<DB> = DrawingArea<DB, Shift>;
pub type Drawn<DB> = Result<(), DrawingAreaErrorKind<<DB as DrawingBackend>::ErrorType>>;

/// A figure that can be drawn by every backend.
pub trait Drawing {
    /// Width and height in pixels.
    fn size(&self) -> (u32, u32);

    /// Draws on a white area of this size.
    fn draw<DB: DrawingBackend>(&self, area: &Area<DB>) -> Drawn<DB>;
}

pub fn svg(figure: &impl Drawing) -> Result<Vec<u8>> {
    let mut text = String::new();
    present(figure, SVGBackend::with_string(&mut text, figure.size()).into_drawing_area())?;
    Ok(text.into_bytes())
}

pub fn png(figure: &impl Drawing) -> Result<Vec<u8>> {
    let (width, height) = figure.size();
    let mut pixels = vec![0; 3 * (width * height) as usize];
    let all = BitMapBackend::with_buffer(&mut pixels, (width, height));
    let font = FontRef::try_from_slice(epaint_default_fonts::HACK_REGULAR).context("the font of the plots")?;
    present(figure, Pixels { all, font }.into_drawing_area())?;
    picture::encode(&pixels, width, height)
}

fn present<DB: DrawingBackend>(figure: &impl Drawing, area: Area<DB>) -> Result<()> {
    plotters::style::register_font(FONT, FontStyle::Normal, epaint_default_fonts::HACK_REGULAR)
        .map_err(|_| anyhow!("the font of the plots cannot be read"))?;
    let drawn = area.fill(&WHITE).and_then(|()| figure.draw(&area));
    drawn.and_then(|()| area.present()).map_err(|error| anyhow!("drawing a plot: {error}"))
}

/// Writes a text whose middle line is at this height.
pub fn write<DB: DrawingBackend>(area: &Area<DB>, text: &str, at: (i32, i32), size: i32, anchor: HPos) -> Drawn<DB> {
    let style = (FONT, size).into_font().color(&BLACK).pos(Pos::new(anchor, VPos::Center));
    area.draw(&Text::new(text.to_string(), at, style))
}
