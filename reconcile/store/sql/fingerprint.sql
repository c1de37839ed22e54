-- name: describe_schema
-- What a schema holds, in words that are the same whatever its name is and whoever asks: without
-- the privilege to use it, PostgreSQL qualifies its names; that is taken out again.
WITH ours AS (
    SELECT oid, quote_ident(nspname) || '.' AS qualifier
      FROM pg_namespace
     WHERE nspname = %(schema)s
)
SELECT 'column' AS kind,
       relation.relname::text AS parent,
       attribute.attname::text AS name,
       replace(format_type(attribute.atttypid, attribute.atttypmod), ours.qualifier, '')
           || CASE WHEN attribute.attnotnull THEN ' not null' ELSE '' END AS definition
  FROM ours
  JOIN pg_class relation ON relation.relnamespace = ours.oid AND relation.relkind IN ('r', 'p', 'v')
  JOIN pg_attribute attribute ON attribute.attrelid = relation.oid
 WHERE attribute.attnum > 0 AND NOT attribute.attisdropped
UNION ALL
SELECT 'enum', '', type.typname, string_agg(label.enumlabel, ', ' ORDER BY label.enumsortorder)
  FROM ours
  JOIN pg_type type ON type.typnamespace = ours.oid
  JOIN pg_enum label ON label.enumtypid = type.oid
 GROUP BY type.typname
UNION ALL
SELECT 'index', relation.relname, index.relname,
       replace(pg_get_indexdef(index.oid), ours.qualifier, '')
           || CASE WHEN pg_index.indisvalid THEN '' ELSE ' (invalid)' END
  FROM ours
  JOIN pg_class index ON index.relnamespace = ours.oid
  JOIN pg_index ON pg_index.indexrelid = index.oid
  JOIN pg_class relation ON relation.oid = pg_index.indrelid
UNION ALL
SELECT 'trigger', relation.relname, trigger.tgname,
       replace(pg_get_triggerdef(trigger.oid), ours.qualifier, '')
           || CASE WHEN trigger.tgenabled IN ('O', 'A') THEN '' ELSE ' (disabled)' END
  FROM ours
  JOIN pg_class relation ON relation.relnamespace = ours.oid
  JOIN pg_trigger trigger ON trigger.tgrelid = relation.oid AND NOT trigger.tgisinternal
UNION ALL
SELECT 'sequence', '', relation.relname, ''
  FROM ours
  JOIN pg_class relation ON relation.relnamespace = ours.oid AND relation.relkind = 'S'
UNION ALL
SELECT 'function', '', routine.proname, md5(routine.prosrc)
  FROM ours
  JOIN pg_proc routine ON routine.pronamespace = ours.oid
 ORDER BY kind, parent, name;

-- name: list_privileges
-- What a role may do in a schema. A privilege on single columns is listed by column, and only
-- where the role does not have it on the whole table. CASE, because PostgreSQL may ask about a
-- table as if it were a sequence before it looks what it is.
WITH ours AS (
    SELECT oid, nspname FROM pg_namespace WHERE nspname = %(schema)s
), relations AS (
    SELECT relation.oid, relation.relname::text AS relname, relation.relkind
      FROM ours
      JOIN pg_class relation ON relation.relnamespace = ours.oid
     WHERE relation.relkind IN ('r', 'p', 'v', 'S')
)
SELECT 'USAGE' AS privilege, 'schema' AS object, NULL AS column_name
  FROM ours
 WHERE has_schema_privilege(%(role)s::name, oid, 'USAGE')
UNION ALL
SELECT privilege, relname, NULL
  FROM relations, unnest(ARRAY['SELECT', 'INSERT', 'UPDATE', 'DELETE']) privilege
 WHERE relkind <> 'S' AND has_table_privilege(%(role)s::name, oid, privilege)
UNION ALL
SELECT privilege, relname, attname::text
  FROM relations
  JOIN pg_attribute ON attrelid = oid AND attnum > 0 AND NOT attisdropped,
       unnest(ARRAY['SELECT', 'INSERT', 'UPDATE']) privilege
 WHERE relkind <> 'S'
   AND has_column_privilege(%(role)s::name, oid, attnum, privilege)
   AND NOT has_table_privilege(%(role)s::name, oid, privilege)
UNION ALL
SELECT 'USAGE', relname, NULL
  FROM relations
 WHERE CASE relkind WHEN 'S' THEN has_sequence_privilege(%(role)s::name, oid, 'USAGE') END
 ORDER BY object, privilege, column_name;

-- name: limit_statements
SELECT set_config('statement_timeout', %(milliseconds)s, false);

-- name: describe_server
-- Who we are, and whether anybody on the way could listen.
SELECT current_user AS role,
       current_setting('server_version') AS version,
       current_setting('server_version_num')::integer AS version_number,
       (SELECT version FROM pg_stat_ssl WHERE pid = pg_backend_pid() AND ssl) AS tls;
