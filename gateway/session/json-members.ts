import { parse } from 'lossless-json'
import { refusal, type Fault } from '../../shared/domain-error.js'
import { shortened } from '../../shared/shortened.js'

/** The members of a body that is JSON (checkJsonBody). Throws `body.invalid` unless it is an object, each said once. */
export function jsonMembers(body: Buffer): Readonly<Record<string, unknown>> {
  const value = membersOf(body.toString('utf8'))
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return { ...value }
  throw refusal([bodyFault('', 'The body must be a JSON object.')])
}

function membersOf(text: string): unknown {
  try {
    return parse(text, null, {
      onDuplicateKey: ({ key }) => {
        throw refusal([bodyFault('', `The body says ${JSON.stringify(shortened(key, 100))} twice.`)])
      }
    })
  } catch (error) {
    // The parser goes as deep as its stack.
    if (error instanceof RangeError) throw refusal([bodyFault('', 'The body is nested too deeply.')])
    throw error
  }
}

/** `pointer` is a JSON pointer. */
export function bodyFault(pointer: string, detail: string): Fault {
  return { code: 'body.invalid', detail, place: { in: 'pointer', name: pointer } }
}
