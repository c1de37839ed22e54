-- name: insert_job
-- A redelivered job is there already, and stays as it is.
INSERT INTO jobs (
    job_id, status, provider, entity_id, entity_name, entity_type, repo_full_name,
    installation_id, job_labels, k8s_pool, k8s_image, k8s_pod, html_url, created_at, updated_at,
    run_id, run_attempt, job_name, workflow_name, conclusion, queued_at, started_at,
    completed_at, repo_private, steps, sender_id, sender_name
) VALUES (
    %(job_id)s, %(status)s, 'github', %(entity_id)s, %(entity_name)s, %(entity_type)s,
    %(repo_full_name)s, %(installation_id)s, %(job_labels)s, %(k8s_pool)s, %(k8s_image)s,
    %(k8s_pod)s, %(html_url)s, %(now)s, %(now)s, %(run_id)s, %(run_attempt)s, %(job_name)s,
    %(workflow_name)s, %(conclusion)s, %(queued_at)s, %(started_at)s, %(completed_at)s,
    %(repo_private)s, %(steps)s, %(sender_id)s, %(sender_name)s
)
ON CONFLICT (job_id) DO NOTHING
RETURNING status;

-- name: advance_job
-- Forward only: a late in_progress cannot reopen a finished job. What a late delivery knows and
-- the row does not is filled in; what both know is the later stage's to say. A delivery that
-- adds nothing writes nothing. Answers with the status the job had, or no row if it is unknown.
WITH before AS (
    SELECT job_id, status FROM jobs WHERE job_id = %(job_id)s FOR UPDATE
), advanced AS (
    UPDATE jobs
       SET status       = GREATEST(jobs.status, %(status)s::status_enum),
           k8s_pod      = CASE WHEN jobs.status < %(status)s::status_enum
                               THEN COALESCE(%(k8s_pod)s, jobs.k8s_pod)
                               ELSE COALESCE(jobs.k8s_pod, %(k8s_pod)s) END,
           started_at   = CASE WHEN jobs.status < %(status)s::status_enum
                               THEN COALESCE(%(started_at)s, jobs.started_at)
                               ELSE COALESCE(jobs.started_at, %(started_at)s) END,
           steps        = CASE WHEN jobs.status < %(status)s::status_enum
                               THEN COALESCE(%(steps)s, jobs.steps)
                               ELSE COALESCE(jobs.steps, %(steps)s) END,
           completed_at = COALESCE(jobs.completed_at, %(completed_at)s),
           conclusion   = COALESCE(jobs.conclusion, %(conclusion)s),
           updated_at   = %(now)s
      FROM before
     WHERE jobs.job_id = before.job_id
       AND (jobs.status < %(status)s::status_enum
            OR (jobs.k8s_pod IS NULL AND %(k8s_pod)s::text IS NOT NULL)
            OR (jobs.started_at IS NULL AND %(started_at)s::timestamptz IS NOT NULL)
            OR (jobs.steps IS NULL AND %(steps)s::jsonb IS NOT NULL)
            OR (jobs.completed_at IS NULL AND %(completed_at)s::timestamptz IS NOT NULL)
            OR (jobs.conclusion IS NULL AND %(conclusion)s::text IS NOT NULL))
)
SELECT status FROM before;

-- name: append_event
-- One row for each accepted delivery.
INSERT INTO installation_events (
    source, event, outcome, installation_id, app_id, entity_type, entity_id, entity_name,
    job_id, payload, received_at
) VALUES (
    'webhook', %(event)s, %(outcome)s, %(installation_id)s, %(app_id)s, %(entity_type)s,
    %(entity_id)s, %(entity_name)s, %(job_id)s, %(payload)s, %(received_at)s
);

-- name: configure_session
-- Once a connection: where the tables are, and how long a statement may take or wait for a lock.
SELECT set_config('search_path', %(schema)s, false),
       set_config('statement_timeout', %(timeout)s, false),
       set_config('lock_timeout', %(timeout)s, false);

-- name: ping
-- Whether the database answers.
SELECT 1;

-- name: begin_reading
-- All that is read until the end is of one moment.
BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY;

-- name: end_reading
-- Nothing was written. After a ROLLBACK psycopg would forget the statements it has prepared.
COMMIT;
