import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))

/** The compiled test files whose path holds one of the filters; all without filters. */
export function testFiles(filters: readonly string[]): string[] {
  return readdirSync(root, { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.test.js'))
    .filter((path) => filters.length === 0 || filters.some((filter) => `test/${path}`.includes(sourceless(filter))))
    .toSorted()
    .map((path) => join(root, path))
}

/** So that the path of a source, as a shell completes it, names its test as well. */
function sourceless(filter: string): string {
  return filter.replace(/^\.\//, '').replace(/\.ts$/, '.js')
}
