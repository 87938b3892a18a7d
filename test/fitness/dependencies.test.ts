import { expect } from 'chai'
import { readFileSync } from 'node:fs'
import { isBuiltin } from 'node:module'
import { join } from 'node:path'
import { packageRoot } from '../harness/package-root.js'
import { importsOf, PRODUCT, sourceFiles } from './source-files.js'

const { name, dependencies } = JSON.parse(readFileSync(join(packageRoot, 'package.json'), 'utf8')) as {
  readonly name: string
  readonly dependencies: Readonly<Record<string, string>>
} // ours

/** Nobody imports these. */
const HELD_BACK: readonly string[] = [
  // Fastify takes any 6.x; from 6.8 on it needs Node 22. npm gives Fastify the one that stands here.
  'light-my-request'
]

describe('dependencies', () => {
  it('are what the packed files import, and nothing else', () => {
    const packed = sourceFiles(...PRODUCT).filter(({ path }) => !path.startsWith('cli/template/'))
    const imported = new Set(packed.flatMap(importsOf).filter((one) => !/\.tsx?$/.test(one)))
    const packages = [...imported].filter((one) => !isBuiltin(one) && one !== name)
    expect(Object.keys(dependencies).toSorted()).to.deep.equal([...packages, ...HELD_BACK].toSorted())
  })
})
