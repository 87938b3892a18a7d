import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'chai'
import { DataServiceMetrics } from '../../data-service/observe/data-service-metrics.js'
import { GatewayMetrics } from '../../gateway/observe/gateway-metrics.js'
import { openMetrics } from '../../shared/observe/prometheus.js'
import type { MetricFamily } from '../../shared/observe/tallies.js'
import { packageRoot } from '../harness/package-root.js'

const page = readFileSync(join(packageRoot, 'docs/operations.md'), 'utf8')

/** The rows of a table below a heading: the name, the kind, and the labels. */
function documented(heading: string): string[] {
  const section = page.split(/^### /m).find((text) => text.startsWith(`${heading}\n`)) ?? ''
  return Array.from(
    section.matchAll(/^\| `([a-z_]+)` \| (counter|gauge|histogram) \| ([^|]*) \|/gm),
    ([, name = '', kind = '', labels = '']) => `${name} ${kind} ${labels.replaceAll('`', '').trim()}`
  )
}

function registered(families: readonly MetricFamily[]): string[] {
  return families.map(({ kind, about: { name, labels } }) => `${name} ${kind} ${labels.join(', ')}`.trimEnd())
}

const PROCESSES = [
  ['Metrics of the gateway', new GatewayMetrics(() => []).families],
  ['Metrics of the data service', new DataServiceMetrics(() => undefined).families]
] as const

describe('docs/operations.md', () => {
  for (const [heading, families] of PROCESSES) {
    it(`has a row for each of the ${heading.toLowerCase()}, and no other`, () => {
      expect(documented(heading).map((row) => row.trimEnd())).to.have.members(registered(families))
    })
  }

  it('has alerts over metrics that there are, by labels that they have', async () => {
    const [, alerts = ''] = /^## What to watch\n(.*?)^## /ms.exec(page) ?? []
    const families = PROCESSES.flatMap(([, ofProcess]) => ofProcess).map(({ about }) => about)
    const known = new Map<string, readonly string[]>([
      ...(await metricsOfNode()).map((name) => [name, []] as const),
      ...families.map(({ name, labels }) => [name, labels] as const)
    ])
    const named = Array.from(alerts.matchAll(/\b((?:[a-z]+_){2,}[a-z]+)(?:\{([^}]*)\})?/g))
    expect(named).to.have.length.at.least(8)
    for (const [, metric = '', matchers = ''] of named) {
      const name = metric.replace(/_bucket$/, '')
      expect([...known.keys()], metric).to.include(name)
      const labels = Array.from(matchers.matchAll(/([a-z_]+)[=!]/g), ([, label = '']) => label)
      expect(known.get(name), metric).to.include.members(labels)
    }
  })

  it('names metrics as Prometheus does', () => {
    for (const { kind, about } of PROCESSES.flatMap(([, families]) => families)) {
      expect(about.name.endsWith('_total'), about.name).to.equal(kind === 'counter')
      expect(about.name.endsWith('_seconds'), about.name).to.equal(kind === 'histogram')
      expect(about.help, about.name).to.match(/^[A-Z].*\.$/)
    }
  })
})

/** The names of the metrics that each process tells of Node itself. */
async function metricsOfNode(): Promise<string[]> {
  return Array.from((await (await openMetrics([])).write()).matchAll(/^# TYPE (\S+) /gm), ([, name = '']) => name)
}

/** As far as the tests look at it. */
interface Dashboard {
  readonly panels: readonly { readonly title: string; readonly targets?: readonly { readonly expr: string }[] }[]
}

describe('docs/grafana-dashboard.json', () => {
  const { panels } = JSON.parse(readFileSync(join(packageRoot, 'docs/grafana-dashboard.json'), 'utf8')) as Dashboard
  const queries = panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr))
  const families = PROCESSES.flatMap(([, ofProcess]) => ofProcess)

  /** Each selector of the queries, `name{…}`: its metric, and the labels that it matches. */
  const selectors = queries.flatMap((expr) =>
    Array.from(expr.matchAll(/([a-z][a-z0-9_]*)\{([^}]*)\}/g), ([, name = '', matchers = '']) => ({
      name,
      labels: Array.from(matchers.matchAll(/([a-z_]+)=/g), ([, label = '']) => label)
    }))
  )

  it('asks for metrics that there are, by labels that they have', async () => {
    const known = new Map<string, readonly string[]>([
      ...(await metricsOfNode()).map((name) => [name, []] as const),
      ...families.flatMap(({ kind, about: { name, labels } }): [string, readonly string[]][] =>
        kind === 'histogram' ? [[`${name}_bucket`, labels]] : [[name, labels]]
      )
    ])
    expect(selectors).to.not.be.empty
    for (const { name, labels } of selectors) {
      expect([...known.keys()], name).to.include(name)
      expect(['instance', ...(known.get(name) ?? [])], name).to.include.members(labels)
    }
    const labels = new Set(['le', ...families.flatMap(({ about }) => about.labels)])
    const grouped = queries.flatMap((expr) =>
      Array.from(expr.matchAll(/ by \(([^)]*)\)/g), ([, names = '']) => names.split(/, */)).flat()
    )
    expect(grouped.filter((label) => !labels.has(label))).to.deep.equal([])
  })

  it('shows each metric of both processes', () => {
    const shown = new Set(selectors.map(({ name }) => name.replace(/_bucket$/, '')))
    expect(families.map(({ about }) => about.name).filter((name) => !shown.has(name))).to.deep.equal([])
  })
})
