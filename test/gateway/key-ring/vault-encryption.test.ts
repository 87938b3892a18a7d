import { createHash, randomBytes } from 'node:crypto'
import { expect } from 'chai'
import { VaultEncryption } from '../../../gateway/key-ring/azure.js'
import { describeFailure } from '../../../gateway/key-ring/ring-document.js'
import { FakeIdentity, FakeVault } from './fake-vault.js'

describe('key-encryption key in a vault', () => {
  const secret = randomBytes(32)
  let vault: FakeVault

  beforeEach(async () => {
    vault = await FakeVault.start()
  })

  afterEach(() => vault.stop())

  const encryption = (version?: string, name = 'ring'): VaultEncryption =>
    new VaultEncryption({ key: { vault: vault.url, name, version }, credential: vault.credential })
  const failureOf = (work: Promise<unknown>): Promise<string> => work.then(() => 'none', describeFailure)

  it('wraps there, and another process unwraps there', async () => {
    const wrapped = await encryption().wrap(secret)
    expect(wrapped.by).to.equal(`${vault.url}/keys/ring/${vault.versions[0]}`)
    expect(wrapped.bytes.includes(secret)).to.equal(false)
    expect((await encryption().unwrap(wrapped)).equals(secret)).to.equal(true)
    expect(vault.asked).to.deep.equal(['GET get', 'POST wrapkey', 'POST unwrapkey'])
  })

  it('signs there with the version that wrapped, and verifies there, with an old version too', async () => {
    const one = encryption()
    const { by } = await one.wrap(secret)
    const digest = createHash('sha256').update('entry').digest()
    const signature = await one.sign(by, digest)
    vault.rotate()
    expect(await encryption().hasSigned(by, digest, signature)).to.equal(true)
    expect(await encryption().hasSigned(by, createHash('sha256').digest(), signature)).to.equal(false)
    expect(await encryption().hasSigned(by, digest, randomBytes(signature.length))).to.equal(false)
    const newest = `${vault.url}/keys/ring/${vault.versions[1]}`
    expect(await encryption().hasSigned(newest, digest, signature)).to.equal(false)
    expect(vault.asked.slice(2)).to.deep.equal(['POST sign', ...Array<string>(4).fill('POST verify')])
    vault.rejection = { status: 403, code: 'Forbidden' }
    expect(await failureOf(encryption().hasSigned(by, digest, signature))).to.match(/^403 Forbidden/)
  })

  it('asks for nothing but the operation where the setting names a version', async () => {
    await encryption(vault.versions[0]).wrap(secret)
    expect(vault.asked).to.deep.equal(['POST wrapkey'])
  })

  it('wraps with the newest version, and unwraps with an old one although it is over', async () => {
    const one = encryption()
    const old = await one.wrap(secret)
    vault.rotate()
    const wrapped = await one.wrap(secret)
    expect(wrapped.by).to.equal(`${vault.url}/keys/ring/${vault.versions[1]}`)
    for (const [at, each] of [old, wrapped].entries())
      expect((await encryption().unwrap(each)).equals(secret), `case ${at}`).to.equal(true)
  })

  it('rejects in words while the vault rejects, without a retry, and works again after that', async () => {
    const one = encryption()
    const wrapped = await one.wrap(secret)
    vault.rejection = { status: 403, code: 'Forbidden' }
    vault.asked.length = 0
    expect(await failureOf(one.wrap(secret))).to.match(/^403 Forbidden.*says the vault/)
    expect(await failureOf(one.unwrap(wrapped))).to.match(/^403 Forbidden.*says the vault/)
    vault.rejection = { status: 503, code: 'Busy' }
    expect(await failureOf(one.unwrap(wrapped))).to.match(/^503 Busy/)
    expect(vault.asked).to.deep.equal(['GET get', 'POST unwrapkey', 'POST unwrapkey'])
    vault.rejection = undefined
    expect((await one.unwrap(wrapped)).equals(secret)).to.equal(true)
  })

  it('rejects for a key that is not there, and for bytes that were wrapped by none', async () => {
    expect(await failureOf(encryption(undefined, 'other').wrap(secret))).to.match(/^404 KeyNotFound/)
    const { by } = await encryption().wrap(secret)
    expect(await failureOf(encryption().unwrap({ by, bytes: randomBytes(256) }))).to.match(/^400 BadParameter/)
  })

  it('takes for its own what a version of its own key has wrapped, and nothing else', () => {
    const bytes = Buffer.alloc(0)
    const own = (by: string): boolean => encryption().hasWrapped({ by, bytes })
    expect(own(`${vault.url}/keys/ring/0a`)).to.equal(true)
    for (const by of [
      `${vault.url}/keys/ring`,
      `${vault.url}/keys/ring2/0a`,
      `${vault.url}/keys/ring/0a/b`,
      `${vault.url}.evil.test/keys/ring/0a`,
      'https://evil.test/keys/ring/0a',
      ''
    ]) {
      expect(own(by), by).to.equal(false)
    }
  })
})

describe('key-encryption key in a vault, by a managed identity', () => {
  const NAMES = ['IDENTITY_ENDPOINT', 'IDENTITY_HEADER', 'AZURE_TOKEN_CREDENTIALS'] as const
  const environment = NAMES.map((name) => [name, process.env[name]] as const)
  const secret = randomBytes(32)
  let vault: FakeVault
  let identity: FakeIdentity
  let encryption: VaultEncryption

  // The library keeps the endpoint that the process has found first.
  before(async () => {
    vault = await FakeVault.start()
    identity = await FakeIdentity.start()
    process.env['IDENTITY_ENDPOINT'] = identity.url
    process.env['IDENTITY_HEADER'] = identity.header
    process.env['AZURE_TOKEN_CREDENTIALS'] = 'prod'
    encryption = await VaultEncryption.by({ vault: vault.url, name: 'ring', version: undefined })
  })

  beforeEach(() => {
    identity.asked = 0
    identity.rejection = undefined
  })

  after(async () => {
    for (const [name, value] of environment) {
      if (value === undefined) delete process.env[name]
      else process.env[name] = value
    }
    await identity.stop()
    await vault.stop()
  })

  const failureOfWrap = (): Promise<string> => encryption.wrap(secret).then(() => 'none', String)

  it('wraps and unwraps with its tokens', async () => {
    expect((await encryption.unwrap(await encryption.wrap(secret))).equals(secret)).to.equal(true)
    expect(identity.asked).to.equal(3)
  })

  for (const status of [400, 429, 500]) {
    it(`rejects at once while it is answered ${status}, and works again after that`, async () => {
      identity.rejection = status
      expect(await failureOfWrap()).to.include('ManagedIdentityCredential: ')
      expect(identity.asked).to.equal(1)
      identity.rejection = undefined
      expect((await encryption.wrap(secret)).by).to.equal(`${vault.url}/keys/ring/${vault.versions[0]}`)
    })
  }

  it('rejects while it is not answered, and works again after that', async () => {
    identity.rejection = 'silence'
    expect(await failureOfWrap()).to.equal('Error: The identity of this process got no token in time.')
    identity.rejection = undefined
    expect((await encryption.wrap(secret)).by).to.equal(`${vault.url}/keys/ring/${vault.versions[0]}`)
  })
})
