"""Damage to files."""

import re

import pytest

from discreet.errors import FileError


def assert_changed_digits_are_found(path, load, places=40):
    """Change one digit at a time, at about this many places: `load` refuses each, and reads the restored file."""
    original = path.read_text()
    numbers = [match.start() for match in re.finditer(r"[0-9]", original)]
    for position in numbers[:: max(1, len(numbers) // places)]:
        digit = "1" if original[position] != "1" else "2"
        path.write_text(original[:position] + digit + original[position + 1 :])
        with pytest.raises(FileError):
            load(path)
    path.write_text(original)
    load(path)
