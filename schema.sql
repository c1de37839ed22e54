-- The database: the contract between webhook_fn, reconcile and static_site.
--
--     psql "$POSTGRES_URL" -v schema=prod -f schema.sql
--
-- creates the schema named by -v schema=… and all in it, in one transaction. Applying it again
-- changes nothing; applying it to an older database adds what is missing. PostgreSQL 14 or newer.
-- Rows are never touched: there is no migration here, only definition.

\set ON_ERROR_STOP on
\if :{?schema}
\else
DO $$ BEGIN RAISE EXCEPTION 'Name the schema: psql -v schema=prod -f schema.sql'; END $$;
\endif
SELECT length(:'schema') > 50 AS schema_is_too_long \gset
\if :schema_is_too_long
DO $$ BEGIN RAISE EXCEPTION 'The schema''s name must have at most 50 characters.'; END $$;
\endif
\set webhook_fn_role :schema _webhook_fn
\set reconcile_role :schema _reconcile

BEGIN;
SET LOCAL client_min_messages = warning;  -- "already exists, skipping" is the normal case
SET LOCAL lock_timeout = '2s';            -- rather fail here than hold up deliveries, which give up after 3 s
DO $$ BEGIN PERFORM pg_advisory_xact_lock(hashtext('riscv-runners schema.sql')); END $$;

CREATE SCHEMA IF NOT EXISTS :"schema";
SET LOCAL search_path = :"schema";

-- Types ---------------------------------------------------------------------------------------

DO $$
BEGIN
    IF to_regtype(quote_ident(current_schema()) || '.status_enum') IS NULL THEN
        -- In the order in which a row moves through them; triggers below rely on it.
        --   pending    a job waits for a runner; a worker's pod is not running yet
        --   running    a job was taken by a runner; a worker's pod runs
        --   completed  the end, as GitHub or Kubernetes reported it (a failed build is completed)
        --   failed     the end, because the system gave up on it; failure_info says why
        CREATE TYPE status_enum AS ENUM ('pending', 'running', 'completed', 'failed');
    END IF;
    IF to_regtype(quote_ident(current_schema()) || '.provider_enum') IS NULL THEN
        CREATE TYPE provider_enum AS ENUM ('github', 'gitlab', 'azdo');
    END IF;
    IF to_regtype(quote_ident(current_schema()) || '.entity_type_enum') IS NULL THEN
        CREATE TYPE entity_type_enum AS ENUM ('Organization', 'User');
    END IF;
END $$;

-- jobs: demand, one row for each workflow_job -------------------------------------------------

CREATE TABLE IF NOT EXISTS jobs (
    job_id          BIGINT PRIMARY KEY,
    status          status_enum NOT NULL DEFAULT 'pending',
    failure_info    JSONB,
    provider        provider_enum NOT NULL,
    entity_id       BIGINT NOT NULL,
    entity_name     TEXT NOT NULL,
    entity_type     TEXT NOT NULL,                -- 'Organization' or 'User'
    repo_full_name  TEXT NOT NULL,
    installation_id BIGINT NOT NULL,
    job_labels      JSONB NOT NULL DEFAULT '[]',  -- sorted at write time
    k8s_pool        TEXT NOT NULL,
    k8s_image       TEXT NOT NULL,
    k8s_pod         TEXT,                         -- the runner that took the job
    html_url        TEXT,
    created_at      TIMESTAMPTZ NOT NULL DEFAULT now(),
    updated_at      TIMESTAMPTZ NOT NULL DEFAULT now()
);

-- What GitHub says of the job itself, for dashboards and for grouping by workflow run.
ALTER TABLE jobs
    ADD COLUMN IF NOT EXISTS run_id        BIGINT,
    ADD COLUMN IF NOT EXISTS run_attempt   INTEGER,
    ADD COLUMN IF NOT EXISTS job_name      TEXT,
    ADD COLUMN IF NOT EXISTS workflow_name TEXT,
    ADD COLUMN IF NOT EXISTS conclusion    TEXT,         -- set once completed
    ADD COLUMN IF NOT EXISTS queued_at     TIMESTAMPTZ,  -- GitHub's own three times
    ADD COLUMN IF NOT EXISTS started_at    TIMESTAMPTZ,
    ADD COLUMN IF NOT EXISTS completed_at  TIMESTAMPTZ,
    ADD COLUMN IF NOT EXISTS repo_private  BOOLEAN,      -- unknown is treated as private
    ADD COLUMN IF NOT EXISTS steps         JSONB,        -- number, name, status, conclusion, times
    ADD COLUMN IF NOT EXISTS sender_id     BIGINT,       -- who set it off: a ban acts on what is queued, too
    ADD COLUMN IF NOT EXISTS sender_name   TEXT,
    ADD COLUMN IF NOT EXISTS missing_since TIMESTAMPTZ;  -- GitHub's first 404 for it, until it is seen again

CREATE INDEX IF NOT EXISTS idx_jobs_active    ON jobs (entity_id, job_labels, created_at) WHERE status != 'completed';
CREATE INDEX IF NOT EXISTS idx_jobs_reconcile ON jobs (installation_id)                   WHERE status != 'completed';
CREATE INDEX IF NOT EXISTS idx_jobs_created   ON jobs (created_at DESC);
-- Those above keep every failed job; a run must not pay for history.
CREATE INDEX IF NOT EXISTS idx_jobs_live ON jobs (installation_id, COALESCE(run_id, -job_id)) WHERE status IN ('pending', 'running');
CREATE INDEX IF NOT EXISTS idx_jobs_told ON jobs (job_id) WHERE failure_info IS NOT NULL AND status <> 'failed';
CREATE INDEX IF NOT EXISTS idx_jobs_pod  ON jobs (k8s_pod) WHERE k8s_pod IS NOT NULL;
-- What began or ended lately, for figures.
CREATE INDEX IF NOT EXISTS idx_jobs_started ON jobs (started_at)   WHERE started_at IS NOT NULL;
CREATE INDEX IF NOT EXISTS idx_jobs_ended   ON jobs (completed_at) WHERE completed_at IS NOT NULL;
-- An account by its name, for the trace.
CREATE INDEX IF NOT EXISTS idx_jobs_account ON jobs (lower(entity_name), created_at DESC);

-- workers: supply, one row for each provisioned pod --------------------------------------------

CREATE TABLE IF NOT EXISTS workers (
    pod_name        TEXT PRIMARY KEY,
    provider        provider_enum NOT NULL,
    entity_id       BIGINT NOT NULL,
    entity_name     TEXT NOT NULL,
    entity_type     TEXT NOT NULL,                -- 'Organization' or 'User'
    installation_id BIGINT NOT NULL,              -- GitHub App installation
    repo_full_name  TEXT,                         -- set only for User entities; NULL for Organization
    job_labels      JSONB NOT NULL DEFAULT '[]',
    k8s_pool        TEXT NOT NULL,
    k8s_image       TEXT NOT NULL,
    k8s_node        TEXT,
    status          status_enum NOT NULL DEFAULT 'pending',
    failure_info    JSONB,                        -- diagnostics of failed and stuck pods (version=2)
    created_at      TIMESTAMPTZ NOT NULL DEFAULT now(),
    running_at      TIMESTAMPTZ,                  -- set when pod first reaches Running
    completed_at    TIMESTAMPTZ,                  -- set when status transitions to completed | failed
    updated_at      TIMESTAMPTZ NOT NULL DEFAULT now()
);

CREATE INDEX IF NOT EXISTS idx_workers_active ON workers (entity_id, job_labels, k8s_pool) WHERE status != 'completed';
CREATE INDEX IF NOT EXISTS idx_workers_live   ON workers (entity_id)                       WHERE status IN ('pending', 'running');
CREATE INDEX IF NOT EXISTS idx_workers_ended  ON workers (completed_at)                    WHERE completed_at IS NOT NULL;
CREATE INDEX IF NOT EXISTS idx_workers_failed ON workers (pod_name)                        WHERE status = 'failed';
-- An account's latest failures, for the trace.
CREATE INDEX IF NOT EXISTS idx_workers_trouble ON workers (entity_id, completed_at DESC)   WHERE status = 'failed';
-- The newest of all, for lists.
CREATE INDEX IF NOT EXISTS idx_workers_created ON workers (created_at DESC);

-- What the trace tells of a worker: why it ended, not what was found in its pod.
CREATE OR REPLACE VIEW workers_told AS
SELECT pod_name, entity_id, COALESCE(repo_full_name, '') AS repo_full_name, job_labels, k8s_pool, k8s_node,
       status, failure_info ->> 'reason' AS reason, failure_info ->> 'message' AS message,
       created_at, running_at, completed_at
  FROM workers;

-- boards: what the cluster offers of each pool, as the last run that could list it saw it ------

CREATE TABLE IF NOT EXISTS boards (
    k8s_pool    TEXT PRIMARY KEY,
    slots       INTEGER NOT NULL,                 -- places for a runner, on all its nodes
    usable      INTEGER NOT NULL,                 -- of those, on nodes that can take a pod now
    in_use      INTEGER NOT NULL,                 -- of all of them, taken by a pod
    free        INTEGER NOT NULL,                 -- usable ones without a pod
    observed_at TIMESTAMPTZ NOT NULL
);

ALTER TABLE boards ADD COLUMN IF NOT EXISTS scheduling TEXT;  -- in which order they are given: 'fifo' or 'fair'

-- demand_waits: what pending jobs wait for, as the last run that could plan saw it -------------

-- One row for each demand and pool with pending jobs.
CREATE TABLE IF NOT EXISTS demand_waits (
    entity_id      BIGINT NOT NULL,
    repo_full_name TEXT NOT NULL DEFAULT '',      -- '' for an organization
    job_labels     JSONB NOT NULL,
    k8s_pool       TEXT NOT NULL,
    pending        INTEGER NOT NULL,              -- jobs that waited when it was planned
    covered        INTEGER NOT NULL,              -- of these, the oldest: a runner is there or on its way
    waiting_for    TEXT,                          -- what the others wait for: a slug; NULL if there are none
    wait_until     TIMESTAMPTZ,                   -- when that ends, where it is known
    planned_at     TIMESTAMPTZ NOT NULL,          -- written at every change, and else once a minute
    PRIMARY KEY (entity_id, repo_full_name, job_labels, k8s_pool)
);

ALTER TABLE demand_waits ADD COLUMN IF NOT EXISTS max_workers INTEGER;  -- that its entity may have, over all pools

-- installation_events: every accepted delivery, and when access was refused or given again -----

CREATE TABLE IF NOT EXISTS installation_events (
    id                BIGSERIAL PRIMARY KEY,
    source            TEXT NOT NULL,              -- 'webhook' or 'scheduler'
    event             TEXT NOT NULL,              -- '{X-GitHub-Event}.{payload.action}' or 'auth_attempt.{status}'
    outcome           TEXT NOT NULL,              -- what was done about it: a slug of an open set
    installation_id   BIGINT,
    app_id            BIGINT,                     -- GHAPP_ORG_ID or GHAPP_PERSONAL_ID
    entity_type       entity_type_enum,
    entity_id         BIGINT,                     -- installation.target_id = account.id (stable across renames)
    entity_name       TEXT,                       -- account login
    payload           JSONB NOT NULL,             -- the trimmed body, or a made-up one for scheduler rows
    received_at       TIMESTAMPTZ NOT NULL DEFAULT now()
);

CREATE INDEX IF NOT EXISTS idx_install_events_installation ON installation_events (installation_id, entity_id);
CREATE INDEX IF NOT EXISTS idx_install_events_entity       ON installation_events (entity_id, received_at DESC);

ALTER TABLE installation_events ADD COLUMN IF NOT EXISTS job_id BIGINT;  -- of a workflow_job

CREATE INDEX IF NOT EXISTS idx_install_events_job ON installation_events (job_id, id) WHERE job_id IS NOT NULL;
CREATE INDEX IF NOT EXISTS idx_install_events_log ON installation_events (installation_id, received_at DESC);
-- What an installation's state is made of: a few among the many of its jobs.
CREATE INDEX IF NOT EXISTS idx_install_events_state ON installation_events (entity_id, id)
    WHERE event LIKE 'installation%' OR event LIKE 'auth_attempt%';
CREATE INDEX IF NOT EXISTS idx_install_events_state_of ON installation_events (installation_id, id)
    WHERE event LIKE 'installation%' OR event LIKE 'auth_attempt%';
CREATE INDEX IF NOT EXISTS idx_install_events_name ON installation_events (lower(entity_name), id)
    WHERE event LIKE 'installation%' OR event LIKE 'auth_attempt%';
-- The oldest, for what removes them: without an installation's state, which stays, and would be gone
-- through each time; and what of that is over one day.
CREATE INDEX IF NOT EXISTS idx_install_events_age  ON installation_events (received_at)
    WHERE event NOT LIKE 'installation%' AND event NOT LIKE 'auth_attempt%';
CREATE INDEX IF NOT EXISTS idx_install_events_over ON installation_events (received_at)
    WHERE event = 'installation.deleted' OR event LIKE 'auth_attempt%';

-- reconcile_runs and reconcile_phases: what each run did --------------------------------------

CREATE TABLE IF NOT EXISTS reconcile_runs (
    id                  BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    started_at          TIMESTAMPTZ NOT NULL,
    completed_at        TIMESTAMPTZ,              -- NULL while it runs; of a killed one, when the next run found it
    status              TEXT NOT NULL DEFAULT 'running'
                        CHECK (status IN ('running', 'completed', 'partial', 'failed')),
    jobs_checked        INTEGER NOT NULL DEFAULT 0,
    jobs_updated        INTEGER NOT NULL DEFAULT 0,
    workers_checked     INTEGER NOT NULL DEFAULT 0,
    workers_failed      INTEGER NOT NULL DEFAULT 0,
    workers_provisioned INTEGER NOT NULL DEFAULT 0,
    objects_published   INTEGER NOT NULL DEFAULT 0,
    dry_run             BOOLEAN NOT NULL DEFAULT FALSE,
    error               TEXT,                     -- why the run as a whole could not go on
    created_at          TIMESTAMPTZ NOT NULL DEFAULT now()
);

CREATE INDEX IF NOT EXISTS idx_reconcile_runs_started ON reconcile_runs (started_at DESC);
CREATE INDEX IF NOT EXISTS idx_reconcile_runs_open    ON reconcile_runs (id) WHERE status = 'running';
-- Runs that did or met something: of thousands most are idle.
CREATE INDEX IF NOT EXISTS idx_reconcile_runs_told    ON reconcile_runs (started_at DESC)
    WHERE status <> 'completed' OR jobs_updated > 0 OR workers_failed > 0 OR workers_provisioned > 0;

CREATE TABLE IF NOT EXISTS reconcile_phases (
    id              BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    run_id          BIGINT NOT NULL REFERENCES reconcile_runs (id) ON DELETE CASCADE,
    phase           TEXT NOT NULL,
    success         BOOLEAN NOT NULL,
    message         TEXT NOT NULL DEFAULT '',
    impact          TEXT,                         -- what it changed, in a few words
    error           TEXT,
    elapsed_seconds DOUBLE PRECISION NOT NULL DEFAULT 0,
    created_at      TIMESTAMPTZ NOT NULL DEFAULT now()
);

CREATE INDEX IF NOT EXISTS idx_reconcile_phases_run ON reconcile_phases (run_id);

-- What a one-shot process must remember ------------------------------------------------------

-- One row for each GitHub installation and App that was spoken for: its token, its limits.
CREATE TABLE IF NOT EXISTS github_credentials (
    key              TEXT PRIMARY KEY,            -- 'installation:<id>' or 'app:<id>'
    token            BYTEA,                       -- encrypted under a key made from the App's private key
    token_expires_at TIMESTAMPTZ,
    auth_failure     TEXT,                        -- '404' or 'other_error', while it continues
    auth_failed_at   TIMESTAMPTZ,
    rate_limit       INTEGER,                     -- GitHub's own figures, as last told
    rate_remaining   INTEGER,
    rate_resets_at   TIMESTAMPTZ,
    blocked_until    TIMESTAMPTZ,                 -- nothing is asked before that
    recent           JSONB NOT NULL DEFAULT '[]', -- what was spent, by the second
    updated_at       TIMESTAMPTZ NOT NULL
);

-- When the jobs of a workflow run were last looked at, and what GitHub said (with its ETags).
CREATE TABLE IF NOT EXISTS github_polls (
    installation_id BIGINT NOT NULL,
    target          BIGINT NOT NULL,              -- the run's id, or minus the id of a job without one
    checked_at      TIMESTAMPTZ NOT NULL,
    run_checked_at  TIMESTAMPTZ,                  -- whether the run itself is over, asked less often
    pages           JSONB NOT NULL DEFAULT '[]',
    PRIMARY KEY (installation_id, target)
);

CREATE INDEX IF NOT EXISTS idx_github_polls_checked ON github_polls (checked_at);

-- Where runners were registered: an organization, or a repository of a personal account.
CREATE TABLE IF NOT EXISTS github_scopes (
    entity_id       BIGINT NOT NULL,
    repo_full_name  TEXT NOT NULL DEFAULT '',     -- '' for an organization
    installation_id BIGINT NOT NULL,
    entity_name     TEXT NOT NULL,
    entity_type     TEXT NOT NULL,
    group_id        BIGINT,                       -- of the organization's runner group
    group_setting   BOOLEAN,                      -- whether it was told to allow public repositories
    pages           JSONB NOT NULL DEFAULT '[]',  -- its runners, as last listed (with ETags)
    used_at         TIMESTAMPTZ NOT NULL,         -- when a runner was last registered
    swept_at        TIMESTAMPTZ,                  -- when left-over registrations were last removed
    PRIMARY KEY (entity_id, repo_full_name)
);

CREATE INDEX IF NOT EXISTS idx_github_scopes_used ON github_scopes (used_at);

-- Demand whose workers fail, and when it is tried again. A row with no failures is history.
CREATE TABLE IF NOT EXISTS demand_back_off (
    entity_id      BIGINT NOT NULL,
    repo_full_name TEXT NOT NULL DEFAULT '',      -- '' for an organization
    job_labels     JSONB NOT NULL,
    failures       INTEGER NOT NULL,              -- failed attempts in a row
    reason         TEXT NOT NULL,                 -- of the last one
    failed_at      TIMESTAMPTZ NOT NULL,
    retry_at       TIMESTAMPTZ NOT NULL,
    parked         BOOLEAN NOT NULL DEFAULT FALSE,
    PRIMARY KEY (entity_id, repo_full_name, job_labels)
);

-- How far each App's webhook log was read, and what was asked to be delivered again.
CREATE TABLE IF NOT EXISTS webhook_cursors (
    app_id      BIGINT PRIMARY KEY,
    delivery_id BIGINT,                           -- the newest one seen
    read_at     TIMESTAMPTZ NOT NULL
);

CREATE TABLE IF NOT EXISTS webhook_redeliveries (
    app_id      BIGINT NOT NULL,
    guid        TEXT NOT NULL,                    -- the same for all attempts of a delivery
    delivery_id BIGINT NOT NULL,                  -- of the attempt to repeat
    attempts    INTEGER NOT NULL,                 -- redeliveries asked for so far
    next_at     TIMESTAMPTZ,                      -- when to ask again; NULL: it is not to be
    failed_at   TIMESTAMPTZ NOT NULL,             -- when the last attempt failed
    PRIMARY KEY (app_id, guid)
);

-- What it was about. The job is known once the delivery was looked at, which is before it is repeated.
ALTER TABLE webhook_redeliveries
    ADD COLUMN IF NOT EXISTS event           TEXT,     -- '{X-GitHub-Event}.{payload.action}'
    ADD COLUMN IF NOT EXISTS installation_id BIGINT,
    ADD COLUMN IF NOT EXISTS job_id          BIGINT,
    ADD COLUMN IF NOT EXISTS status_code     INTEGER;  -- that the last attempt was answered with

CREATE INDEX IF NOT EXISTS idx_webhook_redeliveries_job ON webhook_redeliveries (job_id) WHERE job_id IS NOT NULL;
-- What was not delivered of an installation, and of jobs that nobody knows yet: thousands, after a day away.
CREATE INDEX IF NOT EXISTS idx_webhook_redeliveries_state ON webhook_redeliveries (installation_id, failed_at DESC)
    WHERE event LIKE 'installation%';
CREATE INDEX IF NOT EXISTS idx_webhook_redeliveries_unseen ON webhook_redeliveries (failed_at DESC)
    WHERE job_id IS NULL AND event LIKE 'workflow_job%';

-- Triggers ------------------------------------------------------------------------------------

-- A new job wakes the controller. pg_notify, because NOTIFY takes no parameters; delivered at
-- commit, and identical notifications of one transaction arrive once.
CREATE OR REPLACE FUNCTION notify_queue_event() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM pg_notify(TG_TABLE_SCHEMA || '_queue_event', '');
    RETURN NULL;
END $$;

CREATE OR REPLACE TRIGGER jobs_notify_queue_event
    AFTER INSERT ON jobs FOR EACH ROW EXECUTE FUNCTION notify_queue_event();

-- pending → running → completed | failed, whoever writes: the last defence against a statement
-- that forgot to name the state it expects.
CREATE OR REPLACE FUNCTION refuse_backward_status() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF OLD.status IN ('completed', 'failed') OR NEW.status < OLD.status THEN
        RAISE EXCEPTION '%.status cannot go from % to %', TG_TABLE_NAME, OLD.status, NEW.status
            USING ERRCODE = 'check_violation', TABLE = TG_TABLE_NAME, SCHEMA = TG_TABLE_SCHEMA;
    END IF;
    RETURN NEW;
END $$;

CREATE OR REPLACE TRIGGER jobs_forward_only
    BEFORE UPDATE ON jobs FOR EACH ROW
    WHEN (OLD.status IS DISTINCT FROM NEW.status) EXECUTE FUNCTION refuse_backward_status();

CREATE OR REPLACE TRIGGER workers_forward_only
    BEFORE UPDATE ON workers FOR EACH ROW
    WHEN (OLD.status IS DISTINCT FROM NEW.status) EXECUTE FUNCTION refuse_backward_status();

-- Roles ---------------------------------------------------------------------------------------

-- Two group roles without login and without ownership, named after the schema so that staging's
-- cannot touch prod. A login is made for each by hand:
--     CREATE USER … PASSWORD '…' IN ROLE prod_webhook_fn;
DO $$
DECLARE
    role_name TEXT;
BEGIN
    FOREACH role_name IN ARRAY ARRAY['_webhook_fn', '_reconcile'] LOOP
        role_name := current_schema() || role_name;
        IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = role_name) THEN
            EXECUTE format('CREATE ROLE %I NOLOGIN', role_name);
        END IF;
    END LOOP;
END $$;

-- Taken away and given anew, so that applying a schema that gives less also takes the rest away.
REVOKE ALL ON ALL TABLES    IN SCHEMA :"schema" FROM :"webhook_fn_role", :"reconcile_role";
REVOKE ALL ON ALL SEQUENCES IN SCHEMA :"schema" FROM :"webhook_fn_role", :"reconcile_role";
REVOKE ALL ON SCHEMA :"schema" FROM :"webhook_fn_role", :"reconcile_role";
GRANT USAGE ON SCHEMA :"schema" TO :"webhook_fn_role", :"reconcile_role";

-- The function inserts jobs, moves them on, and appends events. It reads what its trace tells of,
-- and of that changes nothing: no token, and nothing of what was found in a pod.
GRANT INSERT, SELECT ON jobs TO :"webhook_fn_role";
GRANT UPDATE (status, k8s_pod, conclusion, started_at, completed_at, steps, updated_at) ON jobs TO :"webhook_fn_role";
GRANT INSERT, SELECT ON installation_events TO :"webhook_fn_role";
GRANT USAGE ON SEQUENCE installation_events_id_seq TO :"webhook_fn_role";
GRANT SELECT ON boards, demand_waits, demand_back_off, reconcile_runs, reconcile_phases, webhook_cursors,
    webhook_redeliveries, workers_told TO :"webhook_fn_role";
GRANT SELECT (key, auth_failure, auth_failed_at, rate_limit, rate_remaining, rate_resets_at, blocked_until)
    ON github_credentials TO :"webhook_fn_role";

-- The reconciler moves jobs on, owns the workers' story and its own record, appends events. It
-- inserts no jobs; it deletes what it keeps for itself, and what is older than it is to be kept.
GRANT SELECT, UPDATE, DELETE ON jobs TO :"reconcile_role";
GRANT SELECT, INSERT, UPDATE, DELETE ON workers, reconcile_runs TO :"reconcile_role";
GRANT SELECT, INSERT, UPDATE ON reconcile_phases TO :"reconcile_role";
GRANT SELECT, INSERT, DELETE ON installation_events TO :"reconcile_role";
GRANT USAGE ON SEQUENCE installation_events_id_seq TO :"reconcile_role";
GRANT SELECT, INSERT, UPDATE, DELETE ON github_credentials, github_polls, github_scopes, demand_back_off,
    webhook_cursors, webhook_redeliveries, boards, demand_waits TO :"reconcile_role";
GRANT SELECT ON workers_told TO :"reconcile_role";

COMMIT;
