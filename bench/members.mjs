const CHUNK = 50_000

/**
 * Members since two months ago, with an offer, a fixed benefit and, every second one, another that costs something: by SQL, as no
 * request makes somebody a member of before.
 */
export async function fillMembers(sql, partnerId, users) {
  const since = `date_trunc('month', now() - interval '2 months') + interval '10 days'`
  const id = salt =>
    `(lpad(to_hex(1750000000000 + n), 12, '0') || '7000' || '8' || substr(md5(${salt}), 1, 15))::uuid`
  const user = id(`'u' || n`)
  const enrolment = benefit => `
    insert into enrolments (partner_id, service_id, enrolment_id, benefit, offer, is_fixed, state, catalogue_version, picked_at,
      starts_at)
    select '${partnerId}', ${user}, ${id(`'${benefit}' || n`)}, '${benefit}', 'plus', false, 'enrolled', 1, ${since}, ${since}`
  for (let from = 0; from < users; from += CHUNK) {
    const numbers = `from generate_series(${from}, ${Math.min(users, from + CHUNK) - 1}) n`
    await sql.query(`insert into users (partner_id, service_id, userid, status, created_at, updated_at, offer, offer_since,
      offer_version, offer_in_force) select '${partnerId}', ${user}, 'u' || n, 'active', ${since}, ${since}, 'plus', ${since}, 1,
      true ${numbers}`)
    await sql.query(`insert into held_periods (partner_id, service_id, name, starts_at, catalogue_version, is_offer)
      select '${partnerId}', ${user}, 'plus', ${since}, 1, true ${numbers}`)
    await sql.query(`${enrolment('accident')} ${numbers}`)
    await sql.query(`${enrolment('critical')} ${numbers} where n % 2 = 0`)
  }
  await sql.query('vacuum analyze')
}
