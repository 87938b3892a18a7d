import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'chai'
import { packageRoot } from '../harness/package-root.js'
import { EVERYTHING, sourceFiles } from './source-files.js'

// source.md, "Create and update requests": no type whose name ends in UpdateRequest may implement the concurrency-aware
// contract, which is a member with the version of the row.

const TOKEN = /\b(?:row_?version|e_?tag|if_?match|concurrency_?token)\b/i

/** The declarations of types and messages whose names match, by name: all until the next line that is not indented. */
function declarations(text: string, names: RegExp): (readonly [name: string, declaration: string])[] {
  const found = text.matchAll(
    /^(?:export |declare )*(?:interface|(?:abstract )?class|type|message)\s+(\w+)[^]*?(?=\n[^\s})]|$(?![^]))/gm
  )
  return Array.from(
    found,
    ([declaration, name = '']) => [name, declaration.replaceAll(/\/\/.*|\/\*[^]*?\*\//g, '')] as const
  ).filter(([name]) => names.test(name))
}

const UPDATE_REQUEST = /UpdateRequest(?:__Output)?$/

function filesUnder(folder: string, ending: string): readonly (readonly [path: string, text: string])[] {
  return readdirSync(join(packageRoot, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith(ending))
    .map((name) => [`${folder}/${name}`, readFileSync(join(packageRoot, folder, name), 'utf8')])
}

/** Update requests with a concurrency token among their own members or those of a type that they are made of. */
function offenders(files: readonly (readonly [path: string, text: string])[]): string[] {
  const all = files.flatMap(([path, text]) =>
    declarations(text, /./).map(([name, declaration]) => ({ path, name, declaration }))
  )
  const versioned = new Set(all.filter(({ declaration }) => TOKEN.test(declaration)).map(({ name }) => name))
  return all
    .filter(({ name }) => UPDATE_REQUEST.test(name))
    .filter(({ name, declaration }) => {
      const words = declaration.match(/\w+/g) ?? []
      return TOKEN.test(declaration) || words.some((word) => word !== name && versioned.has(word))
    })
    .map(({ path, name }) => `${path}: ${name}`)
}

describe('a type whose name ends in UpdateRequest', () => {
  it('has no concurrency token in TypeScript', () => {
    const sources = sourceFiles(...EVERYTHING)
      // The examples of this test are what it finds.
      .filter(({ path }) => path !== 'test/fitness/update-requests.test.ts')
      .map(({ path, text }) => [path, text] as const)
    expect(offenders([...sources, ...filesUnder('shared/gen', '.ts')])).to.deep.equal([])
  })

  it('has none in proto, where typed requests are named after their row', () => {
    const files = [...filesUnder('proto', '.proto'), ...filesUnder('examples/store/grpc', '.proto')]
    const names = files.flatMap(([, text]) => declarations(text, UPDATE_REQUEST).map(([name]) => name))
    expect(names).to.deep.equal(['UpdateRequest'])
    expect(offenders(files)).to.deep.equal([])
  })

  it('is found where it has one, of its own or of what it is made of', () => {
    for (const text of [
      'interface ProductUpdateRequest {\n  readonly rowVersion: string\n}',
      'interface ProductUpdateRequest {\n  readonly at: { readonly x: 1 }\n  readonly eTag: string\n}',
      'interface Versioned {\n  readonly rowVersion: string\n}\nexport interface ProductUpdateRequest extends Versioned {}',
      'interface Versioned {\n  readonly rowVersion: string\n}\nclass ProductUpdateRequest implements Versioned {}',
      'type Versioned = { rowVersion: string }\ntype ProductUpdateRequest = Versioned & {\n  name: string\n}'
    ]) {
      expect(offenders([['x.ts', text]]), text).to.deep.equal(['x.ts: ProductUpdateRequest'])
    }
    expect(offenders([['x.proto', 'message UpdateRequest {\n  bytes row_version = 1;\n}']])).to.have.length(1)
  })
})
