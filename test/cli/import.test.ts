import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'
import { describeApi } from '../api/api-store.js'
import { csvOf, lines, many, product, stored } from '../api/writes/import-requests.js'
import { cutConnectionTo } from '../clients/cut-connection.js'
import { type Ran, runCommand } from '../harness/command.js'
import { closeLocally, listenLocally } from '../harness/local-server.js'

describeApi(
  'uniform-rest import',
  (store) => {
    let directory: string
    let token: string
    before(async () => {
      directory = await mkdtemp(join(tmpdir(), 'import-'))
      token = await store.stack.token('clerk@example.com')
    })
    after(() => rm(directory, { recursive: true }))

    const importFile = async (file: string, content: string, ...args: string[]): Promise<Ran> => {
      await writeFile(join(directory, file), content)
      const env = { UNIFORM_REST_TOKEN: token, UNIFORM_REST_URL: store.url }
      return await runCommand(['import', 'products', file, ...args], { env, directory })
    }

    it('creates the rows of a file, prints a line for each error, and creates nothing twice', async () => {
      const file = lines([...many(2, 'CLI'), product('CLI-1'), product('CLI-2', { price: '-1\u202e' })])
      const first = await importFile('rows.ndjson', file, '--on-error', 'skip')
      expect(first.code).to.equal(1)
      expect(first.stdout.split('\n').map((one) => one.split(' ').slice(0, 4).join(' '))).to.deep.equal([
        'row 3 /sku conflict',
        'row 4 /price body.invalid',
        ''
      ])
      expect(first.stderr).to.match(/^\d+ % sent\n/)
      expect(first.stderr).to.match(/100 % sent\nrows 4, created 2, failed 2, replayed 0\n$/)
      const again = await importFile('rows.ndjson', file, '--on-error=skip')
      expect(again.stderr).to.match(/\nrows 4, created 0, failed 2, replayed 2\n$/)
      const others = await importFile('rows.csv', csvOf(4, 'CLI'), '--by', 'sku')
      expect([others.code, others.stdout]).to.deep.equal([0, ''])
      expect(others.stderr).to.match(/\nrows 4, created 2, existing 2, failed 0, replayed 0\n$/)
      expect(await stored(store, 'CLI')).to.equal(4)
    })

    it('says what ends the whole import, and what is wrong with the command', async () => {
      const wrong = await importFile('wrong.ndjson', lines([product('BAD-1'), product('BAD-2', { price: '-1' })]))
      expect([wrong.code, wrong.stdout]).to.deep.equal([1, ''])
      expect(wrong.stderr).to.match(/\nRow 2: .*\n {2}\/1\/price .*\n$/)
      expect(await stored(store, 'BAD')).to.equal(0)
      for (const args of [
        ['import', 'products'],
        ['import', 'products', 'rows.txt'],
        ['import', 'products', 'none.csv']
      ]) {
        const ran = await runCommand(args, { env: { UNIFORM_REST_TOKEN: token }, directory })
        expect([ran.code, ran.stdout]).to.deep.equal([1, ''])
        expect(ran.stderr).to.match(/Usage: uniform-rest import|none\.csv cannot be read/)
      }
      const nobody = await runCommand(['import', 'products', 'wrong.ndjson', '--url', store.url], { directory })
      expect(nobody.stderr).to.match(/^Usage: /)
    })

    it('gets a token for a machine account', async () => {
      const env = {
        UNIFORM_REST_CLIENT_ID: 'nightly-export',
        UNIFORM_REST_CLIENT_SECRET: 'demo-secret-of-nightly-export'
      }
      const args = ['import', 'products', 'wrong.ndjson', '--url', `${store.url}/`]
      const ran = await runCommand(args, { env, directory })
      expect(ran.stderr).to.match(/\nRow 2: /)
      const guess = await runCommand(args, { env: { ...env, UNIFORM_REST_CLIENT_SECRET: 'guess' }, directory })
      expect(guess.stderr).to.match(/No token for the machine account: The client id or the secret is wrong\./)
    })

    it('asks again for the token of a machine account whose answer was lost', async () => {
      await using connection = await cutConnectionTo(store.url)
      connection.cutNext('nothing')
      await writeFile(join(directory, 'machine.csv'), csvOf(2, 'MACHINE'))
      const env = {
        UNIFORM_REST_CLIENT_ID: 'nightly-export',
        UNIFORM_REST_CLIENT_SECRET: 'demo-secret-of-nightly-export'
      }
      const ran = await runCommand(['import', 'products', 'machine.csv', '--url', connection.url], { env, directory })
      expect(connection.cuts).to.equal(1)
      expect(ran.stderr).to.include('no row of it is created twice')
      // The first answer that counts is that of the import: this machine may create no products.
      expect(ran.stderr).to.not.include('No token')
    })

    it('goes on with the same key after 429, and with a new token where that of a machine account has expired, and ends where it was given one', async () => {
      await writeFile(join(directory, 'long.csv'), csvOf(2, 'LONG'))
      const seen: string[] = []
      let tokens = 0
      let rejected: readonly [number, string] = [401, 'auth.invalid-token']
      const gateway = createServer((request, response) => {
        request.resume().on('end', () => {
          const { authorization = '', 'idempotency-key': key } = request.headers
          response.setHeader('content-type', 'application/json')
          if (request.url === '/auth/token') return response.end(JSON.stringify({ access_token: `t${++tokens}` }))
          seen.push(`${authorization} ${String(key)}`)
          const isFirst = seen.length === 1
          response.statusCode = isFirst ? rejected[0] : 200
          const counts = { rows: 2, created: 2, failed: 0, replayed: 0, errors: [] }
          return response.end(JSON.stringify(isFirst ? { code: rejected[1], detail: 'It was rejected.' } : counts))
        })
      })
      const url = `http://127.0.0.1:${await listenLocally(gateway)}`
      const run = (env: Readonly<Record<string, string>>): Promise<Ran> =>
        runCommand(['import', 'products', 'long.csv', '--url', url, '--key', 'k'], { env, directory })
      try {
        const machine = await run({ UNIFORM_REST_CLIENT_ID: 'nightly', UNIFORM_REST_CLIENT_SECRET: 'secret' })
        expect([machine.code, seen]).to.deep.equal([0, ['Bearer t1 k', 'Bearer t2 k']])
        seen.length = 0
        const person = await run({ UNIFORM_REST_TOKEN: 'mine' })
        expect([person.code, seen]).to.deep.equal([1, ['Bearer mine k']])
        seen.length = 0
        rejected = [429, 'rate-limited']
        const early = await run({ UNIFORM_REST_TOKEN: 'mine' })
        expect([early.code, seen]).to.deep.equal([0, ['Bearer mine k', 'Bearer mine k']])
      } finally {
        await closeLocally(gateway)
      }
    })

    it('sends the file again after a lost answer, and creates its rows once', async () => {
      await using connection = await cutConnectionTo(store.url)
      connection.cutNext('nothing')
      const ran = await importFile('cut.csv', csvOf(3, 'CUT'), '--url', connection.url)
      expect([ran.code, connection.cuts]).to.deep.equal([0, 1])
      expect(ran.stderr).to.include('no row of it is created twice')
      expect(ran.stderr).to.match(/\nrows 3, created 0, failed 0, replayed 3\n$/)
      expect(await stored(store, 'CUT')).to.equal(3)
    })
  },
  { rows: 'sample' }
)
