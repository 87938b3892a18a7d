import { expect } from 'chai'
import { createServer, request as open } from 'node:http'
import { setImmediate as turn } from 'node:timers/promises'
import { keyVaultFaults } from '../../campaign/faults/key-vault.js'
import { FakeVault } from '../gateway/key-ring/fake-vault.js'
import { closeLocally, listenLocally } from '../harness/local-server.js'

const WRAPPED = '{"format":1,"keys":[{"id":"a","wrapped":"AA==","wrappedBy":"key"}]}'
const PLAIN = '{"format":1,"keys":[{"id":"a","secret":"AA=="}]}'

/** Milliseconds within which a gateway is to have made a ring: never to wait for, or always to wait out. */
const LONG = 60_000
const SHORT = 300

describe('faults of the key vault', () => {
  /** Rotates the key of a site whose gateway stores such a ring where it finds none, from the n-th request on. */
  async function rotate(made: {
    readonly ring: string
    readonly from: number
    readonly within: number
  }): Promise<unknown> {
    let [ring, asked, removed] = [WRAPPED, 0, 0]
    const gateway = createServer((_, response) => {
      asked++
      if (ring === '' && asked >= made.from) ring = made.ring
      response.end('{}')
    })
    const url = `http://127.0.0.1:${await listenLocally(gateway)}`
    const vault = {
      rotate: () => undefined,
      removeRing() {
        removed++
        ring = ''
        return Promise.resolve()
      },
      storedRing: () => Promise.resolve(ring)
    }
    try {
      const times = { lasts: 0, madeWithin: made.within }
      const [rotation] = keyVaultFaults({ vaultLinks: [], gateways: [], urls: [url] }, vault, times)
      const mend = await rotation?.inject(() => 0)
      while (removed < 2) await turn()
      return await mend?.().catch((error: unknown) => error)
    } finally {
      await closeLocally(gateway)
    }
  }

  it('are mended when the gateway has stored another ring', async () => {
    const outcome = await rotate({ ring: WRAPPED, from: 1, within: LONG })
    expect(outcome).to.equal(1)
  })

  it('are not mended where the gateway never stores a ring again', async () => {
    const outcome = await rotate({ ring: WRAPPED, from: Infinity, within: SHORT })
    expect(String(outcome)).to.equal('Error: The vault is whole, and no ring was stored within 300 ms')
  })

  it('are not mended where it stores an unwrapped key', async () => {
    const outcome = await rotate({ ring: PLAIN, from: 1, within: LONG })
    expect(String(outcome)).to.equal('Error: A key lies unwrapped in the ring')
  })
})

describe('the stand-in for the key vault', () => {
  it('goes on when a request is cut within its body', async () => {
    const vault = await FakeVault.start()
    try {
      const { token } = await vault.credential.getToken()
      const headers = { authorization: `Bearer ${token}`, 'content-length': 100 }
      const cut = open(`${vault.url}/keys/ring//wrapkey?api-version=7.4`, { method: 'POST', headers })
      cut.on('error', () => undefined)
      cut.write('{"alg"')
      while (vault.asked.length === 0) await turn()
      cut.destroy()
      const whole = await fetch(`${vault.url}/keys/ring?api-version=7.4`, {
        headers: { authorization: `Bearer ${token}` }
      })
      expect(whole.status).to.equal(200)
    } finally {
      await vault.stop()
    }
  })
})
