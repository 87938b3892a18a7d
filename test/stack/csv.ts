/** A cell as it stands in the file, so that an empty cell and `""` differ. */
interface Cell {
  readonly value: string
  readonly quoted: boolean
}

/** Reads RFC 4180 with CRLF strictly: anything else throws. */
export function parseCsv(text: string): Cell[][] {
  const rows: Cell[][] = []
  let row: Cell[] = []
  let rest = text
  while (rest !== '') {
    const match = /^(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r\n)/.exec(rest)
    if (match === null) throw new Error(`not RFC 4180 at ${JSON.stringify(rest.slice(0, 80))}`)
    const [whole, quoted, plain = '', end] = match
    row.push(
      quoted === undefined ? { value: plain, quoted: false } : { value: quoted.replaceAll('""', '"'), quoted: true }
    )
    if (end === '\r\n') {
      rows.push(row)
      row = []
    }
    rest = rest.slice(whole.length)
  }
  if (row.length > 0) throw new Error('the last row has no CRLF')
  return rows
}

export const values = (row: readonly Cell[] | undefined): string[] => (row ?? []).map((cell) => cell.value)
