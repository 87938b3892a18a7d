import { expect } from 'chai'
import { readFileSync } from 'node:fs'
import { isBuiltin } from 'node:module'
import { join } from 'node:path'
import { packageRoot } from '../harness/package-root.js'
import { importsOf, sourceFiles } from './source-files.js'

const { name, files, dependencies, peerDependencies, peerDependenciesMeta } = JSON.parse(
  readFileSync(join(packageRoot, 'package.json'), 'utf8')
) as {
  readonly name: string
  readonly files: readonly string[]
  readonly dependencies: Readonly<Record<string, string>>
  readonly peerDependencies: Readonly<Record<string, string>>
  readonly peerDependenciesMeta: Readonly<Record<string, { readonly optional: boolean }>>
} // ours

/** Nobody imports these. */
const HELD_BACK: readonly string[] = [
  // Fastify takes any 6.x; from 6.8 on it needs Node 22. npm gives Fastify the one that stands here.
  'light-my-request'
]

/** What `uniform-rest/testing` asks of the project that imports it: its own mocha must run what is declared. */
const OF_TESTS = ['chai', 'mocha']

describe('dependencies', () => {
  it('are what the packed files import, and nothing else', () => {
    const folders = files.flatMap((one) => /^dist\/(.+)\/$/.exec(one)?.[1] ?? [])
    const packed = sourceFiles(...folders).filter(({ path }) => !path.startsWith('cli/template/'))
    const imported = new Set(packed.flatMap(importsOf).filter((one) => !/\.tsx?$/.test(one)))
    const packages = [...imported].filter((one) => !isBuiltin(one) && one !== name && !OF_TESTS.includes(one))
    expect(folders).to.include.members(['cli', 'data-service', 'gateway', 'shared'])
    expect(Object.keys(dependencies).toSorted()).to.deep.equal([...packages, ...HELD_BACK].toSorted())
  })

  it('of tests are those of the project that tests, and optional', () => {
    expect(Object.keys(peerDependencies)).to.deep.equal(OF_TESTS)
    expect(OF_TESTS.map((one) => peerDependenciesMeta[one]?.optional)).to.deep.equal([true, true])
  })
})
