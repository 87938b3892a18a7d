import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import { packageRoot } from '../harness/package-root.js'

/** A TypeScript file of the project; the path from the project root, with slashes. */
export interface SourceFile {
  readonly path: string
  readonly text: string
}

/** Every hand-written TypeScript file under the folders. */
export function sourceFiles(...folders: readonly string[]): SourceFile[] {
  return folders.flatMap((folder) =>
    readdirSync(join(packageRoot, folder), { recursive: true, encoding: 'utf8' })
      .map((name) => `${folder}/${name.replaceAll('\\', '/')}`)
      .filter((path) => /\.tsx?$/.test(path) && !path.startsWith('shared/gen/'))
      .toSorted()
      .map((path) => ({ path, text: readFileSync(join(packageRoot, path), 'utf8') }))
  )
}

export const PRODUCT = ['gateway', 'data-service', 'schema', 'shared', 'cli'] as const
/** The typed client, a package of its own. */
export const CLIENT = 'clients/typescript/src'
/** The providers of react-admin, another package. */
export const REACT_ADMIN = 'clients/react-admin/src'
/** The admin, which runs in browsers alone. */
export const ADMIN = 'clients/admin/src'
export const EVERYTHING = [...PRODUCT, CLIENT, REACT_ADMIN, ADMIN, 'examples', 'test', 'bench', 'campaign'] as const

/** Files whose code, comments and string contents left out, matches. */
export function filesWithCode(files: readonly SourceFile[], pattern: RegExp): string[] {
  return files.filter(({ text }) => pattern.test(codeOf(text))).map(({ path }) => path)
}

/** What a file imports: packages by name, files by their path from the project root, ending in `.ts`. */
export function importsOf({ path, text }: SourceFile): string[] {
  const found = text.matchAll(/(?:^|[\s;}])(?:from|import)\s*\(?\s*'([^']+)'/gm)
  return Array.from(found, ([, specifier = '']) =>
    specifier.startsWith('.') ? normalize(join(dirname(path), specifier)).replace(/\.js$/, '.ts') : packageOf(specifier)
  )
}

/** `mysql2` of `mysql2/promise`, `@grpc/grpc-js` of itself. */
function packageOf(specifier: string): string {
  return specifier.startsWith('@') ? specifier.split('/').slice(0, 2).join('/') : (specifier.split('/')[0] ?? specifier)
}

function codeOf(text: string): string {
  return text.replace(/\/\*[\s\S]*?\*\/|\/\/[^\n]*|'(?:[^'\\\n]|\\.)*'/g, "''")
}
