import type { PropertyValues, Resource } from '../data/data-client.js'
import { escapeHtml } from '../http/html-page.js'

/** `status placed or paid, and isActive true` of states in which an action can be done, or that it leaves a row in. */
export function statesInWords(states: readonly PropertyValues[]): string {
  return states.map(({ property, values }) => `${property} ${values.map(wordOf).join(' or ')}`).join(', and ')
}

/** `paid` of `"paid"`, `true` of `true`. */
function wordOf(value: string): string {
  const parsed: unknown = JSON.parse(value)
  return String(parsed)
}

/**
 * A picture of the states of each property that actions move rows between, as SVG within HTML. Empty for a resource without
 * such actions. The table of actions says the same in words.
 */
export function stateDiagrams(resource: Resource): string {
  const moving = resource.actions.flatMap(({ becomes }) => becomes.map(({ property }) => property))
  return [...new Set(moving)]
    .map((property) => diagram(resource.name, property, transitions(resource, property)))
    .join('\n')
}

interface Transition {
  readonly from: string
  readonly to: string
  /** The actions that lead from one to the other, `pay, settle`. */
  readonly label: string
}

interface States {
  /** In the order in which the actions name them. */
  readonly words: readonly string[]
  readonly transitions: readonly Transition[]
}

function transitions({ actions, deleteStates }: Resource, property: string): States {
  const valuesOf = (states: readonly PropertyValues[]): string[] =>
    states.filter((one) => one.property === property).flatMap(({ values }) => values.map(wordOf))
  const moves = actions.map(({ name, states, becomes }) => ({ name, from: valuesOf(states), to: valuesOf(becomes) }))
  const words = [...new Set([...moves.flatMap(({ from, to }) => [...from, ...to]), ...valuesOf(deleteStates)])]
  const labels = new Map<string, { readonly from: string; readonly to: string; readonly names: string[] }>()
  for (const { name, from, to } of moves) {
    // An action that every state allows leads from each of them.
    const sources = from.length > 0 || to.length === 0 ? from : words
    for (const source of sources) {
      for (const target of to) {
        const key = JSON.stringify([source, target])
        const known = labels.get(key) ?? { from: source, to: target, names: [] }
        known.names.push(name)
        labels.set(key, known)
      }
    }
  }
  return {
    words,
    transitions: Array.from(labels.values(), ({ from, to, names }) => ({ from, to, label: names.join(', ') }))
  }
}

interface Point {
  readonly x: number
  readonly y: number
}

// Sizes in the units of the picture, which are pixels where the page is wide enough.
const BOX = { width: 120, height: 36 } as const
const COLUMN_WIDTH = 200
const ROW_HEIGHT = 100
const MARGIN = 30

/** The picture. Each state is a box in the row of its distance from the first ones; each transition is an arrow. */
function diagram(resource: string, property: string, { words, transitions: moves }: States): string {
  const rows = stateRows(words, moves)
  const columns = Math.max(...rows.map((row) => row.length))
  const width = columns * COLUMN_WIDTH + 2 * MARGIN
  const height = (rows.length - 1) * ROW_HEIGHT + BOX.height + 2 * MARGIN
  const places = new Map<string, Point>()
  for (const [at, row] of rows.entries()) {
    for (const [index, word] of row.entries()) {
      const x = width / 2 + (index - (row.length - 1) / 2) * COLUMN_WIDTH
      places.set(word, { x, y: MARGIN + BOX.height / 2 + at * ROW_HEIGHT })
    }
  }
  const id = `states-${resource}-${property}`
  const title = `States of ${resource} by ${property}`
  const sentences = moves.map(({ from, to, label }) => `${label} leads from ${from} to ${to}.`).join(' ')
  const arrows = moves.map((move) => arrow(move, { places, moves, marker: `${id}-arrow` }))
  const boxes = Array.from(places, ([word, place]) => box(word, place))
  return `<figure>
<svg role="img" aria-labelledby="${escapeHtml(`${id}-title ${id}-text`)}" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" font-size="14">
<title id="${escapeHtml(`${id}-title`)}">${escapeHtml(title)}</title>
<desc id="${escapeHtml(`${id}-text`)}">${escapeHtml(sentences)}</desc>
<marker id="${escapeHtml(`${id}-arrow`)}" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="8" markerHeight="8" orient="auto"><path d="M0 0L8 4L0 8z" fill="currentColor"/></marker>
${[...arrows, ...boxes].join('\n')}
</svg>
<figcaption>${escapeHtml(title)}. An arrow is an action.</figcaption>
</figure>`
}

/** The states by their distance from those that no arrow leads to, or from the first one where every state has such. */
function stateRows(words: readonly string[], moves: readonly Transition[]): string[][] {
  const onward = moves.filter(({ from, to }) => from !== to)
  const first = words.filter((word) => !onward.some(({ to }) => to === word))
  const rows: string[][] = []
  const placed = new Set<string>()
  let row = first.length > 0 ? first : words.slice(0, 1)
  while (row.length > 0) {
    rows.push(row)
    for (const word of row) placed.add(word)
    const next = onward.filter(({ from, to }) => row.includes(from) && !placed.has(to)).map(({ to }) => to)
    row = [...new Set(next)]
    // A ring of states that the first ones do not lead to has a first one of its own.
    if (row.length === 0) row = words.filter((word) => !placed.has(word)).slice(0, 1)
  }
  return rows
}

function box(word: string, { x, y }: Point): string {
  const { width, height } = BOX
  return `<rect x="${x - width / 2}" y="${y - height / 2}" width="${width}" height="${height}" rx="6" fill="Canvas" stroke="currentColor"/>
<text x="${x}" y="${y + 5}" text-anchor="middle" fill="currentColor">${escapeHtml(word)}</text>`
}

interface Drawing {
  readonly places: ReadonlyMap<string, Point>
  readonly moves: readonly Transition[]
  /** The id of the head of arrows. */
  readonly marker: string
}

/** An arrow with its label. Two arrows between the same states bend away from each other. */
function arrow({ from, to, label }: Transition, { places, moves, marker }: Drawing): string {
  const [start, end] = [places.get(from), places.get(to)]
  if (start === undefined || end === undefined) return ''
  if (from === to) return loop(start, label, marker)
  const isBent = moves.some((other) => other.from === to && other.to === from) || Math.abs(end.y - start.y) > ROW_HEIGHT
  const [dx, dy] = [end.x - start.x, end.y - start.y]
  const bend = isBent ? 0.3 : 0
  const middle = { x: (start.x + end.x) / 2 + dy * bend, y: (start.y + end.y) / 2 - dx * bend }
  const [a, b] = [edge(start, middle), edge(end, middle)]
  const at = { x: (a.x + b.x) / 4 + middle.x / 2, y: (a.y + b.y) / 4 + middle.y / 2 }
  const path = `M${round(a.x)} ${round(a.y)}Q${round(middle.x)} ${round(middle.y)} ${round(b.x)} ${round(b.y)}`
  return line(path, marker) + caption(label, dy === 0 ? { x: at.x, y: at.y - 8 } : { x: at.x, y: at.y + 5 })
}

/** An arrow from a state to itself, at the right side of its box. */
function loop({ x, y }: Point, label: string, marker: string): string {
  const right = x + BOX.width / 2
  return (
    line(`M${right} ${y - 8}C${right + 36} ${y - 24} ${right + 36} ${y + 24} ${right} ${y + 8}`, marker) +
    caption(label, { x: right, y: y + 36 })
  )
}

function line(path: string, marker: string): string {
  return `<path d="${path}" fill="none" stroke="currentColor" marker-end="url(#${escapeHtml(marker)})"/>\n`
}

/** The label lies over the line, with the page's own background around its letters. */
function caption(label: string, { x, y }: Point): string {
  return `<text x="${round(x)}" y="${round(y)}" text-anchor="middle" fill="currentColor" stroke="Canvas" stroke-width="6" paint-order="stroke">${escapeHtml(label)}</text>`
}

/** Where the line from the centre of a box to the point crosses the border of the box. */
function edge({ x, y }: Point, to: Point): Point {
  const [dx, dy] = [to.x - x, to.y - y]
  const share = Math.min(BOX.width / 2 / Math.abs(dx), BOX.height / 2 / Math.abs(dy))
  return { x: x + dx * share, y: y + dy * share }
}

function round(value: number): number {
  return Math.round(value * 10) / 10
}
