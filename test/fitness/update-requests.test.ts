import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'chai'
import { packageRoot } from '../harness/package-root.js'
import { EVERYTHING, sourceFiles } from './source-files.js'

// source.md, "Create and update requests": no type whose name ends in UpdateRequest may implement the concurrency-aware
// contract, which is a member with the version of the row.

const TOKEN = /\b(?:row_?version|e_?tag|if_?match|concurrency_?token)\b/i

/** The members of each type or message of such a name, by name. */
function updateRequests(text: string): (readonly [name: string, members: string])[] {
  const found = text.matchAll(
    /\b(?:interface|class|type|message)\s+(\w*UpdateRequest(?:__Output)?)\b[^{;]*\{([^}]*)\}/g
  )
  return Array.from(found, ([, name = '', members = '']) => [name, members.replaceAll(/\/\/.*|\/\*[^]*?\*\//g, '')])
}

function filesUnder(folder: string, ending: string): readonly (readonly [path: string, text: string])[] {
  return readdirSync(join(packageRoot, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith(ending))
    .map((name) => [`${folder}/${name}`, readFileSync(join(packageRoot, folder, name), 'utf8')])
}

function offenders(files: Iterable<readonly [path: string, text: string]>): string[] {
  return Array.from(files).flatMap(([path, text]) =>
    updateRequests(text).flatMap(([name, members]) => (TOKEN.test(members) ? [`${path}: ${name}`] : []))
  )
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
    const names = files.flatMap(([, text]) => updateRequests(text).map(([name]) => name))
    expect(names).to.deep.equal(['UpdateRequest'])
    expect(offenders(files)).to.deep.equal([])
  })

  it('is found where it has one', () => {
    expect(offenders([['x.ts', 'interface ProductUpdateRequest {\n  readonly rowVersion: string\n}']])).to.deep.equal([
      'x.ts: ProductUpdateRequest'
    ])
    expect(offenders([['x.proto', 'message UpdateRequest {\n  bytes row_version = 1;\n}']])).to.have.length(1)
  })
})
