import { expect } from 'chai'
import { execFile } from 'node:child_process'
import { cpSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { FreshDatabase } from '../harness/database.js'
import { storeDatabase } from '../harness/store-database.js'
import { startStack, type Stack } from '../harness/stack.js'
import { OpenApiTools } from './tools.js'

/** What both programs of test/fixtures/openapi/programs print. */
const SEEN = {
  name: 'Kettles',
  parent: null,
  found: true,
  updated: 'Kettles and pots',
  conflict: 'conflict',
  removed: 204,
  gone: 'not-found'
}

describe('/openapi.json of the store', function () {
  this.timeout(15 * 60_000)
  let tools: OpenApiTools
  let database: FreshDatabase
  let stack: Stack
  let folder: string

  before(async () => {
    tools = await OpenApiTools.installed()
    folder = await tools.workFolder()
    database = await storeDatabase('sqlite', 'sample')
    stack = await startStack({ database, env: { SAMPLE_DATA: 'true' } })
    for (const [name, account, query] of [
      ['anonymous', undefined, ''],
      ['admin', 'admin@example.com', ''],
      ['admin-exact', 'admin@example.com', '?exact=true']
    ] as const) {
      const headers = account === undefined ? {} : { authorization: `Bearer ${await stack.token(account)}` }
      const answer = await fetch(`${stack.url}/openapi.json${query}`, { headers })
      writeFileSync(join(folder, `${name}.json`), await answer.text())
    }
    cpSync(tools.fixture('spectral.yaml'), join(folder, 'spectral.yaml'))
    cpSync(tools.fixture('programs'), join(folder, 'programs'), { recursive: true })
  })
  after(async () => {
    await stack.stop()
    await database.dispose()
    rmSync(folder, { recursive: true, force: true })
  })

  const lint = {
    Redocly: (file: string) =>
      tools.run(
        tools.path('@redocly/cli/bin/cli.js'),
        ['lint', file, '--extends=recommended', '--max-problems=20', '--format=json'],
        { cwd: folder }
      ),
    Spectral: (file: string) =>
      tools.run(
        tools.path('@stoplight/spectral-cli/dist/index.js'),
        ['lint', '--ruleset', 'spectral.yaml', '--fail-severity=hint', '--format=json', '--quiet', file],
        { cwd: folder }
      )
  }

  for (const [linter, run] of Object.entries(lint)) {
    for (const caller of ['anonymous', 'admin', 'admin-exact']) {
      it(`has no finding of ${linter}, as it is for ${caller}`, async () => {
        const { code, output } = await run(`${caller}.json`)
        expect(code, output).to.equal(0)
        // Warnings leave the code at 0.
        expect(output).to.match(linter === 'Redocly' ? /"warnings": 0/ : /^\[\]\s*$/)
      })
    }

    it(`is found wrong by ${linter} where it is`, async () => {
      const wrong = { openapi: '3.1.1', info: { title: 'x', version: '1' }, paths: { '/x/': { get: {} } } }
      writeFileSync(join(folder, 'wrong.json'), JSON.stringify(wrong))
      const { code, output } = await run('wrong.json')
      expect(code, output).to.not.equal(0)
    })
  }

  it('gives clients of openapi-typescript and orval that compile under `strict` and work', async () => {
    const [admin, programs] = [join(folder, 'admin.json'), join(folder, 'programs')]
    const types = await tools.run(
      tools.path('openapi-typescript/bin/cli.js'),
      [admin, '--output', join(programs, 'schema.d.ts')],
      { cwd: folder }
    )
    expect(types.code, types.output).to.equal(0)
    const output = { target: join(programs, 'client.ts'), client: 'fetch', mode: 'single' }
    const config = { store: { input: admin, output: { ...output, baseUrl: stack.url } } }
    writeFileSync(join(folder, 'orval.config.mjs'), `export default ${JSON.stringify(config)}\n`)
    const client = await tools.run(tools.path('orval/dist/bin/orval.mjs'), ['--config', 'orval.config.mjs'], {
      cwd: folder
    })
    expect(client.code, client.output).to.equal(0)
    const compiled = await tools.run(tools.path('typescript/bin/tsc'), ['-p', programs], { cwd: folder })
    expect(compiled.output).to.equal('')
    expect(compiled.code).to.equal(0)
    for (const program of ['with-openapi-typescript', 'with-orval']) {
      const path = join(programs, 'built', `${program}.js`)
      const { stdout } = await promisify(execFile)(process.execPath, [path, stack.url])
      expect(JSON.parse(stdout), program).to.deep.equal(SEEN)
    }
  })

  it('does not compile where a program does what the document does not have', async () => {
    const wrong = join(folder, 'programs', 'with-mistakes.ts')
    writeFileSync(
      wrong,
      [
        "import type { components } from './schema.js'",
        "export const operator: components['schemas']['Operator.string'] = 'begins with'",
        "export const noName: components['schemas']['categories.create'] = { slug: 'x' }",
        "export const nullName: components['schemas']['categories']['name'] = null",
        ''
      ].join('\n')
    )
    const { code, output } = await tools.run(
      tools.path('typescript/bin/tsc'),
      ['-p', join(folder, 'programs'), '--noEmit'],
      { cwd: folder }
    )
    expect(code).to.not.equal(0)
    expect(output.match(/with-mistakes\.ts\(\d+/g)).to.deep.equal([2, 3, 4].map((line) => `with-mistakes.ts(${line}`))
  })
})
