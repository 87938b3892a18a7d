import { spawnSync } from 'node:child_process'
import { setTimeout as delay } from 'node:timers/promises'
import { expect } from 'chai'
import { type CallId, FailureFrame, type Frame, UnprocessedFrame } from '../../shared/transport/call-frames.js'
import { CallTable, Deadlines, FrameSender } from '../../shared/transport/call-stream.js'
import { decodeResponse, type WireResponseFrame } from '../harness/call-stream-messages.js'

const id = (call: number): CallId => call as CallId
const small = (call: number): Frame => new UnprocessedFrame(id(call))
const tick = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

/** A transport that takes a message when a test says so. */
class Transport {
  readonly messages: Buffer[] = []
  untaken = 0
  #sent: (() => void) | undefined
  readonly sender = new FrameSender(
    (message, sent) => {
      expect(this.#sent, 'one message at a time').to.equal(undefined)
      this.messages.push(message)
      this.#sent = sent
    },
    { onCount: (bytes) => (this.untaken += bytes) }
  )

  get frames(): readonly (readonly WireResponseFrame[])[] {
    return this.messages.map(decodeResponse)
  }

  /** Whether a message was waiting to be taken. */
  take(): boolean {
    const sent = this.#sent
    this.#sent = undefined
    sent?.()
    return sent !== undefined
  }
}

describe('the sender of frames', () => {
  it('sends what comes in a tick as one message, in its order', async () => {
    const { sender, messages } = new Transport()
    for (const call of [1, 2, 3]) sender.send(small(call))
    expect(messages).to.deep.equal([])
    await tick()
    expect(messages.map(decodeResponse)).to.deep.equal([[1, 2, 3].map((call) => ({ unprocessed: { call } }))])
  })

  it('waits until the transport has taken a message, and sends what came meanwhile as one', async () => {
    const transport = new Transport()
    transport.sender.send(small(1))
    await tick()
    transport.sender.send(small(2))
    await tick()
    transport.sender.send(small(3))
    await tick()
    expect(transport.frames).to.have.length(1)
    transport.take()
    await tick()
    expect(transport.frames[1]).to.have.length(2)
    transport.take()
    await tick()
    expect(transport.take()).to.equal(false)
  })

  it('sends large answers in parts, in turns, with small ones between', async () => {
    const transport = new Transport()
    const [one, other] = [Buffer.alloc(300_000, 1), Buffer.alloc(200_000, 2)]
    const sent: number[] = []
    transport.sender.sendAnswer(id(1), one, { onSent: () => sent.push(1) })
    transport.sender.sendAnswer(id(2), other, { onSent: () => sent.push(2) })
    for (let call = 10; ; call++) {
      transport.sender.send(small(call))
      await tick()
      const message = transport.messages.at(-1)
      expect(message?.length).to.be.below(100_000)
      // No message keeps a small frame waiting, and none leaves a large answer where it was.
      expect(transport.frames.at(-1)?.[0]).to.deep.equal({ unprocessed: { call } })
      if (sent.length === 2) break
      expect(transport.frames.at(-1)).to.have.length.above(1)
      transport.take()
    }
    expect(sent).to.deep.equal([2, 1])
    for (const [call, whole] of [
      [1, one],
      [2, other]
    ] as const) {
      const parts = transport.frames.flat().flatMap(({ answer }) => (answer?.call === call ? answer : []))
      expect(Buffer.concat(parts.map(({ response = Buffer.alloc(0) }) => response)).equals(whole)).to.equal(true)
      expect(parts.map(({ more }) => more === true)).to.deep.equal(parts.map((_part, at) => at < parts.length - 1))
    }
  })

  it('has sent the last part of a large answer before it ends, where the end is asked for with that part', async () => {
    const transport = new Transport()
    const { sender } = transport
    const seen: string[] = []
    sender.sendAnswer(id(1), Buffer.alloc(50_000), {
      onSent: () => sender.end(() => seen.push(`end after ${transport.messages.length} messages`)),
      onTaken: () => seen.push('taken')
    })
    for (let turn = 0; turn < 5; turn++) {
      await tick()
      transport.take()
    }
    const parts = transport.frames.flat().flatMap(({ answer }) => answer?.response?.length ?? [])
    expect(parts.reduce((sum, length) => sum + length, 0)).to.equal(50_000)
    expect(seen).to.deep.equal(['taken', `end after ${transport.messages.length} messages`])
    expect(transport.untaken).to.equal(0)
  })

  it('lets large answers go on however many small ones come', async () => {
    const transport = new Transport()
    let isSent = false
    transport.sender.sendAnswer(id(1), Buffer.alloc(200_000), { onSent: () => (isSent = true) })
    let messages = 0
    for (; !isSent && messages < 100; messages++) {
      for (let call = 0; call < 50; call++)
        transport.sender.sendAnswer(id(100 + call), Buffer.alloc(10_000), { onSent: () => {} })
      await tick()
      transport.take()
    }
    expect(messages).to.be.below(20)
  })

  it('makes no message of more than a bounded size', async () => {
    const transport = new Transport()
    for (let call = 0; call < 1000; call++)
      transport.sender.sendAnswer(id(call), Buffer.alloc(16_000), { onSent: () => {} })
    for (let left = true; left; await tick(), left = transport.take()) await tick()
    expect(transport.frames.flat()).to.have.length(1000)
    for (const [at, { length }] of transport.messages.entries()) expect(length, `message ${at}`).to.be.below(600_000)
  })

  it('drops the parts of an answer that nobody waits for', async () => {
    const transport = new Transport()
    let isDone = false
    transport.sender.sendAnswer(id(1), Buffer.alloc(1_000_000), { onSent: () => (isDone = true) })
    await tick()
    transport.sender.dropAnswer(id(1))
    expect(isDone).to.equal(true)
    transport.take()
    await tick()
    expect(transport.messages).to.have.length(1)
  })

  it('counts each frame until the message that holds it has been taken', async () => {
    const transport = new Transport()
    const { sender } = transport
    const taken: string[] = []
    const failure = new FailureFrame(id(1), Buffer.alloc(100))
    failure.onTaken = () => taken.push('failure')
    sender.send(failure)
    sender.sendAnswer(id(2), Buffer.alloc(1000), { onSent: () => {}, onTaken: () => taken.push('small') })
    sender.sendAnswer(id(3), Buffer.alloc(100_000), { onSent: () => {}, onTaken: () => taken.push('large') })
    for (let call = 4; call < 104; call++) sender.send(small(call))
    expect(transport.untaken).to.be.above(100_000 + 1000 + 100 + 100 * 100)
    await tick()
    expect([transport.messages.length, taken]).to.deep.equal([1, []])
    expect(transport.untaken).to.be.above(100_000 + 1000 + 100 + 100 * 100)
    transport.take()
    expect(taken).to.deep.equal(['failure', 'small'])
    for (let left = true; left; await tick(), left = transport.take()) await tick()
    expect([transport.untaken, taken]).to.deep.equal([0, ['failure', 'small', 'large']])
  })

  it('counts nothing of what is dropped, and of what has no stream any more', async () => {
    const transport = new Transport()
    const { sender } = transport
    const taken: number[] = []
    const send = (call: number, bytes: number): void =>
      sender.sendAnswer(id(call), Buffer.alloc(bytes), { onSent: () => {}, onTaken: () => taken.push(call) })
    send(1, 1_000_000)
    await tick()
    transport.take()
    sender.dropAnswer(id(1))
    expect([transport.untaken, taken]).to.deep.equal([0, [1]])
    send(2, 1000)
    await tick()
    for (const call of [3, 4]) send(call, 50_000 * (call - 3) + 1000)
    sender.close()
    send(5, 1000)
    transport.take()
    await tick()
    expect([transport.untaken, taken]).to.deep.equal([0, [1, 2, 3, 4, 5]])
  })

  it('tells when everything is sent, and sends nothing once it is closed', async () => {
    const transport = new Transport()
    let isEnded = false
    transport.sender.send(small(1))
    transport.sender.end(() => (isEnded = true))
    await tick()
    expect(isEnded).to.equal(false)
    transport.take()
    expect(isEnded).to.equal(true)
    transport.sender.send(small(2))
    transport.sender.close()
    await tick()
    expect(transport.messages).to.have.length(1)
  })
})

describe('deadlines', () => {
  it('end each call at its own time, also where a later one is earlier', async () => {
    const running = new Set<{ readonly deadline: number }>()
    const ended: number[] = []
    const start = Date.now()
    const deadlines = new Deadlines(
      () => running,
      (call) => {
        running.delete(call)
        ended.push(call.deadline - start)
        expect(Date.now()).to.be.at.least(call.deadline)
      }
    )
    for (const after of [3_600_000, 30, 60, Infinity, 10_000_000_000]) {
      const call = { deadline: start + after }
      running.add(call)
      deadlines.add(call)
    }
    while (ended.length < 2) await delay(5)
    expect(ended).to.have.members([30, 60])
    expect(running.size).to.equal(3)
    deadlines.close()
  })
})

describe('the calls of a stream', () => {
  interface Numbered {
    readonly id: CallId
  }
  const call = (number: number): Numbered => ({ id: id(number) })

  /** Ids that share a place with each other, and the largest and the smallest there are. */
  const IDS = [0, 1, 2048, 2049, 4096, 2 ** 31, 2 ** 32 - 1].map(id)

  it('are found by their ids, whichever of them come and go meanwhile', () => {
    const table = new CallTable<Numbered>()
    const expected = new Map<CallId, Numbered>()
    let random = 1
    for (let step = 0; step < 2000; step++) {
      random = (random * 48271) % 2147483647
      const number = IDS[random % IDS.length] ?? id(0)
      if (expected.has(number)) {
        expected.delete(number)
        table.delete(number)
      } else {
        const added = call(number)
        expected.set(number, added)
        table.set(number, added)
      }
      expect(table.size).to.equal(expected.size)
      for (const one of IDS) expect(table.get(one), `${one} at step ${step}`).to.equal(expected.get(one))
      expect(table.values()).to.have.members([...expected.values()])
    }
  })

  it('are no others than those that were put in', () => {
    const table = new CallTable<Numbered>()
    table.set(id(1), call(1))
    table.delete(id(2049))
    expect([table.size, table.get(id(2049))]).to.deep.equal([1, undefined])
    table.set(id(2049), call(2049))
    table.clear()
    expect([table.size, table.get(id(1)), table.get(id(2049)), table.values()]).to.deep.equal([
      0,
      undefined,
      undefined,
      []
    ])
  })

  it('leave nothing in the old generation when they have ended', () => {
    const script = `
      import { CallTable } from ${JSON.stringify(new URL('../../shared/transport/call-stream.js', import.meta.url).href)}
      const table = new CallTable()
      const call = (id) => ({ id, made: Array.from({ length: 20 }, () => ({ id })) })
      const old = () => v8.getHeapSpaceStatistics().find((one) => one.space_name === 'old_space').space_used_size
      for (let id = 0; id < 30; id++) table.set(id, call(id))
      for (let n = 0; n < 300_000; n++) call(n)
      const before = old()
      for (let id = 30; id < 300_000; id++) {
        table.set(id, call(id))
        table.delete(id - 30)
      }
      console.log(old() - before)`
    const program = `import v8 from 'node:v8'\n${script}`
    const { stdout, stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', program], { encoding: 'utf8' })
    expect(stderr).to.equal('')
    expect(Number(stdout)).to.be.below(5_000_000)
  })
})
