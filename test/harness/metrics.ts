import { expect } from 'chai'
import type { Server } from '../stack/server-log.js'
import { request } from './http.js'

/** The values of a scrape by name and labels, `http_requests_total{method="GET",route="/:resource"}`. */
export type Scrape = ReadonlyMap<string, number>

/** The base of the admin port of a process that was started with ADMIN_PORT=0. */
export async function adminOf(service: Server): Promise<string> {
  const { port } = await service.logged(({ msg }) => msg === 'health is told on the admin port')
  return `http://127.0.0.1:${String(port)}`
}

export async function scrape(admin: string): Promise<Scrape> {
  const answer = await request(`${admin}/metrics`)
  expect(answer.status).to.equal(200)
  expect(answer.header('content-type')).to.equal('text/plain; version=0.0.4; charset=utf-8')
  return readMetrics(answer.text)
}

/** Reads the text format of Prometheus, and throws for a line that is none of it. */
export function readMetrics(text: string): Scrape {
  const values = new Map<string, number>()
  const types = new Set<string>()
  for (const line of text.split('\n')) {
    const [, type = ''] = /^# TYPE ([a-z][a-z0-9_]*) (?:counter|gauge|histogram)$/.exec(line) ?? []
    if (type !== '') types.add(type)
    if (line === '' || line.startsWith('#')) continue
    const [, name = '', labels = '', value = ''] =
      /^([a-z][a-z0-9_]*)(?:\{((?:[a-z_]+="(?:[^"\\]|\\.)*",?)*)\})? (\S+)$/.exec(line) ?? []
    const sample = name.replace(/_(?:bucket|sum|count)$/, '')
    if (Number.isNaN(Number(value)) && value !== 'Nan') throw new Error(`no value: ${line}`)
    if (!types.has(name) && !types.has(sample)) throw new Error(`no type is told of ${line}`)
    const key =
      labels === ''
        ? name
        : `${name}{${labels
            .split(/,(?=[a-z_]+=)/)
            .toSorted()
            .join()}}`
    if (values.has(key)) throw new Error(`told twice: ${line}`)
    values.set(key, Number(value))
  }
  return values
}

/** What has grown between two scrapes, of the names alone that begin with one of `names`. */
export function growth(before: Scrape, after: Scrape, names: readonly string[]): Readonly<Record<string, number>> {
  const grown = [...after].flatMap(([key, value]): [string, number][] => {
    const by = value - (before.get(key) ?? 0)
    return by !== 0 && names.some((name) => key === name || key.startsWith(`${name}{`)) ? [[key, by]] : []
  })
  return Object.fromEntries(grown)
}

/** Waits until `isThere` holds of a scrape: a request is counted once its answer is sent, which its client may be told first. */
export async function scrapedWhen(admin: string, isThere: (scrape: Scrape) => boolean): Promise<Scrape> {
  for (;;) {
    const found = await scrape(admin)
    if (isThere(found)) return found
  }
}
