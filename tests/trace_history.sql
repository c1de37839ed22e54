-- A long event log and all that a trace reads beside it, made by the database itself.

-- name: account_of
-- Put where {account_of} stands: whose job it is, by its number. Of sizes like those of cities: the
-- first has a fifth of everything, the thousandth not one in ten thousand.
LEAST(2000, floor(power(1 - 0.898 * (job * 7919 %% 1000003 / 1000003.0::float8), -1 / 0.3::float8)))::int

-- name: time_of
-- Put where {time_of} stands: when the event of that number came.
%(now)s::timestamptz - (%(events)s::bigint - event) * interval '6 seconds'

-- name: numbered_jobs
-- Put where {numbered_jobs} stands: those that do not wait any more, and the account of each. The
-- others had labels that no route has.
(SELECT job, {account_of} AS account, {time_of} AS queued, job %% 50 = 0 AS given_up,
        CASE job %% 4 WHEN 0 THEN %(other_pool)s ELSE %(pool)s END AS pool
   FROM generate_series(1, %(last_job)s::bigint) AS job, LATERAL (SELECT job * 3 * 33 / 32) AS of(event)
  WHERE job %% 8 < 5)

-- name: repositories
-- So many of an account, from the one of this number on.
CREATE FUNCTION pg_temp.repositories(account bigint, first bigint, many int) RETURNS jsonb LANGUAGE sql AS $$
    SELECT jsonb_agg(jsonb_build_object('id', first + n, 'name', 'project-' || first + n, 'private', false,
                                        'full_name', 'tenant-' || account || '/project-' || first + n))
      FROM generate_series(0, many - 1) AS n
$$;

-- name: deliveries_of_jobs
-- Three of each, which GitHub interleaves; at the end all the jobs that wait, each with its first.
-- Between them is room for what is told of installations, one in 33.
INSERT INTO installation_events (id, source, event, outcome, installation_id, app_id, entity_type, entity_id,
                                 entity_name, job_id, received_at, payload)
SELECT event, 'webhook', 'workflow_job.' || action,
       CASE WHEN job <= %(last_job)s::bigint AND job %% 8 >= 5 THEN 'ignored_no_label'
            WHEN action = 'queued' THEN 'job_stored'
            WHEN action = 'in_progress' THEN 'job_marked_running' ELSE 'job_marked_completed' END,
       50000000 + account, CASE account %% 10 WHEN 3 THEN 1002 ELSE 1001 END,
       CASE account %% 10 WHEN 3 THEN 'User' ELSE 'Organization' END::entity_type_enum,
       21000000 + account, 'tenant-' || account, job, {time_of},
       %(rest)s::jsonb || format(%(workflow_job)s, event, action, job, account, job %% 5, to_hex(job))::jsonb
  FROM (SELECT event, action, job, {account_of} AS account
          FROM generate_series(1, %(events)s::bigint) AS event,
               LATERAL (SELECT event - event / 33 - 1) AS of_jobs(place),
               LATERAL (SELECT place - %(last_job)s::bigint * 3) AS at_the_end(waiting),
               LATERAL (SELECT CASE WHEN waiting >= 0 THEN 0 ELSE place %% 3 END) AS of_three(which),
               LATERAL (SELECT (ARRAY['queued', 'in_progress', 'completed'])[which + 1],
                               CASE WHEN waiting >= 0 THEN %(last_job)s::bigint + 1 + waiting
                                    ELSE place / 3 + 1 - (ARRAY[0, 40, 160])[which + 1] END) AS told(action, job)
         WHERE event %% 33 > 0 AND event %% 100 > 0 AND job > 0) AS made;

-- name: events_without_account
-- Of an installation that nothing else is known of.
INSERT INTO installation_events (id, source, event, outcome, installation_id, app_id, received_at, payload)
SELECT event, 'webhook', 'push', 'unhandled_event', %(nameless)s, 1001, {time_of}, '{{"_delivery": "d"}}'
  FROM generate_series(100, %(events)s::bigint, 100) AS event
 WHERE event %% 33 > 0;

-- name: deliveries_of_installations
-- First one account that changes its repositories thousands of times, then that each was installed, and
-- then what else happens to those that have jobs. The first of each ten and the tenth are left alone
-- after a while: they are the same in a short log and in a long one.
INSERT INTO installation_events (id, source, event, outcome, installation_id, app_id, entity_type, entity_id,
                                 entity_name, received_at, payload)
SELECT event, CASE WHEN named LIKE 'auth%%' THEN 'scheduler' ELSE 'webhook' END, named,
       CASE WHEN named LIKE 'auth%%' THEN 'auth_failed' ELSE 'recorded' END,
       50000000 + account, CASE account %% 10 WHEN 3 THEN 1002 ELSE 1001 END,
       CASE account %% 10 WHEN 3 THEN 'User' ELSE 'Organization' END::entity_type_enum,
       21000000 + account, CASE WHEN round = 0 THEN 'old-' ELSE '' END || 'tenant-' || account, {time_of},
       CASE WHEN named LIKE 'auth%%' THEN '{{"status": "404", "message": "Not Found"}}'::jsonb
            WHEN named LIKE '%%renamed' THEN jsonb_build_object(
                '_delivery', 'd-' || event, 'changes',
                jsonb_build_object('login', jsonb_build_object('from', 'old-tenant-' || account)))
            ELSE %(installation)s::jsonb
                || jsonb_build_object('_delivery', 'd-' || event, 'repository_selection', 'selected')
                || CASE split_part(named, '.', 2)
                   WHEN 'created' THEN jsonb_build_object('repositories', pg_temp.repositories(account, 0,
                       CASE account WHEN %(broad)s THEN %(repositories)s::int ELSE 5 END))
                   WHEN 'added' THEN jsonb_build_object('repositories_added', pg_temp.repositories(account, event, 3))
                   WHEN 'removed' THEN jsonb_build_object('repositories_removed', pg_temp.repositories(account, event, 2))
                   ELSE '{{}}' END
       END
  FROM (SELECT number * 33 AS event, round,
               account + CASE WHEN account %% 10 < 2 AND round > 3 THEN 2 ELSE 0 END AS account,
               CASE WHEN round = -1 THEN 'installation_repositories.' || (ARRAY['added', 'removed'])[1 + number %% 2]
                    WHEN round = 0 THEN 'installation.created'
                    ELSE (ARRAY['installation_repositories.added', 'installation_repositories.removed',
                                'installation.suspend', 'installation.unsuspend', 'auth_attempt.404',
                                'installation.new_permissions_accepted',
                                'installation_target.renamed'])[1 + (round + account) %% 7] END AS named
          FROM (SELECT number,
                       CASE WHEN number <= %(changes)s::int THEN %(restless)s::int
                            WHEN place < 2500 THEN 1 + place * 7919 %% 2500
                            ELSE 1 + place * 7919 %% 2000 END AS account,
                       CASE WHEN number <= %(changes)s::int THEN -1
                            WHEN place < 2500 THEN 0 ELSE 1 + (place - 2500) / 2000 END AS round
                  FROM generate_series(1, %(events)s::bigint / 33) AS number,
                       LATERAL (SELECT number - %(changes)s::int - 1) AS of(place)) AS placed) AS made;

-- name: jobs_that_are_over
INSERT INTO jobs (job_id, status, conclusion, failure_info, provider, entity_id, entity_name, entity_type,
                  repo_full_name, installation_id, job_labels, k8s_pool, k8s_image, k8s_pod, html_url, job_name,
                  workflow_name, run_id, run_attempt, created_at, queued_at, started_at, completed_at, updated_at)
SELECT job, CASE WHEN given_up THEN 'failed' ELSE 'completed' END::status_enum,
       CASE WHEN NOT given_up THEN 'success' END,
       CASE WHEN given_up THEN '{{"reason": "demand_parked", "message": "Its runners failed."}}'::jsonb END,
       'github', 21000000 + account, 'tenant-' || account,
       CASE account %% 10 WHEN 3 THEN 'User' ELSE 'Organization' END, 'tenant-' || account || '/project-' || job %% 5,
       50000000 + account, %(labels)s::jsonb, pool, 'registry.example/ubuntu:prod',
       CASE WHEN NOT given_up THEN 'rise-riscv-runner-' || to_hex(job) END,
       'https://github.com/tenant-' || account || '/project-' || job %% 5 || '/actions/runs/' || job / 4, 'build', 'ci',
       job / 4, 1, queued, queued, queued + interval '12 minutes', queued + interval '48 minutes',
       queued + interval '48 minutes'
  FROM {numbered_jobs} AS numbered;

-- name: jobs_that_wait
INSERT INTO jobs (job_id, provider, entity_id, entity_name, entity_type, repo_full_name, installation_id,
                  job_labels, k8s_pool, k8s_image, run_id, created_at, queued_at, updated_at)
SELECT job, 'github', 21000000 + account, 'tenant-' || account,
       CASE account %% 10 WHEN 3 THEN 'User' ELSE 'Organization' END, 'tenant-' || account || '/project-' || job %% 5,
       50000000 + account, %(labels)s::jsonb, %(pool)s, 'registry.example/ubuntu:prod', job / 4, queued, queued, queued
  FROM (SELECT job, {account_of} AS account, {time_of} AS queued
          FROM generate_series(%(last_job)s::bigint + 1, %(last_job)s::bigint + %(pending)s::bigint) AS job,
               LATERAL (SELECT %(events)s::bigint - (%(last_job)s::bigint + %(pending)s::bigint - job) * 33 / 32) AS of(event)
       ) AS numbered;

-- name: workers
-- The latest: the others are gone. One in ten failed, and the newest are at work.
INSERT INTO workers (pod_name, provider, entity_id, entity_name, entity_type, repo_full_name, installation_id,
                     job_labels, k8s_pool, k8s_image, k8s_node, status, failure_info, created_at, running_at,
                     completed_at, updated_at)
SELECT 'rise-riscv-runner-' || to_hex(job), 'github', 21000000 + account, 'tenant-' || account,
       CASE account %% 10 WHEN 3 THEN 'User' ELSE 'Organization' END,
       CASE account %% 10 WHEN 3 THEN 'tenant-' || account || '/project-' || job %% 5 END, 50000000 + account,
       CASE WHEN job %% 16 = 8 THEN '["another"]' ELSE %(labels)s::jsonb END, pool, 'registry.example/ubuntu:prod',
       pool || '-' || job %% 40,
       CASE WHEN live THEN 'running' WHEN job %% 10 = 0 THEN 'failed' ELSE 'completed' END::status_enum,
       CASE WHEN NOT live AND job %% 10 = 0 THEN
            jsonb_build_object('version', 2, 'reason', 'pod_failed', 'message', 'It failed.',
                               'logs', jsonb_build_object('runner', repeat('line ', 100))) END,
       queued, queued + interval '12 minutes', CASE WHEN NOT live THEN queued + interval '48 minutes' END,
       queued + interval '48 minutes'
  FROM {numbered_jobs} AS numbered, LATERAL (SELECT job > %(last_job)s::bigint - 480) AS of(live)
 WHERE job > %(last_job)s::bigint - %(workers)s::bigint * 8 / 5;

-- name: runs
INSERT INTO reconcile_runs (started_at, completed_at, status, jobs_updated)
SELECT %(now)s::timestamptz - (%(runs)s::bigint - n) * interval '15 seconds',
       %(now)s::timestamptz - (%(runs)s::bigint - n) * interval '15 seconds' + interval '2 seconds',
       CASE WHEN n %% 50 = 0 THEN 'partial' ELSE 'completed' END, CASE WHEN n %% 5 = 0 THEN 2 ELSE 0 END
  FROM generate_series(1, %(runs)s::bigint) AS n;

-- name: phases
INSERT INTO reconcile_phases (run_id, phase, success, error)
SELECT id, phase, status = 'completed', CASE WHEN status <> 'completed' THEN 'it did not answer' END
  FROM reconcile_runs,
       unnest(ARRAY['sync_jobs', 'sync_workers', 'demand_match', 'missed_webhooks', 'publish']) AS phase
 WHERE jobs_updated > 0;

-- name: waits
INSERT INTO demand_waits (entity_id, repo_full_name, job_labels, k8s_pool, pending, covered, waiting_for,
                          max_workers, planned_at)
SELECT entity_id, CASE entity_type WHEN 'User' THEN repo_full_name ELSE '' END, job_labels, k8s_pool, count(*), 0,
       'no_board', 20, %(now)s
  FROM jobs
 WHERE status = 'pending'
 GROUP BY 1, 2, 3, 4;

-- name: trouble
INSERT INTO demand_back_off (entity_id, job_labels, failures, reason, failed_at, retry_at)
SELECT 21000000 + n, %(labels)s::jsonb, n %% 2, 'pod_failed', %(now)s, %(now)s FROM generate_series(1, 500) AS n;

-- name: boards
INSERT INTO boards (k8s_pool, slots, usable, in_use, free, scheduling, observed_at)
VALUES (%(pool)s, 40, 38, 38, 0, 'fair', %(now)s), (%(other_pool)s, 40, 40, 2, 38, 'fair', %(now)s);

-- name: credentials
INSERT INTO github_credentials (key, token, rate_limit, rate_remaining, rate_resets_at, updated_at)
SELECT key, repeat('t', 200)::bytea, 5000, 4000, %(now)s, %(now)s
  FROM (SELECT 'installation:' || 50000000 + n FROM generate_series(1, 2000) AS n
         UNION VALUES ('app:1001'), ('app:1002')) AS of(key);

-- name: failed_deliveries
-- Of three days in which the function was away: most were looked into.
INSERT INTO webhook_redeliveries (app_id, guid, delivery_id, attempts, failed_at, event, installation_id, job_id,
                                  status_code)
SELECT 1001, 'guid-' || n, n, 1, %(now)s::timestamptz - n * interval '6 seconds',
       CASE n %% 33 WHEN 0 THEN 'installation_repositories.added' ELSE 'workflow_job.queued' END,
       50000000 + n %% 2000, CASE WHEN n %% 33 > 0 AND n > 5000 THEN %(last_job)s::bigint - n END, 503
  FROM generate_series(1, %(failed_deliveries)s::bigint) AS n;

-- name: cursors
INSERT INTO webhook_cursors (app_id, delivery_id, read_at) VALUES (1001, 1, %(now)s), (1002, 1, %(now)s);
