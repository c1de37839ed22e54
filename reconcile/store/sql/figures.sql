-- Figures of the fleet. All of them read what is active, or what began or ended within the last
-- hour: none reads history. Both ends of the hour are named, for where the planner knows no better it
-- takes what is later than a moment for a third of the table, and reads all of it.

-- name: figure_live_jobs
SELECT job_labels, k8s_pool,
       count(*) FILTER (WHERE status = 'pending'),
       count(*) FILTER (WHERE status = 'running'),
       COALESCE(extract(epoch FROM %(now)s::timestamptz
                - min(COALESCE(queued_at, created_at)) FILTER (WHERE status = 'pending')), 0)::float8
  FROM jobs
 WHERE status IN ('pending', 'running')
 GROUP BY job_labels, k8s_pool;

-- name: figure_queued
-- Jobs that came since the last time. A row is there a moment after the time it says.
SELECT job_labels, entity_name, count(*)
  FROM jobs
 WHERE created_at > %(since)s AND created_at <= %(until)s
 GROUP BY job_labels, entity_name;

-- name: figure_waits
-- How long those waited that began within the hour: of each account, and of all (NULL).
SELECT job_labels, entity_name, count(*),
       percentile_disc(ARRAY[0.5, 0.95, 0.99]) WITHIN GROUP (ORDER BY seconds)
  FROM (SELECT job_labels, entity_name,
               GREATEST(0, extract(epoch FROM started_at - COALESCE(queued_at, created_at)))::float8 AS seconds
          FROM jobs
         WHERE started_at > %(now)s::timestamptz - interval '1 hour' AND started_at <= %(now)s) AS waited
 GROUP BY GROUPING SETS ((job_labels), (job_labels, entity_name))
 ORDER BY entity_name IS NOT NULL, count(*) DESC
 LIMIT %(limit)s;

-- name: figure_durations
SELECT job_labels, entity_name, count(*),
       percentile_disc(ARRAY[0.5, 0.95, 0.99]) WITHIN GROUP (ORDER BY seconds)
  FROM (SELECT job_labels, entity_name,
               GREATEST(0, extract(epoch FROM completed_at - started_at))::float8 AS seconds
          FROM jobs
         WHERE completed_at > %(now)s::timestamptz - interval '1 hour' AND completed_at <= %(now)s
           AND started_at IS NOT NULL) AS took
 GROUP BY job_labels, entity_name
 ORDER BY count(*) DESC
 LIMIT %(limit)s;

-- name: figure_conclusions
SELECT job_labels, COALESCE(conclusion, 'unknown'), count(*)
  FROM jobs
 WHERE completed_at > %(now)s::timestamptz - interval '1 hour' AND completed_at <= %(now)s
 GROUP BY 1, 2;

-- name: figure_usual_duration
-- Of the last thousand jobs, whenever that was: what a job of a pool takes.
SELECT k8s_pool, avg(extract(epoch FROM completed_at - started_at))::float8
  FROM (SELECT k8s_pool, started_at, completed_at
          FROM jobs
         WHERE completed_at IS NOT NULL
         ORDER BY completed_at DESC
         LIMIT 1000) AS lately
 WHERE completed_at > started_at
 GROUP BY k8s_pool;

-- name: figure_boards
SELECT k8s_pool, slots, usable, in_use FROM boards;

-- name: figure_workers
SELECT k8s_pool, status::text, count(*)
  FROM workers
 WHERE status IN ('pending', 'running')
 GROUP BY 1, 2;

-- name: figure_ended_workers
-- Within the hour; the reason is NULL for those that did not fail.
SELECT k8s_pool,
       CASE status WHEN 'failed' THEN COALESCE(failure_info ->> 'reason', 'unknown') END, count(*)
  FROM workers
 WHERE completed_at > %(now)s::timestamptz - interval '1 hour' AND completed_at <= %(now)s
 GROUP BY 1, 2;

-- name: figure_held
SELECT count(*) FILTER (WHERE NOT parked), count(*) FILTER (WHERE parked)
  FROM demand_back_off
 WHERE failures > 0 AND retry_at > %(now)s;

-- name: figure_limits
-- Of installations whose hour is not over, what is left of it; NULL if GitHub has not said. Those in
-- trouble first: the limit cuts off the others.
SELECT split_part(key, ':', 2),
       CASE WHEN rate_limit > 0 AND rate_resets_at > %(now)s
            THEN rate_remaining::float8 / rate_limit END,
       COALESCE(blocked_until > %(now)s, false)
  FROM github_credentials
 WHERE key LIKE 'installation:%%'
   AND (blocked_until > %(now)s OR rate_resets_at > %(now)s)
 ORDER BY 3 DESC, 2 NULLS LAST, 1
 LIMIT %(limit)s;

-- name: figure_last_success
-- Where none of the last ten thousand runs, of a day or more, did its work, it is the first of them
-- that counts: what never worked grows old, too, and looking for it costs no more each time.
SELECT GREATEST(0, extract(epoch FROM %(now)s::timestamptz - moment))::float8
  FROM (SELECT COALESCE(
               (SELECT completed_at
                  FROM (SELECT started_at, completed_at, status
                          FROM reconcile_runs ORDER BY started_at DESC LIMIT 10000) AS lately
                 WHERE status IN ('completed', 'partial')
                 ORDER BY started_at DESC
                 LIMIT 1),
               (SELECT min(started_at)
                  FROM (SELECT started_at
                          FROM reconcile_runs ORDER BY started_at DESC LIMIT 10000) AS lately)) AS moment
        OFFSET 0) AS found  -- It is looked for once, not once for each time it is named.
 WHERE moment IS NOT NULL;
