import { execFile } from 'node:child_process'
import { readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { promisify } from 'node:util'

/** What a page tells its reader to do to one file. */
export type Step =
  | { readonly kind: 'create'; readonly path: string; readonly content: string }
  | { readonly kind: 'add'; readonly path: string; readonly importLine: string; readonly item: string }
  /** The file that `npm run migrate -- create <name>` writes; its number is that of the day. */
  | { readonly kind: 'generate'; readonly path: string; readonly name: string; readonly content: string }

const CREATE = /^Create `([^`]+)`:\n\n```ts\n(.*?)```$/gms
const GENERATE = /^Run `npm run migrate -- create ([a-z-]+)`, which writes `([^`]+)`:\n\n```ts\n(.*?)```$/gms
const ADD =
  /^Add it to `([^`]+)`, its import and its (?:line|name) [^:\n]*list:\n\n```ts\n(.*?)\n```\n\n```ts\n(.*?)\n```$/gms

/** Every file that the page creates or adds to, in its order, by its own sentences. Nothing else of it is done. */
export function stepsOf(page: string): Step[] {
  const created = [...page.matchAll(CREATE)].map(({ index, 1: path = '', 2: content = '' }) => {
    return { index, step: { kind: 'create', path, content } as const }
  })
  const generated = [...page.matchAll(GENERATE)].map(({ index, 1: name = '', 2: path = '', 3: content = '' }) => {
    return { index, step: { kind: 'generate', path, name, content } as const }
  })
  const added = [...page.matchAll(ADD)].map(({ index, 1: path = '', 2: importLine = '', 3: item = '' }) => {
    return { index, step: { kind: 'add', path, importLine, item } as const }
  })
  return [...created, ...generated, ...added].toSorted((a, b) => a.index - b.index).map(({ step }) => step)
}

/** Does what the step says in a copy of the project, which is compiled anew before a command runs: `compile` does that. */
export async function follow(step: Step, root: string, compile?: () => Promise<void>): Promise<void> {
  const path = join(root, step.path)
  switch (step.kind) {
    case 'create':
      return writeFile(path, step.content, { flag: 'wx' })
    case 'add':
      return writeFile(path, withItem(withImport(await readFile(path, 'utf8'), step.importLine), step.item))
    case 'generate': {
      await compile?.()
      const args = ['dist/cli/main.js', 'migrate', 'create', step.name, '--app', 'examples/store']
      await promisify(execFile)(process.execPath, args, { cwd: root })
    }
  }
}

/** The file that a followed step has generated, with the number that the page shows. */
export async function generatedText(
  { path, name }: Extract<Step, { kind: 'generate' }>,
  root: string
): Promise<string> {
  const folder = join(root, dirname(path))
  const [file = ''] = (await readdir(folder)).filter((one) => isOfName(one, name))
  const text = await readFile(join(folder, file), 'utf8')
  return text.replace(/name: '\d+-/, `name: '${/^\d+/.exec(basename(path))?.[0] ?? ''}-`)
}

/** Takes back what a reader of the page has done already, so that the step can be followed. */
export async function undo(step: Step, root: string): Promise<void> {
  const path = join(root, step.path)
  if (step.kind === 'add') {
    const gone = [step.importLine, step.item].map(bare)
    const lines = (await readFile(path, 'utf8')).split('\n')
    return writeFile(path, lines.filter((line) => !gone.includes(bare(line))).join('\n'))
  }
  if (step.kind === 'create') return rm(path, { force: true })
  // The migrations of a compiled application are those that stand in its folder.
  for (const folder of [dirname(path), join(root, 'dist', dirname(step.path))]) {
    const files = await readdir(folder).catch(() => [])
    for (const file of files.filter((one) => isOfName(one, step.name))) await rm(join(folder, file))
  }
}

function isOfName(file: string, name: string): boolean {
  return [`${name}.ts`, `${name}.js`].includes(file.replace(/^\d+-/, ''))
}

function bare(line: string): string {
  return line.trim().replace(/,$/, '')
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
