-- name: heard_of_installation
-- What GitHub said of an installation of late, the latest first, if one of the things that send people
-- here is among it and not older than that. The index also has what runs said, however often: of both
-- together no more than so many are looked at.
-- BETWEEN, and ORDER BY what the index has: with = the order would be that of the primary key, too,
-- and for an installation that is much of the log the planner would walk all of it backward.
-- Anybody may ask, and payloads take long to unpack: so first the newest row alone is looked at, then
-- rows without their payloads. Not by the index of the log, which has all the hour's jobs in it.
  WITH latest AS NOT MATERIALIZED (
       SELECT *
         FROM installation_events
        WHERE installation_id BETWEEN %(installation_id)s AND %(installation_id)s
          AND (event LIKE 'installation%%' OR event LIKE 'auth_attempt%%')
        ORDER BY installation_id DESC, id DESC
        LIMIT %(most)s)
SELECT id, received_at, event, outcome, app_id, entity_id, entity_type::text,
       payload -> '_delivery', payload #> '{installation,updated_at}',
       payload #> '{installation,suspended_at}'
  FROM latest
 WHERE (SELECT received_at FROM latest ORDER BY installation_id DESC, id DESC LIMIT 1) > %(since)s
   AND EXISTS (SELECT FROM latest
                WHERE source = 'webhook' AND event = ANY(%(done)s) AND received_at > %(since)s)
   AND source = 'webhook'
 ORDER BY id DESC;
