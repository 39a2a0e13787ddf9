"""Rows to plant copies among, one maker a kind."""

from __future__ import annotations

import io

import numpy as np
import PIL.Image

WORDS = [f"word{index}" for index in range(500)]
RESIDUES = list("ACDEFGHIKLMNPQRSTVWY")


def text(seed: int, words: int = 60) -> str:
    return " ".join(np.random.default_rng(seed).choice(WORDS, words))


def protein(seed: int, length: int = 200) -> str:
    return "".join(np.random.default_rng(seed).choice(RESIDUES, length))


def code(seed: int, lines: int = 12) -> str:
    draw = np.random.default_rng(seed)
    names = ["count", "total", "left", "right", "item"]
    body = "".join(
        f"    {draw.choice(names)} {draw.choice(['=', '+=', '-=', '|='])} {draw.choice(names)} "
        f"{draw.choice(['+', '*', '<<', '&', '/'])} {draw.choice(names)};\n"
        f"    if ({draw.choice(names)} {draw.choice(['<', '>', '=='])} {draw.choice(names)})\n"
        f"        return {draw.choice(names)};\n"
        for _ in range(lines)
    )
    return f"int work(int count, int total) {{\n{body}}}\n"


def pixels(seed: int, width: int = 200, height: int = 150) -> np.ndarray:
    """uint8 of shape (height, width, 3): clouds of three sizes."""
    draw = np.random.default_rng(seed)
    total = np.zeros((height, width, 3), np.float32)
    for cells in (3, 6, 12):
        noise = PIL.Image.fromarray(draw.integers(0, 256, (cells, cells, 3), np.uint8))
        total += np.asarray(noise.resize((width, height), PIL.Image.Resampling.BICUBIC)).astype(np.float32)
    return (total / 3).astype(np.uint8)


def encoded(dots: np.ndarray, kind: str = "JPEG", **options: int) -> bytes:
    file = io.BytesIO()
    PIL.Image.fromarray(dots).save(file, kind, **options)
    return file.getvalue()


def sound(seed: int, frames: int = 120) -> list[int]:
    return np.random.default_rng(seed).integers(0, 1 << 16, frames).tolist()


def with_errors(frames: list[int], rate: float, seed: int = 1) -> list[int]:
    draw = np.random.default_rng(seed)
    flips = (draw.random((len(frames), 16)) < rate) @ (1 << np.arange(16))
    return (np.array(frames) ^ flips).tolist()


def drawing(seed: int) -> list[dict]:
    draw = np.random.default_rng(seed)
    lines = []
    for _ in range(5):
        places = draw.normal(0, 12, (10, 2)).cumsum(axis=0) + draw.uniform(0, 200, 2)
        lines.append({"x": places[:, 0].tolist(), "y": places[:, 1].tolist()})
    return lines
