import { spawn } from 'node:child_process'
import { type Command, flag, valued } from '../command.ts'
import { openSandboxApi, partnerOptions } from './partner-api.ts'

/** `enrolment link open`: opens the registration page of one user in the browser of the person who runs the command. */
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
  run: async input => {
    const api = openSandboxApi(input)
    const answer = (await api.call('POST', '/user/linktoken', {
      userid: input.positionals[0] ?? '',
      delivery: 'hosted',
      ...(input.text('purpose') === undefined ? {} : { purpose: input.text('purpose') }),
      ...(input.text('locale') === undefined ? {} : { locale: input.text('locale') }),
    })) as { linkurl: string; sessionid: string; expiresat: string }
    const { linkurl, sessionid, expiresat } = answer
    if (!input.flag('print')) openBrowser(linkurl)
    input.print({ linkurl, sessionid, expiresat }, [linkurl, `Works once, until ${expiresat}.`])
  },
}

/** The address is also printed, for a person to open if no browser can be started. */
function openBrowser(address: string): void {
  const program = { darwin: 'open', win32: 'explorer' }[process.platform as string] ?? 'xdg-open'
  spawn(program, [address], { detached: true, stdio: 'ignore' })
    .on('error', () => {})
    .unref()
}
