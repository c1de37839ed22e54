-- What a trace reads. Everything is found through an index, however long the log is, and every list
-- has an end.

-- name: event_columns
-- Put where {event} stands.
e.id, e.received_at, e.source, e.event, e.outcome, e.installation_id, e.app_id, e.entity_id,
       e.entity_name, e.entity_type::text, e.job_id

-- name: job
SELECT job_id, status::text, conclusion, failure_info ->> 'reason', failure_info ->> 'message',
       entity_id, entity_name, entity_type, repo_full_name, installation_id, job_labels, k8s_pool,
       k8s_image, k8s_pod, html_url, job_name, workflow_name, sender_id, sender_name, created_at,
       queued_at, started_at, completed_at, updated_at
  FROM jobs
 WHERE job_id = %(job_id)s;

-- name: events_of_job
-- Its deliveries, through one App or through both.
SELECT {event},
       e.payload #> '{workflow_job,labels}', e.payload #>> '{repository,full_name}',
       e.payload #> '{sender,id}', e.payload #>> '{sender,login}',
       e.payload #>> '{workflow_job,runner_name}', e.payload #>> '{workflow_job,conclusion}'
  FROM installation_events AS e
 WHERE e.job_id = %(job_id)s AND e.received_at <= %(at)s
 ORDER BY e.id
 LIMIT %(most)s;

-- name: state_of_entity
-- What the state of its installations is made of, the latest first: the log keeps the order.
-- ORDER BY what the index has, else the planner may walk all of the log backward to find a few.
SELECT {event}, {said}
  FROM installation_events AS e
 WHERE e.entity_id = %(entity_id)s AND e.received_at <= %(at)s
   AND (e.event LIKE 'installation%%' OR e.event LIKE 'auth_attempt%%')
 ORDER BY e.entity_id DESC, e.id DESC
 LIMIT %(most)s;

-- name: state_of_installation
SELECT {event}, {said}
  FROM installation_events AS e
 WHERE e.installation_id = %(installation_id)s AND e.received_at <= %(at)s
   AND (e.event LIKE 'installation%%' OR e.event LIKE 'auth_attempt%%')
 ORDER BY e.installation_id DESC, e.id DESC
 LIMIT %(most)s;

-- name: said
-- Put where {said} stands: what such an event says of the installation, as GitHub wrote it.
jsonb_strip_nulls(jsonb_build_object(
           'delivery', e.payload -> '_delivery',
           'updated_at', e.payload #> '{installation,updated_at}',
           'suspended_at', e.payload #> '{installation,suspended_at}',
           'selection', COALESCE(e.payload -> 'repository_selection',
                                 e.payload #> '{installation,repository_selection}'),
           'permissions', e.payload #> '{installation,permissions}',
           'repositories', e.payload -> 'repositories',
           'added', e.payload -> 'repositories_added',
           'removed', e.payload -> 'repositories_removed',
           'renamed_from', e.payload #> '{changes,login,from}',
           'status', e.payload -> 'status',
           'message', e.payload -> 'message'))

-- name: entity_of_installation
-- As GitHub said of the installation itself, or else of its jobs.
SELECT entity_id
  FROM (SELECT COALESCE(
        (SELECT entity_id
           FROM installation_events
          WHERE installation_id = %(installation_id)s AND entity_id IS NOT NULL
            AND (event LIKE 'installation%%' OR event LIKE 'auth_attempt%%')
          ORDER BY installation_id DESC, id DESC
          LIMIT 1),
        (SELECT max(entity_id)
           FROM installation_events
          WHERE installation_id = %(installation_id)s))) AS found (entity_id)
 WHERE entity_id IS NOT NULL;

-- name: entities_named
-- Accounts that have or had that name, the latest first: of the log, and of jobs if the log begins
-- later. BETWEEN, for what is equal needs no order: then another index would do as well, and be walked
-- through back to the last job of an account that has had none for a year.
SELECT entity_id FROM (
    (SELECT entity_id, received_at AS named_at
       FROM installation_events
      WHERE lower(entity_name) = lower(%(name)s) AND entity_id IS NOT NULL
        AND (event LIKE 'installation%%' OR event LIKE 'auth_attempt%%')
      ORDER BY lower(entity_name) DESC, id DESC
      LIMIT 1)
    UNION ALL
    (SELECT entity_id, created_at
       FROM jobs
      WHERE lower(entity_name) BETWEEN lower(%(name)s) AND lower(%(name)s)
      ORDER BY lower(entity_name), created_at DESC
      LIMIT 1)
) AS named
 ORDER BY named_at DESC;

-- name: entity_is_known
-- By the first row of an index, or the planner would go through the table for one of many.
SELECT (SELECT true
          FROM installation_events
         WHERE entity_id = %(entity_id)s
         ORDER BY received_at DESC
         LIMIT 1) IS NOT NULL
    OR (SELECT true
          FROM jobs
         WHERE entity_id = %(entity_id)s AND status <> 'completed'
         ORDER BY job_labels, created_at
         LIMIT 1) IS NOT NULL;

-- name: log_of_entity
-- A part of its log, the latest first, from before an event on. By time and then by id, which is the
-- order of the index but for what came at the same moment.
SELECT {event}
  FROM installation_events AS e
 WHERE e.entity_id = %(entity_id)s AND e.received_at <= %(at)s
   AND (e.received_at, e.id) < (
        CASE WHEN %(before)s::bigint IS NULL THEN 'infinity'
             ELSE (SELECT received_at FROM installation_events WHERE id = %(before)s) END,
        COALESCE(%(before)s, 9223372036854775807))
 ORDER BY e.received_at DESC, e.id DESC
 LIMIT %(limit)s;

-- name: log_of_installation
SELECT {event}
  FROM installation_events AS e
 WHERE e.installation_id = %(installation_id)s AND e.received_at <= %(at)s
   AND (e.received_at, e.id) < (
        CASE WHEN %(before)s::bigint IS NULL THEN 'infinity'
             ELSE (SELECT received_at FROM installation_events WHERE id = %(before)s) END,
        COALESCE(%(before)s, 9223372036854775807))
 ORDER BY e.received_at DESC, e.id DESC
 LIMIT %(limit)s;

-- name: payload
SELECT {event}, e.payload
  FROM installation_events AS e
 WHERE e.id = %(event_id)s;

-- name: wait
SELECT pending, covered, waiting_for, wait_until, max_workers, planned_at
  FROM demand_waits
 WHERE entity_id = %(entity_id)s AND repo_full_name = %(repository)s AND job_labels = %(labels)s
   AND k8s_pool = %(pool)s;

-- name: trouble
SELECT failures, reason, failed_at, retry_at, parked
  FROM demand_back_off
 WHERE entity_id = %(entity_id)s AND repo_full_name = %(repository)s AND job_labels = %(labels)s
   AND failures > 0;

-- name: boards
SELECT k8s_pool, slots, usable, in_use, free, scheduling, observed_at
  FROM boards
 WHERE k8s_pool = %(pool)s;

-- name: queue
-- Everything that waits in the pool, by demand, and how much of it is older than the job.
SELECT q.entity_id,
       q.entity_id = %(entity_id)s AND q.repository = %(repository)s AND q.job_labels = %(labels)s,
       q.pending, q.older, COALESCE(w.covered, 0), w.waiting_for
  FROM (SELECT entity_id, CASE entity_type WHEN 'User' THEN repo_full_name ELSE '' END AS repository,
               job_labels, count(*) AS pending,
               count(*) FILTER (WHERE (created_at, job_id) < (%(created_at)s, %(job_id)s)) AS older
          FROM jobs
         WHERE status IN ('pending', 'running') AND status = 'pending' AND k8s_pool = %(pool)s
         GROUP BY 1, 2, 3) AS q
  LEFT JOIN demand_waits AS w
         ON w.entity_id = q.entity_id AND w.repo_full_name = q.repository
        AND w.job_labels = q.job_labels AND w.k8s_pool = %(pool)s;

-- name: supply
-- Runners at present, of the account or in the pool. All there are, which is not many, are looked at.
SELECT entity_id, count(*), count(*) FILTER (WHERE k8s_pool = %(pool)s)
  FROM workers_told
 WHERE status IN ('pending', 'running')
 GROUP BY entity_id
HAVING entity_id = %(entity_id)s OR count(*) FILTER (WHERE k8s_pool = %(pool)s) > 0;

-- name: held
-- How long a board of the pool is held of late. Of a quiet pool beside busy ones perhaps nothing.
SELECT avg(extract(epoch FROM completed_at - created_at))::float8, count(*)
  FROM (SELECT k8s_pool, status, created_at, completed_at
          FROM workers_told
         WHERE completed_at IS NOT NULL AND completed_at <= %(at)s
         ORDER BY completed_at DESC
         LIMIT 1000) AS ended
 WHERE k8s_pool = %(pool)s AND status = 'completed';

-- name: limits
-- Of the installation, and of the Apps.
SELECT key, auth_failure, auth_failed_at, rate_limit, rate_remaining, rate_resets_at, blocked_until
  FROM github_credentials
 WHERE key = ANY(%(keys)s);

-- name: failed_workers
-- Of the job's demand since it waits.
SELECT pod_name, reason, message, k8s_node, created_at, completed_at
  FROM workers_told
 WHERE status = 'failed' AND entity_id = %(entity_id)s AND job_labels = %(labels)s
   AND repo_full_name = %(repository)s
   AND completed_at >= %(since)s AND completed_at <= %(until)s
 ORDER BY completed_at DESC
 LIMIT %(most)s;

-- name: worker
SELECT pod_name, status::text, reason, message, k8s_node, created_at, running_at, completed_at
  FROM workers_told
 WHERE pod_name = %(pod_name)s;

-- name: runs
-- The last ones, with what went wrong in them.
SELECT r.id, r.started_at, r.completed_at, r.status, r.error, p.problems
  FROM (SELECT id, started_at, completed_at, status, error
          FROM reconcile_runs
         WHERE started_at <= %(at)s
         ORDER BY started_at DESC
         LIMIT %(most)s) AS r
  LEFT JOIN LATERAL (
       SELECT jsonb_agg(jsonb_build_array(phase, left(error, 300)) ORDER BY id) AS problems
         FROM reconcile_phases
        WHERE run_id = r.id AND NOT success) AS p ON true
 ORDER BY r.started_at DESC;

-- name: cursors
SELECT app_id, read_at FROM webhook_cursors;

-- name: failed_deliveries
-- Of GitHub's log: of the job, of what became of the installation, and of jobs that nobody looked
-- into yet. So many of each, that those do not hide these.
SELECT app_id, guid, event, installation_id, job_id, status_code, failed_at, attempts, next_at
  FROM ((SELECT *
           FROM webhook_redeliveries
          WHERE job_id = %(job_id)s AND failed_at <= %(at)s
          ORDER BY failed_at DESC
          LIMIT %(most)s)
        UNION ALL
        (SELECT *
           FROM webhook_redeliveries
          WHERE installation_id = %(installation_id)s AND job_id IS NULL
            AND event LIKE 'installation%%' AND failed_at <= %(at)s
          ORDER BY failed_at DESC
          LIMIT %(most)s)
        UNION ALL
        (SELECT *
           FROM webhook_redeliveries
          WHERE job_id IS NULL AND event LIKE 'workflow_job%%' AND failed_at <= %(at)s
          ORDER BY failed_at DESC
          LIMIT %(most)s)) AS failed
 ORDER BY failed_at DESC;
