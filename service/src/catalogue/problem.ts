/** A position in a catalogue file; line and column count from 1. */
export type SourcePosition = { readonly line: number; readonly column: number; readonly path: string }

/** One problem of a catalogue file: where, what is wrong, and what to do. */
export type Problem = SourcePosition & { readonly message: string }

/** The problem as one line for the operator: `line 14: benefits[2].rules[0].states.in[0]: …`. */
export function describeProblem(problem: Problem): string {
  const path = problem.path === '' ? '' : `${problem.path}: `
  return `line ${problem.line}: ${path}${problem.message}`
}
