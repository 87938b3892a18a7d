import { expect } from 'chai'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { GRPC } from '../../data-service/rpc/transport/grpc-inner.js'
import { MYSQL2 } from '../../data-service/sql/engines/mysql/driver/mysql-inner.js'
import { SEQUELIZE } from '../../data-service/sql/engines/sequelize-inner.js'
import { packageRoot } from '../harness/package-root.js'
import { importsOf, PRODUCT, sourceFiles } from './source-files.js'

interface Manifest {
  readonly version?: string
  readonly dependencies?: Readonly<Record<string, string>>
}

const read = (file: string): unknown => JSON.parse(readFileSync(join(packageRoot, file), 'utf8'))
const { dependencies = {} } = read('package.json') as Manifest // ours
const lock = read('package-lock.json') as { readonly packages: Readonly<Record<string, Manifest>> } // npm's

const PACKAGES = [GRPC, MYSQL2, SEQUELIZE]
const WALLS = [
  'data-service/rpc/transport/grpc-inner.ts',
  'data-service/sql/engines/mysql/driver/mysql-inner.ts',
  'data-service/sql/engines/sequelize-inner.ts'
]

describe('packages of which inner members are used (docs/decisions/053)', () => {
  for (const { name, tested } of PACKAGES) {
    it(`are installed in the tested version alone: ${name} ${tested}`, () => {
      expect(dependencies[name], 'package.json').to.equal(tested)
      expect(lock.packages['']?.dependencies?.[name], 'package-lock.json').to.equal(tested)
      expect(lock.packages[`node_modules/${name}`]?.version, 'package-lock.json').to.equal(tested)
    })
  }

  it('have one module each, and this test knows all of them', () => {
    const walls = sourceFiles(...PRODUCT).filter(({ text }) => /: InnerPackage = /.test(text))
    expect(walls.map(({ path }) => path).toSorted()).to.deep.equal(WALLS)
  })

  it('show their inner members in that module alone: no other module takes one of their objects for something else', () => {
    const objects = '(?:connection|driver|command|sequelize|generator|server|client|channel|call)\\w*(?:\\.\\w+)*'
    const taken = new RegExp(`\\b${objects}(?: as unknown as|\\['\\w+'\\])`)
    const users = sourceFiles(...PRODUCT).filter((file) =>
      importsOf(file).some((one) => PACKAGES.some(({ name }) => name === one))
    )
    expect(users.length).to.be.greaterThan(WALLS.length)
    expect(users.filter(({ text }) => taken.test(text)).map(({ path }) => path)).to.deep.equal([])
  })
})
