import { expect } from 'chai'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import { packageRoot } from '../harness/package-root.js'

describe('npm start', function () {
  this.timeout(120_000)

  it('tells every fault in the settings of both processes at once, and starts nothing', async () => {
    const { PATH, HOME } = process.env
    const start = spawn(process.execPath, ['tools/start.mjs'], {
      cwd: packageRoot,
      env: { PATH, HOME, GATEWAY_PORT: '808O', DATABASE_URL: 'postgres://x/y', DATA_SERVICE_ADDRESS: '50094' },
      stdio: ['ignore', 'ignore', 'pipe']
    })
    const [said, [code]] = await Promise.all([text(start.stderr), once(start, 'close') as Promise<[number | null]>])
    const faults = said.split('\n').filter((line) => line.startsWith('- '))
    expect([code, faults.map((line) => line.split(' ')[1])]).to.deep.equal([
      1,
      ['DATA_SERVICE_ADDRESS', 'DATABASE_URL', 'DATA_SERVICE_ADDRESS', 'GATEWAY_PORT']
    ])
  })
})
