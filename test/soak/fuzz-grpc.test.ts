import { randomInt } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { credentials } from '@grpc/grpc-js'
import { expect } from 'chai'
import type { ProtoGrpcType } from '../../shared/gen/entity_service.js'
import { loadProto } from '../../shared/transport/wire.js'
import { KIND_NAMES, sendSequence } from '../faults/grpc-fuzzer.js'
import { listening, type ServiceProcess, startProcess } from '../stack/service-process.js'
import { STORE } from '../harness/stack.js'
import { randomNumbers } from '../runner/random.js'
import { openDescriptors, peakMemory } from './memory-of.js'

const SECONDS = Number(process.env['SOAK_FUZZ_SECONDS'] ?? 0)
/** Where no time is given. */
const SEQUENCES = 1000
const AT_ONCE = 8
const SEED = Number(process.env['TEST_SEED'] ?? randomInt(2 ** 31))

describe('raw frames at the gRPC port', function () {
  this.timeout((SECONDS + 120) * 1000)
  let dataDir: string
  let service: ServiceProcess
  let port: number
  before(async () => {
    dataDir = await mkdtemp(join(tmpdir(), 'fuzz-'))
    const env = {
      DATA_DIR: dataDir,
      DATA_SERVICE_ADDRESS: '127.0.0.1:0',
      SAMPLE_DATA: 'true',
      MIGRATE_AT_START: 'true'
    }
    service = startProcess(STORE, env)
    port = Number((await listening(service, 'address')).split(':')[1])
  })
  after(async () => {
    await service?.stop()
    await rm(dataDir, { recursive: true, force: true })
  })

  /** A call as any client makes it, on a connection of its own. */
  const called = (): Promise<string> => {
    // The definition loaded here is what the generated types describe.
    const { entity } = loadProto('entity/v1/entity_service.proto').types as unknown as ProtoGrpcType
    const client = new entity.v1.EntityService(`127.0.0.1:${port}`, credentials.createInsecure())
    return new Promise((resolve, reject) => {
      client.get({ resource: 'products', id: '1' }, { deadline: Date.now() + 30_000 }, (error, answer) => {
        client.close()
        if (error !== null) reject(error)
        else resolve(String(answer?.record?.json))
      })
    })
  }

  /** Exports keep connections to the database for the next ones: these are open before. */
  const exported = async (): Promise<void> => {
    // The definition loaded here is what the generated types describe.
    const { entity } = loadProto('entity/v1/entity_service.proto').types as unknown as ProtoGrpcType
    const client = new entity.v1.EntityService(`127.0.0.1:${port}`, credentials.createInsecure())
    const one = (): Promise<void> =>
      new Promise((resolve) => {
        client
          .export({ resource: 'products', idleTimeoutMs: 5000 })
          .on('error', () => {})
          .on('status', () => resolve())
          .resume()
      })
    await Promise.all(Array.from({ length: 32 }, one))
    client.close()
  }

  it('end no process, and leave no socket or file open', async () => {
    const expected = await called()
    await exported()
    const open = await openDescriptors(service.pid)
    const counts = new Map(KIND_NAMES.map((name) => [name, 0]))
    let sent = 0
    const end = Date.now() + SECONDS * 1000
    const goesOn = (): boolean => (SECONDS > 0 ? Date.now() < end : sent < SEQUENCES)
    const sending = async (): Promise<void> => {
      while (goesOn()) {
        // Each sequence has a seed of its own, so that one alone can be repeated.
        const name = await sendSequence(port, randomNumbers((SEED + sent++) | 0))
        counts.set(name, (counts.get(name) ?? 0) + 1)
      }
    }
    await Promise.all(Array.from({ length: AT_ONCE }, sending))
    process.stdout.write(
      `TEST_SEED=${SEED}: ${sent} sequences, peak of the data service ${peakMemory(service.pid)} MiB\n` +
        [...counts].map(([name, count]) => `  ${count} ${name}\n`).join('')
    )
    expect(await called()).to.equal(expected)
    // Calls end within their deadline, sessions that broke the protocol with the next ping; the suite's time-out fails
    // what does not.
    while ((await openDescriptors(service.pid)) > open) await sleep(100)
    const unforeseen = service.logs().filter(({ level, text }) => level === 'error' || text !== undefined)
    expect(unforeseen.slice(0, 5)).to.deep.equal([])
    expect([...counts.values()].every((count) => count > 0)).to.equal(true)
  })
})
