import { type Command, valued } from '@benefit-enrolment/command'
import { noPartner } from '../../audit/entries.ts'
import { lookUp } from '../../console/find/look-up.ts'
import { findUserRow } from '../../console/user-data/store.ts'
import { OperatorError } from '../../operator-error.ts'
import { partnerOf } from '../../partners/keys.ts'
import { partnersAsked } from '../partner-option.ts'
import { inWorkspace } from '../workspace.ts'
import { lineOfRefused, viewRefused } from './members.ts'

/** `enrolment user find`: what the field at the top of the console finds. */
export const findUser: Command = {
  name: 'user find',
  arguments: ['TEXT'],
  summary:
    'Find a user by userid, serviceid, the id of an event or a request, a reference, or an email or phone.',
  options: { partner: valued('ID', 'only at this partner (default all)') },
  run: input =>
    inWorkspace(input, async workspace => {
      const { database, keyring, record } = workspace
      // The text may have the form of a partner's id, and the audit entry would take it for one.
      record({ partnerId: noPartner })
      const [what = ''] = input.positionals
      const { partners: rows, unreachable } = await partnersAsked(database, input)
      const rowOf = new Map(rows.map(row => [row.partner_id, row]))
      const { found, refused, refusedBy, isSure } = await lookUp({
        database,
        partner: async id => {
          const row = rowOf.get(id)
          return row && partnerOf(row, keyring)
        },
        partnerIds: [...rowOf.keys()],
        what,
        seesPersons: true,
      })
      if (found.length === 0 && refusedBy === undefined)
        throw new OperatorError(
          'Nobody was found: no user, event, request or reference is exactly this text. Compare it with its source; prefills and refused creates can be found for 90 days, events for 30.',
        )
      const users = await Promise.all(
        found.map(async ({ partnerId, serviceId, by }) => {
          const row = await findUserRow(database, [partnerId], serviceId)
          const userid = row && row.erased_at === null ? row.userid : null
          return { partnerid: partnerId, serviceid: serviceId, userid, foundby: by }
        }),
      )
      const [only, ...others] = users
      if (only && others.length === 0) record({ partnerId: only.partnerid, serviceId: only.serviceid })
      const refusedCreates = refused.map(one => ({ partnerid: one.partnerId, ...viewRefused(one) }))
      await database.query(workspace.alongside())
      input.print(
        {
          users,
          refusedcreates: refusedCreates,
          issure: isSure,
          ...(unreachable.length > 0 && { unreachable }),
        },
        [
          ...users.map(
            one =>
              `${one.userid ?? '(erased)'}   serviceid ${one.serviceid}   partner ${one.partnerid}   by ${one.foundby}`,
          ),
          ...(refusedBy === undefined ? [] : [NO_USER[isSure ? 'sure' : 'unsure'], '', 'Refused creates']),
          ...refusedCreates.map(one => `${lineOfRefused(one)}   partner ${one.partnerid}`),
        ],
      )
    }),
}

const NO_USER = {
  sure: 'There is no such user: each attempt to create one was refused.',
  unsure:
    'The attempts to create this user were refused. Too many users have come since to say whether that person is among them: ask for the userid, and run `user show`.',
}
