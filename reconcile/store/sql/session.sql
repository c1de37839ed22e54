-- name: configure_session
-- Where the tables are, how long a statement may take or wait for a lock, and how soon the server
-- notices that the run, or its machine, is gone: also while it waits for a lock or computes, for a
-- killed run must not hold what the next one needs.
SELECT set_config('search_path', %(schema)s, false),
       set_config('statement_timeout', %(statement_timeout)s, false),
       set_config('lock_timeout', %(lock_timeout)s, false),
       set_config('default_transaction_read_only', %(read_only)s, false),
       set_config('idle_in_transaction_session_timeout', %(silence)s, false),
       set_config('idle_session_timeout', %(silence)s, false),
       set_config('client_connection_check_interval', '1s', false),
       set_config('tcp_keepalives_idle', '30', false),
       set_config('tcp_keepalives_interval', '10', false),
       set_config('tcp_keepalives_count', '3', false);

-- name: one_moment
SET TRANSACTION ISOLATION LEVEL REPEATABLE READ;

-- name: ping
-- Whether the session, and the lock that it has, are still there.
SELECT 1;

-- name: take_lock
-- Runs never overlap, whoever started them. The session's: a killed run leaves none behind.
SELECT pg_try_advisory_lock(hashtext('riscv-runners run'), hashtext(%(schema)s));

-- name: release_lock
SELECT pg_advisory_unlock(hashtext('riscv-runners run'), hashtext(%(schema)s));

-- name: start_run
-- Whoever has the lock is alone: a record that is still open is of a run that cannot close it.
WITH killed AS (
    UPDATE reconcile_runs
       SET status = 'failed', completed_at = %(now)s,
           error = 'It did not come to its end: killed, or cut off from the database.'
     WHERE status = 'running'
)
INSERT INTO reconcile_runs (started_at, created_at) VALUES (%(now)s, %(now)s) RETURNING id;

-- name: forget
-- What is remembered of what is over. An active workflow run is looked at far more often than its
-- memory lasts; GitHub's webhook log goes back three days; a demand that could be tried again for
-- hours and was not has no job; the rest was not used for a month.
WITH polls AS (
    DELETE FROM github_polls WHERE checked_at < %(now)s::timestamptz - interval '2 hours'
), redeliveries AS (
    DELETE FROM webhook_redeliveries WHERE failed_at < %(now)s::timestamptz - interval '3 days'
), scopes AS (
    DELETE FROM github_scopes WHERE used_at < %(now)s::timestamptz - interval '30 days'
), credentials AS (
    DELETE FROM github_credentials WHERE updated_at < %(now)s::timestamptz - interval '30 days'
)
DELETE FROM demand_back_off WHERE retry_at < %(now)s::timestamptz - interval '6 hours';

-- name: finish_run
-- The phases and the sum of them, at once: a run has both or neither.
WITH phases AS (
    INSERT INTO reconcile_phases (run_id, phase, success, message, impact, error, elapsed_seconds, created_at)
    SELECT %(run_id)s, phase, success, message, impact, error, elapsed_seconds, %(now)s
      FROM jsonb_to_recordset(%(phases)s)
        AS p(phase text, success boolean, message text, impact text, error text, elapsed_seconds float8)
)
UPDATE reconcile_runs
   SET completed_at = %(now)s, status = %(status)s, error = %(error)s,
       jobs_checked = %(jobs_checked)s, jobs_updated = %(jobs_updated)s,
       workers_checked = %(workers_checked)s, workers_failed = %(workers_failed)s,
       workers_provisioned = %(workers_provisioned)s, objects_published = %(objects_published)s
 WHERE id = %(run_id)s AND status = 'running';
