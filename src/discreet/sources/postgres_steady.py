"""Whether a table of PostgreSQL is the same whenever one snapshot of it is read.

Guarantee  a steady relation has the same records in every statement of one REPEATABLE READ transaction.
Proof      it is made of tables, partitions and materialised views, whose records the snapshot fixes; of foreign tables
           of postgres_fdw, which reads them in one REPEATABLE READ transaction of the other server for as long as ours
           lasts; and of views over these, and rules of row-level security, whose functions are not volatile: their
           values depend on their arguments, the snapshot and the transaction alone. A view that samples records, or
           that takes some of them by LIMIT, is not steady: which it takes may depend on how it is read.
Rests on   functions that are volatile being declared so; views that compute the same from the same records (no first
           record, and no number of a record, in an order that leaves ties); and foreign tables that are steady on
           their own server. These are the owner's.
Test       tests/engines/test_postgres_levels.py::test_what_is_not_steady_is_refused_before_the_charge
"""

from __future__ import annotations

STEADY = r"""WITH RECURSIVE reached(oid) AS (
SELECT {oid}::oid
UNION
SELECT next.oid FROM reached, LATERAL (
SELECT i.inhrelid FROM pg_catalog.pg_inherits i WHERE i.inhparent = reached.oid
UNION ALL
SELECT d.refobjid FROM pg_catalog.pg_depend d JOIN pg_catalog.pg_rewrite r ON d.objid = r.oid
JOIN pg_catalog.pg_class c ON c.oid = r.ev_class AND c.relkind = 'v'
WHERE d.classid = 'pg_catalog.pg_rewrite'::regclass AND d.refclassid = 'pg_catalog.pg_class'::regclass
AND r.ev_class = reached.oid AND r.ev_type = '1'
UNION ALL
SELECT d.refobjid FROM pg_catalog.pg_depend d JOIN pg_catalog.pg_policy p ON d.objid = p.oid
WHERE d.classid = 'pg_catalog.pg_policy'::regclass AND d.refclassid = 'pg_catalog.pg_class'::regclass
AND p.polrelid = reached.oid
) AS next(oid)),
texts AS (
SELECT r.ev_action::text AS content FROM pg_catalog.pg_rewrite r
JOIN pg_catalog.pg_class c ON c.oid = r.ev_class AND c.relkind = 'v'
WHERE r.ev_class IN (SELECT oid FROM reached) AND r.ev_type = '1'
UNION ALL
SELECT p.polqual::text FROM pg_catalog.pg_policy p WHERE p.polrelid IN (SELECT oid FROM reached)),
called AS (
SELECT (pg_catalog.regexp_matches(content, ':(?:funcid|opfuncid|aggfnoid|winfnoid) (\d+)', 'g'))[1]::oid AS oid
FROM texts)
SELECT NOT EXISTS (SELECT 1 FROM texts WHERE content ~ 'TABLESAMPLECLAUSE|:limitCount \{{|:limitOffset \{{')
AND NOT EXISTS (SELECT 1 FROM pg_catalog.pg_proc f WHERE f.oid IN (SELECT oid FROM called) AND f.provolatile = 'v')
AND NOT EXISTS (
SELECT 1 FROM pg_catalog.pg_foreign_table t JOIN pg_catalog.pg_foreign_server s ON s.oid = t.ftserver
JOIN pg_catalog.pg_foreign_data_wrapper w ON w.oid = s.srvfdw
WHERE t.ftrelid IN (SELECT oid FROM reached) AND w.fdwname <> 'postgres_fdw')"""
"""A SELECT with one row: whether the relation with a number is steady."""
