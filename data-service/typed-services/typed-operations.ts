import type { Operation } from '../../shared/gen/entity/v1/Operation.js'
import { writeBody } from './bodies.js'
import type { TypedRpc } from './generic.js'
import type { Numbers } from './numbers.js'
import { makeParameters } from './queries.js'
import { makeAnswer, makeObject, readRow, type RowType } from './rows.js'
import { type EnumType, makeMessage, type MessageType, pascalCase, protoFieldName } from './schema.js'
import { parsed } from './typed-reads.js'
import {
  commonOf,
  DRY_RUN,
  IGNORED,
  KEY,
  NULLS,
  maskPaths,
  REPLAYED,
  ROLLED_BACK,
  STRICT,
  withBody
} from './typed-writes.js'
import type { Message } from './values.js'

/** Fields of a request that no parameter is called by. */
const OWN_FIELDS = ['body', 'strict', 'null_mask', 'idempotency_key']

/** An operation of the application in typed messages, and what it is for the rpc Call of the generic service. */
export function operationRpc(numbers: Numbers, operation: Operation): TypedRpc {
  const {
    name: operationName = '',
    description = '',
    method = '',
    pathParameters = [],
    queryParameters = []
  } = operation
  const name = pascalCase(operationName)
  const isRead = method === 'GET'
  const nested: (MessageType | EnumType)[] = []
  const within = { message: `${name}Request`, numbers, nested }
  const inPath = pathParameters.map((one) => one.name)
  const isOwn = (key: string): boolean => OWN_FIELDS.includes(protoFieldName(key))
  const path = makeParameters(pathParameters, within, (key) => (isOwn(key) ? `path ${key}` : key))
  const query = makeParameters(queryParameters, within, (key) =>
    isOwn(key) || inPath.includes(key) ? `query ${key}` : key
  )
  // A parameter of the operation may be called so. It was there first, and clients know it.
  const isTaken = [...pathParameters, ...queryParameters].some((one) => protoFieldName(one.name ?? '') === DRY_RUN.key)
  const dryRun = isTaken ? { ...DRY_RUN, key: 'roll_back' } : DRY_RUN
  const body = bodyTypeOf(operation, name, numbers)
  if (body !== undefined) nested.push(body.message)
  const request = makeMessage(numbers, { name: `${name}Request`, comment: `Request of ${name}.`, nested }, [
    ...path.fields,
    ...query.fields,
    ...(body === undefined
      ? []
      : [{ key: 'body', type: body.message.name, label: 'plain' as const, comment: 'The body.' }, STRICT, NULLS]),
    ...(isRead ? [] : [KEY, dryRun])
  ])
  const answer = answerTypeOf(operation, name, numbers)
  return {
    name,
    comment: description,
    resource: operationName,
    generic: 'Call',
    request,
    response: answer.message,
    streams: false,
    async handle(generic, context, message) {
      const sent = (message['body'] ?? {}) as Message // Of our own codec.
      // A parameter of the operation may be called owner.
      const { unused, ownerParameter: _, ...common } = commonOf(message)
      const call = {
        operation: operationName,
        path: path.texts(request, message),
        query: query.texts(request, message),
        ...common,
        dryRun: !isRead && message[dryRun.key] === true,
        precondition: null
      }
      const { json, replayed, rolledBack, ignoredMembers } = await withBody(
        body === undefined ? NO_BODY : writeBody(body, sent, { nulls: maskPaths(message, 'null_mask') }),
        (bytes) => generic.Call(context, { ...call, body: bytes })
      )
      return {
        ...answer.read(json),
        ...(isRead
          ? {}
          : { replayed, rolled_back: rolledBack, ignored_members: [...(ignoredMembers ?? []), ...unused] })
      }
    }
  }
}

const NO_BODY = { text: '{}', malformed: [] }

function bodyTypeOf({ body }: Operation, name: string, numbers: Numbers): RowType | undefined {
  if (!body) return undefined
  return makeObject(numbers, {
    name: `${name}Request.Body`,
    comment: `The body of ${name}.`,
    members: body.members ?? []
  })
}

interface AnswerType {
  readonly message: MessageType
  /** The fields that JSON is answered in. */
  readonly read: (json: Parameters<typeof parsed>[0]) => Message
}

function answerTypeOf({ answer, method }: Operation, name: string, numbers: Numbers): AnswerType {
  const declared = { name: `${name}Response`, comment: `Response of ${name}.` }
  const further = method === 'GET' ? [] : [REPLAYED, IGNORED, ROLLED_BACK]
  if (!answer) return { message: makeMessage(numbers, declared, further), read: () => ({}) }
  const key = answer.kind === 'SHAPE_KIND_LIST' ? 'items' : 'answer'
  const type = makeAnswer({ key, shape: answer, further }, { ...declared, numbers })
  return { message: type.message, read: (json) => readRow(type, parsed(json)) }
}
