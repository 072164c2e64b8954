"""Pictures of released models as SVG, by the library's own plots; without matplotlib there is the text alone."""

from __future__ import annotations

import importlib.util
import io
import threading
from collections import OrderedDict
from typing import Any

MOST_PICTURES = 32
_pictures: OrderedDict[str, bytes] = OrderedDict()
_lock = threading.Lock()
_drawing = threading.Lock()
"""One picture is drawn at a time: drawing is slow, and others want the processor too."""


def can_draw() -> bool:
    """Whether matplotlib is installed."""
    return importlib.util.find_spec("matplotlib") is not None


def picture(content_hash: str, model: Any) -> bytes:
    """The picture of a model, drawn once for each file; MissingExtra without matplotlib."""
    with _lock:
        found = _pictures.get(content_hash)
    if found is None:
        with _drawing:
            found = _draw(model)
    with _lock:
        _pictures[content_hash] = found
        _pictures.move_to_end(content_hash)
        while len(_pictures) > MOST_PICTURES:
            _pictures.popitem(last=False)
    return found


def _draw(model: Any) -> bytes:
    file = io.BytesIO()
    model.plot().savefig(file, format="svg", metadata={"Date": None, "Creator": None})
    return file.getvalue()
