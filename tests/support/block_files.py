"""A file counted from its blocks of columns in memory, as scoring and perturbing read it."""

from discreet.records import files
from discreet.sources.blocks import BlockSource


class FileSource(BlockSource):
    """A CSV or Parquet file, a block at a time."""

    def __init__(self, path):
        super().__init__(lambda schema: files.read_blocks(path, names=schema.all_names), lambda: files.structure(path))
