import type { MethodDefinition, ServiceDefinition, UntypedServiceImplementation } from '@grpc/grpc-js'
import { fromJSON, type PackageDefinition } from '@grpc/proto-loader'
import protobuf from 'protobufjs'
import type { Operation } from '../entity/define-operation.js'
import type { Entity } from '../entity/entity.js'
import type { DescribeResponse } from '../../shared/gen/entity/v1/DescribeResponse.js'
import { makeCatalogue } from '../plan/model/catalogue.js'
import type { GenericHandlers, TypedRpc } from '../typed-services/generic.js'
import { fieldOf, type MessageType } from '../typed-services/schema.js'
import type { TypedServices } from '../typed-services/numbers.js'
import { makeTypedPackage, type TypedPackage } from '../typed-services/typed-package.js'
import { type Message, scalarText, UNKNOWN_FIELDS } from '../typed-services/values.js'
import { IGNORED } from '../typed-services/typed-writes.js'
import { describeCatalogue } from '../operations/describe/describe.js'
import { BoundedReader } from './transport/bounded-reader.js'
import { streamCall, unaryCall, withBytes, withUndecodable } from './transport/grpc.js'
import { intercept, type Interceptors, interceptStream, type Target } from './transport/interceptors.js'
import type { PeerBytes } from './transport/peer-bytes.js'

// Typed services are the generic one in other messages: each call is translated within the interceptors and answered by the
// same handler, so that who may, what is checked and what is rejected is decided in one place.

/** The typed services of entities, with every property but hidden ones, and that of operations. */
export function describedPackage(
  { entities, operations = [] }: { readonly entities: readonly Entity[]; readonly operations?: readonly Operation[] },
  typed: TypedServices
): TypedPackage {
  const ownership = { bypassRole: undefined, parameterName: 'id' }
  return packageOf(describeCatalogue(makeCatalogue(entities), ownership, operations)('gateway'), typed)
}

/** As `describedPackage`, from the description that a gateway gets. No typed message holds the name of the owner parameter. */
export function packageOf({ resources = [], operations = [] }: DescribeResponse, typed: TypedServices): TypedPackage {
  return makeTypedPackage({ resources, operations }, typed)
}

interface TypedCalls {
  readonly name: string
  readonly service: ServiceDefinition
  readonly calls: UntypedServiceImplementation
}

/** The services for grpc-js. The codecs of their messages are made when the first call comes, since that takes a while. */
export function typedCalls(
  typed: TypedPackage,
  generic: GenericHandlers,
  how: { readonly interceptors: Interceptors; readonly untaken: PeerBytes }
): TypedCalls[] {
  let root: protobuf.Root | undefined
  const codecOf = ({ name }: MessageType, namesUnknown = false): Codec => {
    root ??= rootOf(typed)
    const type = root.lookupType(`${typed.name}.${name}`)
    const decode = (bytes: Buffer): Message =>
      type.toObject(type.decode(new BoundedReader(bytes, MAX_TYPED_FIELDS)), DECODED)
    return {
      decode: namesUnknown
        ? (bytes) => {
            const message = decode(bytes)
            const unknown = unknownFields(type, bytes)
            return unknown.length === 0 ? message : { ...message, [UNKNOWN_FIELDS]: unknown }
          }
        : decode,
      encode: (message) => Buffer.from(type.encode(type.fromObject(message)).finish())
    }
  }
  return typed.services.map(({ name, rpcs }) => {
    const service = withUndecodable(
      Object.fromEntries(rpcs.map((rpc) => [rpc.name, methodOf(`/${name}/${rpc.name}`, rpc, codecOf)]))
    )
    const calls = rpcs.flatMap((rpc) => {
      const codecs = service[rpc.name]
      return codecs === undefined ? [] : [[rpc.name, callOf(rpc, generic, { ...how, codecs })] as const]
    })
    return { name, service: withBytes(service), calls: Object.fromEntries(calls) }
  })
}

interface Codec {
  readonly decode: (bytes: Buffer) => Message
  readonly encode: (message: Message) => Buffer
}

/** Fields of a request: two thousand rows of twenty columns, with room. */
const MAX_TYPED_FIELDS = 50_000

/** Longs are texts, since a number does not hold them all; oneofs name the field that is set. */
const DECODED = { longs: String, enums: String, arrays: true, oneofs: true }

/** Names of unknown fields that a request can have. There is no need to tell all of them. */
const MAX_UNKNOWN = 50

/**
 * The fields of an encoded message that its type does not have, by the fields that lead to them and their number:
 * `product.lines[0].1023`. A decoded message has lost them.
 */
function unknownFields(
  type: protobuf.Type,
  bytes: Buffer,
  { at, found }: { readonly at: string; readonly found: string[] } = { at: '', found: [] }
): string[] {
  const reader = new BoundedReader(bytes, MAX_TYPED_FIELDS)
  const counts = new Map<number, number>()
  while (reader.pos < reader.len && found.length < MAX_UNKNOWN) {
    const tag = reader.uint32()
    const number = tag >>> 3
    const field = type.fieldsById[number]
    const inner = field?.resolve().resolvedType
    if (field === undefined) found.push(`${at}${number}`)
    if (field !== undefined && inner instanceof protobuf.Type) {
      const index = counts.get(number) ?? 0
      counts.set(number, index + 1)
      const place = `${at}${field.name}${field.repeated ? `[${index}]` : ''}.`
      unknownFields(inner, reader.bytes(), { at: place, found })
    } else reader.skipType(tag & 7)
  }
  return found
}

/** The types of the proto file, which imports nothing but these. Names of fields stay as they are written. */
function rootOf(typed: TypedPackage): protobuf.Root {
  const root = new protobuf.Root()
  for (const path of ['google/protobuf/timestamp.proto', 'google/protobuf/field_mask.proto']) {
    const common = protobuf.common.get(path)
    if (common?.nested) root.addJSON(common.nested)
  }
  protobuf.parse(typed.text(), root, { keepCase: true })
  return root
}

/** What reflection shows. */
export function typedDefinition(typed: TypedPackage): PackageDefinition {
  return fromJSON(rootOf(typed).toJSON(), DECODED)
}

function methodOf(
  path: string,
  { request, response, streams }: TypedRpc,
  codecOf: (type: MessageType, namesUnknown?: boolean) => Codec
): MethodDefinition<Message, Message> {
  let codecs: { readonly request: Codec; readonly response: Codec } | undefined
  const namesUnknown = response.fields.some(({ key }) => key === IGNORED.key)
  const made = (): typeof codecs & {} =>
    (codecs ??= { request: codecOf(request, namesUnknown), response: codecOf(response) })
  return {
    path,
    requestStream: false,
    responseStream: streams,
    requestDeserialize: (bytes) => made().request.decode(bytes),
    requestSerialize: (message) => made().request.encode(message),
    responseDeserialize: (bytes) => made().response.decode(bytes),
    responseSerialize: (message) => made().response.encode(message)
  }
}

function callOf(
  rpc: TypedRpc,
  generic: GenericHandlers,
  {
    interceptors,
    codecs,
    untaken
  }: {
    readonly interceptors: Interceptors
    readonly codecs: MethodDefinition<Message, Message>
    readonly untaken: PeerBytes
  }
): UntypedServiceImplementation[string] {
  const resource = (): string => rpc.resource
  // A parameter of an operation may have this name, and is no id of a row.
  const idField = rpc.generic === 'Call' ? undefined : fieldOf(rpc.request, 'id')
  const target = (request: Message): Target => {
    const id = idField === undefined ? undefined : request[idField]
    return { resource: rpc.resource, ...(id === undefined ? {} : { id: scalarText(id) }) }
  }
  if (!rpc.streams) {
    const { handle } = rpc
    return unaryCall<Message, Message>(
      intercept(
        (context, request) => handle(generic, context, request),
        { rpc: rpc.generic, resource, target },
        interceptors
      ),
      { codecs, untaken }
    )
  }
  const { handle } = rpc
  const idleTime = (request: Message): number | undefined => {
    const time = Number(request['idle_timeout_ms'] ?? 0)
    return time > 0 ? time : undefined
  }
  return streamCall<Message, Message>(
    interceptStream(
      (context, request) => handle(generic, context, request),
      { rpc: rpc.generic, resource, bounded: (request) => idleTime(request) !== undefined },
      interceptors
    ),
    { codecs, untaken, timesOf: (request) => ({ idle: idleTime(request), reader: idleTime(request) }) }
  )
}
