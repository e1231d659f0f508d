import { AsyncLocalStorage } from 'node:async_hooks'
import type { Context, SpanContext } from '@opentelemetry/api'
import { noTracer, type Span, type SpanOptions, type Tracer } from '../core/tracer.ts'
import { VERSION } from '../core/version.ts'

/** Version 00 of W3C Trace Context. Ids of zeros only are invalid. */
const TRACEPARENT = /^00-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-([0-9a-f]{2})$/

const readParent = (traceparent: string): SpanContext | null => {
  const [, traceId, spanId, flags] = TRACEPARENT.exec(traceparent) ?? []
  return traceId && spanId
    ? { traceId, spanId, traceFlags: Number.parseInt(flags!, 16), isRemote: true }
    : null
}

const writeParent = ({ traceId, spanId, traceFlags }: SpanContext): string =>
  `00-${traceId}-${spanId}-${(traceFlags & 0xff).toString(16).padStart(2, '0')}`

/**
 * Creates a tracer that exports to an OpenTelemetry collector over OTLP/HTTP. The exporter and the sampler
 * follow OpenTelemetry's own variables (OTEL_EXPORTER_OTLP_HEADERS, OTEL_TRACES_SAMPLER …).
 */
export const createTracer = async (endpoint: string | undefined, serviceName: string): Promise<Tracer> => {
  if (endpoint === undefined) return noTracer
  // Loaded only when traces are exported. See docs/decisions.md#loaded-on-demand.
  const api = await import('./otlp.ts')
  const provider = api.createProvider(endpoint, serviceName)
  const inner = provider.getTracer('agent-messaging-service', VERSION)
  // Not OpenTelemetry's global one: several services may run in one process.
  const current = new AsyncLocalStorage<Context>()
  const kinds = {
    server: api.SpanKind.SERVER,
    client: api.SpanKind.CLIENT,
    internal: api.SpanKind.INTERNAL,
  }
  const contextOf = (parent: SpanOptions['parent']): Context => {
    const remote = parent ? readParent(parent) : null
    return remote
      ? api.trace.setSpanContext(api.ROOT_CONTEXT, remote)
      : (current.getStore() ?? api.ROOT_CONTEXT)
  }
  return {
    start: (name, { kind = 'internal', attributes = {}, parent } = {}): Span => {
      const around = contextOf(parent)
      const span = inner.startSpan(name, { kind: kinds[kind], attributes }, around)
      const inside = api.trace.setSpan(around, span)
      return {
        run: (work) => current.run(inside, work),
        traceparent: writeParent(span.spanContext()),
        end: (more = {}, failed = false) => {
          span.setAttributes(more)
          if (failed) span.setStatus({ code: api.SpanStatusCode.ERROR })
          span.end()
        },
      }
    },
    close: () => provider.shutdown().catch(() => undefined),
  }
}
