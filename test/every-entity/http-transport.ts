import { call as send, filter, type Answer, type CallOptions } from '../api/http-call.js'
import { parseCsv, values } from '../stack/csv.js'
import type { Call, IfMatch, Outcome, Row, Transport } from './call.js'

/** Sends calls to a gateway. */
export function httpTransport(base: string): Transport {
  return {
    name: 'HTTP',
    async send(call, token) {
      return outcomeOf(call, await send(base, targetOf(call), { ...optionsOf(call), token }))
    }
  }
}

/** The path and query of a call. */
function targetOf(call: Call): string {
  const { resource, operation, id, name, owner, filters = [] } = call
  const segment = ['paged', 'export', 'lookup'].includes(operation) ? operation : name
  const path = [resource, id && encodeURIComponent(id), segment].filter((one) => one !== undefined && one !== '')
  const { sortColumn, sortDirection, fields, includeFKs, includeChildren, pageSize, search, after, before } = call
  const query = [
    ...(owner?.values.map((value) => `${owner.parameter}=${encodeURIComponent(value)}`) ?? []),
    ...filters.map(({ property, operator, value }) => filter(property, operator, value)),
    ...Object.entries({
      sortColumn,
      sortDirection,
      fields,
      includeFKs,
      includeChildren,
      pageSize,
      search,
      after,
      before
    }).flatMap(([key, value]) => (value === undefined ? [] : [`${key}=${encodeURIComponent(value)}`]))
  ]
  return `/${path.join('/')}${query.length === 0 ? '' : `?${query.join('&')}`}`
}

const METHODS: Readonly<Record<string, string>> = { create: 'POST', update: 'PUT', act: 'PUT', delete: 'DELETE' }

function optionsOf({ operation, body, patch, ifMatch }: Call): CallOptions {
  const type = patch === true ? 'application/merge-patch+json' : 'application/json'
  const text = body === undefined ? undefined : JSON.stringify(body)
  const condition = ifMatch === undefined ? undefined : headerOf(ifMatch)
  return {
    method: patch === true ? 'PATCH' : (METHODS[operation] ?? 'GET'),
    headers: {
      'x-request-id': 'same',
      ...(text === undefined ? {} : { 'content-type': type, 'content-length': Buffer.byteLength(text) }),
      ...(condition === undefined ? {} : { 'if-match': condition })
    },
    ...(text === undefined ? {} : { body: text })
  }
}

function headerOf(ifMatch: IfMatch): string | undefined {
  if (typeof ifMatch === 'object') return `W/"${ifMatch.version}"`
  return { absent: undefined, blank: ' ', star: '*', malformed: 'W/AAAAAAAAAAE=' }[ifMatch]
}

function outcomeOf(call: Call, answer: Answer): Outcome {
  const { status, text } = answer
  if (status >= 400) {
    const { code, detail } = JSON.parse(text) as { code: string; detail: string } // every refusal is a problem document
    return { code, status, detail, rows: [], total: undefined, text }
  }
  const total = answer.headers['x-total-count']
  return {
    code: 'ok',
    status,
    detail: '',
    rows: rowsOf(call, text),
    cursors: { next: singleHeader(answer, 'x-next-cursor'), previous: singleHeader(answer, 'x-previous-cursor') },
    total: typeof total === 'string' ? total : undefined,
    text
  }
}

function singleHeader({ headers }: Answer, name: string): string | undefined {
  const value = headers[name]
  return typeof value === 'string' ? value : undefined
}

function rowsOf({ operation }: Call, text: string): readonly Row[] {
  if (text === '') return []
  if (operation === 'export') return csvRows(text)
  const body: unknown = JSON.parse(text)
  return asRows(operation === 'lookup' ? (body as { items: unknown }).items : body)
}

/** A collection as it is, a single row as the only one, bare values under `value`. */
export function asRows(body: unknown): Row[] {
  const all: readonly unknown[] = Array.isArray(body) ? body : [body]
  return all.map((one) => (typeof one === 'object' && one !== null ? { ...one } : { value: one }))
}

function csvRows(text: string): Row[] {
  const [header, ...lines] = parseCsv(text.replace(/^\uFEFF/, ''))
  const names = values(header)
  return lines.map((line) => Object.fromEntries(values(line).map((value, index) => [names[index] ?? '', value])))
}
