import { expect } from 'chai'
import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { promisify } from 'node:util'
import { accepts } from '../harness/local-server.js'
import { packageRoot } from '../harness/package-root.js'
import { startStack } from '../harness/stack.js'
import { storeDatabase } from '../harness/store-database.js'
import { freePort } from '../runner/free-port.js'
import { comparable, examplesOf } from './readme-examples.js'

const page = readFileSync(join(packageRoot, 'docs/webhooks.md'), 'utf8')
const [, receiver = ''] = /^```js\n(.*?)^```$/ms.exec(page) ?? []
const [settings, order, ...others] = examplesOf('docs/webhooks.md')

describe('docs/webhooks.md', () => {
  const scratch = mkdtempSync(join(tmpdir(), 'webhooks-'))
  after(() => rmSync(scratch, { recursive: true, force: true }))

  it('has a receiver that prints what it says when the order of the page is placed', async () => {
    expect(others).to.deep.equal([])
    const port = await freePort()
    const here = (text = ''): string => text.replaceAll('4000', String(port))
    // The page starts both in this shell; here it says what they would have got.
    const names = Array.from((settings?.command ?? '').matchAll(/^export (\w+)=/gm), ([, name = '']) => name)
    const exported = here(settings?.command).replace(/^node [\s\S]*/m, `env`)
    const { stdout } = await promisify(execFile)('bash', ['-c', exported])
    const lines = Array.from(stdout.matchAll(/^(\w+)=(.*)$/gm), ([, name = '', value = '']) => [name, value] as const)
    const env: Record<string, string> = Object.fromEntries(lines.filter(([name]) => names.includes(name)))
    expect(Object.keys(env)).to.have.members(['ORDER_WEBHOOK_URL', 'ORDER_WEBHOOK_SECRET', 'WEBHOOK_PRIVATE_NETWORKS'])

    const file = join(scratch, 'receiver.mjs')
    writeFileSync(file, here(receiver))
    const receiving = spawn(process.execPath, [file], { env, stdio: ['ignore', 'pipe', 'inherit'] })
    const database = await storeDatabase('sqlite', 'sample')
    const stack = await startStack({ database, env })
    try {
      let printed = ''
      receiving.stdout.on('data', (chunk: Buffer) => (printed += chunk.toString('utf8')))
      while (!(await accepts(`127.0.0.1:${port}`))) await pause(20)
      const { PATH, HOME } = process.env
      const { DATABASE_URL, DATA_DIR } = stack.env
      const command = (order?.command ?? '').replaceAll('http://127.0.0.1:3000', stack.url)
      const placed = await promisify(execFile)('bash', ['-c', command], {
        cwd: packageRoot,
        env: { PATH, HOME, DATABASE_URL, DATA_DIR }
      })
      expect(placed.stdout).to.equal('201\n')
      while (!printed.endsWith('\n')) await pause(20)
      expect(comparable(printed)).to.equal(comparable(order?.output ?? ''))
    } finally {
      await stack.stop()
      await database.dispose()
      const ended = once(receiving, 'exit')
      receiving.kill()
      await ended
    }
  })
})
