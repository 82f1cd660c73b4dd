import { createRequire } from 'node:module'
import type { Attributes, Span, SpanContext, SpanKind } from '@opentelemetry/api'

/** A span that is to begin. Its attributes name no user and no partner, and hold no value of a request. */
type SpanStart = {
  readonly name: string
  readonly kind: keyof typeof SpanKind
  readonly attributes: Attributes
  /** What it is a part of: a span, or a `traceparent` from outside; absent: it begins a trace. */
  readonly under: Span | string | undefined
  /** The other spans for which the same work is done. */
  readonly links?: readonly Span[]
}

/** A span that has begun. */
export type OpenSpan = {
  readonly span: Span
  /** What names it as the parent of spans elsewhere (W3C Trace Context). */
  readonly traceparent: string
  /** Calls `work`, which and whose promises then run within the span. */
  within<T>(work: () => T): T
  /** Ends it; `failure` says why what it spans has failed. */
  end(failure?: string): void
}

/** Makes spans by OpenTelemetry's API. */
export type Tracing = {
  begin(start: SpanStart): OpenSpan
  /** Runs work within a span, which ends with it. */
  run<T>(start: SpanStart, work: () => Promise<T>): Promise<T>
  /** Runs work within no span. */
  apart<T>(work: () => T): T
  /** The span within which this is called, while it has not ended and is recorded. */
  active(): Span | undefined
  /** Adds to that span; `failure` says why what it spans has failed. */
  note(attributes: Attributes, failure: string | undefined): void
  /** What names that span as the parent of spans elsewhere, whether or not it is recorded. */
  traceparent(): string | undefined
}

/** Under this name each copy of OpenTelemetry's API finds the SDK that was registered at any of them. */
const REGISTERED = Symbol.for('opentelemetry.js.api.1')

/**
 * Spans, where a program that ran before this one has registered an SDK of OpenTelemetry; `undefined` otherwise, and then nothing
 * is loaded. `docs/operating.md` says how an operator does that.
 */
export const tracing: Tracing | undefined = REGISTERED in globalThis ? openTracing(loadApi()) : undefined

type Api = typeof import('@opentelemetry/api')

function loadApi(): Api {
  return createRequire(import.meta.url)('@opentelemetry/api') as Api
}

function openTracing({ context, trace, ROOT_CONTEXT, SpanKind, SpanStatusCode }: Api): Tracing {
  const tracer = trace.getTracer('benefit-enrolment')
  const begin = ({ name, kind, attributes, under, links = [] }: SpanStart): OpenSpan => {
    const parent = typeof under === 'string' ? contextOf(under) : under?.spanContext()
    const above = parent ? trace.setSpanContext(ROOT_CONTEXT, parent) : ROOT_CONTEXT
    const linked = links.map(link => ({ context: link.spanContext() }))
    const span = tracer.startSpan(name, { kind: SpanKind[kind], attributes, links: linked }, above)
    const own = trace.setSpan(ROOT_CONTEXT, span)
    return {
      span,
      traceparent: traceparentOf(span.spanContext()),
      within: work => context.with(own, work),
      end(failure) {
        markFailed(span, failure)
        span.end()
      },
    }
  }
  const markFailed = (span: Span, failure: string | undefined) => {
    if (failure === undefined) return
    span.setStatus({ code: SpanStatusCode.ERROR })
    span.setAttribute('error.type', failure)
  }
  const active = () => {
    const span = trace.getActiveSpan()
    return span?.isRecording() ? span : undefined
  }
  return {
    begin,
    async run(start, work) {
      const { within, end } = begin(start)
      let failure: string | undefined
      try {
        return await within(work)
      } catch (error) {
        failure = typeOf(error)
        throw error
      } finally {
        end(failure)
      }
    },
    apart: work => context.with(ROOT_CONTEXT, work),
    active,
    note(attributes, failure) {
      const span = active()
      span?.setAttributes(attributes)
      if (span) markFailed(span, failure)
    },
    traceparent() {
      const span = trace.getActiveSpan()
      return span && traceparentOf(span.spanContext())
    },
  }
}

/** The parts of a `traceparent` that was found to have the form of version 00. */
function contextOf(traceparent: string): SpanContext {
  const [, traceId = '', spanId = '', flags = ''] = traceparent.split('-')
  return { traceId, spanId, traceFlags: Number.parseInt(flags, 16), isRemote: true }
}

function traceparentOf({ traceId, spanId, traceFlags }: SpanContext): string {
  return `00-${traceId}-${spanId}-${traceFlags.toString(16).padStart(2, '0')}`
}

/** The kind of an error, and not its message, which may hold a value. */
function typeOf(error: unknown): string {
  if (!(error instanceof Error)) return typeof error
  const { code } = error as { code?: unknown }
  return typeof code === 'string' ? code : error.name
}
