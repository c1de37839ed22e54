-- name: load_credentials
SELECT key, token, token_expires_at, auth_failure, auth_failed_at, rate_limit, rate_remaining,
       rate_resets_at, blocked_until, recent
  FROM github_credentials;

-- name: save_credentials
-- Those that changed since they were loaded, and the failures that began: both or neither, so that
-- a failure that is remembered has its event, one when it begins and not one for each run.
WITH failures AS (
    INSERT INTO installation_events (
        source, event, outcome, installation_id, app_id, entity_type, entity_id, entity_name,
        payload, received_at
    )
    SELECT 'scheduler', event, outcome, installation_id, app_id,
           entity_type::entity_type_enum, entity_id, entity_name, payload, %(now)s
      FROM jsonb_to_recordset(%(failures)s) AS f(
           event text, outcome text, installation_id bigint, app_id bigint, entity_type text, entity_id bigint,
           entity_name text, payload jsonb)
)
INSERT INTO github_credentials AS c (
    key, token, token_expires_at, auth_failure, auth_failed_at, rate_limit, rate_remaining,
    rate_resets_at, blocked_until, recent, updated_at
)
SELECT key, decode(token, 'base64'), token_expires_at, auth_failure, auth_failed_at, rate_limit,
       rate_remaining, rate_resets_at, blocked_until, recent, %(now)s
  FROM jsonb_to_recordset(%(credentials)s) AS r(
       key text, token text, token_expires_at timestamptz, auth_failure text,
       auth_failed_at timestamptz, rate_limit integer, rate_remaining integer,
       rate_resets_at timestamptz, blocked_until timestamptz, recent jsonb)
    ON CONFLICT (key) DO UPDATE
   SET token = EXCLUDED.token, token_expires_at = EXCLUDED.token_expires_at,
       auth_failure = EXCLUDED.auth_failure, auth_failed_at = EXCLUDED.auth_failed_at,
       rate_limit = EXCLUDED.rate_limit, rate_remaining = EXCLUDED.rate_remaining,
       rate_resets_at = EXCLUDED.rate_resets_at, blocked_until = EXCLUDED.blocked_until,
       recent = EXCLUDED.recent, updated_at = EXCLUDED.updated_at;

-- name: load_scopes
-- Those whose pods may still be there.
SELECT entity_id, repo_full_name, installation_id, entity_name, entity_type, group_id,
       group_setting, pages, used_at, swept_at
  FROM github_scopes
 WHERE used_at > %(since)s;

-- name: use_scopes
-- Before anything is registered there, so that whatever is left behind will be found.
INSERT INTO github_scopes AS s (
    entity_id, repo_full_name, installation_id, entity_name, entity_type, used_at
)
SELECT entity_id, repo_full_name, installation_id, entity_name, entity_type, %(now)s
  FROM jsonb_to_recordset(%(scopes)s) AS u(
       entity_id bigint, repo_full_name text, installation_id bigint, entity_name text,
       entity_type text)
    ON CONFLICT (entity_id, repo_full_name) DO UPDATE
   SET installation_id = EXCLUDED.installation_id, entity_name = EXCLUDED.entity_name,
       entity_type = EXCLUDED.entity_type, used_at = EXCLUDED.used_at;

-- name: save_groups
UPDATE github_scopes AS s
   SET group_id = g.group_id, group_setting = g.group_setting
  FROM jsonb_to_recordset(%(groups)s) AS g(
       entity_id bigint, repo_full_name text, group_id bigint, group_setting boolean)
 WHERE s.entity_id = g.entity_id AND s.repo_full_name = g.repo_full_name;

-- name: save_listings
-- What GitHub said of each scope's runners; swept_at stays unless the scope was swept.
UPDATE github_scopes AS s
   SET pages = l.pages, swept_at = COALESCE(l.swept_at, s.swept_at)
  FROM jsonb_to_recordset(%(listings)s) AS l(
       entity_id bigint, repo_full_name text, pages jsonb, swept_at timestamptz)
 WHERE s.entity_id = l.entity_id AND s.repo_full_name = l.repo_full_name;

-- name: make_sweep_due
-- A worker failed there: its registration may be left over.
UPDATE github_scopes AS s SET swept_at = NULL
  FROM jsonb_to_recordset(%(scopes)s) AS d(entity_id bigint, repo_full_name text)
 WHERE s.entity_id = d.entity_id AND s.repo_full_name = d.repo_full_name;

-- name: load_cursors
-- How far each log was read, and whether something of it is to be asked for again now.
SELECT app_id, delivery_id, read_at,
       EXISTS (SELECT FROM webhook_redeliveries AS r
                WHERE r.app_id = c.app_id AND r.next_at <= %(now)s)
  FROM webhook_cursors AS c;

-- name: save_cursor
INSERT INTO webhook_cursors (app_id, delivery_id, read_at)
VALUES (%(app_id)s, %(delivery_id)s, %(now)s)
    ON CONFLICT (app_id) DO UPDATE
   SET delivery_id = COALESCE(EXCLUDED.delivery_id, webhook_cursors.delivery_id),
       read_at = EXCLUDED.read_at;

-- name: note_failed_deliveries
-- A delivery that failed again is due again, later each time, until the attempts are used up. One
-- whose job is not known is due in any case, if only to be looked into.
INSERT INTO webhook_redeliveries AS r (
    app_id, guid, delivery_id, attempts, next_at, failed_at, event, installation_id, status_code
)
SELECT %(app_id)s, guid, delivery_id, 0,
       CASE WHEN %(attempts)s > 0 OR starts_with(event, %(job_events)s) THEN failed_at END,
       failed_at, event, installation_id, status_code
  FROM jsonb_to_recordset(%(deliveries)s) AS d(
       guid text, delivery_id bigint, failed_at timestamptz, event text, installation_id bigint,
       status_code integer)
    ON CONFLICT (app_id, guid) DO UPDATE
   SET delivery_id = EXCLUDED.delivery_id, failed_at = EXCLUDED.failed_at, event = EXCLUDED.event,
       installation_id = EXCLUDED.installation_id, status_code = EXCLUDED.status_code,
       next_at = CASE WHEN r.attempts < %(attempts)s
                      THEN EXCLUDED.failed_at + %(interval)s * interval '1 second' * 2 ^ (r.attempts - 1)
                      WHEN r.job_id IS NULL AND starts_with(EXCLUDED.event, %(job_events)s)
                      THEN EXCLUDED.failed_at
                 END
 WHERE EXCLUDED.delivery_id > r.delivery_id;

-- name: due_redeliveries
SELECT app_id, guid, delivery_id, attempts, event, job_id
  FROM webhook_redeliveries
 WHERE next_at <= %(now)s
 ORDER BY delivery_id
 LIMIT %(most)s;

-- name: looked_into
-- Before they are asked for: what is known of a delivery stays known, whatever becomes of that.
UPDATE webhook_redeliveries AS r
   SET job_id = COALESCE(d.job_id, r.job_id),
       next_at = CASE WHEN r.attempts < %(attempts)s THEN r.next_at END
  FROM jsonb_to_recordset(%(deliveries)s) AS d(app_id bigint, guid text, job_id bigint)
 WHERE r.app_id = d.app_id AND r.guid = d.guid;

-- name: redelivered
-- Asked for: due no more, unless it fails again.
UPDATE webhook_redeliveries SET attempts = attempts + 1, next_at = NULL
 WHERE app_id = %(app_id)s AND guid = ANY(%(guids)s);
