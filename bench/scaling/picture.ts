import type { SizedRun } from './scenarios.js'

const WIDTH = 760
const HEIGHT = 400
const LEFT = 70
const RIGHT = 700
const TOP = 50
const BOTTOM = 340

/** Milliseconds of the vertical axis, which is logarithmic. */
const TICKS = [1, 3, 10, 30, 100]

/** The latency of the chosen system against its load, as SVG. Its colours follow the reader's light or dark scheme. */
export function picture(runs: readonly SizedRun[]): string {
  const most = Math.max(...runs.map(({ perSecond }) => perSecond))
  const x = (perSecond: number): number => LEFT + ((RIGHT - LEFT) * perSecond) / most
  const y = (ms: number): number => {
    const [least = 1, greatest = 100] = [TICKS[0], TICKS.at(-1)]
    const share = (Math.log10(ms) - Math.log10(least)) / (Math.log10(greatest) - Math.log10(least))
    return BOTTOM - (BOTTOM - TOP) * Math.min(1, Math.max(0, share))
  }
  const line = (kind: 'p50Ms' | 'p99Ms'): string =>
    `<polyline class="${kind}" points="${runs
      .map(({ perSecond, simulated }) => `${x(perSecond).toFixed(0)},${y(simulated[kind]).toFixed(0)}`)
      .join(' ')}"/>`
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${WIDTH}" height="${HEIGHT}" viewBox="0 0 ${WIDTH} ${HEIGHT}" role="img">`,
    '<title>Simulated latency of the mix against the load</title>',
    '<style>text{font:12px system-ui,sans-serif;fill:#1f2328}.ground{fill:#fff}polyline{fill:none;stroke-width:2.5}' +
      '.p50Ms{stroke:#0b6bcb}.p99Ms{stroke:#a15c00}.grid{stroke:#d0d7de}' +
      '@media (prefers-color-scheme:dark){text{fill:#e6edf3}.ground{fill:#0d1117}.p50Ms{stroke:#5aa9f5}.p99Ms{stroke:#e0a14a}.grid{stroke:#30363d}}</style>',
    `<rect width="${WIDTH}" height="${HEIGHT}" class="ground"/>`,
    `<text x="${LEFT}" y="24">Milliseconds by requests of the mix a second, simulated</text>`,
    ...TICKS.flatMap((ms) => [
      `<line class="grid" x1="${LEFT}" x2="${RIGHT}" y1="${y(ms).toFixed(0)}" y2="${y(ms).toFixed(0)}"/>`,
      `<text x="${LEFT - 8}" y="${(y(ms) + 4).toFixed(0)}" text-anchor="end">${ms}</text>`
    ]),
    ...runs.map(
      ({ perSecond }) =>
        `<text x="${x(perSecond).toFixed(0)}" y="${BOTTOM + 20}" text-anchor="middle">${perSecond / 1000}k</text>`
    ),
    line('p50Ms'),
    line('p99Ms'),
    `<line class="p50Ms" stroke-width="2.5" x1="${LEFT}" x2="${LEFT + 30}" y1="380" y2="380"/><text x="${LEFT + 38}" y="384">50th percentile</text>`,
    `<line class="p99Ms" stroke-width="2.5" x1="${LEFT + 180}" x2="${LEFT + 210}" y1="380" y2="380"/><text x="${LEFT + 218}" y="384">99th percentile</text>`,
    '</svg>',
    ''
  ].join('\n')
}
