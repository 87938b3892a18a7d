import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'
import { json } from 'node:stream/consumers'

type Value = string | number | boolean

/** A span as it was exported. */
export interface ExportedSpan {
  readonly service: Value | undefined
  readonly traceId: string
  readonly spanId: string
  /** Empty for the first of a trace. */
  readonly parentSpanId: string
  readonly name: string
  readonly kind: number
  readonly attributes: Readonly<Record<string, Value>>
  /** The span ids of its links. */
  readonly links: readonly string[]
  /** 0 unset, 1 ok, 2 error. */
  readonly status: number
}

interface OtlpAttribute {
  readonly key: string
  readonly value: { readonly stringValue?: string; readonly intValue?: number | string; readonly boolValue?: boolean }
}

/** ExportTraceServiceRequest of OTLP 1.x in JSON, as far as the tests look at it. */
interface OtlpRequest {
  readonly resourceSpans: readonly {
    readonly resource: { readonly attributes: readonly OtlpAttribute[] }
    readonly scopeSpans: readonly {
      readonly spans: readonly {
        readonly traceId: string
        readonly spanId: string
        readonly parentSpanId?: string
        readonly name: string
        readonly kind: number
        readonly attributes: readonly OtlpAttribute[]
        readonly links?: readonly { readonly spanId: string }[]
        readonly status: { readonly code?: number }
      }[]
    }[]
  }[]
}

/** A collector of traces in this process. */
export class Collector implements AsyncDisposable {
  readonly url: string
  /** All that was received, as text. */
  readonly texts: string[] = []
  readonly headers: IncomingHttpHeaders[] = []
  readonly spans: ExportedSpan[] = []
  readonly #server: ReturnType<typeof createServer>
  #waiting: (() => void)[] = []

  private constructor(server: ReturnType<typeof createServer>) {
    this.#server = server
    this.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    server.on('request', (request, response) => {
      void json(request).then((body) => {
        if (request.url !== '/v1/traces') throw new Error(`an export to ${String(request.url)}`)
        this.headers.push(request.headers)
        this.texts.push(JSON.stringify(body))
        this.spans.push(...spansOf(body as OtlpRequest))
        response.setHeader('content-type', 'application/json').end('{}')
        for (const wake of this.#waiting.splice(0)) wake()
      })
    })
  }

  static async start(): Promise<Collector> {
    const server = createServer()
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    return new Collector(server)
  }

  /** The spans of a trace, once there is one that meets the condition from each of the services. */
  async trace(traceId: string, isComplete: (spans: readonly ExportedSpan[]) => boolean): Promise<ExportedSpan[]> {
    for (;;) {
      const found = this.spans.filter((one) => one.traceId === traceId)
      if (isComplete(found)) return found
      await new Promise<void>((resolve) => {
        this.#waiting.push(resolve)
      })
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections()
    this.#server.close()
    await once(this.#server, 'close')
  }
}

function spansOf({ resourceSpans }: OtlpRequest): ExportedSpan[] {
  return resourceSpans.flatMap(({ resource, scopeSpans }) => {
    const service = attributesOf(resource.attributes)['service.name']
    return scopeSpans
      .flatMap(({ spans }) => spans)
      .map(({ traceId, spanId, parentSpanId = '', name, kind, attributes, links = [], status }) => ({
        service,
        traceId,
        spanId,
        parentSpanId,
        name,
        kind,
        attributes: attributesOf(attributes),
        links: links.map((link) => link.spanId),
        status: status.code ?? 0
      }))
  })
}

function attributesOf(attributes: readonly OtlpAttribute[]): Record<string, Value> {
  const valueOf = ({ stringValue, intValue, boolValue }: OtlpAttribute['value']): Value =>
    stringValue ?? boolValue ?? Number(intValue)
  return Object.fromEntries(attributes.map(({ key, value }) => [key, valueOf(value)]))
}
