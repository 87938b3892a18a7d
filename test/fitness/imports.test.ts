import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect } from 'chai'
import { packageRoot } from '../harness/package-root.js'
import { CLIENT, EVERYTHING, importsOf, PRODUCT, REACT_ADMIN, type SourceFile, sourceFiles } from './source-files.js'

/** Imports of the files that the rule names and does not allow, as `file → import`. */
function violations(files: readonly SourceFile[], allowed: (imported: string, file: SourceFile) => boolean): string[] {
  return files.flatMap((file) =>
    importsOf(file)
      .filter((imported) => !allowed(imported, file))
      .map((imported) => `${file.path} → ${imported}`)
  )
}

/** npm packages, and what Node and this package itself offer by name. */
const isPackage = (imported: string): boolean => !imported.includes('/') || imported.startsWith('@')

const under = (folder: string) => (path: string) => path.startsWith(`${folder}/`) || path === `${folder}.ts`

describe('imports', () => {
  const product = sourceFiles(...PRODUCT)

  it('of the sources are found by these tests', () => {
    const files: SourceFile[] = [
      { path: 'gateway/a.ts', text: "import { x } from '../shared/b.js'\nexport type { y } from './c.js'\n" },
      { path: 'gateway/d.ts', text: "import 'mysql2/promise'\nconst z = await import('@grpc/grpc-js')\n" }
    ]
    expect(files.flatMap(importsOf)).to.deep.equal(['shared/b.ts', 'gateway/c.ts', 'mysql2', '@grpc/grpc-js'])
    expect(violations(files, (imported) => imported !== 'mysql2')).to.deep.equal(['gateway/d.ts → mysql2'])
  })

  it('Each room is a project of the compiler, which refuses imports from rooms that the project does not name.', () => {
    const rooms: Readonly<Record<string, readonly string[]>> = {
      shared: [],
      gateway: ['shared'],
      'data-service': ['shared'],
      schema: ['shared', 'data-service'],
      cli: ['shared', 'gateway', 'data-service', 'schema']
    }
    expect(Object.keys(rooms)).to.have.members([...PRODUCT])
    for (const [room, named] of Object.entries(rooms)) {
      const project = JSON.parse(readFileSync(join(packageRoot, room, 'tsconfig.json'), 'utf8')) as {
        readonly compilerOptions: { readonly composite: boolean }
        readonly include: readonly string[]
        readonly references: readonly { readonly path: string }[]
      }
      const paths = project.references.map(({ path }) => path)
      expect([project.compilerOptions.composite, project.include, paths], room).to.deep.equal([
        true,
        ['.'],
        named.map((one) => `../${one}`)
      ])
    }
  })

  it('of the examples reach the public entry points of the package alone', () => {
    for (const folder of ['examples/store', 'examples/sakila', 'examples/clinic']) {
      const example = sourceFiles(folder)
      const open = (imported: string): boolean => under(folder)(imported) || isPackage(imported)
      expect(example, folder).to.not.be.empty
      expect(violations(example, open)).to.deep.equal([])
    }
    expect(sourceFiles('examples/store').some((file) => importsOf(file).includes('uniform-rest'))).to.equal(true)
  })

  it('of the typed client reach its own files alone, and nobody but tests reaches it', () => {
    const client = sourceFiles(CLIENT)
    expect(client.map(({ path }) => path)).to.include(`${CLIENT}/client.ts`)
    expect(violations(client, under(CLIENT))).to.deep.equal([])
    const others = [...product, ...sourceFiles('examples')]
    expect(violations(others, (imported) => !under(CLIENT)(imported))).to.deep.equal([])
  })

  it('of the providers of react-admin reach their own files, ra-core and the types of the typed client alone', () => {
    const providers = sourceFiles(REACT_ADMIN)
    const open = (imported: string): boolean =>
      under(REACT_ADMIN)(imported) || ['ra-core', '@uniform-rest/client'].includes(imported)
    expect(violations(providers, open)).to.deep.equal([])
    const loaded = providers.flatMap((file) => importsOf(withoutTypeImports(file)))
    expect(loaded).to.include('ra-core').and.to.not.include('@uniform-rest/client')
  })

  it('of the main entry point reach neither a driver nor a transport nor the gateway', () => {
    const reached = reach('cli/public/uniform-rest.ts', product)
    expect(reached).to.include('data-service/entity/define-entity.ts')
    const heavy = ['sequelize', 'mysql2', 'fastify', '@grpc/grpc-js', 'jsonwebtoken', 'pino']
    expect(reached.filter((one) => heavy.includes(one) || under('gateway')(one))).to.deep.equal([])
  })

  it('of the thread that reads SQLite reach one package, so that each thread is small and begins soon', () => {
    const reached = reach('data-service/sql/engines/sqlite/read-worker.ts', product)
    expect(reached).to.include('data-service/sql/engines/sqlite/sqlite-connection.ts')
    const packages = reached.filter((one) => !one.endsWith('.ts') && !one.startsWith('node:'))
    expect(packages).to.deep.equal(['lru-cache'])
  })

  it('of the entry point for tests reach what is packed alone, and every file that is packed for it', () => {
    const packed = ['every-entity', 'oracle', 'public', 'stack'].map((folder) => `test/${folder}`)
    const tests = sourceFiles(...packed)
    const entry = 'test/public/testing.ts'
    // With types: what is packed has declarations.
    const reached = reach(entry, [...product, ...tests], importsOf)
    const known = (path: string): boolean => [...PRODUCT, ...packed].some((folder) => under(folder)(path))
    expect(reached.filter((one) => one.endsWith('.ts') && !known(one))).to.deep.equal([])
    expect(tests.map(({ path }) => path).filter((path) => path !== entry && !reached.includes(path))).to.deep.equal([])
    const packages = reached.filter((one) => !one.endsWith('.ts') && !one.startsWith('node:'))
    const manifest = JSON.parse(readFileSync(join(packageRoot, 'package.json'), 'utf8')) as {
      readonly files: readonly string[]
      readonly dependencies: Readonly<Record<string, string>>
      readonly peerDependencies: Readonly<Record<string, string>>
    }
    // The files that `migrate create` writes import the package itself.
    const installed = ['uniform-rest', ...Object.keys({ ...manifest.dependencies, ...manifest.peerDependencies })]
    expect(packages.filter((one) => !installed.includes(one))).to.deep.equal([])
    expect(manifest.files).to.include.members(packed.map((folder) => `dist/${folder}/`))
  })

  it("of the campaign's checkers reach its history alone: they know nothing of the system", () => {
    const checkers = sourceFiles('campaign/checkers')
    expect(checkers).to.not.be.empty
    const own = (i: string): boolean =>
      under('campaign/checkers')(i) || i === 'campaign/history.ts' || i.startsWith('node:')
    expect(violations(checkers, own)).to.deep.equal([])
  })

  const homes: readonly (readonly [packages: readonly string[], ...homes: readonly string[]])[] = [
    [['sequelize', 'mysql2', '@photostructure/sqlite'], 'data-service/sql', 'schema'],
    [['fastify', 'fastify-plugin', 'csv-parse', 'csv-stringify'], 'gateway'],
    [['jsonwebtoken'], 'shared/access-token', 'data-service/auth'],
    [['prom-client', '@opentelemetry/resources', '@opentelemetry/sdk-trace-base'], 'shared/observe']
  ]
  for (const [packages, ...folders] of homes) {
    it(`of ${packages.join(', ')} are in ${folders.join(' and ')} alone`, () => {
      const elsewhere = product.filter((file) => !folders.some((folder) => under(folder)(file.path)))
      expect(violations(elsewhere, (imported) => !packages.includes(imported))).to.deep.equal([])
    })
  }

  it('of what traces and metrics take are made where a setting asks for them', () => {
    const observing = /^import (?!type )[^']*?from '(?:prom-client|@opentelemetry\/[a-z-]+)'/m
    expect(product.filter(({ text }) => observing.test(text)).map(({ path }) => path)).to.deep.equal([])
  })

  it('of the operations reach no transport', () => {
    const operations = product.filter(({ path }) => under('data-service/operations')(path))
    const transport = (i: string): boolean => under('data-service/rpc')(i) || i.startsWith('@grpc/')
    expect(operations).to.not.be.empty
    expect(violations(operations, (i) => !transport(i))).to.deep.equal([])
  })

  it('of the plan are pure: neither SQL nor a transport', () => {
    const plan = product.filter((file) => under('data-service/plan')(file.path))
    const impure = (imported: string): boolean =>
      ['data-service/sql', 'data-service/rpc', 'data-service/operations', 'shared/gen'].some((folder) =>
        under(folder)(imported)
      ) || imported === '@grpc/grpc-js'
    expect(violations(plan, (imported) => !impure(imported))).to.deep.equal([])
  })

  it('of the SQL reach finished plans alone, not how a request becomes one', () => {
    const sql = product.filter((file) => under('data-service/sql')(file.path))
    const ofPlanning = (imported: string): boolean =>
      under('data-service/plan')(imported) && !under('data-service/plan/model')(imported)
    expect(violations(sql, (imported) => !ofPlanning(imported))).to.deep.equal([])
  })

  it('of `planned`, which marks a plan, are in the planner files alone', () => {
    const importers = product.filter(({ text }) =>
      /(?:import|export)\s*\{[^}]*\bplanned\b[^}]*\}\s*from\s*'[^']*planning\.js'/.test(text)
    )
    expect(importers.map(({ path }) => path)).to.deep.equal([
      'data-service/plan/plan-history.ts',
      'data-service/plan/plan-operations.ts',
      'data-service/plan/plan-reads.ts',
      'data-service/plan/plan-totals.ts',
      'data-service/plan/plan-writes.ts'
    ])
  })

  it('of an entity file are the words of entity files and what lies beside it, no other entity', () => {
    const files = sourceFiles('examples/store').filter(
      ({ path }) => under('examples/store/entities')(path) && path !== 'examples/store/entities/index.ts'
    )
    const entities = files.filter(({ text }) => text.includes('defineEntity(')).map(({ path }) => path)
    expect(entities).to.not.be.empty
    const beside = (imported: string): boolean =>
      under('examples/store/entities')(imported) && !entities.includes(imported) && !imported.endsWith('/index.ts')
    expect(violations(files, (imported) => imported === 'uniform-rest' || beside(imported))).to.deep.equal([])
  })

  it('of a migration are the words of migrations alone, which know nothing of entity files', () => {
    const builders = sourceFiles('schema/migrations').filter(({ path }) => path.endsWith('/builders.ts'))
    const words = builders.flatMap(({ text }) =>
      Array.from(text.matchAll(/^export function (\w+)/gm), ([, word = '']) => word)
    )
    expect(words).to.include('createTable')
    const migrations = [...sourceFiles('examples/store/schema'), ...sourceFiles('schema/migrations')].filter(
      ({ path, text }) => text.includes(' steps: [') && !path.endsWith('/migration-file.ts')
    )
    expect(migrations.length).to.be.greaterThan(4)
    const others = migrations.flatMap(({ path, text }) =>
      Array.from(text.matchAll(/^import (type )?\{([^}]*)\}/gm), ([, isType, names = '']) =>
        isType === undefined ? names.split(',').map((name) => name.trim()) : []
      )
        .flat()
        .filter((name) => !words.includes(name) && !name.startsWith('type '))
        .map((name) => `${path} → ${name}`)
    )
    expect(others).to.deep.equal([])
    const writers = ['migrations/builders', 'model/tables', 'kinds/mysql/mysql-ddl', 'kinds/sqlite/sqlite-ddl']
    const plain = product.filter(({ path }) => writers.some((writer) => path === `schema/${writer}.ts`))
    expect(plain).to.have.length(writers.length)
    expect(violations(plain, (imported) => !under('data-service/entity')(imported))).to.deep.equal([])
  })

  it('of the shop reach of the service what any renderer could import alone, and what runs in browsers nothing', () => {
    const examples = sourceFiles('examples/store/storefront')
    const words = examples.flatMap(({ text }) =>
      Array.from(text.matchAll(/'(uniform-rest[^']*)'/g), ([, name]) => name)
    )
    expect([...new Set(words)]).to.have.members(['uniform-rest/look', 'uniform-rest/session-cookie'])
    const client = examples.filter((file) => under('examples/store/storefront/client')(file.path))
    expect(client).to.not.be.empty
    expect(violations(client, under('examples/store/storefront/client'))).to.deep.equal([])
  })

  it('of preact are in examples alone', () => {
    const elsewhere = sourceFiles(...PRODUCT, 'bench')
    expect(violations(elsewhere, (imported) => !imported.startsWith('preact'))).to.deep.equal([])
  })

  it('form no circle', () => {
    const files = sourceFiles(...EVERYTHING)
    const graph = new Map(files.map((file) => [file.path, importsOf(file)]))
    expect(circles(graph)).to.deep.equal([])
  })

  it('form no circle of folders', () => {
    const files = sourceFiles(...PRODUCT, 'examples')
    expect(circles(folderGraph(files))).to.deep.equal([])
  })

  it('that form a circle of folders are found', () => {
    const files: SourceFile[] = [
      { path: 'a/x.ts', text: "import { z } from './b/z.js'\nimport { y } from './y.js'\n" },
      { path: 'a/b/z.ts', text: "import type { x } from '../x.js'\n" }
    ]
    expect(circles(folderGraph(files))).to.deep.equal(['a → a/b → a'])
  })

  it('that form a circle are found', () => {
    const graph = new Map([
      ['a', ['b']],
      ['b', ['c']],
      ['c', ['a']]
    ])
    expect(circles(graph)).to.deep.equal(['a → b → c → a'])
  })
})

/** Everything that a file imports at run time, directly or through others: files and packages. */
function reach(
  entry: string,
  files: readonly SourceFile[],
  imports = (file: SourceFile): string[] => importsOf(withoutTypeImports(file))
): string[] {
  const byPath = new Map(files.map((file) => [file.path, file]))
  const found = new Set<string>()
  const visit = (path: string): void => {
    if (found.has(path)) return
    found.add(path)
    const file = byPath.get(path)
    if (file !== undefined) for (const imported of imports(file)) visit(imported)
  }
  visit(entry)
  return [...found]
}

function withoutTypeImports({ path, text }: SourceFile): SourceFile {
  return { path, text: text.replace(/^(?:import|export) type [\s\S]*?from '[^']+'$/gm, '') }
}

/** Which folders the files of each folder import from; the folder itself is left out. */
function folderGraph(files: readonly SourceFile[]): ReadonlyMap<string, readonly string[]> {
  const known = new Set(files.map(({ path }) => dirname(path)))
  const graph = new Map(Array.from(known, (folder) => [folder, new Set<string>()]))
  for (const file of files) {
    const folder = dirname(file.path)
    for (const imported of importsOf(file).map((path) => dirname(path))) {
      if (imported !== folder && known.has(imported)) graph.get(folder)?.add(imported)
    }
  }
  return new Map(Array.from(graph, ([folder, imported]) => [folder, [...imported]]))
}

/** Each way that leads back to where it began, found depth first. */
function circles(graph: ReadonlyMap<string, readonly string[]>): string[] {
  const done = new Set<string>()
  const found: string[] = []
  const visit = (file: string, way: readonly string[]): void => {
    const seen = way.indexOf(file)
    if (seen >= 0) found.push([...way.slice(seen), file].join(' → '))
    if (seen >= 0 || done.has(file)) return
    for (const next of graph.get(file) ?? []) visit(next, [...way, file])
    done.add(file)
  }
  for (const file of graph.keys()) visit(file, [])
  return found
}
