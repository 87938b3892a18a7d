import { performance } from 'node:perf_hooks'
import { open } from '../harness/http.js'

interface MeasuredExport {
  readonly rows: number
  readonly seconds: number
  /** The last complete row. */
  readonly last: string
  /** Whether the first column rose by one from row to row. */
  readonly consecutive: boolean
}

/** Reads an export of ids as it comes, keeping none of it. */
export async function measuredExport(url: string): Promise<MeasuredExport> {
  const start = performance.now()
  const response = await open(url)
  if (response.statusCode !== 200) throw new Error(`${url} answered ${response.statusCode ?? 'nothing'}`)
  let rest = ''
  let rows = -1
  let last = ''
  let before: number | undefined
  let consecutive = true
  response.setEncoding('utf8')
  for await (const chunk of response as AsyncIterable<string>) {
    const lines = (rest + chunk).split('\r\n')
    rest = lines.pop() ?? ''
    for (const line of lines) {
      rows++
      last = line
      if (rows === 0) continue
      const id = Number.parseInt(line, 10)
      if (before !== undefined && id !== before + 1) consecutive = false
      before = id
    }
  }
  if (rest !== '') throw new Error(`the export ends within a row: ${rest.slice(0, 100)}`)
  return { rows, seconds: (performance.now() - start) / 1000, last, consecutive }
}
