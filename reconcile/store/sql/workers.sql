-- name: lock_workers
-- Nobody else changes a worker while this run decides; reading goes on.
LOCK TABLE workers IN EXCLUSIVE MODE;

-- name: load_workers
-- The active ones, and those that the pods in the cluster belong to, with the job each took. Where
-- the account was renamed since, its scope knows the newer name.
SELECT w.pod_name, w.installation_id, w.entity_id, COALESCE(s.entity_name, w.entity_name),
       w.entity_type, w.repo_full_name, w.job_labels::text, w.k8s_pool, w.k8s_image, w.k8s_node, w.status,
       w.created_at, w.running_at, w.completed_at, j.status, j.started_at, j.ended_at
  FROM (SELECT * FROM workers WHERE status IN ('pending', 'running')
         UNION ALL
        SELECT * FROM workers
         WHERE pod_name = ANY(string_to_array(%(pod_names)s, ',')) AND status NOT IN ('pending', 'running')) AS w
  LEFT JOIN github_scopes AS s ON s.entity_id = w.entity_id
                              AND s.repo_full_name = COALESCE(w.repo_full_name, '')
  LEFT JOIN LATERAL (
       SELECT status, COALESCE(started_at, updated_at) AS started_at,
              CASE WHEN status IN ('completed', 'failed')
                   THEN COALESCE(completed_at, updated_at) END AS ended_at
         FROM jobs WHERE k8s_pod = w.pod_name
        ORDER BY created_at DESC LIMIT 1) AS j ON true;

-- name: known_workers
-- Which of these names are workers, and how they stand.
SELECT pod_name, status FROM workers WHERE pod_name = ANY(string_to_array(%(pod_names)s, ','));

-- name: mark_workers_running
UPDATE workers AS w
   SET status = 'running', k8s_node = u.node, running_at = COALESCE(w.running_at, u.running_at),
       updated_at = %(now)s
  FROM jsonb_to_recordset(%(workers)s) AS u(pod_name text, node text, running_at timestamptz)
 WHERE w.pod_name = u.pod_name AND w.status = 'pending';

-- name: place_workers
-- Their pods were given a node, and have not started yet.
UPDATE workers AS w SET k8s_node = u.node, updated_at = %(now)s
  FROM jsonb_to_recordset(%(workers)s) AS u(pod_name text, node text)
 WHERE w.pod_name = u.pod_name AND w.status IN ('pending', 'running');

-- name: complete_workers
UPDATE workers AS w
   SET status = 'completed', k8s_node = COALESCE(u.node, w.k8s_node),
       running_at = COALESCE(w.running_at, u.running_at),
       completed_at = %(now)s, updated_at = %(now)s
  FROM jsonb_to_recordset(%(workers)s) AS u(pod_name text, node text, running_at timestamptz)
 WHERE w.pod_name = u.pod_name AND w.status IN ('pending', 'running');

-- name: fail_worker
UPDATE workers
   SET status = 'failed', failure_info = %(failure_info)s, k8s_node = COALESCE(%(node)s, k8s_node),
       completed_at = %(now)s, updated_at = %(now)s
 WHERE pod_name = %(pod_name)s AND status IN ('pending', 'running');

-- name: reserve_workers
-- A row before anything is made outside: whatever happens next, it is known. Names that are taken
-- are left out of the answer.
INSERT INTO workers (
    pod_name, provider, entity_id, entity_name, entity_type, installation_id, repo_full_name,
    job_labels, k8s_pool, k8s_image, created_at, updated_at
)
SELECT pod_name, 'github', entity_id, entity_name, entity_type, installation_id, repo_full_name,
       job_labels, k8s_pool, k8s_image, %(now)s, %(now)s
  FROM jsonb_to_recordset(%(workers)s) AS r(
       pod_name text, entity_id bigint, entity_name text, entity_type text, installation_id bigint,
       repo_full_name text, job_labels jsonb, k8s_pool text, k8s_image text)
    ON CONFLICT (pod_name) DO NOTHING
RETURNING pod_name;

-- name: rename_worker
-- GitHub or the cluster has one of that name: the reservation moves to another.
UPDATE workers SET pod_name = %(new_name)s, updated_at = %(now)s
 WHERE pod_name = %(pod_name)s AND status = 'pending'
   AND NOT EXISTS (SELECT FROM workers WHERE pod_name = %(new_name)s);
