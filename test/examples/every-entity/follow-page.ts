import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

/** What a page tells its reader to do to one file. */
export type Step =
  | { readonly kind: 'create'; readonly path: string; readonly content: string }
  | { readonly kind: 'add'; readonly path: string; readonly importLine: string; readonly item: string }

const CREATE = /^Create `([^`]+)`:\n\n```ts\n(.*?)```$/gms
const ADD =
  /^Add it to `([^`]+)`, its import and its (?:line|name) [^:\n]*list:\n\n```ts\n(.*?)\n```\n\n```ts\n(.*?)\n```$/gms

/** Every file that the page creates or adds to, in its order, by its own sentences. Nothing else of it is done. */
export function stepsOf(page: string): Step[] {
  const created = [...page.matchAll(CREATE)].map(({ index, 1: path = '', 2: content = '' }) => {
    return { index, step: { kind: 'create', path, content } as const }
  })
  const added = [...page.matchAll(ADD)].map(({ index, 1: path = '', 2: importLine = '', 3: item = '' }) => {
    return { index, step: { kind: 'add', path, importLine, item } as const }
  })
  return [...created, ...added].toSorted((a, b) => a.index - b.index).map(({ step }) => step)
}

/** Does what the step says in a copy of the project. */
export async function follow(step: Step, root: string): Promise<void> {
  const path = join(root, step.path)
  if (step.kind === 'create') return writeFile(path, step.content, { flag: 'wx' })
  await writeFile(path, withItem(withImport(await readFile(path, 'utf8'), step.importLine), step.item))
}

/** Below the other imports. */
function withImport(text: string, line: string): string {
  const last = [...text.matchAll(/^import [^']*'[^']*'$/gm)].at(-1)
  if (last === undefined) throw new Error('a file to add to has imports')
  const end = last.index + last[0].length
  return `${text.slice(0, end)}\n${line}${text.slice(end)}`
}

/** At the end of the one list, behind a comma. */
function withItem(text: string, item: string): string {
  const parts = /^(.*\n)(\n?)(\]\n*)$/s.exec(text)
  if (parts === null) throw new Error('a file to add to ends with its list')
  const [, before = '', , end = ''] = parts
  return `${before.replace(/,?\n$/, ',\n')}${item}\n${end}`
}
