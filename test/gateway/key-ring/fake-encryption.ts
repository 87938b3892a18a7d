import { createHmac } from 'node:crypto'
import type { KeyEncryption, WrappedSecret } from '../../../gateway/key-ring/ring-document.js'

/** Wraps by turning bits over, as anybody can, and signs with a secret of its own; rejects on demand. */
export class FakeEncryption implements KeyEncryption {
  readonly place: string
  wraps = 0
  unwraps = 0
  verifications = 0
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

  async sign(by: string, digest: Buffer): Promise<Buffer> {
    if (this.rejection !== undefined) throw this.rejection
    return Promise.resolve(createHmac('sha256', `secret of ${by}`).update(digest).digest())
  }

  async hasSigned(by: string, digest: Buffer, signature: Buffer): Promise<boolean> {
    this.verifications++
    return (await this.sign(by, digest)).equals(signature)
  }
}

function turned(bytes: Buffer): Buffer {
  return Buffer.from(bytes.map((byte) => byte ^ 0xff))
}
