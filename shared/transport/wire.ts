import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type GrpcObject, loadPackageDefinition } from '@grpc/grpc-js'
import { loadSync, type PackageDefinition } from '@grpc/proto-loader'
import protobuf from 'protobufjs'
import { DomainError } from '../errors.js'

/**
 * Decodes padded standard base64 (RFC 4648 section 4). undefined for a text that is not exactly the encoding of its bytes:
 * `Buffer.from` alone accepts nearly anything.
 */
export function decodeBase64(text: string): Buffer | undefined {
  const bytes = Buffer.from(text, 'base64')
  return bytes.toString('base64') === text ? bytes : undefined
}

const REQUEST_ID_FORM = /^[A-Za-z0-9._-]{1,128}$/

/** The caller's request id if it is valid (contract.md section 2), else a new one. */
export function requestIdOf(sent: string | readonly string[] | undefined, newId: () => string): string {
  return typeof sent === 'string' && REQUEST_ID_FORM.test(sent) ? sent : newId()
}

/** Bytes of a request body over either transport (contract.md section 2). */
export const MAX_BODY_BYTES = 1024 * 1024

export const BODY_TOO_LARGE = 'The body is larger than 1 MiB.'

/** Levels of arrays and objects in a body. */
export const MAX_BODY_DEPTH = 100

export const BODY_TOO_DEEP = `The body is nested more than ${MAX_BODY_DEPTH} levels deep.`

/** Throws `body.too-large` for a body above the limit. */
export function checkBodyLength(bytes: number): void {
  if (bytes > MAX_BODY_BYTES) throw new DomainError('body.too-large', BODY_TOO_LARGE)
}

const BEGIN_ARRAY = '['.charCodeAt(0)
const VALUE_SEPARATOR = ','.charCodeAt(0)
const END_ARRAY = ']'.charCodeAt(0)

/** A JSON array of these values. Their bytes are copied once and never parsed. */
export function jsonArray(values: readonly Buffer[]): Buffer {
  let length = Math.max(2, values.length + 1)
  for (const value of values) length += value.length
  const array = Buffer.allocUnsafe(length)
  array[0] = BEGIN_ARRAY
  let at = 1
  for (const value of values) {
    if (at > 1) array[at++] = VALUE_SEPARATOR
    at += value.copy(array, at)
  }
  array[at] = END_ARRAY
  return array
}

/** The proto folder, two levels above the built module. */
const PROTO_DIRECTORY = fileURLToPath(new URL('../../../proto', import.meta.url))

/** How messages become objects of the generated types. */
export const MESSAGE_OPTIONS = { longs: String, enums: String, defaults: true, oneofs: true } as const

/** The messages of proto files. */
export function loadMessages(...files: readonly string[]): protobuf.Root {
  const root = new protobuf.Root()
  root.resolvePath = (_from, file) => join(PROTO_DIRECTORY, file)
  return root.loadSync([...files])
}

/** Loads `entity/v1/entity_service.proto` and the like, with the options that the generated types were made with. */
export function loadProto(...files: string[]): { definition: PackageDefinition; types: GrpcObject } {
  const definition = loadSync(files, {
    includeDirs: [PROTO_DIRECTORY],
    ...MESSAGE_OPTIONS
  })
  return { definition, types: loadPackageDefinition(definition) }
}
