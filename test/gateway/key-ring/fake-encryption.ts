import type { KeyEncryption, WrappedSecret } from '../../../gateway/key-ring/ring-document.js'

/** Wraps by turning bits over; rejects on demand. */
export class FakeEncryption implements KeyEncryption {
  readonly place: string
  wraps = 0
  unwraps = 0
  rejection: Error | undefined

  constructor(place = 'https://vault.test/keys/ring') {
    this.place = place
  }

  async wrap(secret: Buffer): Promise<WrappedSecret> {
    this.wraps++
    if (this.rejection !== undefined) throw this.rejection
    return Promise.resolve({ by: `${this.place}/1`, bytes: turned(secret) })
  }

  async unwrap({ bytes }: WrappedSecret): Promise<Buffer> {
    this.unwraps++
    if (this.rejection !== undefined) throw this.rejection
    return Promise.resolve(turned(bytes))
  }

  hasWrapped({ by }: WrappedSecret): boolean {
    return by.startsWith(`${this.place}/`)
  }
}

function turned(bytes: Buffer): Buffer {
  return Buffer.from(bytes.map((byte) => byte ^ 0xff))
}
