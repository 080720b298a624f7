"""What SVG drawings are made of: a sheet, texts, and lines from row to row."""

from __future__ import annotations

from xml.etree import ElementTree as ET

from zodiac_sql.read.drawing.layout import Box, Link

DASHES = "6 4"
SANS = "Helvetica, Arial, 'DejaVu Sans', sans-serif"
MONO = "Menlo, Consolas, 'DejaVu Sans Mono', 'Liberation Mono', monospace"
CELL = 7.3  # width in pixels of a monospace character of 12 pixels


def document(root: ET.Element) -> str:
    """A drawing as text."""
    ET.indent(root, " ")
    return ET.tostring(root, encoding="unicode") + "\n"


def sheet(title: str, width: float, height: float) -> ET.Element:
    """An empty white drawing that needs nothing from outside."""
    size = {"width": number(width), "height": number(height)}
    box = f"0 0 {number(width)} {number(height)}"
    frame = {"xmlns": "http://www.w3.org/2000/svg", "viewBox": box}
    root = ET.Element("svg", frame | size | {"font-family": SANS, "font-size": "12"})
    ET.SubElement(root, "title").text = title
    ET.SubElement(root, "rect", size | {"fill": "#ffffff"})
    return root


def placed(box: Box) -> dict[str, str]:
    """Where a rectangle stands."""
    place = {"x": number(box.x), "y": number(box.y)}
    return place | {"width": number(box.width), "height": number(box.height)}


def write(parent: ET.Element, x: float, y: float, text: str, style: dict[str, str]) -> None:
    """A text whose baseline begins at (x, y)."""
    ET.SubElement(parent, "text", {"x": number(x), "y": number(y)} | style).text = text


def draw_line(parent: ET.Element, link: Link, style: dict[str, str], colour: str) -> None:
    """A line from a row to the next, with an arrowhead where it reaches its box."""
    end = link.y1 - 6 if link.last else link.y1
    x0, x1, middle = number(link.x0), number(link.x1), number((link.leave + link.arrive) / 2)
    curve = f"C{x0} {middle} {x1} {middle}"
    path = f"M{x0} {number(link.y0)}V{number(link.leave)}{curve} {x1} {number(link.arrive)}"
    line = {"d": f"{path}V{number(end)}", "fill": "none", "stroke-width": "1.5"}
    ET.SubElement(parent, "path", line | style)
    if link.last:
        head = f"M{x1} {number(link.y1)}l-4 -9h8z"
        ET.SubElement(parent, "path", {"d": head, "fill": colour, "stroke": "none"})


def number(length: float) -> str:
    """A coordinate, to a tenth of a pixel."""
    return f"{length:.1f}".removesuffix(".0")
