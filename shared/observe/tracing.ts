import type { Attributes, SpanContext } from '@opentelemetry/api'
import type { Logger } from '../logger.js'
import { loadOptional } from '../optional-package.js'
import type { SettingsReader } from '../settings.js'
import { messageOf } from '../start-error.js'

/** The settings of traces, named as OpenTelemetry names them. */
export interface TraceSettings {
  /** Where spans are sent by OTLP over HTTP as JSON. */
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  /** undefined: that of the process. */
  readonly serviceName: string | undefined
  /** The share of traces that is kept of those that begin here, 0 to 1. A caller's own decision is kept. */
  readonly ratio: number
  /** Milliseconds between two exports. */
  readonly exportInterval: number
}

/** undefined without an endpoint: no span is made then, and no package of OpenTelemetry is loaded. */
export function readTraceSettings(reader: SettingsReader): TraceSettings | undefined {
  const url = reader.parsed('OTEL_EXPORTER_OTLP_ENDPOINT', { fallback: '', parse: parseEndpoint })
  const headers = readHeaders(reader)
  const serviceName = reader.optionalText('OTEL_SERVICE_NAME')
  const ratio = reader.parsed('OTEL_TRACES_SAMPLER_ARG', { fallback: '1', parse: parseRatio })
  const exportInterval = reader.integer('OTEL_BSP_SCHEDULE_DELAY', { fallback: 5000, min: 1, max: 3_600_000 })
  return url === undefined ? undefined : { url, headers, serviceName, ratio, exportInterval }
}

/** The base of the collector, to which `/v1/traces` is added (OpenTelemetry, Protocol Exporter). */
function parseEndpoint(text: string): string | undefined | Error {
  if (text === '') return undefined
  const url = URL.canParse(text) ? new URL(text) : undefined
  const isBase = url !== undefined && /^https?:$/.test(url.protocol) && url.search === '' && url.hash === ''
  return isBase
    ? `${text.replace(/\/$/, '')}/v1/traces`
    : new Error('must be an http: or https: URL without a query, such as http://127.0.0.1:4318')
}

function readHeaders(reader: SettingsReader): Readonly<Record<string, string>> {
  const text = reader.issuedSecret('OTEL_EXPORTER_OTLP_HEADERS')
  const headers = text === undefined ? {} : parseHeaders(text)
  if (!(headers instanceof Error)) return headers
  // They hold secrets, so the message does not repeat them.
  reader.addProblem(`OTEL_EXPORTER_OTLP_HEADERS ${headers.message}.`)
  return {}
}

/** `name=value` pairs with commas between, values percent-encoded (W3C Baggage, as OpenTelemetry has it). */
function parseHeaders(text: string): Readonly<Record<string, string>> | Error {
  const wrong = new Error('must be name=value, or several with commas between, values percent-encoded')
  const pairs: [string, string][] = []
  for (const pair of text.split(',')) {
    const [, name = '', value = ''] = /^([A-Za-z0-9!#$&'*+.^_`|~-]+)=([\x21-\x7e]*)$/.exec(pair.trim()) ?? []
    if (name === '' || /%(?![0-9A-Fa-f]{2})/.test(value)) return wrong
    try {
      pairs.push([name.toLowerCase(), decodeURIComponent(value)])
    } catch {
      return wrong
    }
  }
  return Object.fromEntries(pairs)
}

function parseRatio(text: string): number | Error {
  return /^(?:0(?:\.\d{1,9})?|1(?:\.0{1,9})?)$/.test(text) ? Number(text) : new Error('must be a number from 0 to 1')
}

/** A span that has begun. */
export interface RunningSpan {
  /** For what is called within it (W3C Trace Context). */
  readonly traceparent: string
  readonly context: SpanContext
  /** Ends it once. `error` is a word from a bounded set, such as a status or a code; undefined for success. */
  end(attributes: Attributes, error?: string): void
}

export interface SpanStart {
  /** Low in number: a route or a method, and never a path. */
  readonly name: string
  readonly kind: 'server' | 'client'
  /** A `traceparent`, or a span of this process. undefined, or text that is no `traceparent`: a new trace begins. */
  readonly parent: string | SpanContext | undefined
  /** Whether the parent decides if the trace is kept, as it does by default. Without it this process decides by its share. */
  readonly parentDecides?: boolean
  /** Others that the work is done for. */
  readonly links?: readonly SpanContext[]
  readonly attributes: Attributes
}

/** Makes spans and exports them. */
export interface Tracing {
  start(span: SpanStart): RunningSpan
  /** Exports what has ended, and stops. */
  close(): Promise<void>
}

const TRACE_PARENT = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/
const ZEROS = /^0+$/

/**
 * A caller's `traceparent` in the form of version 00 (W3C Trace Context section 3.2), which has no more than 55 characters.
 * undefined for none, or for one that must be ignored.
 */
export function checkedTrace(header: string | undefined): string | undefined {
  if (header === undefined) return undefined
  const [, version = '', trace = '', parent = '', flags = '', rest] = TRACE_PARENT.exec(header.trim()) ?? []
  if (trace === '' || version === 'ff' || ZEROS.test(trace) || ZEROS.test(parent)) return undefined
  return version === '00' && rest !== undefined ? undefined : `00-${trace}-${parent}-${flags}`
}

function remoteContext(traceparent: string): SpanContext | undefined {
  const [, traceId, spanId, flags = ''] = checkedTrace(traceparent)?.split('-') ?? []
  if (traceId === undefined || spanId === undefined) return undefined
  return { traceId, spanId, traceFlags: Number.parseInt(flags, 16) & 1, isRemote: true }
}

const OPEN_TELEMETRY = {
  neededBy: 'OTEL_EXPORTER_OTLP_ENDPOINT',
  packages: ['@opentelemetry/exporter-trace-otlp-http', '@opentelemetry/resources', '@opentelemetry/sdk-trace-base']
}

/** Loads OpenTelemetry and makes spans from then on. What cannot be exported is lost, with a line in the log. */
export async function openTracing(
  settings: TraceSettings,
  { service, log }: { readonly service: string; readonly log: Logger }
): Promise<Tracing> {
  const { diag, DiagLogLevel, ROOT_CONTEXT, SpanKind, SpanStatusCode, trace } = await import('@opentelemetry/api')
  const [{ resourceFromAttributes }, sdk, { OTLPTraceExporter }] = await loadOptional(OPEN_TELEMETRY, () =>
    Promise.all([
      import('@opentelemetry/resources'),
      import('@opentelemetry/sdk-trace-base'),
      import('@opentelemetry/exporter-trace-otlp-http')
    ])
  )
  const { BasicTracerProvider, BatchSpanProcessor, ParentBasedSampler, SamplingDecision, TraceIdRatioBasedSampler } =
    sdk
  const { url, headers, serviceName = service, ratio, exportInterval } = settings
  const failed = (message: string): void => log.warn({ reason: message.slice(0, 300) }, 'spans were not exported')
  const nothing = (): void => undefined
  diag.setLogger(
    { error: failed, warn: failed, info: nothing, debug: nothing, verbose: nothing },
    { logLevel: DiagLogLevel.WARN, suppressOverrideMessage: true }
  )
  const exporter = new OTLPTraceExporter({ url, headers: { ...headers } })
  const root = new TraceIdRatioBasedSampler(ratio)
  const decidedHere = (context: SpanContext): SpanContext => {
    const { decision } = root.shouldSample(ROOT_CONTEXT, context.traceId)
    return { ...context, traceFlags: decision === SamplingDecision.RECORD_AND_SAMPLED ? 1 : 0 }
  }
  const provider = new BasicTracerProvider({
    resource: resourceFromAttributes({ 'service.name': serviceName }),
    sampler: new ParentBasedSampler({ root }),
    spanProcessors: [new BatchSpanProcessor(exporter, { scheduledDelayMillis: exportInterval })]
  })
  const tracer = provider.getTracer('uniform-rest')
  return {
    start({ name, kind, parent, parentDecides = true, links = [], attributes }) {
      const given = typeof parent === 'string' ? remoteContext(parent) : parent
      const outer = given === undefined || parentDecides ? given : decidedHere(given)
      const within = outer === undefined ? ROOT_CONTEXT : trace.setSpanContext(ROOT_CONTEXT, outer)
      const of = kind === 'server' ? SpanKind.SERVER : SpanKind.CLIENT
      const linked = links.map((context) => ({ context }))
      const span = tracer.startSpan(name, { kind: of, attributes, links: linked }, within)
      const context = span.spanContext()
      const flags = context.traceFlags.toString(16).padStart(2, '0')
      return {
        traceparent: `00-${context.traceId}-${context.spanId}-${flags}`,
        context,
        end(more, error) {
          span.setAttributes(more)
          if (error !== undefined) span.setAttribute('error.type', error).setStatus({ code: SpanStatusCode.ERROR })
          span.end()
        }
      }
    },
    async close() {
      await provider.shutdown().catch((error: unknown) => failed(messageOf(error)))
    }
  }
}
