/** How many requests a process works on at once, and how long others wait before it refuses them (contract §13). */
export type LoadLimits = {
  readonly atOnce: number
  readonly patienceMs: number
}

/** The limits for a single request, and how many failed authentications one address may have (contract §2, §13). */
export type RequestLimits = {
  readonly bodyKib: number
  readonly bodyNesting: number
  readonly headers: number
  /** The size of all headers together, including the request line. */
  readonly headersKib: number
  readonly headersSeconds: number
  /** The time from the first byte of a request to its last. */
  readonly requestSeconds: number
  /** The number within one minute from one address. */
  readonly failedAuthentications: number
}

/** The limits of a service in sentences, one paragraph each; without numbers when none are given. */
export function describeLimits(limits?: LoadLimits & RequestLimits): string[] {
  return [
    ...(limits
      ? [
          [
            `A body has at most ${limits.bodyKib} KiB and is nested at most ${limits.bodyNesting} deep; a request has at`,
            `most ${limits.headers} headers, of ${limits.headersKib} KiB together. The headers have to arrive within`,
            `${limits.headersSeconds} seconds, the whole request within ${limits.requestSeconds}. After`,
            `${limits.failedAuthentications} failed authentications in a minute from one address further failing ones are`,
            'answered 429 `too_many_requests` instead of 401; right credentials are never refused.',
          ].join(' '),
        ]
      : []),
    [
      'There is no rate limit unless the operator sets one for you. Under overload requests are refused with 503',
      '`unavailable` and `Retry-After`. A request that was refused like that has no effect and uses up no key: send it',
      'again after that time.',
      ...(limits
        ? [
            `A process works on ${limits.atOnce} requests at once; others wait for their turn, and those of the partner that`,
            'has used the least are next, so no partner keeps another out. A request is refused only when it has waited for',
            `${limits.patienceMs / 1000} seconds, or when the memory of the process ends.`,
          ]
        : []),
    ].join(' '),
  ]
}
