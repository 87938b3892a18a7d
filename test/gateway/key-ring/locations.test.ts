import { expect } from 'chai'
import { parseRingLocation, parseVaultKey } from '../../../gateway/key-ring/ring-settings.js'

describe('locations of the key ring', () => {
  const message = (result: object): unknown => (result instanceof Error ? result.message : result)

  it('are files, absolute or relative to the working directory', () => {
    expect(parseRingLocation('file:///var/lib/ring.json')).to.deep.equal({ file: '/var/lib/ring.json' })
    expect(parseRingLocation('file:/var/my%20ring.json')).to.deep.equal({ file: '/var/my ring.json' })
    expect(parseRingLocation('file:.data/ring.json')).to.deep.equal({ file: `${process.cwd()}/.data/ring.json` })
  })

  it('are blobs where they are http or https URLs', () => {
    const sas = 'https://a.blob.core.windows.net/rings/ring.json?sv=1&sig=x'
    expect(parseRingLocation(sas)).to.deep.equal({ blob: new URL(sas) })
    expect(parseRingLocation('http://127.0.0.1:10000/a/b/c')).to.have.property('blob')
  })

  it('are no URLs of any other kind', () => {
    expect(message(parseRingLocation('http://a.test/b/c'))).to.equal('must be a URL that starts with file: or https:')
    for (const text of ['https://a.test/', 'https://a.test/c', 'https://a.test/c/', 'https://a.test//b'])
      expect(message(parseRingLocation(text)), text).to.equal('must name a container and a blob')
    for (const host of ['127.0.0.1:10000', 'localhost', '[::1]'])
      expect(message(parseRingLocation(`http://${host}/a/c`)), host).to.equal('must name a container and a blob')
    expect(message(parseRingLocation('file:///var/'))).to.equal('must name a file')
    expect(message(parseRingLocation('file://host/ring'))).to.equal('must name a file of this machine, percent-encoded')
    expect(message(parseRingLocation('file:%zz'))).to.equal('must name a file of this machine, percent-encoded')
  })

  it('of the key-encryption key are keys of a vault, with a version or without', () => {
    const key = { vault: 'https://v.vault.azure.net', name: 'ring' }
    expect(parseVaultKey('https://v.vault.azure.net/keys/ring')).to.deep.equal({ ...key, version: undefined })
    expect(parseVaultKey('https://v.vault.azure.net/keys/ring/0a1b')).to.deep.equal({ ...key, version: '0a1b' })
    for (const text of ['/', '/secrets/ring', '/keys/', '/keys/a/b/c', '/keys/a?x=1', '/keys/a#b']) {
      expect(message(parseVaultKey(`https://v.vault.azure.net${text}`)), text).to.match(
        /^must be the identifier of a key/
      )
    }
    expect(message(parseVaultKey('ftp://v.test/keys/a'))).to.equal('must be a URL that starts with https:')
  })
})
