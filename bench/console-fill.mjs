// Fills a database by SQL with people nobody looks at: their sealed data is noise of the usual size, so that tables and
// indexes are as large as with real ones.

const CHUNK = 50_000

/** A UUID v7 as the service makes them: it grows with time, and `salt` distinguishes those of one instant. */
function uuid(ms, salt) {
  return `(lpad(to_hex(${ms}), 12, '0') || '7' || substr(md5(${salt}), 1, 3) || '8' || substr(md5(${salt}), 4, 15))::uuid`
}
// Younger than what the service's clean-up removes: its work would be read as the operators' otherwise.
const start = Date.now() - 10 * 86_400_000
function made(n) {
  return `${start} + ${n} * 10::bigint`
}
function at(n) {
  return `to_timestamp((${made(n)}) / 1000.0)`
}
const endpoint = `'01980000-0000-7000-8000-00000000e000'::uuid`
const noise = `decode(repeat(md5(n::text), 18), 'hex')`

/** The partner of the n-th user, in SQL; the one that agents look at has the most. */
async function partnerOfUser(client, partnerId) {
  const { rows } = await client.query('select partner_id from partners order by partner_id')
  const more = Array.from({ length: Math.ceil(rows.length / 2) }, () => partnerId)
  const ids = [...rows.map(row => row.partner_id), ...more].map(id => `'${id}'::uuid`)
  return `(array[${ids.join(', ')}])[1 + n % ${ids.length}]`
}

/** Adds users with all their dependent rows but events, about half of them for `partnerId`. */
export async function addUsers(client, { users, partnerId, say }) {
  await client.query('set synchronous_commit = off')
  const partner = await partnerOfUser(client, partnerId)
  const user = n => uuid(made(n), `${n}::text`)
  const endOfMonth = `date_trunc('month', now() + interval '1 month')`
  const statements = (from, until) => {
    const numbers = `from generate_series(${from}, ${until - 1}) n`
    return [
      `insert into users (partner_id, service_id, userid, status, created_at, updated_at, prefill_count, offer, offer_since,
        offer_version, offer_in_force, cancel_at, cancel_requested_at, cancel_reason, due_at)
      select ${partner}, ${user('n')}, 'bulk-' || n, 'active', ${at('n')}, ${at('n')}, 1, 'starter', ${at('n')}, 1, true,
        case when n % 50 = 0 then ${endOfMonth} end, case when n % 50 = 0 then now() end,
        case when n % 50 = 0 then 'voluntary' end, case when n % 50 = 0 then ${endOfMonth} end ${numbers}`,
      `insert into data_keys (partner_id, service_id, wrapped_key)
      select ${partner}, ${user('n')}, decode(repeat(md5(n::text), 5), 'hex') ${numbers}`,
      `insert into sealed_records (partner_id, service_id, kind, name, version, sealed, at, email_hash)
      select ${partner}, ${user('n')}, 'profile', '', '', ${noise}, ${at('n')}, sha256(n::text::bytea) ${numbers}`,
      `insert into enrolments (partner_id, service_id, enrolment_id, benefit, offer, is_fixed, state, catalogue_version,
        picked_at, starts_at, ends_at)
      select ${partner}, ${user('n')}, ${uuid(made('n'), `'e' || n`)}, 'accident', 'starter', true,
        case when n % 50 = 0 then 'endscheduled' else 'enrolled' end, 1, ${at('n')}, ${at('n')},
        case when n % 50 = 0 then ${endOfMonth} end ${numbers}`,
      `insert into history (partner_id, service_id, version, at, recorded_at, who, lines, actor, request_id)
      select ${partner}, ${user('n')}, 1, ${at('n')}, ${at('n')}, 'partner',
        '[{"what":"user","from":"none","to":"active","why":"create"},{"what":"offer","to":"starter","why":"create"}]', 'bulk', ${uuid(made('n'), `'r' || n`)} ${numbers}`,
      `insert into audit_log (partner_id, entry_id, at, actor_kind, actor, action, service_id, result)
      select ${partner}, ${uuid(made('n'), `'a' || n`)}, ${at('n')}, 'credential', 'bulk', 'getUser', ${user('n')}, 'shown' ${numbers}`,
      `insert into page_sessions (partner_id, session_id, userid, service_id, purpose, origins, locale, delivery,
        token_pepper_id, token_hash, created_at, token_expires_at)
      select ${partner}, ${uuid(made('n'), `'s' || n`)}, 'bulk-' || n, ${user('n')}, 'benefits', '{}', 'en', 'hosted', 'bulk',
        sha256(n::text::bytea), ${at('n')}, ${at('n')} ${numbers} where n % 5 = 0`,
    ]
  }
  for (let from = 0; from < users; from += CHUNK) {
    const until = Math.min(users, from + CHUNK)
    for (const statement of statements(from, until)) await client.query(statement)
    if (until % 250_000 === 0) say('users so far', String(until))
  }
}

/** Adds events of the users above until there are as many that the clean-up does not remove soon. */
export async function addEvents(client, { events, partnerId, say }) {
  await client.query('set synchronous_commit = off')
  const { rows } = await client.query(
    `select (select count(*) from events where created_at > now() - interval '25 days') as events,
      (select count(*) from users where userid like 'bulk-%') as users`,
  )
  const missing = events - Number(rows[0].events)
  const partner = await partnerOfUser(client, partnerId)
  // The n-th new event is that of the n-th user, and begins again with the first of them after the last.
  const apart = (9 * 86_400_000) / Math.max(1, missing)
  const ms = `(${start} + floor(k * ${apart}))::bigint`
  for (let from = 0; from < missing; from += 2 * CHUNK) {
    const until = Math.min(missing, from + 2 * CHUNK)
    const numbers = `from (select k, k % ${rows[0].users} as n from generate_series(${from}, ${until - 1}) k) numbers`
    await client.query(
      `with made as (
        insert into events (partner_id, event_id, position, service_id, userid, eventname, body, created_at)
        select partner_id, event_id, (select last from event_log_heads h where h.partner_id = made.partner_id)
            + row_number() over (partition by partner_id order by event_id),
          service_id, 'bulk', 'user_update_successful', convert_to(repeat('{"userid":"bulk"} ', 12), 'UTF8'), created_at
        from (select ${partner} as partner_id, ${uuid(ms, `'${start} ' || k`)} as event_id, u.service_id,
            to_timestamp(${ms} / 1000.0) as created_at
          ${numbers} join users u on u.partner_id = ${partner} and u.userid = 'bulk-' || n) made
        returning partner_id)
      update event_log_heads h set last = h.last + grown.count
      from (select partner_id, count(*) from made group by 1) grown where grown.partner_id = h.partner_id`,
    )
    if (until % 1_000_000 === 0) say('events so far', String(until))
  }
}

/**
 * Adds a paused endpoint with 50,000 waiting deliveries and 20,000 that were given up, and 5,000 requests to a second
 * person, unless they are there.
 */
export async function addLists(client, partnerId) {
  const own = `'${partnerId}'::uuid`
  await client.query(`insert into webhook_endpoints (partner_id, endpoint_id, url, username, sealed_secrets, events,
      disabled_at, disabled_reason, created_at, updated_at)
    values (${own}, ${endpoint}, 'https://bench.example.com/hook', 'bench', '\\x00', '{}', now(), 'operator', now(), now())
    on conflict do nothing`)
  await client.query(
    `insert into endpoint_health (partner_id, endpoint_id, breaker) values (${own}, ${endpoint}, '{}') on conflict do nothing`,
  )
  await client.query(`insert into deliveries (partner_id, event_id, endpoint_id, service_id, position, due_at, queued_at)
    select partner_id, event_id, ${endpoint}, service_id, position, created_at, created_at from events
    where partner_id = ${own} and not exists (select from deliveries where endpoint_id = ${endpoint})
    order by position desc limit 50000`)
  await client.query(`insert into dead_deliveries (partner_id, event_id, endpoint_id, attempts, reason, died_at)
    select partner_id, event_id, ${endpoint}, 12, 'attempts', now() from events
    where partner_id = ${own} and not exists (select from dead_deliveries) order by position limit 20000`)
  await client.query(`insert into operator_requests (partner_id, request_id, action, service_id, sealed, asked_by, asked_at,
      expires_at, decided_by, decided_at, outcome)
    select ${own}, ${uuid(made('n * 100'), `'q' || n`)}, (array['void', 'move', 'erase'])[1 + n % 3],
      gen_random_uuid(), '\\x00', gen_random_uuid(), ${at('n * 100')}, now() + interval '7 days',
      case when n % 50 > 0 then gen_random_uuid() end, case when n % 50 > 0 then ${at('n * 100')} end,
      case when n % 50 > 0 then (array['done', 'refused'])[1 + n % 2] end
    from generate_series(1, 5000) n where not exists (select from operator_requests)`)
  await client.query('analyze deliveries, dead_deliveries, operator_requests')
}
