"""The service: owners keep the rows, analysts get models, scores and counts, within limits that hold.

Modules here are functions on an open connection of the database. Nothing in this room but `worker` and what it starts
(`child`, `snapshots`, `source_file`) knows where data are; see docs for who is trusted with what.
"""
