// @databases citus

import { randomBytes } from 'node:crypto'
import { expect, inject, onTestFinished, test, vi } from 'vitest'
import { openDatabase } from '../../service/src/db/database.ts'
import { sql } from '../../service/src/db/sql.ts'
import { patientDatabase } from '../patient-database.ts'
import { type Created, newWorkplace } from './place.ts'
import { runJson, runRefused } from './process.ts'

// Only catches a hang: a dozen commands, on a machine that may be busy.
vi.setConfig({ testTimeout: 120_000 })

test.runIf(inject('testServer').kind === 'cluster')(
  'a new partner comes into the emptiest cell, and moves with its rows to a cell on another node',
  async () => {
    const env = { ENROLMENT_ROOT_KEY: randomBytes(32).toString('base64') }
    const { place, address, remove } = await newWorkplace(env, { empty: true })
    onTestFinished(remove)
    const database = openDatabase(address, { max: 1, ...patientDatabase })
    onTestFinished(() => database.close())
    await runJson(['migrate', '--cells', '2'], place)
    const newPartner = async (name: string) => {
      const { partnerid } = await runJson<Created>(['partner', 'create', '--name', name], place)
      const [row] = await database.query<{ cell: string }>(
        sql`select cell from partners where partner_id = ${partnerid}`,
      )
      return { id: partnerid, cell: row?.cell }
    }
    const partners = [await newPartner('First'), await newPartner('Second'), await newPartner('Third')]
    expect(partners.map(({ cell }) => cell)).toEqual(['cell_1', 'cell_2', 'cell_1'])
    const id = partners[0]?.id ?? ''
    const { cells } = await runJson<{ cells: { node: string }[] }>(['cell', 'list'], place)
    expect(new Set(cells.map(({ node }) => node)).size).toBe(2)

    expect(await runRefused(['cell', 'assign', id, 'cell_1'], place)).toContain('in this cell already')
    expect(await runRefused(['cell', 'assign', id, 'cell_3'], place)).toContain('no such cell')
    const moved = await runJson<{ rows: number }>(['cell', 'assign', id, 'cell_2'], place)
    expect(moved).toMatchObject({ partnerid: id, cell: 'cell_2', repaired: false })
    expect(moved.rows).toBeGreaterThan(0)
    expect(await runJson(['cell', 'list'], place)).toMatchObject({
      cells: [
        { cell: 'cell_1', partners: 1 },
        { cell: 'cell_2', partners: 2 },
      ],
      without: [],
    })
  },
)
