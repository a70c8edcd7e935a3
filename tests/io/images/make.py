#!/usr/bin/env python3
"""Makes the images of this folder, and beside each what another reader finds in it: NAME.npy, u8 [height, width, channels of the file].

PNG files are written here by their specification, since Pillow writes neither interlaced ones nor colours of 16 bits; JPEG files by Pillow. Values of
8 bits are Pillow's, those of 16 bits the nearest ones of 8 bits. rgb_grey.npy and the like hold what Pillow's convert() makes of them.

usage: make.py    (needs Pillow and NumPy)
"""
import io
import struct
import zlib
from pathlib import Path

import numpy as np
from PIL import Image, ImageOps

HERE = Path(__file__).resolve().parent
HEIGHT, WIDTH = 7, 9
RANDOM = np.random.default_rng(17)
GREY, RGB, PALETTE, GREY_ALPHA, RGBA = 0, 2, 3, 4, 6
CHANNELS = {GREY: 1, RGB: 3, PALETTE: 1, GREY_ALPHA: 2, RGBA: 4}
ADAM7 = [(0, 0, 8, 8), (0, 4, 8, 8), (4, 0, 8, 4), (0, 2, 4, 4), (2, 0, 4, 2), (0, 1, 2, 2), (1, 0, 2, 1)]  # first row and column, steps


def chunk(name, data):
    return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))


def packed(rows, bits):
    """Rows with filter 0, their values one behind the other in as many bits."""
    lines = []
    for row in rows:
        text = "".join(f"{value:0{bits}b}" for value in row.reshape(-1))
        text += "0" * (-len(text) % 8)
        lines.append(b"\0" + int(text, 2).to_bytes(len(text) // 8, "big"))
    return b"".join(lines)


def png(values, kind, bits, palette=None, transparency=None, interlaced=False):
    height, width = values.shape[:2]
    parts = [(0, 0, 1, 1)] if not interlaced else ADAM7
    data = b"".join(packed(values[top::down, left::right], bits) for top, left, down, right in parts if left < width and top < height)
    text = b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, bits, kind, 0, 0, int(interlaced)))
    if palette is not None:
        text += chunk(b"PLTE", palette.astype(np.uint8).tobytes())
    if transparency is not None:
        text += chunk(b"tRNS", transparency)
    return text + chunk(b"IDAT", zlib.compress(data)) + chunk(b"IEND", b"")


def noise(kind, bits, most=None):
    return RANDOM.integers(0, most or 2**bits, (HEIGHT, WIDTH, CHANNELS[kind]))


def keep(name, text, values):
    (HERE / name).write_bytes(text)
    values = np.asarray(values).astype(np.uint8)
    np.save(HERE / f"{Path(name).stem}.npy", values[..., None] if values.ndim == 2 else values)


def seen(text, mode=None):
    image = Image.open(io.BytesIO(text))
    return np.asarray(image.convert(mode) if mode else image)


def make_png():
    colours = RANDOM.integers(0, 256, (11, 3))
    for name, kind, bits, mode, more in [
        ("grey", GREY, 8, None, {}), ("grey1", GREY, 1, "L", {}), ("grey2", GREY, 2, "L", {}), ("grey4", GREY, 4, "L", {}),
        ("grey_alpha", GREY_ALPHA, 8, None, {}), ("rgb", RGB, 8, None, {}), ("rgba", RGBA, 8, None, {}),
        ("palette", PALETTE, 4, "RGB", {"palette": colours}),
        ("palette_alpha", PALETTE, 8, "RGBA", {"palette": colours, "transparency": bytes([0, 100, 200])}),
        ("interlaced", RGB, 8, None, {"interlaced": True}), ("interlaced_palette", PALETTE, 4, "RGB", {"palette": colours, "interlaced": True}),
    ]:
        text = png(noise(kind, bits, 11 if kind == PALETTE else None), kind, bits, **more)
        keep(name + ".png", text, seen(text, mode))
    for name, kind, interlaced in [("grey16", GREY, False), ("rgb16", RGB, False), ("interlaced16", RGBA, True)]:
        values = noise(kind, 16)
        keep(name + ".png", png(values, kind, 16, interlaced=interlaced), np.floor(values * 255 / 65535 + 0.5))
    for name, mode in [("rgb_grey", "L"), ("rgb_alpha", "RGBA")]:
        values = seen((HERE / "rgb.png").read_bytes(), mode)
        np.save(HERE / f"{name}.npy", values[..., None] if values.ndim == 2 else values)


def jpeg(values, mode, **options):
    out = io.BytesIO()
    Image.fromarray(values, mode).save(out, "JPEG", **options)
    return out.getvalue()


def make_jpeg():
    across, down = np.meshgrid(np.arange(19), np.arange(13))
    smooth = np.stack([across * 13, down * 19, 255 - across * 6 - down * 8], axis=-1).astype(np.uint8)
    for name, values, mode, options in [
        ("jpeg_grey", smooth[..., 0].copy(), "L", {"quality": 80}), ("jpeg_rgb", smooth, "RGB", {"quality": 80, "subsampling": "4:4:4"}),
        ("jpeg_halved", smooth, "RGB", {"quality": 80, "subsampling": "4:2:0"}),
        ("jpeg_progressive", smooth, "RGB", {"quality": 80, "progressive": True}),
    ]:
        text = jpeg(values, mode, **options)
        keep(name + ".jpg", text, seen(text))
    (HERE / "jpeg_print.jpg").write_bytes(jpeg(np.concatenate([smooth, smooth[..., :1]], axis=-1), "CMYK", quality=80))

    # Turned: the file says 1; turned.npy has a line for each orientation, the values of the upright image.
    lines = []
    for orientation in range(1, 9):
        exif = Image.Exif()
        exif[0x0112] = orientation
        text = jpeg(smooth[:5, :8].copy(), "RGB", quality=90, subsampling="4:4:4", exif=exif)
        if orientation == 1:
            (HERE / "turned.jpg").write_bytes(text)
        lines.append(np.asarray(ImageOps.exif_transpose(Image.open(io.BytesIO(text)))).reshape(-1))
    np.save(HERE / "turned.npy", np.stack(lines))


def make_hostile():
    """Files that lie, or cost more than they are: no values stand beside them."""
    folder = HERE / "hostile"
    folder.mkdir(exist_ok=True)
    header = struct.pack(">IIBBBBB", 50_000, 50_000, 8, RGBA, 0, 0, 0)
    (folder / "lying.png").write_bytes(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(b"\0" * 100)) + chunk(b"IEND", b""))
    (folder / "bomb.png").write_bytes(png(np.zeros((1500, 1500, 1), int), GREY, 1))
    text = zlib.compress(b"a" * 50_000_000, 9)  # text that grows a thousandfold
    plain = (HERE / "grey.png").read_bytes()
    (folder / "text.png").write_bytes(plain[:33] + chunk(b"zTXt", b"Comment\0\0" + text) + plain[33:])


make_png()
make_jpeg()
make_hostile()
