import { expect } from 'chai'
import { connect, createServer, type Server, type Socket } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { cutFaults } from '../../campaign/faults/cuts.js'
import type { Fault } from '../../campaign/faults/fault.js'
import { linkFaults } from '../../campaign/faults/links.js'
import { planOf } from '../../campaign/faults/plan.js'
import { Link } from '../../campaign/link.js'
import { listenLocally } from '../harness/local-server.js'

/** Long enough for bytes to go through two sockets of this machine; waited for where nothing must arrive. */
const A_WHILE = 150

/** One end of a connection and what became of it. */
class End {
  readonly socket: Socket
  received = ''
  /** `FIN`, or the code of an error. */
  over = ''
  constructor(socket: Socket) {
    this.socket = socket
    socket.on('data', (bytes: Buffer) => (this.received += bytes.toString('latin1')))
    socket.on('end', () => (this.over ||= 'FIN'))
    socket.on('error', (error) => (this.over = 'code' in error ? String(error.code) : error.message))
  }

  async until(isMet: (end: End) => boolean): Promise<void> {
    while (!isMet(this)) await delay(5)
  }
}

describe('a link of the campaign', () => {
  let server: Server
  let accepted: End[]
  let link: Link
  let faults: Map<string, Fault>
  const opened: End[] = []

  beforeEach(async () => {
    accepted = []
    server = createServer({ allowHalfOpen: true }, (socket) => accepted.push(new End(socket)))
    const port = await listenLocally(server)
    link = await Link.to({ host: '127.0.0.1', port }, { name: 'one to another', protocol: 'mysql' })
    faults = new Map([...linkFaults([link]), ...cutFaults([link])].map((fault) => [fault.kind, fault]))
  })

  afterEach(async () => {
    await link.close()
    for (const { socket } of [...accepted, ...opened]) socket.destroy()
    server.close()
  })

  /** A connection through the link that both ends have used. */
  async function open(): Promise<{ readonly client: End; readonly other: End }> {
    const before = accepted.length
    const client = new End(connect({ ...link.address, allowHalfOpen: true }))
    opened.push(client)
    client.socket.write('hello')
    while (accepted.length === before) await delay(5)
    const other = accepted.at(-1)
    if (other === undefined) throw new Error('Nobody was accepted')
    await other.until(({ received }) => received === 'hello')
    other.socket.write('welcome')
    await client.until(({ received }) => received === 'welcome')
    return { client, other }
  }

  const inject = (kind: string): ReturnType<Fault['inject']> => {
    const fault = faults.get(kind)
    if (fault === undefined) throw new Error(`There is no ${kind}`)
    return fault.inject(() => 0.3)
  }

  for (const [kind, client, other] of [
    ['RST to the client', 'ECONNRESET', ''],
    ['RST to the server', '', 'ECONNRESET'],
    ['RST to both sides', 'ECONNRESET', 'ECONNRESET'],
    ['FIN to the client', 'FIN', ''],
    ['FIN to the server', '', 'FIN'],
    ['FIN to both sides', 'FIN', 'FIN']
  ] as const) {
    it(`${kind} tells nobody else, and nobody is left hanging when it is mended`, async () => {
      const ends = await open()
      const mend = await inject(kind)
      // Who is told hears of it at some time, who is not must not.
      if (client !== '') await ends.client.until(({ over }) => over !== '')
      if (other !== '') await ends.other.until(({ over }) => over !== '')
      if (client === '' || other === '') await delay(A_WHILE)
      expect([ends.client.over, ends.other.over]).to.deep.equal([client, other])
      expect(await mend()).to.equal(1)
      await Promise.all([ends.client, ends.other].map((end) => end.until(({ over }) => over !== '')))
      await open()
    })
  }

  it('that is refused has nobody listening at its address until it is mended', async () => {
    const { client } = await open()
    const mend = await inject('connections refused')
    await client.until(({ over }) => over !== '')
    const late = new End(connect(link.address))
    await late.until(({ over }) => over === 'ECONNREFUSED')
    await mend()
    await open()
  })

  it('that is a black hole in one direction delivers what it kept when it is mended', async () => {
    const { client, other } = await open()
    const mend = await inject('black hole of requests')
    client.socket.write(', all of you')
    other.socket.write(' home')
    await client.until(({ received }) => received === 'welcome home')
    await delay(A_WHILE)
    expect(other.received).to.equal('hello')
    expect(await mend()).to.equal(1)
    await other.until(({ received }) => received === 'hello, all of you')
  })

  for (const kind of ['slow', 'short reads']) {
    it(`with ${kind} loses and reorders nothing`, async () => {
      const { client, other } = await open()
      const mend = await inject(kind)
      const text = Array.from({ length: 100 }, (_, n) => `-${n}`).join('')
      client.socket.write(text)
      await delay(A_WHILE)
      other.socket.write(text)
      expect(await mend()).to.be.greaterThan(0)
      await other.until(({ received }) => received === `hello${text}`)
      await client.until(({ received }) => received === `welcome${text}`)
    })
  }

  const commit = Buffer.from('\u0007\u0000\u0000\u0000\u0003COMMIT', 'latin1').toString('latin1')
  for (const [kind, request, answer] of [
    ['cut before COMMIT', '', ''],
    ['cut within COMMIT', commit.slice(0, 4), ''],
    ['cut before the answer to COMMIT', commit, ''],
    ['cut within the answer to COMMIT', commit, 'don']
  ] as const) {
    it(`${kind} delivers just that`, async () => {
      const { client, other } = await open()
      const mend = await inject(kind)
      client.socket.write(commit, 'latin1')
      if (request === commit) {
        await other.until(({ received }) => received.length === 5 + commit.length)
        other.socket.write('done ever after'.slice(0, 9))
      }
      await Promise.all([client, other].map((end) => end.until(({ over }) => over !== '')))
      expect(other.received).to.equal(`hello${request}`)
      expect(client.received).to.equal(`welcome${answer}`)
      expect(await mend()).to.equal(1)
      await open()
    })
  }
})

describe('the plan of a campaign', () => {
  const names = (count: number): Fault[] =>
    Array.from({ length: count }, (_, n) => ({
      kind: `kind-${n % 7}`,
      name: `fault-${n}`,
      target: `target-${n % 3}`,
      inject: () => Promise.resolve(() => Promise.resolve(1))
    }))
  const first = (count: number, seed: number, pairs = 0.5): readonly (readonly string[])[] => {
    const groups = planOf(names(21), { seed, pace: 100, pairs })
    return Array.from({ length: count }, () => {
      const { value } = groups.next()
      return (value?.injuries ?? []).map(({ fault, after, lasts, random }) =>
        [fault.name, after, lasts, random()].join()
      )
    })
  }

  it('depends on the seed', () => {
    expect(first(50, 7)).to.deep.equal(first(50, 7))
    expect(first(50, 7)).to.not.deep.equal(first(50, 8))
  })

  it('gives each kind its turn before one has its second, and pairs break different things', () => {
    const kinds: string[] = []
    for (const group of first(70, 3)) {
      const faults = group.map((text) => Number(/fault-(\d+)/.exec(text)?.[1]))
      expect(new Set(faults.map((n) => n % 3))).to.have.property('size', faults.length)
      kinds.push(...faults.map((n) => `kind-${n % 7}`))
    }
    for (let turn = 0; turn + 7 <= 70; turn += 7)
      expect(new Set(kinds.slice(turn, turn + 7)), kinds.join()).to.have.property('size', 7)
  })

  it('without faults is empty', () => {
    expect([...planOf([], { seed: 1, pace: 1, pairs: 1 })]).to.deep.equal([])
  })
})
