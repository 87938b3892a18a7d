import { expect } from 'chai'
import { createServer } from 'node:http'
import { keyVaultFaults } from '../../campaign/faults/key-vault.js'
import { closeLocally, listenLocally } from '../harness/local-server.js'

const WRAPPED = '{"format":1,"keys":[{"id":"a","wrapped":"AA==","wrappedBy":"key"}]}'
const PLAIN = '{"format":1,"keys":[{"id":"a","secret":"AA=="}]}'

describe('faults of the key vault', () => {
  /** Rotates the key of a site whose gateway stores such a ring where it finds none, from the n-th request on. */
  async function rotate(made: { readonly ring: string; readonly from: number }): Promise<{
    readonly outcome: unknown
    readonly removed: number
  }> {
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
      const [rotation] = keyVaultFaults({ vaultLinks: [], gateways: [], urls: [url] }, vault, 500)
      const mend = await rotation?.inject(() => 0)
      const outcome: unknown = await mend?.().catch((error: unknown) => error)
      return { outcome, removed }
    } finally {
      await closeLocally(gateway)
    }
  }

  it('are mended when the gateway has stored another ring', async () => {
    const { outcome, removed } = await rotate({ ring: WRAPPED, from: 1 })
    expect(outcome).to.equal(1)
    expect(removed).to.be.greaterThan(1)
  })

  it('are not mended where the gateway never stores a ring again', async () => {
    const { outcome } = await rotate({ ring: WRAPPED, from: Infinity })
    expect(String(outcome)).to.equal('Error: The vault is whole, and no ring was stored within 500 ms')
  })

  it('are not mended where it stores an unwrapped key', async () => {
    const { outcome } = await rotate({ ring: PLAIN, from: 1 })
    expect(String(outcome)).to.equal('Error: A key lies unwrapped in the ring')
  })
})
