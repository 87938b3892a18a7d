import { expect } from 'chai'
import { readGatewayConfig } from '../../../gateway/config.js'

const BLOB = 'DATA_PROTECTION_BLOB_STORAGE_URI'
const KEY = 'DATA_PROTECTION_KEY_VAULT_KEY_URI'
const SIGNED = 'https://a.blob.core.windows.net/rings/ring.json?sv=2024-11-04&sp=rcw&sig=a%2Fsignature%3D'

describe('settings of the key ring', () => {
  it('are each without the other', () => {
    expect(readGatewayConfig({}).config.keyRing).to.deep.equal({
      location: undefined,
      vaultKey: undefined,
      application: 'uniform-rest'
    })
    expect(readGatewayConfig({ [BLOB]: SIGNED }).config.keyRing).to.deep.equal({
      location: { blob: new URL(SIGNED) },
      vaultKey: undefined,
      application: 'uniform-rest'
    })
    expect(readGatewayConfig({ [KEY]: 'https://v.vault.azure.net/keys/ring' }).config.keyRing).to.deep.equal({
      location: undefined,
      vaultKey: { vault: 'https://v.vault.azure.net', name: 'ring', version: undefined },
      application: 'uniform-rest'
    })
    expect(readGatewayConfig({ DATA_PROTECTION_APPLICATION_NAME: 'shop' }).config.keyRing).to.include({
      application: 'shop'
    })
  })

  it('are printed without the signature', () => {
    const { effective } = readGatewayConfig({ [BLOB]: SIGNED })
    expect(effective).to.include(`${BLOB}=https://a.blob.core.windows.net/rings/ring.json?sv=2024-11-04&sp=rcw&sig=***`)
    expect(effective).to.not.match(/signature/)
  })

  it('are told without the signature where they are wrong', () => {
    expect(() => readGatewayConfig({ [BLOB]: SIGNED.replace('https:', 'http:'), [KEY]: 'https://v.test/secrets/x' }))
      .to.throw(/must be a URL that starts with file: or https:.*must be the identifier of a key/s)
      .with.property('message')
      .that.does.not.match(/signature/)
  })
})
