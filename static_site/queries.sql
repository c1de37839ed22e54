-- Everything the site reads. A part is put where its name stands in braces. What is read at every
-- run is active or among the newest: nothing of it costs more as history grows.

-- part: job_columns
j.job_id, j.status::text, j.conclusion, j.failure_info ->> 'reason', j.failure_info ->> 'message',
       j.entity_id, j.entity_name, j.entity_type, j.repo_full_name, j.repo_private IS FALSE,
       j.workflow_name, j.job_name, j.run_attempt, j.html_url, j.job_labels::text, j.k8s_pool, j.k8s_pod,
       worker.status IS NOT NULL, j.created_at, COALESCE(j.queued_at, j.created_at), j.started_at,
       CASE WHEN j.status = 'failed' THEN COALESCE(j.completed_at, j.updated_at) ELSE j.completed_at END

-- part: job_joins
-- LIMIT keeps it a look for each, else all workers that ever failed may be read to compare them.
LEFT JOIN LATERAL (
       SELECT status FROM workers
        WHERE pod_name = j.k8s_pod AND status = 'failed' LIMIT 1) AS worker ON true

-- part: worker_columns
w.pod_name, w.status::text, w.failure_info ->> 'reason', w.failure_info ->> 'message', w.entity_id,
       w.entity_name, w.repo_full_name, w.job_labels::text, w.k8s_pool, w.k8s_node, w.created_at,
       w.running_at, w.completed_at, taken.job_id, taken.job_name, taken.html_url, taken.status::text,
       taken.conclusion, taken.public IS TRUE, taken.repo_full_name

-- part: worker_joins
-- A runner takes one job. Should there be more, none of them may be private.
LEFT JOIN LATERAL (
       SELECT job_id, job_name, html_url, status, conclusion, repo_full_name,
              bool_and(repo_private IS FALSE) OVER () AS public
         FROM jobs WHERE k8s_pod = w.pod_name
        ORDER BY created_at DESC LIMIT 1) AS taken ON true

-- part: run_columns
r.id, r.status, r.started_at, r.completed_at, r.error, done.phases

-- part: run_joins
LEFT JOIN LATERAL (
       SELECT jsonb_agg(jsonb_build_array(phase, success, impact, error, elapsed_seconds) ORDER BY id) AS phases
         FROM reconcile_phases WHERE run_id = r.id) AS done ON true

-- part: run_told
(r.status <> 'completed' OR r.jobs_updated > 0 OR r.workers_failed > 0 OR r.workers_provisioned > 0)

-- name: configure_session
SELECT set_config('search_path', %(schema)s, false),
       set_config('timezone', 'UTC', false),
       set_config('statement_timeout', %(timeout)s, false),
       set_config('default_transaction_read_only', 'on', false),
       set_config('client_connection_check_interval', '1s', false);

-- name: take_lock
-- One publisher at a time: two would overwrite each other's pages. The session's, so that a killed
-- one leaves none behind.
SELECT pg_try_advisory_lock(hashtext('riscv-runners publish'), hashtext(%(schema)s));

-- name: release_lock
-- The server takes a moment to notice that a session is over, and the next run may come before.
SELECT pg_advisory_unlock(hashtext('riscv-runners publish'), hashtext(%(schema)s));

-- name: newest_jobs
-- Of the newest, those after the oldest one that a live page shows. Cut off before anything else is
-- done: whatever the planner knows of the table, its end is read through the index.
SELECT {job_columns}
  FROM (SELECT * FROM jobs ORDER BY created_at DESC, job_id DESC LIMIT %(limit)s) AS j
  {job_joins}
 WHERE (j.created_at, j.job_id) > (%(after_at)s, %(after_id)s)
 ORDER BY j.created_at DESC, j.job_id DESC;

-- name: jobs_of_day
SELECT {job_columns}
  FROM (SELECT * FROM jobs
         WHERE created_at >= %(start)s AND created_at < %(end)s
           AND (created_at, job_id) > (%(after_at)s, %(after_id)s)
         ORDER BY created_at, job_id LIMIT %(limit)s) AS j
  {job_joins}
 ORDER BY j.created_at, j.job_id;

-- name: count_jobs
-- Of a day, and how many of them may still change.
SELECT count(*), count(*) FILTER (WHERE status IN ('pending', 'running'))
  FROM jobs
 WHERE created_at >= %(start)s AND created_at < %(end)s;

-- name: live_jobs
-- Of each account and label set the running ones and the oldest that wait, not more than a page has
-- room for.
SELECT {job_columns}
  FROM (SELECT job_id,
               row_number() OVER (PARTITION BY entity_id, job_labels
                                      ORDER BY status DESC, created_at, job_id) AS place
          FROM jobs
         WHERE status IN ('pending', 'running')) AS ranked
  JOIN jobs AS j ON j.job_id = ranked.job_id
  {job_joins}
 WHERE ranked.place <= %(limit)s
 ORDER BY j.entity_id, j.job_labels, ranked.place;

-- name: live_counts
SELECT entity_id, max(entity_name), job_labels::text, k8s_pool,
       count(*) FILTER (WHERE status = 'pending'), count(*) FILTER (WHERE status = 'running'),
       min(COALESCE(queued_at, created_at)) FILTER (WHERE status = 'pending')
  FROM jobs
 WHERE status IN ('pending', 'running')
 GROUP BY entity_id, job_labels, k8s_pool;

-- name: newest_workers
-- A run makes many at the same moment. COLLATE "C", for pages are cut by the order that Python has.
SELECT {worker_columns}
  FROM (SELECT * FROM workers
         ORDER BY created_at DESC, pod_name COLLATE "C" DESC LIMIT %(limit)s) AS w
  {worker_joins}
 WHERE (w.created_at, w.pod_name COLLATE "C") > (%(after_at)s, %(after_id)s)
 ORDER BY w.created_at DESC, w.pod_name COLLATE "C" DESC;

-- name: workers_of_day
SELECT {worker_columns}
  FROM (SELECT * FROM workers
         WHERE created_at >= %(start)s AND created_at < %(end)s
           AND (created_at, pod_name COLLATE "C") > (%(after_at)s, %(after_id)s)
         ORDER BY created_at, pod_name COLLATE "C" LIMIT %(limit)s) AS w
  {worker_joins}
 ORDER BY w.created_at, w.pod_name COLLATE "C";

-- name: count_workers
SELECT count(*), count(*) FILTER (WHERE status IN ('pending', 'running'))
  FROM workers
 WHERE created_at >= %(start)s AND created_at < %(end)s;

-- name: live_workers
SELECT {worker_columns}
  FROM (SELECT * FROM workers WHERE status IN ('pending', 'running')
         ORDER BY created_at, pod_name LIMIT %(limit)s) AS w
  {worker_joins}
 ORDER BY w.created_at, w.pod_name;

-- name: worker_counts
SELECT entity_id, max(entity_name), job_labels::text,
       count(*) FILTER (WHERE status = 'pending'), count(*) FILTER (WHERE status = 'running')
  FROM workers
 WHERE status IN ('pending', 'running')
 GROUP BY entity_id, job_labels;

-- name: failed_since
-- Failed workers whose page may be missing or out of date: a page also says what came of the job. What
-- a run writes it may commit a little later than it says: the caller looks back further than it needs.
SELECT w.pod_name, w.updated_at,
       concat_ws(' ', w.updated_at, taken.job_id, taken.status, taken.conclusion, taken.public),
       COALESCE(taken.status IN ('pending', 'running'), false)
  FROM (SELECT pod_name, updated_at, completed_at FROM workers
         WHERE completed_at > %(since)s AND completed_at <= %(now)s AND status = 'failed'
         UNION
        SELECT pod_name, updated_at, completed_at FROM workers
         WHERE pod_name = ANY(%(names)s) AND status = 'failed') AS w
  {worker_joins}
 ORDER BY w.completed_at, w.pod_name;

-- name: failed_of_day
SELECT w.pod_name
  FROM workers AS w
 WHERE w.created_at >= %(start)s AND w.created_at < %(end)s AND w.status = 'failed'
 ORDER BY w.created_at;

-- name: failed_after
-- The next ones, in whatever order names have.
SELECT w.pod_name
  FROM workers AS w
 WHERE w.pod_name > %(name)s AND w.status = 'failed'
 ORDER BY w.pod_name
 LIMIT %(limit)s;

-- name: failed_workers
SELECT {worker_columns}, w.k8s_image, w.failure_info::text
  FROM workers AS w
  {worker_joins}
 WHERE w.pod_name = ANY(%(names)s) AND w.status = 'failed';

-- name: newest_runs
-- Those that did or met something: thousands a day find nothing to do.
SELECT {run_columns}
  FROM (SELECT * FROM reconcile_runs AS r WHERE r.status <> 'running' AND {run_told}
         ORDER BY started_at DESC, id DESC LIMIT %(limit)s) AS r
  {run_joins}
 WHERE (r.started_at, r.id) > (%(after_at)s, %(after_id)s)
 ORDER BY r.started_at DESC, r.id DESC;

-- name: runs_of_day
SELECT {run_columns}
  FROM (SELECT * FROM reconcile_runs AS r
         WHERE r.started_at >= %(start)s AND r.started_at < %(end)s
           AND (r.started_at, r.id) > (%(after_at)s, %(after_id)s)
           AND r.status <> 'running' AND {run_told}
         ORDER BY started_at, id LIMIT %(limit)s) AS r
  {run_joins}
 ORDER BY r.started_at, r.id;

-- name: count_runs
SELECT count(*), 0
  FROM reconcile_runs AS r
 WHERE r.started_at >= %(start)s AND r.started_at < %(end)s AND r.status <> 'running' AND {run_told};

-- name: last_run
SELECT id, status, started_at, completed_at
  FROM reconcile_runs
 WHERE status <> 'running'
 ORDER BY started_at DESC
 LIMIT 1;

-- name: last_worked
-- Among the last ten thousand, of a day or more: looking further would cost more each time.
SELECT completed_at
  FROM (SELECT completed_at, status, started_at
          FROM reconcile_runs ORDER BY started_at DESC LIMIT 10000) AS lately
 WHERE status IN ('completed', 'partial')
 ORDER BY started_at DESC
 LIMIT 1;

-- name: boards
SELECT k8s_pool, slots, usable, in_use, free, observed_at FROM boards ORDER BY k8s_pool;

-- name: waits
SELECT d.entity_id, d.repo_full_name, d.job_labels::text, d.k8s_pool, d.pending, d.covered,
       d.waiting_for, d.wait_until, b.failures, b.reason
  FROM demand_waits AS d
  LEFT JOIN demand_back_off AS b USING (entity_id, repo_full_name, job_labels);

-- name: covered_jobs
-- The oldest of each demand, as many as have a runner that is there or on its way. OFFSET 0 keeps it
-- to the live ones: the index by demand has every job that was ever given up.
SELECT job_id
  FROM (SELECT j.job_id, d.covered,
               row_number() OVER (PARTITION BY d.entity_id, d.repo_full_name, d.job_labels, d.k8s_pool
                                      ORDER BY j.created_at, j.job_id) AS place
          FROM (SELECT job_id, status, entity_id, job_labels, k8s_pool, created_at,
                       CASE entity_type WHEN 'User' THEN repo_full_name ELSE '' END AS repo_full_name
                  FROM jobs
                 WHERE status IN ('pending', 'running')
                OFFSET 0) AS j
          JOIN demand_waits AS d USING (entity_id, repo_full_name, job_labels, k8s_pool)
         WHERE j.status = 'pending' AND d.covered > 0) AS ranked
 WHERE place <= covered;

-- name: backing_off
SELECT count(*) FROM demand_back_off WHERE failures > 0 AND retry_at > %(now)s;

-- name: day_before
-- The last day before that one of which there is anything to tell.
SELECT max(at)::date
  FROM (SELECT (SELECT max(created_at) FROM jobs WHERE created_at < %(start)s) AS at
         UNION ALL SELECT (SELECT max(created_at) FROM workers WHERE created_at < %(start)s)
         UNION ALL SELECT (SELECT max(started_at) FROM reconcile_runs AS r
                            WHERE started_at < %(start)s AND r.status <> 'running' AND {run_told})
       ) AS latest;

-- name: figure_waits
-- How long those waited that began within the day and the week: of each label set, and of all (NULL).
SELECT job_labels::text,
       count(*) FILTER (WHERE started_at > %(day)s),
       percentile_disc(ARRAY[0.5, 0.95]) WITHIN GROUP (ORDER BY seconds) FILTER (WHERE started_at > %(day)s),
       count(*),
       percentile_disc(ARRAY[0.5, 0.95]) WITHIN GROUP (ORDER BY seconds)
  FROM (SELECT job_labels, started_at,
               GREATEST(0, extract(epoch FROM started_at - COALESCE(queued_at, created_at)))::float8 AS seconds
          FROM jobs
         WHERE started_at > %(week)s AND started_at <= %(at)s) AS waited
 GROUP BY GROUPING SETS ((), (job_labels))
 ORDER BY count(*) DESC, job_labels::text NULLS FIRST
 LIMIT %(limit)s;

-- name: figure_hours
SELECT date_trunc('hour', started_at, 'UTC'), count(*),
       percentile_disc(ARRAY[0.5, 0.95]) WITHIN GROUP (
           ORDER BY GREATEST(0, extract(epoch FROM started_at - COALESCE(queued_at, created_at)))::float8)
  FROM jobs
 WHERE started_at >= %(since)s AND started_at <= %(at)s
 GROUP BY 1;

-- name: figure_ended
-- Of the week, by hour, pool and conclusion, with what those took that ran.
SELECT date_trunc('hour', completed_at, 'UTC'), k8s_pool, COALESCE(conclusion, 'unknown'), count(*),
       count(*) FILTER (WHERE completed_at > %(day)s),
       COALESCE(sum(extract(epoch FROM completed_at - started_at)) FILTER (WHERE completed_at > started_at), 0)::float8,
       count(*) FILTER (WHERE completed_at > started_at)
  FROM jobs
 WHERE completed_at > %(week)s AND completed_at <= %(at)s
 GROUP BY 1, 2, 3;

-- name: figure_given_up
-- Of the jobs that came within the span. By when they came: of a job that was given up there is no
-- index by its end.
SELECT COALESCE(failure_info ->> 'reason', 'unknown'), count(*) FILTER (WHERE created_at > %(day)s), count(*)
  FROM jobs
 WHERE created_at > %(week)s AND created_at <= %(at)s AND status = 'failed'
 GROUP BY 1;

-- name: figure_failed_workers
SELECT COALESCE(failure_info ->> 'reason', 'unknown'), count(*) FILTER (WHERE completed_at > %(day)s), count(*)
  FROM workers
 WHERE completed_at > %(week)s AND completed_at <= %(at)s AND status = 'failed'
 GROUP BY 1;

-- name: figure_tenants
-- Those with most jobs in the day, and how many there are in all.
SELECT entity_id, max(entity_name), count(*), count(*) OVER ()
  FROM jobs
 WHERE created_at > %(since)s AND created_at <= %(at)s
 GROUP BY entity_id
 ORDER BY count(*) DESC, entity_id
 LIMIT %(limit)s;

-- name: figure_tenant_waits
-- By hour, and over all of them (NULL).
SELECT entity_id, hour, percentile_disc(0.95) WITHIN GROUP (ORDER BY seconds)
  FROM (SELECT entity_id, date_trunc('hour', started_at, 'UTC') AS hour,
               GREATEST(0, extract(epoch FROM started_at - COALESCE(queued_at, created_at)))::float8 AS seconds
          FROM jobs
         WHERE started_at >= %(since)s AND started_at <= %(at)s
           AND entity_id = ANY(%(entities)s)) AS waited
 GROUP BY GROUPING SETS ((entity_id), (entity_id, hour));

-- name: figure_tenant_ends
SELECT entity_id, date_trunc('hour', completed_at, 'UTC'), count(*),
       count(*) FILTER (WHERE conclusion = ANY(%(failures)s))
  FROM jobs
 WHERE completed_at >= %(since)s AND completed_at <= %(at)s AND entity_id = ANY(%(entities)s)
 GROUP BY 1, 2;
