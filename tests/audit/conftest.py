"""Targets of audits are imported by processes of their own."""

from support.audit_path import targets_can_be_imported

__all__ = ["targets_can_be_imported"]
