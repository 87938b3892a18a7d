import { X509Certificate } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { createSecureContext } from 'node:tls'
import type { Logger } from 'pino'
import { followFiles, stateOf, type Following } from './follow-files.js'

/** PEM files of one side of a TLS connection: a chain with its private key, the authorities that the peer is judged by. */
export interface TlsFiles {
  readonly certFile: string | undefined
  readonly keyFile: string | undefined
  readonly caFile: string | undefined
}

/** What the files hold. `cert` and `key` are both there or neither. */
export interface TlsMaterial {
  readonly cert: Buffer | undefined
  readonly key: Buffer | undefined
  readonly ca: Buffer | undefined
}

/**
 * Certificates as their files have them. The files are read again whenever one of them changes, without a restart and
 * without an effect on connections that exist. What is missing, malformed or no pair is logged once for each change, and
 * what was read before stays in use.
 */
export class TlsCertificates {
  readonly #listeners = new Set<(material: TlsMaterial) => void>()
  #current: TlsMaterial

  private constructor(material: TlsMaterial) {
    this.#current = material
  }

  /** Throws with a sentence for people that names the file. `what` is the purpose in the log, such as `gRPC`. */
  static async open(files: TlsFiles, how: Following & { log: Logger; what: string }): Promise<TlsCertificates> {
    const { log, what } = how
    const paths = [files.certFile, files.keyFile, files.caFile].filter((path) => path !== undefined)
    // The look comes before the reading: a change in between is seen by the next look.
    const seen = await stateOf(paths)
    const certificates = new TlsCertificates(await readMaterial(files))
    const changed = async (): Promise<void> => {
      try {
        const material = await readMaterial(files)
        certificates.#set(material)
        log.info({ tls: what, ...validity(material) }, 'certificates read again')
      } catch (error) {
        const reason = error instanceof Error ? error.message : String(error)
        log.error({ tls: what, reason }, 'the changed certificate files are of no use; those before them stay')
      }
    }
    void followFiles(paths, { ...how, seen, changed })
    return certificates
  }

  get current(): TlsMaterial {
    return this.#current
  }

  /** Calls the listener after each change, until the function that it answers with is called. */
  onChange(listener: (material: TlsMaterial) => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  #set(material: TlsMaterial): void {
    this.#current = material
    for (const listener of this.#listeners) listener(material)
  }
}

async function readMaterial({ certFile, keyFile, caFile }: TlsFiles): Promise<TlsMaterial> {
  const [cert, key, ca] = await Promise.all([readPem(certFile), readPem(keyFile), readPem(caFile)])
  if (cert !== undefined) certificateIn(cert, certFile)
  if (ca !== undefined) certificateIn(ca, caFile)
  try {
    createSecureContext({ cert, key, ca })
  } catch (error) {
    throw new Error(`${keyFile ?? caFile} holds no unencrypted private key of the certificate in ${certFile}.`, {
      cause: error
    })
  }
  return { cert, key, ca }
}

async function readPem(path: string | undefined): Promise<Buffer | undefined> {
  if (path === undefined) return undefined
  try {
    return await readFile(path)
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown'
    throw new Error(`${path} cannot be read (${code}).`, { cause: error })
  }
}

/** The first one. A file of authorities without any would be taken by Node without a word. */
function certificateIn(pem: Buffer, path: string | undefined): X509Certificate {
  try {
    return new X509Certificate(pem)
  } catch (error) {
    throw new Error(`${path} holds no PEM certificate.`, { cause: error })
  }
}

function validity({ cert }: TlsMaterial): object {
  return cert === undefined ? {} : { validTo: new X509Certificate(cert).validTo }
}
