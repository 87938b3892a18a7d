import { expect } from 'chai'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { packageRoot } from '../harness/package-root.js'

interface LockedPackage {
  readonly resolved?: string
  readonly integrity?: string
  readonly optionalDependencies?: Readonly<Record<string, string>>
}

const lock = JSON.parse(readFileSync(join(packageRoot, 'package-lock.json'), 'utf8')) as {
  readonly packages: Readonly<Record<string, LockedPackage>>
} // npm's lockfileVersion 3
const packages = Object.entries(lock.packages)

describe('package-lock.json', () => {
  it('names no host', () => {
    expect(packages.filter(([, { resolved }]) => resolved !== undefined)).to.deep.equal([])
  })

  it('has the integrity of every package', () => {
    expect(packages.filter(([path, { integrity }]) => path !== '' && integrity === undefined)).to.deep.equal([])
  })

  // npm leaves out the ones it could not find for other platforms, and then npm 11 refuses to install from the file.
  it('has every optional dependency, whatever platform it is for', () => {
    const missing = packages.flatMap(([path, { optionalDependencies = {} }]) =>
      Object.keys(optionalDependencies).filter(
        (name) => !(`${path}/node_modules/${name}` in lock.packages) && !(`node_modules/${name}` in lock.packages)
      )
    )
    expect(missing).to.deep.equal([])
  })
})
