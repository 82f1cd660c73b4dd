// The rows of one user, read from the tables themselves, so that the benchmark follows every change of the schema:
// as a script for pgbench that writes such rows, and as statements that copy a user many times.

/** The tables that a prefill writes or a list of benefits reads. */
const hot = [
  'users',
  'data_keys',
  'sealed_records',
  'enrolments',
  'consents',
  'history',
  'events',
  'idempotency_keys',
]
const read = ['users', 'data_keys', 'sealed_records', 'enrolments', 'consents']
const positions = 'bench_positions'

async function rowsOf(admin, { partnerId, serviceId }) {
  const { rows: columns } = await admin.query(
    `select c.relname as table, a.attname as name, format_type(a.atttypid, a.atttypmod) as type
     from pg_attribute a join pg_class c on c.oid = a.attrelid
     where c.relnamespace = 'public'::regnamespace and c.relkind = 'r' and c.relname = any($1)
       and a.attnum > 0 and not a.attisdropped and a.attidentity = '' and a.attgenerated = ''
     order by a.attnum`,
    [hot],
  )
  const found = []
  for (const table of hot) {
    const own = columns.filter(column => column.table === table)
    const values = own.map(({ name }) => `${name}::text as ${name}`).join(', ')
    const { rows } = await admin.query(
      `select ${values} from ${table} where partner_id = $1 and service_id = $2`,
      [partnerId, serviceId],
    )
    for (const row of rows) found.push({ table, columns: own, row })
  }
  return found
}

/** The SQL expression for a column of a copy, whose partner, id, name and instant come from `fresh`. */
function copied(admin, { name, type }, text) {
  if (text === null || text === undefined) return 'null'
  if (name === 'partner_id') return 'fresh.partner'
  if (name === 'service_id') return 'fresh.id'
  if (name === 'userid') return 'fresh.name'
  if (name === 'key_hash') return 'sha256(fresh.name::bytea)'
  if (name === 'position') return `nextval('${positions}')`
  if (type === 'uuid') return 'uuidv7()'
  if (type.startsWith('timestamp') && (name === 'created_at' || name === 'issued_at')) return 'fresh.at'
  return `${admin.escapeLiteral(text)}::${type}`
}

function inserts(admin, rows) {
  return rows.map(({ table, columns, row }) => {
    const names = columns.map(({ name }) => name).join(', ')
    const values = columns.map(column => copied(admin, column, row[column.name])).join(', ')
    return `insert into ${table} (${names}) select ${values} from fresh`
  })
}

/** One statement, and so one round trip, that writes for another user what the service wrote for this one. */
export async function insertScript(admin, user) {
  await admin.query(`create sequence if not exists ${positions} start 1000000000`)
  await admin.query(`grant usage on sequence ${positions} to public`)
  const steps = inserts(admin, await rowsOf(admin, user))
  const parts = steps.slice(0, -1).map((step, at) => `step${at} as (${step})`)
  const fresh =
    `fresh as (select '${user.partnerId}'::uuid as partner, made.id, made.id::text as name, now() as at
    from (select uuidv7() as id) made)`.replace(/\s+/g, ' ')
  return `with ${[fresh, ...parts].join(', ')} ${steps.at(-1)};\n`
}

/**
 * Copies a user as `PREFIX-FROM` and the following numbers, by default within its partner; only the tables that
 * reads use.
 */
export async function copyUser(admin, user, { partnerId = user.partnerId, ...copies }) {
  const rows = (await rowsOf(admin, user)).filter(({ table }) => read.includes(table))
  await insertCopies(admin, rows, { partnerId, ...copies })
}

async function insertCopies(admin, rows, { prefix, from = 0, count, partnerId }) {
  await admin.query('begin')
  await admin.query(
    `create temporary table fresh on commit drop as
     select $4::uuid as partner, uuidv7() as id, $1 || '-' || n as name, now() as at
     from generate_series($2::int, $3::int) as n`,
    [prefix, from, from + count - 1, partnerId],
  )
  for (const step of inserts(admin, rows)) await admin.query(step)
  await admin.query('commit')
}

/** Finds a user by its name. */
export async function findUser(admin, partnerId, userid) {
  const { rows } = await admin.query('select service_id from users where partner_id = $1 and userid = $2', [
    partnerId,
    userid,
  ])
  if (!rows[0]) throw new Error(`no user ${userid}`)
  return { partnerId, serviceId: rows[0].service_id }
}

/** Creates one user named `shared-0` for each partner. */
export async function copyToPartners(admin, sample, partners) {
  await copyUser(admin, sample, { prefix: 'shared', count: 1 })
  const shared = await findUser(admin, sample.partnerId, 'shared-0')
  for (const { partnerid } of partners) {
    await copyUser(admin, shared, { prefix: 'shared', count: 1, partnerId: partnerid })
  }
}

/** How many users are copied in one transaction. */
const STEP = 50_000

/**
 * Keeps all rows of some users as templates; returns functions that work with them. Each takes lists of users to make, as
 * `{ template, prefix, count }`, with all their rows, as if the service had written them.
 */
export async function templatesOf(admin, partnerId, userids) {
  const templates = {}
  for (const userid of userids)
    templates[userid] = await rowsOf(admin, await findUser(admin, partnerId, userid))
  await admin.query(`create sequence if not exists ${positions} start 1000000000`)
  const add = async lists => {
    for (const { template, prefix, count } of lists)
      for (let from = 0; from < count; from += STEP) {
        const copies = { prefix, from, count: Math.min(STEP, count - from), partnerId }
        await insertCopies(admin, templates[template], copies)
      }
    await admin.query('vacuum analyze')
  }
  return {
    add,
    /** Empties the tables, whose files become new ones, and makes these users only. */
    async startAnew(lists) {
      await admin.query(`truncate ${hot.join(', ')}`)
      await add(lists)
    },
  }
}
