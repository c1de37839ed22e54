-- History by the million, made by the database itself.

-- name: jobs
INSERT INTO jobs (job_id, status, conclusion, provider, entity_id, entity_name, entity_type,
                  repo_full_name, repo_private, installation_id, job_labels, k8s_pool, k8s_image, k8s_pod,
                  html_url, job_name, workflow_name, run_id, run_attempt,
                  created_at, queued_at, started_at, completed_at, updated_at)
SELECT n, 'completed',
       CASE WHEN n %% 23 = 0 THEN 'cancelled' WHEN n %% (7 + tenant) = 0 THEN 'failure' ELSE 'success' END,
       'github', tenant, 'tenant-' || tenant, CASE WHEN tenant = 3 THEN 'User' ELSE 'Organization' END,
       'tenant-' || tenant || '/project-' || n %% 5, n %% 5 = 0, 100 + tenant,
       CASE WHEN n %% 4 = 0 THEN %(large)s::jsonb ELSE %(labels)s::jsonb END,
       CASE WHEN n %% 4 = 0 THEN 'cloudv10x' ELSE 'scw-em-rv1' END,
       'registry.example/ubuntu:prod', 'rise-riscv-runner-' || to_hex(n),
       'https://github.com/tenant-' || tenant || '/project-' || n %% 5 || '/actions/runs/' || n / 8 || '/job/' || n,
       'build (riscv64, ' || n %% 8 || ')', 'ci', n / 8, 1,
       created, created, created + waited, created + waited + took, created + waited + took
  FROM (SELECT n, 1 + (n * 7919) %% 37 AS tenant,
               %(first)s::timestamptz + n * %(step)s::interval AS created,
               make_interval(secs => 5 + (n * 31) %% 600) AS waited,
               make_interval(secs => 60 + (n * 17) %% 1800) AS took
          FROM generate_series(1, %(jobs)s::bigint) AS n) AS made;

-- name: workers
INSERT INTO workers (pod_name, provider, entity_id, entity_name, entity_type, installation_id, job_labels,
                     k8s_pool, k8s_image, k8s_node, status, failure_info, created_at, running_at,
                     completed_at, updated_at)
SELECT k8s_pod, 'github', entity_id, entity_name, entity_type, installation_id, job_labels,
       k8s_pool, k8s_image, k8s_pool || '-' || job_id %% 40,
       CASE WHEN job_id %% %(failed_every)s = 0 THEN 'failed' ELSE 'completed' END::status_enum,
       CASE WHEN job_id %% %(failed_every)s = 0 THEN %(info)s::jsonb END,
       created_at + interval '1 second', started_at, completed_at, completed_at
  FROM jobs;

-- name: runs
WITH made AS (
    INSERT INTO reconcile_runs (started_at, completed_at, status, jobs_updated)
    SELECT created_at, created_at + interval '1 second', 'completed', CASE WHEN job_id %% 4 = 0 THEN 2 ELSE 0 END
      FROM jobs
    RETURNING id, jobs_updated
)
INSERT INTO reconcile_phases (run_id, phase, success, impact, elapsed_seconds)
SELECT id, phase, true, CASE WHEN phase = 'sync_jobs' THEN 'jobs advanced: 2' END, 0.1
  FROM made, unnest(ARRAY['sync_jobs', 'sync_workers', 'demand_match', 'missed_webhooks', 'publish']) AS phase
 WHERE jobs_updated > 0;
