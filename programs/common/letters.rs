//! Letters of pictures in pixels. plotters leaves out the space that a font has on the left of a letter, and the parts of pixels
//! between letters, so numbers would have gaps behind their points.

use ab_glyph::{Font, FontRef, ScaleFont, point};
use plotters::prelude::{BitMapBackend, DrawingBackend};
use plotters_backend::text_anchor::Pos;
use plotters_backend::{BackendColor, BackendCoord, BackendTextStyle, DrawingErrorKind, FontFamily, FontTransform};

/// Draws into pixels, and letters where they belong.
pub struct Pixels<'a> {
    /// Draws everything else.
    pub all: BitMapBackend<'a>,
    pub font: FontRef<'static>,
}

type Done<T> = Result<T, DrawingErrorKind<<BitMapBackend<'static> as DrawingBackend>::ErrorType>>;

impl DrawingBackend for Pixels<'_> {
    type ErrorType = <BitMapBackend<'static> as DrawingBackend>::ErrorType;

    fn get_size(&self) -> (u32, u32) {
        self.all.get_size()
    }

    fn ensure_prepared(&mut self) -> Done<()> {
        self.all.ensure_prepared()
    }

    fn present(&mut self) -> Done<()> {
        self.all.present()
    }

    fn draw_pixel(&mut self, at: BackendCoord, color: BackendColor) -> Done<()> {
        self.all.draw_pixel(at, color)
    }

    fn draw_text<S: BackendTextStyle>(&mut self, text: &str, style: &S, at: BackendCoord) -> Done<()> {
        self.all.draw_text(text, &Letters { style, font: &self.font }, at)
    }
}

/// A style whose letters are drawn here.
struct Letters<'a, S> {
    style: &'a S,
    font: &'a FontRef<'static>,
}

impl<S: BackendTextStyle> BackendTextStyle for Letters<'_, S> {
    type FontError = S::FontError;

    fn color(&self) -> BackendColor {
        self.style.color()
    }

    fn size(&self) -> f64 {
        self.style.size()
    }

    fn transform(&self) -> FontTransform {
        self.style.transform()
    }

    fn anchor(&self) -> Pos {
        self.style.anchor()
    }

    fn family(&self) -> FontFamily<'_> {
        self.style.family()
    }

    fn layout_box(&self, text: &str) -> Result<((i32, i32), (i32, i32)), S::FontError> {
        self.style.layout_box(text)
    }

    fn draw<E, D: FnMut(i32, i32, BackendColor) -> Result<(), E>>(
        &self,
        text: &str,
        at: BackendCoord,
        mut draw: D,
    ) -> Result<Result<(), E>, S::FontError> {
        let (size, color) = (self.size() as f32, self.color());
        let font = self.font.as_scaled(size);
        let (mut x, mut result) = (at.0 as f32, Ok(()));
        for letter in text.chars() {
            let mut glyph = font.scaled_glyph(letter);
            glyph.position = point(x, at.1 as f32 + size / 2.0);
            x += font.h_advance(glyph.id);
            let Some(outline) = font.outline_glyph(glyph) else { continue };
            let first = outline.px_bounds().min;
            outline.draw(|x, y, cover| {
                let (x, y) = (first.x as i32 + x as i32, first.y as i32 + y as i32);
                let color = BackendColor { alpha: color.alpha * f64::from(cover.min(1.0)), rgb: color.rgb };
                if result.is_ok() {
                    result = draw(x, y, color);
                }
            });
        }
        Ok(result)
    }
}
