-- Everything that the demo reads of its database. Times are of the simulated world.

-- name: configure_session
SELECT set_config('search_path', %(schema)s, false),
       set_config('timezone', 'UTC', false),
       set_config('statement_timeout', %(timeout)s, false),
       set_config('default_transaction_read_only', 'on', false);

-- The fleet: read twice a second ---------------------------------------------------------------

-- name: boards
SELECT k8s_pool, slots, usable, in_use FROM boards ORDER BY k8s_pool;

-- name: live_jobs
SELECT entity_id, max(entity_name),
       count(*) FILTER (WHERE status = 'pending'),
       count(*) FILTER (WHERE status = 'running'),
       GREATEST(0, extract(epoch FROM %(now)s::timestamptz
                - min(COALESCE(queued_at, created_at)) FILTER (WHERE status = 'pending')))::float8
  FROM jobs
 WHERE status IN ('pending', 'running')
 GROUP BY entity_id;

-- name: oldest_waiting
SELECT job_id FROM jobs WHERE status = 'pending' ORDER BY created_at, job_id LIMIT 1;

-- name: ended_jobs
SELECT entity_id, max(entity_name), count(*)
  FROM jobs
 WHERE status IN ('completed', 'failed')
 GROUP BY entity_id;

-- name: demand_waits
-- What holds up most jobs of each account. Those that are covered wait for their runner.
SELECT DISTINCT ON (entity_id) entity_id, waiting_for
  FROM (SELECT entity_id, waiting_for, pending - covered AS jobs
          FROM demand_waits
         WHERE waiting_for IS NOT NULL
         UNION ALL
        SELECT entity_id, 'runner', covered
          FROM demand_waits) AS held
 GROUP BY entity_id, waiting_for
HAVING sum(jobs) > 0
 ORDER BY entity_id, sum(jobs) DESC, waiting_for;

-- name: last_run
-- What was wrong is said by its phases, unless it could not go on at all.
SELECT r.id, r.status, r.started_at, extract(epoch FROM r.completed_at - r.started_at)::float8,
       r.workers_provisioned, r.workers_failed,
       COALESCE(r.error, (SELECT string_agg(p.phase || ': ' || p.error, '; ' ORDER BY p.id)
                            FROM reconcile_phases AS p
                           WHERE p.run_id = r.id AND p.error IS NOT NULL))
  FROM reconcile_runs AS r
 ORDER BY r.id DESC
 LIMIT 1;

-- name: count_runs
SELECT count(*) FROM reconcile_runs;

-- What happened: rows that were written since the last look ------------------------------------

-- A time would not tell which they are: a row is there a while after the time that it says. So it is
-- the transaction that wrote it. Those that may still be open are looked at again the next time, and
-- the reader knows what it has told. The remainder: of its number a row has the lower half only.

-- name: oldest_open_transaction
SELECT (pg_snapshot_xmin(pg_current_snapshot())::text::numeric %% 4294967296)::bigint;

-- name: failed_workers
SELECT pod_name, k8s_node, COALESCE(failure_info ->> 'reason', 'unknown'), completed_at
  FROM workers
 WHERE status = 'failed' AND xmin::text::bigint >= %(since)s
 ORDER BY completed_at DESC, pod_name
 LIMIT %(limit)s;

-- name: given_up_jobs
SELECT job_id, entity_name, COALESCE(failure_info ->> 'reason', 'unknown'), updated_at
  FROM jobs
 WHERE status = 'failed' AND xmin::text::bigint >= %(since)s
 ORDER BY updated_at DESC, job_id
 LIMIT %(limit)s;

-- name: troubled_runs
-- The oldest first: how often something was met is counted in its order.
SELECT r.id, r.status, COALESCE(r.completed_at, r.started_at),
       COALESCE(r.error, (SELECT string_agg(p.phase || ': ' || p.error, '; ' ORDER BY p.id)
                            FROM reconcile_phases AS p
                           WHERE p.run_id = r.id AND p.error IS NOT NULL), 'no reason was noted')
  FROM reconcile_runs AS r
 WHERE r.status IN ('partial', 'failed') AND r.xmin::text::bigint >= %(since)s
 ORDER BY r.id
 LIMIT %(limit)s;

-- name: held_demand
-- An account is known by name from where its runners were registered, else from a job of it.
SELECT b.entity_id, b.repo_full_name, b.job_labels::text, b.failures, b.reason, b.failed_at, b.retry_at,
       b.parked,
       COALESCE(NULLIF(b.repo_full_name, ''), s.entity_name,
                (SELECT entity_name FROM jobs WHERE entity_id = b.entity_id LIMIT 1),
                b.entity_id::text),
       ARRAY(SELECT jsonb_array_elements_text(b.job_labels))
  FROM demand_back_off AS b
  LEFT JOIN github_scopes AS s USING (entity_id, repo_full_name)
 WHERE b.failures > 0 AND b.xmin::text::bigint >= %(since)s
 ORDER BY b.failed_at DESC
 LIMIT %(limit)s;

-- name: redeliveries
-- Asked for so far, in all. When is not noted: not before it failed, and mostly when the log was read.
SELECT COALESCE(sum(r.attempts), 0)::bigint, max(GREATEST(r.failed_at, c.read_at))
  FROM webhook_redeliveries AS r
  LEFT JOIN webhook_cursors AS c USING (app_id)
 WHERE r.attempts > 0;

-- The summary ----------------------------------------------------------------------------------

-- name: job_outcomes
-- What ended is told by how GitHub says it ended.
SELECT CASE status WHEN 'completed' THEN COALESCE(conclusion, 'unknown') ELSE status::text END, count(*)
  FROM jobs
 GROUP BY 1
 ORDER BY count(*) DESC, 1;

-- name: worker_outcomes
SELECT CASE status WHEN 'failed' THEN 'failed: ' || COALESCE(failure_info ->> 'reason', 'unknown')
                   ELSE status::text END, count(*)
  FROM workers
 GROUP BY 1
 ORDER BY count(*) DESC, 1;

-- name: waits
-- Of all (NULL), and of each account.
SELECT entity_name, count(*),
       percentile_cont(ARRAY[0.5, 0.95, 0.99, 1]) WITHIN GROUP (ORDER BY seconds)
  FROM (SELECT entity_name,
               GREATEST(0, extract(epoch FROM started_at - COALESCE(queued_at, created_at)))::float8 AS seconds
          FROM jobs
         WHERE started_at IS NOT NULL AND entity_name <> ALL(%(beside)s)) AS waited
 GROUP BY GROUPING SETS ((), (entity_name))
HAVING count(*) > 0
 ORDER BY entity_name IS NOT NULL, count(*) DESC, entity_name;

-- name: pool_use
-- A worker has its board from when it is made until it is over; what is outside the span is cut off.
SELECT b.k8s_pool, b.slots,
       COALESCE(sum(extract(epoch FROM LEAST(COALESCE(w.completed_at, %(end)s), %(end)s)
                                     - GREATEST(w.created_at, %(begin)s))), 0)::float8
  FROM boards AS b
  LEFT JOIN workers AS w ON w.k8s_pool = b.k8s_pool AND w.created_at < %(end)s
                        AND COALESCE(w.completed_at, %(end)s) > %(begin)s
 GROUP BY b.k8s_pool, b.slots
 ORDER BY b.k8s_pool;

-- name: run_times
-- Of all (NULL), and of each status. A killed run has the time at which the next one found it.
SELECT status, count(*),
       percentile_cont(ARRAY[0.5, 0.95]) WITHIN GROUP (
           ORDER BY GREATEST(0, extract(epoch FROM completed_at - started_at))::float8)
  FROM reconcile_runs
 WHERE completed_at IS NOT NULL AND status <> 'running'
 GROUP BY GROUPING SETS ((), (status))
HAVING count(*) > 0
 ORDER BY status IS NOT NULL, count(*) DESC, status;

-- name: count_webhooks
SELECT count(*) FROM installation_events WHERE source = 'webhook';

-- name: jobs_for_planning
SELECT entity_name, CASE entity_type WHEN 'User' THEN repo_full_name END,
       ARRAY(SELECT jsonb_array_elements_text(job_labels)), k8s_pool, created_at,
       CASE WHEN completed_at >= started_at
            THEN extract(epoch FROM completed_at - started_at)::float8 END
  FROM jobs
 ORDER BY created_at, job_id;

-- name: worker_states
-- All of them: what is there must be the work of one.
SELECT pod_name, status::text FROM workers;

-- name: job_states
SELECT job_id, status::text, conclusion FROM jobs;

-- The export -----------------------------------------------------------------------------------

-- name: be_patient
-- For the rest of the transaction.
SELECT set_config('statement_timeout', %(timeout)s, true);

-- name: tables
-- With their columns, but for secrets, and those that their rows are told apart by.
SELECT c.relname,
       ARRAY(SELECT a.attname::text
               FROM pg_attribute AS a
              WHERE a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
                AND (c.relname, a.attname) <> ('github_credentials', 'token')
              ORDER BY a.attnum),
       ARRAY(SELECT a.attname::text
               FROM pg_index AS i
               CROSS JOIN unnest(i.indkey) WITH ORDINALITY AS k(attnum, place)
               JOIN pg_attribute AS a ON a.attrelid = c.oid AND a.attnum = k.attnum
              WHERE i.indrelid = c.oid AND i.indisprimary
              ORDER BY k.place)
  FROM pg_class AS c
  JOIN pg_namespace AS n ON n.oid = c.relnamespace
 WHERE n.nspname = %(schema)s AND c.relkind = 'r'
 ORDER BY c.relname;

-- name: copy_table
COPY (SELECT {columns} FROM {table} ORDER BY {keys}) TO STDOUT WITH (FORMAT csv, HEADER);
