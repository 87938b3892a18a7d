import { expect } from 'chai'
import { build } from 'esbuild'
import { copyFileSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { runCommand } from '../harness/command.js'
import { outputRoot, packageRoot } from '../harness/package-root.js'
import { EmptyFolder, packInto, unpackInto } from '../package/empty-folder.js'

const PACKAGE = join(packageRoot, 'clients/typescript')
const REACT_ADMIN = join(packageRoot, 'clients/react-admin')
const STORE_TYPES = join(packageRoot, 'examples/store/client-types.ts')
const MOST_BYTES = 8 * 1024

/** Applications with keys, types and names of every kind, whose types must compile too. */
const APPLICATIONS = ['examples/sakila', 'test/library', 'test/keyed']

let folder: EmptyFolder
/** The packed typed client, which the package of the providers needs too. */
let packed: Awaited<ReturnType<typeof packInto>>
before(async () => {
  folder = await EmptyFolder.make()
  packed = await packInto(folder, PACKAGE)
})
after(async () => folder[Symbol.asyncDispose]())

describe('the package of the typed client', () => {
  it('holds its own files alone', () => {
    const modules = [
      'client',
      'csv-export',
      'problem',
      'query',
      'resource',
      'session',
      'transport',
      'types',
      'versions'
    ]
    const built = modules.flatMap((name) => [`dist/${name}.d.ts`, `dist/${name}.js`])
    expect(packed.files.map(({ path }) => path)).to.have.members(['LICENSE', 'README.md', 'package.json', ...built])
    const manifest = JSON.parse(readFileSync(join(PACKAGE, 'package.json'), 'utf8')) as object
    expect(manifest).to.not.have.any.keys('dependencies', 'peerDependencies', 'optionalDependencies', 'scripts')
  })

  it('has the version of the service', () => {
    const [own, service] = [PACKAGE, packageRoot].map(
      (root) => JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { readonly version: string }
    )
    expect(own?.version).to.equal(service?.version)
  })

  it('is under 8 KB, minified and gzipped', async () => {
    const { outputFiles } = await build({
      entryPoints: [join(PACKAGE, 'dist/client.js')],
      bundle: true,
      minify: true,
      format: 'esm',
      target: 'es2022',
      platform: 'browser',
      write: false
    })
    const [bundle] = outputFiles
    const size = gzipSync(bundle?.contents ?? '').length
    expect(size).to.be.greaterThan(1024)
    expect(size).to.be.lessThan(MOST_BYTES)
  })

  it('has types that a strict program compiles against, with those of browsers and with those of Node', async () => {
    await unpackInto(folder, packed.file)
    copyFileSync(STORE_TYPES, join(folder.path, 'store.ts'))
    const page = readFileSync(join(packageRoot, 'docs/clients.md'), 'utf8')
    const examples = Array.from(page.matchAll(/^```ts\n(.*?)^```$/gms), ([, code = '']) => code)
    expect(examples).to.have.length.at.least(5)
    writeFileSync(join(folder.path, 'page.ts'), examples.join('\n'))
    const [example = ''] = /(?<=^```ts\n).*?(?=^```$)/ms.exec(readFileSync(join(PACKAGE, 'README.md'), 'utf8')) ?? []
    writeFileSync(join(folder.path, 'readme.ts'), example)
    const others = await Promise.all(
      APPLICATIONS.map(async (application, index) => {
        const file = `application-${index}.ts`
        await clientTypes(application, join(folder.path, file))
        return `import type { Application as A${index} } from './application-${index}.js'\nexport const c${index} = createClient<A${index}>()\n`
      })
    )
    writeFileSync(
      join(folder.path, 'applications.ts'),
      `import { createClient } from '@uniform-rest/client'\n${others.join('')}`
    )
    writeFileSync(join(folder.path, 'package.json'), JSON.stringify({ type: 'module' }))
    for (const kind of ['browser', 'node'] as const) {
      writeFileSync(join(folder.path, `tsconfig.${kind}.json`), JSON.stringify(tsconfig(kind)))
      const compiler = join(packageRoot, 'node_modules/typescript/bin/tsc')
      const { stdout } = await folder.end(folder.start('node', [compiler, '-p', `tsconfig.${kind}.json`]))
      expect(stdout, kind).to.equal('')
    }
  })

  it('is loaded by Node as it stands', async () => {
    const script = `import { createClient } from '@uniform-rest/client'
      const client = createClient({ baseUrl: 'http://shop.example', fetch: async (url) => Response.json([{ id: 1 }]) })
      console.log((await client.resource('things').list()).rows)`
    const { stdout } = await folder.run('node', ['--input-type=module', '--eval', script])
    expect(stdout).to.equal('[ { id: 1 } ]\n')
  })

  it('is tested with types that the command writes of the store today', async () => {
    const file = join(folder.path, 'store-now.ts')
    await clientTypes('examples/store', file)
    expect(readFileSync(file, 'utf8')).to.equal(readFileSync(STORE_TYPES, 'utf8'))
  })

  it('has types whose command rejects what it does not know', async () => {
    const command = ['client-types', '--app', join(outputRoot, 'examples/store')]
    const { code, stderr } = await runCommand([...command, '--output', 'store.ts'])
    expect([code, stderr.includes('Usage: uniform-rest client-types')]).to.deep.equal([1, true])
  })

  async function clientTypes(application: string, out: string): Promise<void> {
    const { stderr } = await runCommand(['client-types', '--app', join(outputRoot, application), '--out', out])
    expect(stderr).to.equal('')
  }
})

describe('the package of the providers of react-admin', () => {
  let providers: Awaited<ReturnType<typeof packInto>>
  before(async () => {
    providers = await packInto(folder, REACT_ADMIN)
  })

  it('holds its own files alone, and leaves the client and react-admin to the application', () => {
    const modules = [
      'auth-provider',
      'batches',
      'data-provider',
      'errors',
      'filters',
      'merge-patch',
      'react-admin',
      'reads',
      'writes'
    ]
    const built = modules.flatMap((name) => [`dist/${name}.d.ts`, `dist/${name}.js`])
    expect(providers.files.map(({ path }) => path)).to.have.members(['LICENSE', 'README.md', 'package.json', ...built])
    const [own, service] = [REACT_ADMIN, packageRoot].map(
      (root) => JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as Readonly<Record<string, unknown>>
    )
    expect(own).to.not.have.any.keys('dependencies', 'optionalDependencies', 'scripts')
    expect(own?.['version']).to.equal(service?.['version'])
    expect(own?.['peerDependencies']).to.deep.equal({
      '@uniform-rest/client': service?.['version'],
      'ra-core': '^5.0.0'
    })
  })

  it('has types that the examples compile against, and is loaded by Node', async () => {
    const within = 'providers'
    for (const { file } of [packed, providers]) await unpackInto(folder, file, within)
    const into = join(folder.path, within)
    // What react-admin needs is there in the checkout.
    symlinkSync(join(packageRoot, 'node_modules/ra-core'), join(into, 'node_modules/ra-core'))
    copyFileSync(STORE_TYPES, join(into, 'store.ts'))
    const pages = { 'page.ts': join(packageRoot, 'docs/clients.md'), 'readme.ts': join(REACT_ADMIN, 'README.md') }
    for (const [file, page] of Object.entries(pages)) {
      const examples = Array.from(
        readFileSync(page, 'utf8').matchAll(/^```tsx\n(.*?)^```$/gms),
        ([, code = '']) => code
      )
      expect(examples, page).to.not.be.empty
      writeFileSync(join(into, file), examples.join('\n'))
    }
    writeFileSync(join(into, 'package.json'), JSON.stringify({ type: 'module' }))
    const { compilerOptions, include } = tsconfig('browser')
    // The types of react-admin itself are not checked.
    const options = { compilerOptions: { ...compilerOptions, skipLibCheck: true }, include }
    writeFileSync(join(into, 'tsconfig.json'), JSON.stringify(options))
    const compiler = join(packageRoot, 'node_modules/typescript/bin/tsc')
    const { stdout } = await folder.end(folder.start('node', [compiler, '-p', 'tsconfig.json'], { in: within }))
    expect(stdout).to.equal('')
    const script = `import { createClient } from '@uniform-rest/client'
      import { uniformRestDataProvider } from '@uniform-rest/react-admin'
      const answer = Response.json([{ id: 1 }], { headers: { 'x-pagination': '{"pageSize":10,"totalCount":1}' } })
      const client = createClient({ baseUrl: 'http://shop.example', fetch: async () => answer })
      console.log(JSON.stringify(await uniformRestDataProvider({ client }).getList('things', {})))`
    const loaded = await folder.run('node', ['--input-type=module', '--eval', script], { in: within })
    expect(loaded.stdout).to.equal('{"total":1,"pageInfo":{},"data":[{"id":1}]}\n')
  })
})

function tsconfig(kind: 'browser' | 'node'): { readonly compilerOptions: object; readonly include: readonly string[] } {
  return {
    compilerOptions: {
      target: 'es2022',
      module: 'nodenext',
      lib: kind === 'browser' ? ['es2022', 'dom', 'dom.iterable', 'dom.asynciterable'] : ['es2022'],
      types: kind === 'browser' ? [] : ['node'],
      typeRoots: [join(packageRoot, 'node_modules/@types')],
      strict: true,
      exactOptionalPropertyTypes: true,
      noUncheckedIndexedAccess: true,
      noPropertyAccessFromIndexSignature: true,
      skipLibCheck: false,
      noEmit: true
    },
    include: ['*.ts']
  }
}
