import { parse } from 'lossless-json'
import { refusal, type Fault } from '../../shared/domain-error.js'

/** The members of a body that is JSON (checkJsonBody). Throws `body.invalid` unless it is an object, each said once. */
export function jsonMembers(body: Buffer): Readonly<Record<string, unknown>> {
  const value: unknown = parse(body.toString('utf8'), null, {
    onDuplicateKey: ({ key }) => {
      throw refusal([bodyFault('', `The body says ${JSON.stringify(key.slice(0, 100))} twice.`)])
    }
  })
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return { ...value }
  throw refusal([bodyFault('', 'The body must be a JSON object.')])
}

/** `pointer` is a JSON pointer. */
export function bodyFault(pointer: string, detail: string): Fault {
  return { code: 'body.invalid', detail, place: { in: 'pointer', name: pointer } }
}
