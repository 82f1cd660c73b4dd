import { spawn } from 'node:child_process'
import { mkdir, open, rename } from 'node:fs/promises'
import { join } from 'node:path'
import type { Published } from '../catalogue/published.ts'
import type { Executor } from '../db/database.ts'
import { OperatorError } from '../operator-error.ts'
import type { Partner } from '../partners/partner.ts'
import { fileNameOf, formatOf } from './file-format.ts'
import { readRunLines } from './run-lines.ts'
import { feedOfVersion, type Run } from './store.ts'

/** What the bytes of a run are made with. */
export type FileContext = {
  readonly published: Published
  readonly partners: () => Promise<readonly Partner[]>
}

/** Takes the bytes of a file, piece by piece. */
export type Write = (bytes: Buffer) => Promise<unknown>

const PIECE_BYTES = 64 * 1024

/**
 * Writes the bytes of a run's file, the same each time as long as nobody of it was erased; returns how many lines it has.
 */
export async function writeRun(db: Executor, context: FileContext, run: Run, write: Write): Promise<number> {
  const feed = await feedOfRun(db, run)
  await context.published.prepare([run.catalogueVersion])
  const catalogue = context.published.version(run.catalogueVersion)
  const format = formatOf(feed, run)
  let pieces = [format.head()]
  let size = 0
  let lines = 0
  for await (const page of readRunLines(db, await context.partners(), { feed, run: run.run, catalogue })) {
    for (const { values } of page) {
      const piece = format.line(values)
      pieces.push(piece)
      size += piece.length
    }
    lines += page.length
    if (size < PIECE_BYTES) continue
    await write(Buffer.concat(pieces))
    pieces = []
    size = 0
  }
  await write(Buffer.concat([...pieces, format.foot()]))
  return lines
}

/** The feed by which a run was made. */
export async function feedOfRun(db: Executor, { feed: name, version }: Run) {
  const feed = await feedOfVersion(db, name, version)
  if (!feed) throw new Error('a run without its feed')
  return feed
}

/** A run's file where it was put, and how many of its lines are in it. */
export type WrittenFile = { readonly path: string; readonly lines: number }

/**
 * Puts a run's file into the folder of its feed: it is there whole, readable by this system user only, or not at all. An
 * earlier one of the same run is replaced. Rejects when the folder cannot be written.
 */
export async function writeFeedFile(
  db: Executor,
  context: FileContext,
  { run, folder }: { readonly run: Run; readonly folder: string },
): Promise<WrittenFile> {
  const own = join(folder, run.feed)
  await mkdir(own, { recursive: true, mode: 0o700 })
  const path = join(own, fileNameOf(await feedOfRun(db, run), run.run))
  const unfinished = `${path}.part`
  const file = await open(unfinished, 'w', 0o600)
  let lines = 0
  try {
    await file.chmod(0o600)
    lines = await writeRun(db, context, run, bytes => file.appendFile(bytes))
    await file.sync()
  } finally {
    await file.close()
  }
  await rename(unfinished, path)
  // Without this, a power cut could undo the renaming after the run counts as taken.
  const directory = await open(own)
  await directory.sync().finally(() => directory.close())
  return { path, lines }
}

const COMMAND_MS = 10 * 60_000

/** Runs the operator's command with the path of a file. Rejects unless it ends with 0 within ten minutes. */
export async function runFeedCommand(command: string, path: string): Promise<void> {
  const isSecret = (name: string) => /^(ENROLMENT_|DATABASE_URL|PGPASS)/.test(name)
  const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !isSecret(name)))
  // By a shell, so that the setting may have arguments before the path.
  const words = ['-c', `${command} "$1"`, 'feed', path]
  const child = spawn('/bin/sh', words, { stdio: ['ignore', 'ignore', 'inherit'], env, timeout: COMMAND_MS })
  const failure = await new Promise<string>(resolve => {
    child.once('error', error => resolve((error as { code?: string }).code ?? 'unknown'))
    child.once('close', (code, signal) => resolve(code === 0 ? '' : (signal ?? `exit code ${code}`)))
  })
  if (failure !== '')
    throw new OperatorError(
      `ENROLMENT_FEED_COMMAND failed (${failure}); the file stays where it is, and the run is given again by \`enrolment feed run\`.`,
    )
}
