import { X509Certificate } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { createSecureContext, rootCertificates } from 'node:tls'
import { type ChannelCredentials, credentials, experimental, ServerCredentials } from '@grpc/grpc-js'
import type { Logger } from 'pino'
import { followFiles, type Following, stateOf } from './files.js'
import { isLoopback } from './ip-address.js'
import type { SettingsReader } from './settings.js'

/** PEM files of one side of a TLS connection: a certificate chain, its private key, and the authorities for the peer. */
export interface TlsFiles {
  readonly certFile: string | undefined
  readonly keyFile: string | undefined
  readonly caFile: string | undefined
}

/** The contents of the files. Either both of `cert` and `key` are set, or none of them. */
interface TlsMaterial {
  readonly cert: Buffer | undefined
  readonly key: Buffer | undefined
  readonly ca: Buffer | undefined
}

/**
 * Certificates from files. The files are read again whenever one of them changes, without a restart and without an
 * effect on existing connections. If a changed file is missing or malformed, or the key does not belong to the
 * certificate, the error is logged once and the certificates that were read before stay in use.
 */
export class TlsCertificates {
  readonly #listeners = new Set<(material: TlsMaterial) => void>()
  #current: TlsMaterial

  private constructor(material: TlsMaterial) {
    this.#current = material
  }

  /** Throws an Error whose message names the file. `what` is the purpose that the log names, such as `gRPC`. */
  static async open(files: TlsFiles, how: Following & { log: Logger; what: string }): Promise<TlsCertificates> {
    const { log, what } = how
    const paths = [files.certFile, files.keyFile, files.caFile].filter((path) => path !== undefined)
    // The state is taken before the files are read, so that a change in between is found by the next comparison.
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

  /** Calls the listener after each change, until the returned function is called. */
  onChange(listener: (material: TlsMaterial) => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  #set(material: TlsMaterial): void {
    this.#current = material
    for (const listener of this.#listeners) listener(material)
  }
}

/** What a file turned out to be: a certificate with its first one parsed, or an Error whose message names the file. */
type CertificateFound = X509Certificate | Error | undefined

/** What the files of one side turned out to be; undefined for a file that is not set, and for a key that is right. */
export interface TlsFilesFound {
  readonly certFile: CertificateFound
  readonly keyFile: Error | undefined
  readonly caFile: CertificateFound
}

/** Reads each of the files once, as a start does, and says of each what it is. */
export async function examineTlsFiles(files: TlsFiles): Promise<TlsFilesFound> {
  return (await readFiles(files)).found
}

async function readMaterial(files: TlsFiles): Promise<TlsMaterial> {
  const { material, found } = await readFiles(files)
  const mistake = Object.values<CertificateFound>({ ...found }).find((one) => one instanceof Error)
  if (mistake !== undefined) throw mistake
  return material
}

/** The material is complete where nothing that was found is an Error. */
async function readFiles(files: TlsFiles): Promise<{ material: TlsMaterial; found: TlsFilesFound }> {
  const { certFile, keyFile, caFile } = files
  const [cert, key, ca] = await Promise.all([readPem(certFile), readPem(keyFile), readPem(caFile)])
  const found = {
    certFile: parseCertificate(cert, certFile),
    keyFile: key instanceof Error ? key : undefined,
    caFile: parseCertificate(ca, caFile)
  }
  const material = { cert: unlessFailed(cert), key: unlessFailed(key), ca: unlessFailed(ca) }
  if (Object.values(found).some((one) => one instanceof Error)) return { material, found }
  try {
    createSecureContext(material)
  } catch (error) {
    const wrong = `${keyFile ?? caFile} holds no unencrypted private key of the certificate in ${certFile}.`
    return { material, found: { ...found, keyFile: new Error(wrong, { cause: error }) } }
  }
  return { material, found }
}

async function readPem(path: string | undefined): Promise<Buffer | Error | undefined> {
  if (path === undefined) return undefined
  try {
    return await readFile(path)
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown'
    return new Error(`${path} cannot be read (${code}).`, { cause: error })
  }
}

function unlessFailed(read: Buffer | Error | undefined): Buffer | undefined {
  return read instanceof Error ? undefined : read
}

/** The first certificate of a file. Node accepts a file of authorities that contains none, without an error. */
function parseCertificate(pem: Buffer | Error | undefined, path: string | undefined): CertificateFound {
  if (pem === undefined || pem instanceof Error) return pem
  try {
    return new X509Certificate(pem)
  } catch (error) {
    return new Error(`${path} holds no PEM certificate.`, { cause: error })
  }
}

function validity({ cert }: TlsMaterial): object {
  return cert === undefined ? {} : { validTo: new X509Certificate(cert).validTo }
}

const CLIENT_AUTH = ['none', 'optional', 'required'] as const

/** Whether the data service requests a certificate of its callers, and whether it accepts calls without one. */
type ClientAuth = (typeof CLIENT_AUTH)[number]

/** How the connection of the two processes is encrypted and authenticated (contract.md section 1). */
export interface GrpcSecurity {
  /** undefined: plain text. */
  readonly tls: (TlsFiles & { readonly clientAuth: ClientAuth }) | undefined
  /** Authenticates a gateway that has no client certificate. undefined if none is set. */
  readonly gatewaySecret: string | undefined
}

/** The metadata that a gateway sends its secret in. */
export const GATEWAY_SECRET_METADATA = 'x-gateway-secret'

/** The metadata that a gateway sends the IP address of its client in. */
export const CLIENT_ADDRESS_METADATA = 'x-client-address'

/** `addresses` are those that the process listens on or connects to, as host:port. Problems are added to the reader. */
export function readGrpcSecurity(
  reader: SettingsReader,
  { addresses, side }: { readonly addresses: readonly string[]; readonly side: 'server' | 'client' }
): GrpcSecurity {
  const certFile = reader.optionalText('GRPC_TLS_CERT_FILE')
  const keyFile = reader.optionalText('GRPC_TLS_KEY_FILE')
  const caFile = reader.optionalText('GRPC_TLS_CA_FILE')
  const clientAuth = reader.parsed('GRPC_TLS_CLIENT_AUTH', { fallback: 'none', parse: parseClientAuth })
  const insecure = reader.flag('GRPC_INSECURE', false)
  const gatewaySecret = reader.secret('GATEWAY_SECRET')
  const isOn = certFile !== undefined || keyFile !== undefined || caFile !== undefined
  if ((certFile === undefined) !== (keyFile === undefined)) {
    reader.addProblem('GRPC_TLS_CERT_FILE and GRPC_TLS_KEY_FILE must be set together, or none of them.')
  } else if (certFile === undefined && side === 'server' && isOn) {
    reader.addProblem('GRPC_TLS_CA_FILE alone is not enough: set GRPC_TLS_CERT_FILE and GRPC_TLS_KEY_FILE too.')
  } else if (clientAuth === 'required' && certFile === undefined) {
    reader.addProblem('GRPC_TLS_CLIENT_AUTH=required needs GRPC_TLS_CERT_FILE and GRPC_TLS_KEY_FILE.')
  }
  if (clientAuth !== 'none' && caFile === undefined && side === 'server') {
    reader.addProblem(
      `GRPC_TLS_CLIENT_AUTH=${clientAuth} needs GRPC_TLS_CA_FILE, which callers' certificates are judged by.`
    )
  }
  const exposed = isOn || insecure ? undefined : addresses.find((address) => !isLoopback(address.replace(/:\d+$/, '')))
  if (exposed !== undefined) {
    reader.addProblem(
      `DATA_SERVICE_ADDRESS ${exposed} is reached over a network, where calls must be encrypted: set GRPC_TLS_CERT_FILE ` +
        'and GRPC_TLS_KEY_FILE of the data service and GRPC_TLS_CA_FILE of the gateway, or GRPC_INSECURE=true where ' +
        'nobody else can reach that network.'
    )
  }
  return { tls: isOn ? { certFile, keyFile, caFile, clientAuth } : undefined, gatewaySecret }
}

function parseClientAuth(text: string): ClientAuth | Error {
  return CLIENT_AUTH.find((one) => one === text) ?? new Error(`must be ${CLIENT_AUTH.join(', ')}`)
}

/** The credentials of a server. Changed certificates apply to connections that are made after the change. */
export function serverCredentials(
  certificates: TlsCertificates | undefined,
  clientAuth: ClientAuth
): ServerCredentials {
  if (certificates === undefined) return ServerCredentials.createInsecure()
  const provider = new FollowedCertificates(certificates)
  // The declared parameter names are the other way round; the types are the same.
  const [identity, ca] = [provider, clientAuth === 'none' ? null : provider]
  return experimental.createCertificateProviderServerCredentials(identity, ca, clientAuth === 'required')
}

/** The credentials of a client. Without a file of authorities it trusts those that come with Node. */
export function channelCredentials(certificates: TlsCertificates | undefined): ChannelCredentials {
  if (certificates === undefined) return credentials.createInsecure()
  const provider = new FollowedCertificates(certificates)
  const identity = certificates.current.cert === undefined ? null : provider
  return experimental.createCertificateProviderChannelCredentials(provider, identity)
}

/**
 * The name that a server's certificate must contain: the host of the configured address and not the resolved IP address.
 */
export function targetNameOf(address: string): string {
  return address.replace(/:\d+$/, '').replace(/^\[(.*)\]$/, '$1')
}

/** Provides certificates to grpc-js, whose own file watcher would use a key that does not belong to its certificate. */
class FollowedCertificates implements experimental.CertificateProvider {
  readonly #certificates: TlsCertificates
  readonly #stops = new Map<object, () => void>()

  constructor(certificates: TlsCertificates) {
    this.#certificates = certificates
  }

  addCaCertificateListener(listener: experimental.CaCertificateUpdateListener): void {
    this.#follow(listener, ({ ca }) => listener({ caCertificate: ca ?? NODE_ROOTS }))
  }

  removeCaCertificateListener(listener: experimental.CaCertificateUpdateListener): void {
    this.#unfollow(listener)
  }

  addIdentityCertificateListener(listener: experimental.IdentityCertificateUpdateListener): void {
    this.#follow(listener, ({ cert, key }) => {
      if (cert !== undefined && key !== undefined) listener({ certificate: cert, privateKey: key })
    })
  }

  removeIdentityCertificateListener(listener: experimental.IdentityCertificateUpdateListener): void {
    this.#unfollow(listener)
  }

  /** The first update is sent in the next tick, after grpc-js has registered its own listener. */
  #follow(key: object, update: (material: TlsMaterial) => void): void {
    this.#unfollow(key)
    this.#stops.set(key, this.#certificates.onChange(update))
    process.nextTick(() => update(this.#certificates.current))
  }

  #unfollow(key: object): void {
    this.#stops.get(key)?.()
    this.#stops.delete(key)
  }
}

const NODE_ROOTS = Buffer.from(rootCertificates.join('\n'))
