-- name: poll_targets
-- The workflow runs with active jobs, the longest unconfirmed first. A webhook confirms a job, and
-- so does a look at GitHub: a run is as old as the least recently confirmed of its jobs. Those that
-- were confirmed a moment ago are left out: a run that a new job started must not ask about all others.
SELECT t.installation_id, t.target, t.entity_id, t.entity_name, t.entity_type, t.repo_full_name,
       p.run_checked_at
  FROM (SELECT installation_id, COALESCE(run_id, -job_id) AS target, max(entity_id) AS entity_id,
               max(entity_name) AS entity_name, max(entity_type) AS entity_type,
               max(repo_full_name) AS repo_full_name, min(updated_at) AS confirmed_at
          FROM jobs
         WHERE status IN ('pending', 'running')
         GROUP BY 1, 2) AS t
  LEFT JOIN github_polls AS p USING (installation_id, target)
 WHERE GREATEST(p.checked_at, t.confirmed_at) <= %(confirmed_before)s
 ORDER BY GREATEST(p.checked_at, t.confirmed_at), t.target;

-- name: load_polls
-- What GitHub said of these runs last time.
SELECT p.installation_id, p.target, p.pages
  FROM github_polls AS p
  JOIN unnest(%(installations)s::bigint[], %(targets)s::bigint[])
       AS wanted(installation_id, target) USING (installation_id, target);

-- name: jobs_of_targets
-- OFFSET 0 keeps it a look into idx_jobs_live for each: else all runs may be compared with all jobs
-- of their installation.
SELECT j.job_id, wanted.installation_id, wanted.target, j.status, j.created_at, j.k8s_pod,
       j.missing_since
  FROM unnest(%(installations)s::bigint[], %(targets)s::bigint[]) AS wanted(installation_id, target)
 CROSS JOIN LATERAL (
       SELECT job_id, status, created_at, k8s_pod, missing_since
         FROM jobs
        WHERE installation_id = wanted.installation_id
          AND COALESCE(run_id, -job_id) = wanted.target
          AND status IN ('pending', 'running')
       OFFSET 0) AS j;

-- name: save_polls
INSERT INTO github_polls (installation_id, target, checked_at, run_checked_at, pages)
SELECT installation_id, target, %(now)s, run_checked_at, COALESCE(pages, '[]')
  FROM jsonb_to_recordset(%(polls)s) AS p(
       installation_id bigint, target bigint, run_checked_at timestamptz, pages jsonb)
    ON CONFLICT (installation_id, target) DO UPDATE
   SET checked_at = EXCLUDED.checked_at,
       run_checked_at = COALESCE(EXCLUDED.run_checked_at, github_polls.run_checked_at),
       pages = EXCLUDED.pages;

-- name: confirm_polls
-- Unchanged: only when it was looked at.
UPDATE github_polls AS p SET checked_at = %(now)s
  FROM unnest(%(installations)s::bigint[], %(targets)s::bigint[]) AS wanted(installation_id, target)
 WHERE p.installation_id = wanted.installation_id AND p.target = wanted.target;

-- name: advance_jobs
-- Forward only. What GitHub says later overwrites, what the row knows already stays.
UPDATE jobs
   SET status       = GREATEST(jobs.status, u.status::status_enum),
       k8s_pod      = COALESCE(u.runner_name, jobs.k8s_pod),
       conclusion   = COALESCE(jobs.conclusion, u.conclusion),
       started_at   = COALESCE(u.started_at, jobs.started_at),
       completed_at = COALESCE(jobs.completed_at, u.completed_at),
       steps        = COALESCE(u.steps, jobs.steps),
       failure_info = NULL,
       missing_since = NULL,
       updated_at   = %(now)s
  FROM jsonb_to_recordset(%(jobs)s) AS u(
       job_id bigint, status text, runner_name text, conclusion text, started_at timestamptz,
       completed_at timestamptz, steps jsonb)
 WHERE jobs.job_id = u.job_id AND jobs.status IN ('pending', 'running');

-- name: mark_missing
UPDATE jobs SET missing_since = %(now)s
 WHERE job_id = ANY(%(job_ids)s) AND status IN ('pending', 'running');

-- name: mark_found
UPDATE jobs SET missing_since = NULL
 WHERE job_id = ANY(%(job_ids)s) AND status IN ('pending', 'running');

-- name: fail_jobs
UPDATE jobs
   SET status = 'failed', failure_info = %(failure_info)s, updated_at = %(now)s
 WHERE job_id = ANY(%(job_ids)s) AND status = ANY(%(expected)s::status_enum[]);

-- name: fail_jobs_of_installation
UPDATE jobs
   SET status = 'failed', failure_info = %(failure_info)s, updated_at = %(now)s
 WHERE installation_id = ANY(%(installations)s) AND status IN ('pending', 'running');

-- name: runners_at_work
-- Which of these run a job, as far as jobs know.
SELECT DISTINCT k8s_pod FROM jobs
 WHERE k8s_pod = ANY(string_to_array(%(names)s, ',')) AND status = 'running';

-- name: ban_jobs
-- A ban acts on what is queued already; a job that runs is left to end.
UPDATE jobs
   SET status = 'failed', failure_info = %(failure_info)s, updated_at = %(now)s
 WHERE status = 'pending'
   AND (entity_id = ANY(%(entity_ids)s) OR lower(entity_name) = ANY(%(entity_names)s)
        OR sender_id = ANY(%(sender_ids)s) OR lower(sender_name) = ANY(%(sender_names)s));
