import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { pathToFileURL } from 'node:url'
import { expect } from 'chai'
import { readGatewayConfig } from '../../gateway/config.js'
import { createGateway } from '../../gateway/gateway.js'
import { DomainError } from '../../shared/errors.js'
import { memoryLog } from '../harness/memory-log.js'
import { listen, startGateway } from './gateway-fixture.js'

describe('the log of the gateway', () => {
  it('is not told a second time by Fastify where it listens', async () => {
    const gateway = await startGateway()
    try {
      await listen(gateway)
      expect(gateway.lines.map(({ msg }) => msg)).to.not.satisfy((all: unknown[]) =>
        all.some((msg) => /listening/i.test(String(msg)))
      )
    } finally {
      await gateway.close()
    }
  })

  it('holds no failure for a probe that is told 503, and a failure for each request that is', async () => {
    const gateway = await startGateway()
    try {
      gateway.data.reachable = false
      // The first time it only tells to come back later.
      let cause: Error | undefined
      gateway.data.answerGet = () => {
        throw new DomainError('upstream.unavailable', 'x', { cause })
      }
      for (const path of ['/health', '/health/ready', '/products/1', '/products/1']) {
        expect((await gateway.app.inject(path)).statusCode, path).to.equal(503)
        if (path === '/products/1') cause = new Error('y')
      }
      const told = gateway.lines.filter(({ code, msg }) => code === 'upstream.unavailable' && msg !== 'request')
      expect(told.map(({ level, msg, detail, err }) => [level, msg, detail, err !== undefined])).to.deep.equal([
        ['debug', 'not ready', undefined, false],
        ['debug', 'not ready', undefined, false],
        ['warn', 'data service failure', 'x', false],
        ['warn', 'data service failure', undefined, true]
      ])
    } finally {
      await gateway.close()
    }
  })

  it('warns at the start of each URL that leads over a network in clear text', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'start-log-'))
    const { config } = readGatewayConfig({
      GATEWAY_PORT: '0',
      DATA_DIR: folder,
      DATA_PROTECTION_BLOB_STORAGE_URI: pathToFileURL(join(folder, 'key-ring.json')).href,
      // Nothing listens there: the start goes on until it is stopped.
      DATA_SERVICE_ADDRESS: '127.0.0.1:1',
      RENDERER_URL: 'http://renderer.internal:8080',
      OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector.internal:4318'
    })
    const { log, lines } = memoryLog()
    const gateway = createGateway(config, { log })
    const started = gateway.start()
    try {
      while (!lines.some(({ msg }) => String(msg).startsWith('asking the data service'))) await pause(5)
    } finally {
      await gateway.stop()
      await started
      await rm(folder, { recursive: true })
    }
    const warned = lines.filter(({ level, msg }) => level === 'warn' && String(msg).includes('clear text'))
    expect(warned.map(({ setting }) => setting)).to.deep.equal(['RENDERER_URL', 'OTEL_EXPORTER_OTLP_ENDPOINT'])
  })
})
