import { readFileSync } from 'node:fs'
import { relative } from 'node:path'
import { expect } from 'vitest'
import type { PartnerClient } from '../client/src/index.ts'

/** Takes a step, and tells what there is to read after it, line by line. */
export type Walker = (step: string) => Promise<readonly string[]>

/**
 * Takes the steps of the walks in a stored file. A line `== NAME` begins a walk, a line `> STEP; STEP` is taken step by step, and what stands below
 * it is its transcript. Returns the file as it should be now, and all lines that were said.
 */
export async function takeWalks(
  file: URL,
  begin: (walk: string) => Promise<Walker>,
): Promise<{ readonly text: string; readonly said: readonly string[] }> {
  const text: string[] = []
  const said: string[] = []
  let walker: Walker | undefined
  for (const line of readFileSync(file, 'utf8').split('\n')) {
    if (line.startsWith('== ')) {
      if (text.length > 0) text.push('')
      walker = await begin(line.slice(3))
    }
    if (/^(==|>) /.test(line)) text.push(line)
    for (const step of line.startsWith('> ') ? line.slice(2).split('; ') : []) {
      const lines = (await walker?.(step)) ?? []
      text.push(...lines.map(one => `  ${one}`))
      said.push(...lines)
    }
  }
  return { text: `${text.join('\n')}\n`, said }
}

/** Expects that what is said in the walks of a file is what stands there. */
export async function expectWalked(file: URL, begin: (walk: string) => Promise<Walker>): Promise<void> {
  const { text } = await takeWalks(file, begin)
  await expectStored(text, file)
}

/** Expects that a file stores this text. The failure names the command that stores it anew, to be read like any other change. */
export async function expectStored(text: string, file: URL): Promise<void> {
  const testFile = relative(process.cwd(), expect.getState().testPath ?? '')
  const hint = `if the change is intended: npx vitest run ${testFile} -u, and read the difference`
  await expect(text).toMatchFileSnapshot(file.pathname, hint)
}

/** What a step answers, or the status and code with which the API refused it. */
export function orRefusal(step: Promise<readonly string[]>): Promise<readonly string[]> {
  return step.catch((error: { status?: number; code?: string }) => {
    if (error.status === undefined) throw error
    return [`${error.status} ${error.code}`]
  })
}

/** How a user stands by the API, in a line, and in another what they hold. */
export async function standingOf(client: PartnerClient, userid: string): Promise<string[]> {
  const found = await client.getUser({ userid })
  if (!('benefits' in found)) return [found.status]
  const { status, conditions, currentofferdetails, pendingoffer, requiredactions, consents, benefits } = found
  const held = benefits.map(({ name, state, tier, dependants, pendingcover }) =>
    [name, state, tier, dependants?.join(' '), pendingcover && `then ${JSON.stringify(pendingcover)}`]
      .filter(Boolean)
      .join(' '),
  )
  const stands = [
    ...[status, ...conditions, currentofferdetails.offer],
    ...(pendingoffer ? [`then ${pendingoffer.offer}`] : []),
    ...requiredactions.map(({ code, name }) => `${code} ${name}`),
    ...consents.map(({ name, version, locale }) => `agreed to ${name} ${version} ${locale}`),
  ]
  return [stands, held].map(parts => parts.filter(Boolean).join(', ')).filter(Boolean)
}
