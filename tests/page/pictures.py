"""Pictures compared with a tolerance: another version of the browser or its fonts moves an edge, a fault moves a part."""
import io
import os
from pathlib import Path

from PIL import Image, ImageChops, ImageFilter

GOLDEN = Path(__file__).parent / "golden"


def load(data):
    return Image.open(io.BytesIO(data))


def difference(a, b):
    """The share of the picture, softened a little, that differs clearly."""
    if a.size != b.size:
        return 1.0
    soft = [p.filter(ImageFilter.BoxBlur(2)) for p in (a, b)]
    red, green, blue = ImageChops.difference(*soft).split()
    histogram = ImageChops.lighter(ImageChops.lighter(red, green), blue).histogram()
    return sum(histogram[40:]) / (a.width * a.height)


def compare(name, data, limit=0.015):
    """None, or what is wrong. Records with GAMBREL_UPDATE_GOLDEN=1."""
    picture = load(data).convert("RGB")
    picture = picture.resize((picture.width // 2, picture.height // 2), Image.LANCZOS)
    file = GOLDEN / f"{name}.png"
    if os.environ.get("GAMBREL_UPDATE_GOLDEN"):
        picture.quantize(200, Image.Quantize.FASTOCTREE).save(file, optimize=True)
        return None
    if not file.exists():
        return f"{file}: missing; GAMBREL_UPDATE_GOLDEN=1 records it"
    found = difference(picture, Image.open(file).convert("RGB"))
    if found <= limit:
        return None
    saved = Path(os.environ.get("TMPDIR", "/tmp")) / f"{name}-now.png"
    picture.save(saved)
    return f"{name}: {100 * found:.1f} % of the picture differs from {file}; it is now {saved}"
