/** Facts about a unit of work: never a text, an address or a secret. */
export type Attributes = Record<string, string | number | boolean>

export interface SpanOptions {
  kind?: 'server' | 'client' | 'internal'
  attributes?: Attributes
  /** Context of the caller in another process, as `traceparent` of W3C Trace Context; else the current span. */
  parent?: string | null | undefined
}

/** A unit of work in a trace. */
export interface Span {
  /** Runs `work` so that the spans that it starts are children of this one. */
  run<T>(work: () => T): T
  /** The `traceparent` that passes this span on to another process. */
  readonly traceparent: string | null
  end(attributes?: Attributes, failed?: boolean): void
}

export interface Tracer {
  start(name: string, options?: SpanOptions): Span
  /** Sends what has not been sent yet. */
  close(): Promise<void>
}

const NO_SPAN: Span = { run: (work) => work(), traceparent: null, end: () => undefined }

/** The tracer of a service without `OTEL_EXPORTER_OTLP_ENDPOINT`: costs nothing. */
export const noTracer: Tracer = { start: () => NO_SPAN, close: async () => undefined }

/** Runs `work` as a span of its own. */
export const traced = async <T>(
  tracer: Tracer,
  name: string,
  options: SpanOptions,
  work: (span: Span) => Promise<T>,
): Promise<T> => {
  const span = tracer.start(name, options)
  let failed = true
  try {
    const result = await span.run(() => work(span))
    failed = false
    return result
  } finally {
    span.end({}, failed)
  }
}
