import { readFileSync } from 'node:fs'
import { SourceMap, type SourceMapPayload } from 'node:module'
import { fileURLToPath } from 'node:url'

const output = fileURLToPath(new URL('../../', import.meta.url))

/** A place in a stack: a compiled file, its line and its column. */
const PLACE = /(?:file:\/\/)?[^\s():]*\bdist\/([\w./-]+)\.js:(\d+):(\d+)/g

/**
 * A text with places in the sources instead of those in dist/. Node would do that for each stack that is read, and would
 * read all maps for it: a twelfth of the processor time of all tests.
 */
export function withSourcePlaces(text: string): string {
  return text.replaceAll(PLACE, (place, name: string, line: string, column: string) => {
    try {
      const map = JSON.parse(readFileSync(`${output}${name}.js.map`, 'utf8')) as SourceMapPayload // of the compiler
      const entry = new SourceMap(map).findEntry(Number(line) - 1, Number(column) - 1)
      if (!('originalLine' in entry)) return place
      const extension = /\.\w+$/.exec(entry.originalSource)?.[0] ?? ''
      return `${name}${extension}:${entry.originalLine + 1}:${entry.originalColumn + 1}`
    } catch {
      return place
    }
  })
}
