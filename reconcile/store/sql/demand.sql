-- name: demand_groups
-- Pending jobs by what supply is matched by, with the installation of the newest of them: GitHub's
-- numbers only grow. A maximum, because to aggregate in order is to sort them all.
SELECT entity_id, CASE entity_type WHEN 'User' THEN repo_full_name ELSE '' END, job_labels, k8s_pool,
       count(*), (max(ARRAY[job_id, installation_id]))[2], max(entity_name)
  FROM jobs
 WHERE status = 'pending'
 GROUP BY 1, 2, 3, 4;

-- name: oldest_pending
SELECT entity_id, CASE entity_type WHEN 'User' THEN repo_full_name ELSE '' END, job_labels,
       min(created_at)
  FROM jobs
 WHERE status = 'pending'
 GROUP BY 1, 2, 3;

-- name: unconfirmed
-- Demand with a pending job that GitHub was not asked about since.
SELECT DISTINCT j.entity_id, CASE j.entity_type WHEN 'User' THEN j.repo_full_name ELSE '' END,
       j.job_labels
  FROM jobs AS j
  LEFT JOIN github_polls AS p ON p.installation_id = j.installation_id
                             AND p.target = COALESCE(j.run_id, -j.job_id)
 WHERE j.status = 'pending' AND (p.checked_at IS NULL OR p.checked_at < %(since)s);

-- name: supply_groups
-- Active workers: all, those that took no job yet (a runner takes one, of whatever labels it
-- covers, also one that is not ours to know), and those whose pod is not in the cluster's list.
SELECT w.entity_id, COALESCE(w.repo_full_name, ''), w.job_labels, w.k8s_pool, count(*),
       count(*) FILTER (WHERE j.k8s_pod IS NULL AND busy.pod_name IS NULL),
       count(*) FILTER (WHERE listed.pod_name IS NULL)
  FROM workers AS w
  LEFT JOIN LATERAL (SELECT k8s_pod FROM jobs WHERE k8s_pod = w.pod_name LIMIT 1) AS j ON true
  LEFT JOIN unnest(string_to_array(%(pod_names)s, ',')) AS listed(pod_name)
         ON listed.pod_name = w.pod_name
  LEFT JOIN unnest(string_to_array(%(busy)s, ',')) AS busy(pod_name) ON busy.pod_name = w.pod_name
 WHERE w.status IN ('pending', 'running')
 GROUP BY 1, 2, 3, 4;

-- name: oldest_jobs
-- Of each wanted demand and pool as many as could get a board, after those that workers wait for.
SELECT job_id, entity_id, repo_key, job_labels, installation_id, entity_name, entity_type,
       repo_full_name, k8s_pool, k8s_image, created_at
  FROM (SELECT j.job_id, j.entity_id, wanted.repo_full_name AS repo_key, j.job_labels,
               j.installation_id, j.entity_name, j.entity_type, j.repo_full_name, j.k8s_pool,
               j.k8s_image, j.created_at, wanted.take,
               row_number() OVER (PARTITION BY j.entity_id, wanted.repo_full_name, j.job_labels,
                                               j.k8s_pool
                                      ORDER BY j.created_at, j.job_id) AS place
          FROM jsonb_to_recordset(%(wanted)s) AS wanted(
               entity_id bigint, repo_full_name text, job_labels jsonb, k8s_pool text, take bigint)
          JOIN jobs AS j ON j.status = 'pending' AND j.entity_id = wanted.entity_id
                        AND j.job_labels = wanted.job_labels AND j.k8s_pool = wanted.k8s_pool
                        AND (j.entity_type <> 'User' OR j.repo_full_name = wanted.repo_full_name)
       ) AS ranked
 WHERE place <= take
 ORDER BY created_at, job_id;

-- name: load_trouble
SELECT entity_id, repo_full_name, job_labels, failures, reason, failed_at, retry_at, parked
  FROM demand_back_off
 WHERE failures > 0;

-- name: save_trouble
INSERT INTO demand_back_off (
    entity_id, repo_full_name, job_labels, failures, reason, failed_at, retry_at, parked
)
SELECT entity_id, repo_full_name, job_labels, failures, reason, failed_at, retry_at, parked
  FROM jsonb_to_recordset(%(troubles)s) AS t(
       entity_id bigint, repo_full_name text, job_labels jsonb, failures integer, reason text,
       failed_at timestamptz, retry_at timestamptz, parked boolean)
    ON CONFLICT (entity_id, repo_full_name, job_labels) DO UPDATE
   SET failures = EXCLUDED.failures, reason = EXCLUDED.reason, failed_at = EXCLUDED.failed_at,
       retry_at = EXCLUDED.retry_at, parked = EXCLUDED.parked;

-- name: forget_trouble
-- A worker of theirs took a job: they work again.
DELETE FROM demand_back_off AS b
 USING jsonb_to_recordset(%(keys)s) AS k(entity_id bigint, repo_full_name text, job_labels jsonb)
 WHERE b.entity_id = k.entity_id AND b.repo_full_name = k.repo_full_name
   AND b.job_labels = k.job_labels;

-- name: save_plan
-- What the plan was made of, the boards, and what came of it, the waits. What is not seen any more
-- goes. A wait in which nothing changed is written anew only if it is a minute old: a queue that stands
-- still costs no writes at every run, and planned_at still tells how old the view is. One from the
-- future was written by a clock that was wrong.
WITH seen_boards AS (
    SELECT k8s_pool, slots, usable, in_use, free
      FROM jsonb_to_recordset(%(boards)s)
        AS b(k8s_pool text, slots integer, usable integer, in_use integer, free integer)
), kept_boards AS (
    INSERT INTO boards (k8s_pool, slots, usable, in_use, free, scheduling, observed_at)
    SELECT k8s_pool, slots, usable, in_use, free, %(scheduling)s, %(now)s FROM seen_boards
        ON CONFLICT (k8s_pool) DO UPDATE
       SET slots = EXCLUDED.slots, usable = EXCLUDED.usable, in_use = EXCLUDED.in_use,
           free = EXCLUDED.free, scheduling = EXCLUDED.scheduling,
           observed_at = EXCLUDED.observed_at
), gone_boards AS (
    DELETE FROM boards WHERE k8s_pool NOT IN (SELECT k8s_pool FROM seen_boards)
), seen AS (
    SELECT entity_id, repo_full_name, job_labels, k8s_pool, pending, covered, waiting_for, wait_until,
           max_workers
      FROM jsonb_to_recordset(%(waits)s) AS w(
           entity_id bigint, repo_full_name text, job_labels jsonb, k8s_pool text, pending integer,
           covered integer, waiting_for text, wait_until timestamptz, max_workers integer)
), gone AS (
    DELETE FROM demand_waits
     WHERE (entity_id, repo_full_name, job_labels, k8s_pool) NOT IN (
           SELECT entity_id, repo_full_name, job_labels, k8s_pool FROM seen)
)
INSERT INTO demand_waits (
    entity_id, repo_full_name, job_labels, k8s_pool, pending, covered, waiting_for, wait_until,
    max_workers, planned_at
)
SELECT s.entity_id, s.repo_full_name, s.job_labels, s.k8s_pool, s.pending, s.covered, s.waiting_for,
       s.wait_until, s.max_workers, %(now)s
  FROM seen AS s
  LEFT JOIN demand_waits AS d USING (entity_id, repo_full_name, job_labels, k8s_pool)
 WHERE (d.pending, d.covered, d.waiting_for, d.wait_until, d.max_workers)
       IS DISTINCT FROM (s.pending, s.covered, s.waiting_for, s.wait_until, s.max_workers)
    OR d.planned_at NOT BETWEEN %(now)s::timestamptz - interval '1 minute' AND %(now)s
    ON CONFLICT (entity_id, repo_full_name, job_labels, k8s_pool) DO UPDATE
   SET pending = EXCLUDED.pending, covered = EXCLUDED.covered, waiting_for = EXCLUDED.waiting_for,
       wait_until = EXCLUDED.wait_until, max_workers = EXCLUDED.max_workers,
       planned_at = EXCLUDED.planned_at;

-- name: tell_jobs_parked
-- Says on the job that nothing is tried for it at present, and why.
UPDATE jobs AS j
   SET failure_info = p.failure_info, updated_at = %(now)s
  FROM jsonb_to_recordset(%(parked)s) AS p(
       entity_id bigint, repo_full_name text, job_labels jsonb, failure_info jsonb)
 WHERE j.status = 'pending' AND j.entity_id = p.entity_id AND j.job_labels = p.job_labels
   AND (j.entity_type <> 'User' OR j.repo_full_name = p.repo_full_name)
   AND j.failure_info IS DISTINCT FROM p.failure_info;

-- name: tell_jobs_unparked
-- Also on those that were taken meanwhile: what is said of a job is why nothing is done for it.
UPDATE jobs AS j
   SET failure_info = NULL, updated_at = %(now)s
 WHERE j.failure_info IS NOT NULL AND j.status <> 'failed'
   AND j.failure_info ->> 'reason' = 'demand_parked'
   AND NOT EXISTS (SELECT FROM demand_back_off AS b
                    WHERE b.parked AND b.entity_id = j.entity_id AND b.job_labels = j.job_labels
                      AND b.repo_full_name =
                          CASE j.entity_type WHEN 'User' THEN j.repo_full_name ELSE '' END);
