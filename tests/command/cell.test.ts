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
  'new partners stay out of a cell that is one partner’s own, until a partner is assigned to it without --own',
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
    const cells = async () => (await runJson<{ cells: object[] }>(['cell', 'list'], place)).cells

    const largest = await newPartner('Largest')
    const assigned = ['cell', 'assign', largest.id, 'cell_1']
    expect(await runJson([...assigned, '--own'], place)).toMatchObject({ cell: 'cell_1', own: true, rows: 0 })
    const others = [await newPartner('Second'), await newPartner('Third')]
    expect([largest, ...others].map(({ cell }) => cell)).toEqual(['cell_1', 'cell_2', 'cell_2'])
    expect(await cells()).toMatchObject([
      { cell: 'cell_1', partners: 1, own: true },
      { cell: 'cell_2', partners: 2, own: false },
    ])
    expect(await runRefused(['cell', 'assign', others[0]?.id ?? '', 'cell_2', '--own'], place)).toContain(
      `cell_2 has other partners: ${others[1]?.id}. Move them with`,
    )

    // Migrations to come keep what the cell is.
    await runJson(['migrate', '--cells', '2'], place)
    expect(await runRefused([...assigned, '--own'], place)).toContain('in this cell already')
    expect(await runJson(assigned, place)).toMatchObject({ cell: 'cell_1', own: false, rows: 0 })
    expect((await newPartner('Fourth')).cell).toBe('cell_1')
  },
)
