//! Charts of a run: lines over time, or over the size of a message.

use std::ops::Range;

use common::Failure;
use plotters::prelude::*;

const SIZE: (u32, u32) = (960, 320);
const INK: RGBColor = RGBColor(0x22, 0x22, 0x22);
/// Okabe and Ito's colours, which colour-blind people can tell apart.
const COLOURS: [RGBColor; 3] = [RGBColor(0x00, 0x72, 0xb2), RGBColor(0xd5, 0x5e, 0x00), RGBColor(0x00, 0x9e, 0x73)];

/// A line of a chart.
pub(super) struct Curve {
    pub(super) name: &'static str,
    pub(super) points: Vec<(f64, f64)>,
}

/// Draws lines, as SVG. With `doubles`, each step of the horizontal axis is twice the one before.
///
/// # Errors
/// plotters cannot draw it.
pub(super) fn draw(title: &str, axes: [&str; 2], doubles: bool, curves: &[Curve]) -> Result<String, Failure> {
    let place = |x: f64| if doubles { x.max(1.0).log2() } else { x };
    let points = || curves.iter().flat_map(|curve| &curve.points);
    let range = |values: &mut dyn Iterator<Item = f64>, from_zero: bool| -> Range<f64> {
        let (low, high) = values.fold((f64::MAX, f64::MIN), |(low, high), value| (low.min(value), high.max(value)));
        let low = if from_zero { 0.0 } else { low };
        if high > low { low..high + (high - low) * 0.05 } else { low..low + 1.0 }
    };
    let across = range(&mut points().map(|point| place(point.0)), !doubles);
    let up = range(&mut points().map(|point| point.1), true);
    let mut text = String::new();
    {
        let broken = |error: &dyn std::fmt::Display| Failure::from(format!("cannot draw: {error}"));
        let area = SVGBackend::with_string(&mut text, SIZE).into_drawing_area();
        area.fill(&WHITE).map_err(|error| broken(&error))?;
        let mut chart = ChartBuilder::on(&area)
            .caption(title, ("sans-serif", 17))
            .margin(12)
            .x_label_area_size(40)
            .y_label_area_size(80)
            .build_cartesian_2d(across, up)
            .map_err(|error| broken(&error))?;
        let label = |x: &f64| if doubles { format!("{}", x.exp2().round()) } else { format!("{x}") };
        chart
            .configure_mesh()
            .x_desc(axes[0])
            .y_desc(axes[1])
            .x_label_formatter(&label)
            .axis_style(INK)
            .light_line_style(TRANSPARENT)
            .draw()
            .map_err(|error| broken(&error))?;
        for (curve, colour) in curves.iter().zip(COLOURS) {
            let places: Vec<_> = curve.points.iter().map(|&(x, y)| (place(x), y)).collect();
            let marks = places.iter().map(|&at| Circle::new(at, 3, colour.filled()));
            chart.draw_series(marks).map_err(|error| broken(&error))?;
            let line = PathElement::new(places, colour.stroke_width(2));
            let series = chart.draw_series([line]).map_err(|error| broken(&error))?;
            let key = move |(x, y)| PathElement::new([(x, y), (x + 16, y)], colour.stroke_width(2));
            series.label(curve.name).legend(key);
        }
        chart
            .configure_series_labels()
            .position(SeriesLabelPosition::UpperRight)
            .background_style(WHITE.mix(0.8))
            .border_style(TRANSPARENT)
            .draw()
            .map_err(|error| broken(&error))?;
        area.present().map_err(|error| broken(&error))?;
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn curves_have_their_names_and_axes() {
        let curves = [
            Curve { name: "p50", points: vec![(2.0, 1.0), (4.0, 3.0), (8.0, 9.0)] },
            Curve { name: "p99", points: vec![(2.0, 2.0)] },
        ];
        let svg = draw("a < title", ["bytes", "us"], true, &curves).expect("drawn");
        for text in ["<svg", "a &lt; title", "bytes", "p50", "p99"] {
            assert!(svg.contains(text), "no {text:?} in {svg}");
        }
        assert_eq!(svg.matches("<circle").count(), 4);
        // Nothing at all.
        draw("none", ["s", "messages"], false, &[]).expect("drawn");
    }
}
