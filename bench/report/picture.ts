import { measured, ratio, REFERENCE, type Report } from './report.js'

const WIDTH = 820
const LABELS = 150
const BARS = 560
const BAR = 13
const GAP = 10
const TOP = 64

/** The colours of the targets, in the light and in the dark; each has a contrast of 3:1 or more to its background. */
const COLOURS: Readonly<Record<string, readonly [string, string]>> = {
  'uniform-rest': ['#0b6bcb', '#5aa9f5'],
  'uniform-rest-2x2': ['#0a7d5f', '#4cc79f'],
  'plain-sequelize': ['#a15c00', '#e0a14a'],
  'platformatic-db': ['#8a3fb0', '#c78be6']
}

/**
 * A picture of a run as SVG: requests per second as bars, in units of the hand-written server, whose rate is the line at 1.
 * Its colours follow the reader's light or dark scheme.
 */
export function picture({ measurements, machine, at }: Report): string {
  const lines = [...new Set(measurements.map(({ workload, connections }) => `${workload} ${connections}`))].map(
    (key) => {
      const [workload = '', connections = ''] = key.split(' ')
      const at = { workload, connections: Number(connections) }
      const reference = measured(measurements, { ...at, target: REFERENCE })
      const bars = Object.keys(COLOURS).flatMap((target) => {
        const of = measured(measurements, { ...at, target })
        return of === undefined || reference === undefined ? [] : [{ target, value: ratio(of, reference, 'rate') }]
      })
      return { label: `${workload} · ${connections}`, bars }
    }
  )
  const shown = lines.filter(({ bars }) => bars.length > 0)
  const most = Math.max(1.2, ...shown.flatMap(({ bars }) => bars.map(({ value }) => value)))
  const scale = BARS / most
  const parts: string[] = []
  let y = TOP
  for (const { label, bars } of shown) {
    parts.push(text([LABELS - 8, y + (bars.length * BAR) / 2 + 4], label, { anchor: 'end' }))
    for (const { target, value } of bars) {
      const width = Math.max(1, value * scale)
      parts.push(`<rect x="${LABELS}" y="${y + 1}" width="${width.toFixed(1)}" height="${BAR - 2}" class="${target}"/>`)
      parts.push(text([LABELS + width + 5, y + BAR - 3], value.toFixed(2), { kind: 'small' }))
      y += BAR
    }
    y += GAP
  }
  const x = (LABELS + scale).toFixed(1)
  const height = y + 24
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${WIDTH}" height="${height}" viewBox="0 0 ${WIDTH} ${height}" role="img">`,
    `<title>Requests per second in units of the hand-written server</title>`,
    `<style>${style()}</style>`,
    `<rect width="${WIDTH}" height="${height}" class="ground"/>`,
    text([12, 20], 'Requests per second, hand-written = 1 (workload · connections)', { kind: 'title' }),
    ...legend(new Set(shown.flatMap(({ bars }) => bars.map(({ target }) => target)))),
    ...parts,
    `<line x1="${x}" y1="${TOP - 6}" x2="${x}" y2="${y - GAP + 4}" class="one"/>`,
    text([12, height - 8], `${at.slice(0, 10)}, ${machine.cores} cores of ${machine.processor}, ${machine.database}`, {
      kind: 'small'
    }),
    '</svg>',
    ''
  ].join('\n')
}

function style(): string {
  const fills = (index: 0 | 1): string =>
    Object.entries(COLOURS)
      .map(([target, colours]) => `.${target}{fill:${colours[index]}}`)
      .join('')
  return (
    'text{font:12px system-ui,sans-serif;fill:#1f2328}.small{font-size:10.5px}.title{font-weight:600;font-size:14px}' +
    `.ground{fill:#fff}.one{stroke:#1f2328;stroke-width:1.5;stroke-dasharray:4 3}${fills(0)}` +
    `@media (prefers-color-scheme:dark){text{fill:#e6edf3}.ground{fill:#0d1117}.one{stroke:#e6edf3}${fills(1)}}`
  )
}

function legend(targets: ReadonlySet<string>): string[] {
  return [...targets].flatMap((target, index) => [
    `<rect x="${12 + index * 170}" y="32" width="12" height="12" class="${target}"/>`,
    text([30 + index * 170, 42], target)
  ])
}

function text(
  [x, y]: readonly [number, number],
  content: string,
  { anchor = 'start', kind = '' }: { readonly anchor?: 'start' | 'end'; readonly kind?: string } = {}
): string {
  const escaped = content.replace(/[&<>]/g, (each) => `&#${each.charCodeAt(0)};`)
  const style = kind === '' ? '' : ` class="${kind}"`
  return `<text x="${x.toFixed(1)}" y="${y.toFixed(1)}" text-anchor="${anchor}"${style}>${escaped}</text>`
}
