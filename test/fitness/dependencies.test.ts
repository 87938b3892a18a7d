import { expect } from 'chai'
import { readFileSync } from 'node:fs'
import { isBuiltin } from 'node:module'
import { join } from 'node:path'
import { packagesInstalledFor } from '../harness/installed-packages.js'
import { packageRoot } from '../harness/package-root.js'
import { importsOf, sourceFiles } from './source-files.js'

const {
  name,
  version: ours,
  files,
  dependencies,
  devDependencies,
  peerDependencies,
  peerDependenciesMeta
} = JSON.parse(readFileSync(join(packageRoot, 'package.json'), 'utf8')) as {
  readonly name: string
  readonly version: string
  readonly files: readonly string[]
  readonly dependencies: Readonly<Record<string, string>>
  readonly devDependencies: Readonly<Record<string, string>>
  readonly peerDependencies: Readonly<Record<string, string>>
  readonly peerDependenciesMeta: Readonly<Record<string, { readonly optional: boolean }>>
} // ours

/** What `uniform-rest/testing` asks of the project that imports it: its own mocha must run what is declared. */
const OF_TESTS = ['chai', 'mocha']

/** Ours: it has no code that a process loads, and the checkout makes it. */
const PAGES = '@uniform-rest/pages'

/** Packages that are loaded where a setting needs them, and that an application installs by itself then (docs/decisions/073). */
const OF_SETTINGS = Object.keys(peerDependencies).filter((one) => one !== PAGES && !OF_TESTS.includes(one))

describe('dependencies', () => {
  it('are what the packed files import, and nothing else', () => {
    const folders = files.flatMap((one) => /^dist\/(.+)\/$/.exec(one)?.[1] ?? [])
    const packed = sourceFiles(...folders).filter(({ path }) => !path.startsWith('cli/template/'))
    const imported = new Set(packed.flatMap(importsOf).filter((one) => !/\.tsx?$/.test(one)))
    const packages = [...imported].filter((one) => !isBuiltin(one) && one !== name && !OF_TESTS.includes(one))
    expect(folders).to.include.members(['cli', 'data-service', 'gateway', 'shared'])
    const declared = [...Object.keys(dependencies), ...OF_SETTINGS]
    expect(declared.toSorted()).to.deep.equal(packages.toSorted())
  })

  it('are fewer than 150 packages on one platform, with those that they depend on', () => {
    const installed = packagesInstalledFor(Object.keys(dependencies))
    expect(installed.size).to.be.within(100, 149)
    for (const one of OF_SETTINGS) expect(installed.has(`node_modules/${one}`), one).to.equal(false)
  })

  it('that one setting needs are optional, and the checkout has them in the same version', () => {
    expect(OF_SETTINGS).to.include.members(['@azure/storage-blob', '@photostructure/sqlite', 'openid-client'])
    for (const one of OF_SETTINGS) {
      expect(peerDependenciesMeta[one]?.optional, one).to.equal(true)
      expect(devDependencies[one], one).to.equal(peerDependencies[one])
    }
  })

  it('have the pages of the same version, which are optional', () => {
    const { version } = JSON.parse(readFileSync(join(packageRoot, 'clients/pages/package.json'), 'utf8')) as {
      readonly version: string
    } // ours
    expect([peerDependencies[PAGES], ours]).to.deep.equal([version, version])
    expect(peerDependenciesMeta[PAGES]?.optional).to.equal(true)
  })

  it('of tests are those of the project that tests, and optional', () => {
    expect(Object.keys(peerDependencies)).to.include.members(OF_TESTS)
    expect(OF_TESTS.map((one) => peerDependenciesMeta[one]?.optional)).to.deep.equal([true, true])
  })
})
