import { mkdtemp, rename, rm, writeFile } from 'node:fs/promises'
import { isIP } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { generate } from 'selfsigned'

/** A certificate with its private key, both as PEM. */
interface Certificate {
  readonly cert: string
  readonly key: string
}

/** A certificate authority of one test, in a folder that `npm test` leaves nothing of. */
export class Authority implements AsyncDisposable {
  readonly folder: string
  readonly #own: Certificate

  private constructor(folder: string, own: Certificate) {
    this.folder = folder
    this.#own = own
  }

  static async create(name = 'Test authority'): Promise<Authority> {
    const made = await generate([{ name: 'commonName', value: name }], {
      keyType: 'ec',
      algorithm: 'sha256',
      extensions: [
        { name: 'basicConstraints', cA: true, critical: true },
        { name: 'keyUsage', keyCertSign: true, cRLSign: true, critical: true }
      ]
    })
    const authority = new Authority(await mkdtemp(join(tmpdir(), 'certificates-')), {
      cert: made.cert,
      key: made.private
    })
    await authority.write('ca.pem', made.cert)
    return authority
  }

  get cert(): string {
    return this.#own.cert
  }

  get caFile(): string {
    return this.path('ca.pem')
  }

  /** A certificate for server and client, for DNS names and IP addresses; for 127.0.0.1 where there is no other address. */
  async issue(...names: readonly string[]): Promise<Certificate> {
    const made = await generate([{ name: 'commonName', value: names[0] ?? 'test' }], {
      keyType: 'ec',
      algorithm: 'sha256',
      ca: this.#own,
      extensions: [
        { name: 'basicConstraints', cA: false },
        { name: 'extKeyUsage', serverAuth: true, clientAuth: true },
        {
          name: 'subjectAltName',
          altNames: (names.some(isAddress) ? names : [...names, '127.0.0.1']).map((name) =>
            isAddress(name) ? { type: 7 as const, ip: name } : { type: 2 as const, value: name }
          )
        }
      ]
    })
    return { cert: made.cert, key: made.private }
  }

  /** Issues a certificate and writes it as `<file>.pem` and `<file>.key`. */
  async issueTo(file: string, ...names: readonly string[]): Promise<{ certFile: string; keyFile: string }> {
    await this.replace(file, await this.issue(...names))
    return { certFile: this.path(`${file}.pem`), keyFile: this.path(`${file}.key`) }
  }

  async replace(file: string, { cert, key }: Certificate): Promise<void> {
    await this.write(`${file}.key`, key)
    await this.write(`${file}.pem`, cert)
  }

  /** As those do who renew certificates: a new file in the place of the old one. */
  async write(file: string, text: string): Promise<void> {
    await writeFile(this.path(`.${file}`), text, { mode: 0o600 })
    await rename(this.path(`.${file}`), this.path(file))
  }

  path(file: string): string {
    return join(this.folder, file)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await rm(this.folder, { recursive: true, force: true })
  }
}

function isAddress(name: string): boolean {
  return isIP(name) !== 0
}
