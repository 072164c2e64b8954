"""Reports that are one file: tables that sort, pictures inline, and under each where its numbers come from."""

from discreet.research.report.document import Document, Paragraph, Part, Picture, ReportTable, Section
from discreet.research.report.folder import write_report

__all__ = ["Document", "Paragraph", "Part", "Picture", "ReportTable", "Section", "write_report"]
