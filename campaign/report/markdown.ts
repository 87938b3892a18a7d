/** A table as lines of Markdown. */
export function table(headings: readonly string[], rows: readonly (readonly string[])[]): string[] {
  const line = (cells: readonly string[]): string =>
    `| ${cells.map((cell) => cell.replaceAll('|', '\\|').replaceAll('\n', ' ')).join(' | ')} |`
  return [line(headings), line(headings.map(() => '---')), ...rows.map(line)]
}

/** `1,234,567`. */
export function grouped(count: number): string {
  return count.toLocaleString('en-US')
}

/** `1 fault`, `1,234 faults`. */
export function counted(count: number, one: string, more = `${one}s`): string {
  return `${grouped(count)} ${count === 1 ? one : more}`
}

/** `60 s`, `12 min`, `1 h`, `3 h 5 min`: rounded to what a reader compares. */
export function lasting(seconds: number): string {
  if (seconds < 120) return `${grouped(Math.round(seconds))} s`
  const minutes = Math.round(seconds / 60)
  const [hours, rest] = [Math.floor(minutes / 60), minutes % 60]
  return [...(hours > 0 ? [`${grouped(hours)} h`] : []), ...(rest > 0 ? [`${rest} min`] : [])].join(' ')
}

/** `7.1 %`; `0 %` of nothing. */
export function percent(part: number, whole: number): string {
  return `${whole === 0 ? 0 : Number(((100 * part) / whole).toFixed(1))} %`
}

/** `a`, `a and b`, `a, b and c`. */
export function listed(items: readonly string[]): string {
  return items.length < 2 ? items.join('') : `${items.slice(0, -1).join(', ')} and ${items.at(-1)}`
}

/** What a checker has found, with the ids of exchanges that its sentence does not name. */
export function violationText({
  what,
  exchanges
}: {
  readonly what: string
  readonly exchanges: readonly string[]
}): string {
  const named = new Set(what.split(/[^\w-]+/))
  const others = exchanges.filter((id) => !named.has(id))
  return others.length === 0 ? what : `${what} (${others.join(', ')})`
}

export function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, one) => total + one, 0)
}
