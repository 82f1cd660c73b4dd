import type { Reporter, TestCase, TestModule } from 'vitest/node'

const EVERY_MS = 15_000

type Underway = { readonly name: string; readonly since: number }

/**
 * Reports every 15 seconds how far a test run has come, and which files and tests it waits for; vitest itself reports
 * that only on a terminal.
 */
export class Progress implements Reporter {
  readonly #files = new Map<string, Underway>()
  readonly #tests = new Map<string, Underway>()
  readonly #began = Date.now()
  #all = 0
  #done = 0
  #timer: NodeJS.Timeout | undefined

  onTestRunStart(specifications: readonly unknown[]): void {
    this.#all = specifications.length
    this.#timer = setInterval(() => this.#tell(), EVERY_MS).unref()
  }

  onTestModuleQueued({ moduleId, relativeModuleId }: TestModule): void {
    this.#files.set(moduleId, { name: relativeModuleId, since: Date.now() })
  }

  onTestCaseReady({ id, fullName }: TestCase): void {
    this.#tests.set(id, { name: fullName, since: Date.now() })
  }

  onTestCaseResult({ id }: TestCase): void {
    this.#tests.delete(id)
  }

  onTestModuleEnd({ moduleId, children }: TestModule): void {
    this.#files.delete(moduleId)
    // The beginning of a test may be reported after its end.
    for (const { id } of children.allTests()) this.#tests.delete(id)
    this.#done += 1
  }

  onTestRunEnd(): void {
    clearInterval(this.#timer)
  }

  #tell(): void {
    const waiting = [...this.#files.values(), ...this.#tests.values()]
      .filter(({ since }) => Date.now() - since > EVERY_MS / 3)
      .map(({ name, since }) => `${name} (${secondsSince(since)})`)
    const on = waiting.length === 0 ? '' : `; waits for ${waiting.join(', ')}`
    process.stdout.write(`-- ${this.#done} of ${this.#all} files in ${secondsSince(this.#began)}${on}\n`)
  }
}

function secondsSince(at: number): string {
  return `${Math.round((Date.now() - at) / 1000)} s`
}
