//! Figures as PNG, for programs that cannot show SVG.

use std::sync::{Arc, LazyLock};

use resvg::tiny_skia::{Pixmap, Transform};
use resvg::usvg::fontdb::Database;
use resvg::usvg::{Options, Tree};

use super::ReportError;
use super::figure::Figure;

/// Pixels per SVG pixel along each side, for screens of twice the density.
const SCALE: f32 = 2.0;

/// The font is built in, because machines for measurements often have none.
static FONTS: LazyLock<Arc<Database>> = LazyLock::new(|| {
    let mut fonts = Database::new();
    fonts.load_font_data(epaint_default_fonts::UBUNTU_LIGHT.to_vec());
    fonts.set_sans_serif_family("Ubuntu");
    Arc::new(fonts)
});

impl Figure {
    /// The figure as a PNG. The pixels are identical on every machine.
    pub fn png(&self) -> Result<Vec<u8>, ReportError> {
        let pixels = pixels(&self.tree(&FONTS)?);
        let pixels = pixels.ok_or_else(|| self.undrawn("it has no size"))?;
        pixels.encode_png().map_err(|error| self.undrawn(error))
    }

    fn tree(&self, fonts: &Arc<Database>) -> Result<Tree, ReportError> {
        let options = Options {
            fontdb: Arc::clone(fonts),
            ..Options::default()
        };
        Tree::from_str(&self.svg, &options).map_err(|error| self.undrawn(error))
    }

    fn undrawn(&self, reason: impl ToString) -> ReportError {
        ReportError::Draw {
            figure: self.title.clone(),
            reason: reason.to_string(),
        }
    }
}

/// The pixels; `None` if the picture is too large or empty.
fn pixels(tree: &Tree) -> Option<Pixmap> {
    let size = tree.size().to_int_size().scale_by(SCALE)?;
    let mut pixels = Pixmap::new(size.width(), size.height())?;
    let scale = Transform::from_scale(SCALE, SCALE);
    resvg::render(tree, scale, &mut pixels.as_mut());
    Some(pixels)
}

#[cfg(test)]
mod tests {
    use resvg::usvg::{Group, Node};

    use super::*;
    use crate::example;
    use crate::report::figures;

    /// The width and the height in the SVG's head.
    fn size(svg: &str) -> (u32, u32) {
        let attribute = |name: &str| {
            let (_, rest) = svg.split_once(&format!(" {name}=\"")).unwrap();
            rest.split_once('"').unwrap().0.parse().unwrap()
        };
        (attribute("width"), attribute("height"))
    }

    #[test]
    fn every_figure_is_a_png_of_twice_its_size() {
        for figure in figures(&example::results()).unwrap() {
            let png = figure.png().unwrap();
            assert!(png.starts_with(b"\x89PNG\r\n\x1a\n"));
            let number = |at: usize| u32::from_be_bytes(png[at..at + 4].try_into().unwrap());
            let (width, height) = size(&figure.svg);
            let drawn = (number(16), number(20));
            assert_eq!(drawn, (2 * width, 2 * height), "{}", figure.name);
        }
    }

    #[test]
    fn texts_are_drawn_without_the_machines_fonts() {
        let figure = &figures(&example::results()).unwrap()[0];
        // The position of the title.
        let (x, y) = (14_u32, 22_u32);
        let title = format!("<text x=\"{x}\" y=\"{y}\"");
        assert!(figure.svg.contains(&title), "{}", figure.svg);
        let is_dark = |fonts| {
            let pixels = pixels(&figure.tree(fonts).unwrap()).unwrap();
            let dark = |x: u32, y: u32| pixels.pixel(2 * x, 2 * y).unwrap().green() < 0x80;
            (x..x + 100).any(|x| (y - 8..y + 8).any(|y| dark(x, y)))
        };
        assert!(is_dark(&FONTS));
        assert!(!is_dark(&Arc::default()), "no font, no text");
    }

    /// The glyphs of all texts, each with its letters.
    fn glyphs(group: &Group) -> Vec<(u32, String)> {
        let of_node = |node: &Node| match node {
            Node::Group(group) => glyphs(group),
            Node::Text(text) => {
                let glyphs = text
                    .layouted()
                    .iter()
                    .flat_map(|span| &span.positioned_glyphs);
                glyphs
                    .map(|glyph| (glyph.id.0, glyph.text.clone()))
                    .collect()
            }
            Node::Path(_) | Node::Image(_) => Vec::new(),
        };
        group.children().iter().flat_map(of_node).collect()
    }

    #[test]
    fn the_font_has_every_letter() {
        const ABSENT: u32 = 0;
        for figure in figures(&example::results()).unwrap() {
            let glyphs = glyphs(figure.tree(&FONTS).unwrap().root());
            assert!(glyphs.len() > 100, "{}", figure.name);
            let absent = glyphs.iter().find(|(id, _)| *id == ABSENT);
            assert_eq!(absent, None, "{}", figure.name);
        }
    }
}
