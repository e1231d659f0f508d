import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http'
import { resourceFromAttributes } from '@opentelemetry/resources'
import { BasicTracerProvider, BatchSpanProcessor } from '@opentelemetry/sdk-trace-base'
import { VERSION } from '../core/version.ts'

export { ROOT_CONTEXT, SpanKind, SpanStatusCode, trace } from '@opentelemetry/api'

/** Exports spans to a collector over OTLP/HTTP, in batches. */
export const createProvider = (endpoint: string, serviceName: string): BasicTracerProvider =>
  new BasicTracerProvider({
    resource: resourceFromAttributes({ 'service.name': serviceName, 'service.version': VERSION }),
    spanProcessors: [new BatchSpanProcessor(new OTLPTraceExporter({ url: `${endpoint}/v1/traces` }))],
  })
