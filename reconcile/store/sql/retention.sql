-- What is over and old. A cut-off that is NULL is never reached.

-- name: old_rows
-- Of each table the oldest that are to go, a batch at most. Each is found through an index by its age:
-- where nothing is that old, nothing is read. What stays though it is old is what is active, what an
-- active job needs to be explained, and what tells of an installation that is not gone; of these the
-- many, an installation's events, are not in the indexes that are gone through here. OFFSET 0 keeps a
-- look into another table a look for each row, and CASE keeps the planner from guessing that next to
-- none is meant: then it would look at all that is old to find the oldest.
WITH active AS MATERIALIZED (  -- read only if there is a row that depends on it
    SELECT entity_id, job_labels, min(created_at) AS since
      FROM jobs
     WHERE status IN ('pending', 'running')
     GROUP BY entity_id, job_labels
), old_workers AS NOT MATERIALIZED (
    SELECT w.pod_name, w.completed_at
      FROM workers AS w
     WHERE w.completed_at < %(workers)s
       AND CASE WHEN w.status IN ('completed', 'failed')
                THEN w.pod_name <> ALL (string_to_array(%(pods)s, ',')) END
       AND NOT EXISTS (SELECT FROM jobs AS j
                        WHERE j.k8s_pod = w.pod_name
                          AND (j.status IN ('pending', 'running')
                               OR GREATEST(j.updated_at, j.completed_at) >= %(workers)s) OFFSET 0)
       -- Why a job waits are the workers that failed meanwhile.
       AND NOT (w.status = 'failed'
                AND EXISTS (SELECT FROM active AS a
                             WHERE a.entity_id = w.entity_id AND a.job_labels = w.job_labels
                               AND a.since <= w.completed_at OFFSET 0))
), old_jobs AS MATERIALIZED (
    -- Not before its worker: without its job one that runs would be taken for one that waits for one,
    -- and of one that failed the site would tell what a private job's it must not.
    SELECT j.job_id, j.k8s_pod
      FROM jobs AS j
     WHERE j.created_at < %(history)s
       AND CASE WHEN j.status IN ('completed', 'failed')
                THEN GREATEST(j.updated_at, j.completed_at) < %(history)s END
       AND (NOT EXISTS (SELECT FROM workers AS w WHERE w.pod_name = j.k8s_pod OFFSET 0)
            OR EXISTS (SELECT FROM old_workers AS o WHERE o.pod_name = j.k8s_pod OFFSET 0))
     ORDER BY j.created_at
     LIMIT %(batch)s
)
SELECT ARRAY(
    (SELECT e.id
       FROM installation_events AS e
      WHERE e.received_at < %(events)s
        AND e.event NOT LIKE 'installation%%' AND e.event NOT LIKE 'auth_attempt%%'
        AND NOT EXISTS (SELECT FROM jobs AS j
                         WHERE j.job_id = e.job_id AND j.status IN ('pending', 'running') OFFSET 0)
      ORDER BY e.received_at
      LIMIT %(batch)s)
    UNION ALL
    -- Failed authentications, of accounts that nothing is done for.
    (SELECT e.id
       FROM installation_events AS e
      WHERE e.received_at < %(events)s AND e.event LIKE 'auth_attempt%%'
        AND COALESCE(e.entity_id, 0) NOT IN (SELECT entity_id FROM active)
      ORDER BY e.received_at
      LIMIT %(batch)s)
    UNION ALL
    -- Of installations that were deleted that long ago: that they were comes last of all, for without
    -- it what else is known of them would say that they are there.
    (SELECT e.id
       FROM (SELECT DISTINCT installation_id
               FROM (SELECT d.installation_id
                       FROM installation_events AS d
                      WHERE d.received_at < %(events)s AND d.event = 'installation.deleted'
                        AND COALESCE(d.entity_id, 0) NOT IN (SELECT entity_id FROM active)
                        AND NOT EXISTS (SELECT FROM jobs AS j
                                         WHERE j.installation_id = d.installation_id
                                           AND j.status IN ('pending', 'running') OFFSET 0)
                      ORDER BY d.received_at
                      LIMIT %(batch)s) AS oldest) AS gone
      CROSS JOIN LATERAL (
             SELECT s.id
               FROM installation_events AS s
              WHERE s.installation_id = gone.installation_id
                AND s.event LIKE 'installation%%' AND s.received_at < %(events)s
                AND (s.event <> 'installation.deleted'
                     OR NOT EXISTS (SELECT FROM installation_events AS other
                                     WHERE other.installation_id = gone.installation_id
                                       AND (other.event LIKE 'installation%%'
                                            OR other.event LIKE 'auth_attempt%%')
                                       AND other.event <> 'installation.deleted' OFFSET 0))
              ORDER BY s.id
              LIMIT %(batch)s) AS e
      LIMIT %(batch)s)
    LIMIT %(batch)s) AS events,
ARRAY(SELECT job_id FROM old_jobs) AS jobs,
-- Those of these jobs, and if that leaves room the oldest of all.
ARRAY(
    SELECT pod_name
      FROM ((SELECT o.pod_name, 1 AS turn
               FROM old_jobs AS j
              CROSS JOIN LATERAL (SELECT pod_name FROM old_workers
                                   WHERE pod_name = j.k8s_pod LIMIT 1) AS o)
            UNION ALL
            (SELECT pod_name, 2 FROM old_workers ORDER BY completed_at LIMIT %(batch)s)) AS found
     GROUP BY pod_name
     ORDER BY min(turn)
     LIMIT %(batch)s) AS workers,
-- Of runs the latest thousand stay, however old: else a system that was switched off would forget that
-- it ever worked. A sum, for it is by their age that they are to be found.
ARRAY(
    SELECT r.id
      FROM reconcile_runs AS r
     WHERE r.started_at < %(runs)s AND r.status <> 'running'
       AND r.id + 1000 <= (SELECT max(id) FROM reconcile_runs)
     ORDER BY r.started_at
     LIMIT %(batch)s) AS runs;

-- name: remove_old_rows
-- As they were found, unless a late delivery touched one since. A job that somebody holds is left for
-- later: no delivery waits for us, nor we for one. Of workers this run had the lock.
WITH gone_events AS (
    DELETE FROM installation_events WHERE id = ANY(%(events)s::bigint[]) RETURNING 1
), gone_jobs AS (
    DELETE FROM jobs
     WHERE job_id IN (SELECT job_id
                        FROM jobs
                       WHERE job_id = ANY(%(jobs)s::bigint[]) AND status IN ('completed', 'failed')
                         AND updated_at < %(history)s
                         FOR UPDATE SKIP LOCKED)
    RETURNING 1
), gone_workers AS (
    DELETE FROM workers
     WHERE pod_name = ANY(string_to_array(%(workers)s, ',')) AND status IN ('completed', 'failed')
    RETURNING 1
), gone_runs AS (
    DELETE FROM reconcile_runs WHERE id = ANY(%(runs)s::bigint[]) RETURNING 1
)
SELECT (SELECT count(*) FROM gone_events), (SELECT count(*) FROM gone_jobs),
       (SELECT count(*) FROM gone_workers), (SELECT count(*) FROM gone_runs);
