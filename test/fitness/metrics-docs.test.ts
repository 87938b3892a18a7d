import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'chai'
import { DataServiceMetrics } from '../../data-service/observe/data-service-metrics.js'
import { GatewayMetrics } from '../../gateway/observe/gateway-metrics.js'
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

  it('names metrics as Prometheus does', () => {
    for (const { kind, about } of PROCESSES.flatMap(([, families]) => families)) {
      expect(about.name.endsWith('_total'), about.name).to.equal(kind === 'counter')
      expect(about.name.endsWith('_seconds'), about.name).to.equal(kind === 'histogram')
      expect(about.help, about.name).to.match(/^[A-Z].*\.$/)
    }
  })
})
