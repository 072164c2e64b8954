"""Reports as one file: sortable tables, inline pictures, and under each of them the command that made its numbers."""

from discreet.research.report.document import Code, Document, Paragraph, Part, Picture, ReportTable, Section
from discreet.research.report.folder import write_report

__all__ = ["Code", "Document", "Paragraph", "Part", "Picture", "ReportTable", "Section", "write_report"]
