import { spawn } from 'node:child_process'
import type { LinkToken, LinkTokenRequest } from '@benefit-enrolment/client'
import { type Command, flag, valued } from '@benefit-enrolment/command'
import { inSandbox, partnerOptions } from './partner.ts'

/** `link open`: opens the registration page of one user in the browser of the person who runs the command. */
export const openLink: Command = {
  name: 'link open',
  arguments: ['USERID'],
  summary: 'Mint a link for one user of a sandbox and open the registration page in a browser.',
  options: {
    ...partnerOptions,
    purpose: valued('WORD', 'registration (default), benefits, swap or offerchange'),
    locale: valued('en|es', 'the language of the page'),
    print: flag('print the address and open nothing'),
  },
  run: input =>
    inSandbox(input, async ({ client }) => {
      const given = { purpose: input.text('purpose'), locale: input.text('locale') }
      const request = { userid: input.positionals[0] ?? '', delivery: 'hosted', ...given }
      // The service says which words it takes; a hosted link has an address.
      const answer = (await client.createLinkToken(request as LinkTokenRequest)) as LinkToken & {
        linkurl: string
      }
      const { linkurl, sessionid, expiresat } = answer
      if (!input.flag('print')) openBrowser(linkurl)
      input.print({ linkurl, sessionid, expiresat }, [linkurl, `Works once, until ${expiresat}.`])
    }),
}

/** The address is also printed, for a person to open if no browser can be started. */
function openBrowser(address: string): void {
  const program = { darwin: 'open', win32: 'explorer' }[process.platform as string] ?? 'xdg-open'
  spawn(program, [address], { detached: true, stdio: 'ignore' })
    .on('error', () => {})
    .unref()
}
