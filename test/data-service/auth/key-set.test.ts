import { createPublicKey, generateKeyPairSync, type KeyObject } from 'node:crypto'
import { mkdtemp, rename, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'
import { pino } from 'pino'
import { type KeySet, parseKeyFile, watchKeys } from '../../../data-service/auth/tokens/signing-keys.js'

const ec = (curve = 'P-256'): KeyObject => generateKeyPairSync('ec', { namedCurve: curve }).privateKey
const pkcs8 = (key: KeyObject): string => key.export({ type: 'pkcs8', format: 'pem' }).toString()
const sec1 = (key: KeyObject): string => key.export({ type: 'sec1', format: 'pem' }).toString()
const spki = (key: KeyObject): string => createPublicKey(key).export({ type: 'spki', format: 'pem' }).toString()
const encrypted = (key: KeyObject): string =>
  key.export({ type: 'pkcs8', format: 'pem', cipher: 'aes-256-cbc', passphrase: 'x' }).toString()

const [first, second, third] = [ec(), ec(), ec()]
const kids = ({ verifying }: KeySet): readonly string[] => verifying.map(({ kid }) => kid)
const kidOf = (key: KeyObject): string => parseKeyFile(pkcs8(key), 'It').signing.kid

describe('parseKeyFile', () => {
  it('signs with the first key and verifies with all, private and public, each once', () => {
    const parameters = '-----BEGIN EC PARAMETERS-----\nBggqhkjOPQMBBw==\n-----END EC PARAMETERS-----\n'
    const keys = parseKeyFile(
      [parameters, sec1(first), 'a remark\n', spki(second), pkcs8(third), spki(first)].join(''),
      'It'
    )
    expect(keys.signing.privateKey.type).to.equal('private')
    expect(kids(keys)).to.deep.equal([first, second, third].map(kidOf))
    for (const [at, { key }] of keys.verifying.entries()) expect(key.type, `case ${at}`).to.equal('public')
    for (const [at, key] of keys.verifying.entries()) expect(key, `key ${at}`).to.not.have.property('privateKey')
  })

  const cut = pkcs8(second).slice(0, 100)
  for (const [why, pem, message] of [
    ['nothing', '', /^It holds no private key/],
    ['a public key first', spki(first) + pkcs8(second), /^It must begin with a private key/],
    ['an encrypted key', encrypted(first), /^It must begin with a private key/],
    ['a key cut short', pkcs8(first) + cut, /^It holds an incomplete PEM block/],
    ['a key cut short in front', cut + pkcs8(first), /^It holds an incomplete PEM block/],
    ['an unfit key', pkcs8(first) + pkcs8(ec('P-384')), /^It must hold an EC P-256 key or an RSA key/],
    ['something else', `${pkcs8(first)}-----BEGIN X-----\nAAAA\n-----END X-----\n`, /^It must hold nothing but keys/]
  ] as const) {
    it(`says what is wrong with ${why}`, () => {
      expect(() => parseKeyFile(pem, 'It')).to.throw(message)
    })
  }
})

describe('watchKeys', () => {
  let dataDir: string
  let stopping: AbortController
  beforeEach(async () => {
    dataDir = await mkdtemp(join(tmpdir(), 'keys-'))
    stopping = new AbortController()
  })
  afterEach(async () => {
    stopping.abort()
    await rm(dataDir, { recursive: true })
  })

  it('follows a file that is replaced, broken, taken away and put back, and logs each once', async () => {
    const file = join(dataDir, 'signing-key.pem')
    const lines: Record<string, unknown>[] = []
    let heard = (): void => undefined
    const log = pino(
      {},
      {
        write: (line) => {
          lines.push(parsed(line))
          heard()
        }
      }
    )
    const change = async (make: () => Promise<void>): Promise<unknown> => {
      const line = new Promise<void>((resolve) => (heard = resolve))
      await make()
      await line
      return lines.at(-1)?.['msg']
    }
    const keys = await watchKeys({ file: undefined, dataDir }, { log, stopping: stopping.signal, every: 5 })
    const made = keys().signing.kid
    const put = async (text: string): Promise<void> => {
      await writeFile(`${file}.new`, text)
      await rename(`${file}.new`, file)
    }
    expect(await change(() => put(pkcs8(first)))).to.equal('signing keys read again')
    expect(keys().signing.kid).to.equal(kidOf(first)).and.not.equal(made)
    expect(await change(() => put('nonsense'))).to.match(/the keys before it stay/)
    expect(await change(() => rm(file))).to.match(/the keys before it stay/)
    expect(kids(keys())).to.deep.equal([kidOf(first)])
    expect(await change(() => put(pkcs8(second) + spki(first)))).to.equal('signing keys read again')
    expect(kids(keys())).to.deep.equal([second, first].map(kidOf))
    expect(lines).to.have.length(4)
    expect(JSON.stringify(lines)).to.not.include('BEGIN')
  })
})

function parsed(line: string): Record<string, unknown> {
  const entry: unknown = JSON.parse(line)
  return typeof entry === 'object' && entry !== null ? { ...entry } : {}
}
